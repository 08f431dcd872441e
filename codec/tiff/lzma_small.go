//go:build small

package tiff

// unlzma refuses LZMA, which weighs too much for the small builds.
func unlzma(_, _ []byte) error {
	return unsupported("compression LZMA: small builds do not decode it")
}
