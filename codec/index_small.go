//go:build small

package codec

// Index is empty: small builds make no notes about images.
type Index struct{}
