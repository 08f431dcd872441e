//go:build small

package tiff

// small says that YCbCr that is not JPEG is refused, uncompressed too.
const small = true

// yccToRGB has no tables: small builds refuse YCbCr that is not JPEG.
type yccToRGB struct{}

func (*yccToRGB) init(*directory) error { return nil }

func (l *layout) setChroma(*directory) error {
	return unsupported("YCbCr that is not JPEG: small builds do not decode it")
}

func (l *layout) packed() int { return 0 }

func (*decoder) placePacked(_, _ []byte, _, _, _ int) {}

func (*decoder) convert([]byte) {}
