//go:build small

package tiff

// each calls do for the numbers from 0 to n-1: small builds decode on the
// caller's goroutine alone.
func (d *decoder) each(n int, do func(b *blockReader, k int) error) error {
	return inOrder(&d.blocks, n, do)
}
