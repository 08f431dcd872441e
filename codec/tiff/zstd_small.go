//go:build small

package tiff

// unzstd refuses Zstandard, which weighs too much for the small builds.
type unzstd struct{}

func (*unzstd) decode(_, _ []byte) error {
	return unsupported("compression Zstandard: small builds do not decode it")
}
