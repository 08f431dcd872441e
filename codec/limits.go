package codec

// Limits bounds what one image may cost. Everything is checked from the
// header, before anything is allocated. A field of 0 means no limit.
type Limits struct {
	Pixels int64 // width x height as stored, whatever the scale. Default: 100,000,000
	Bytes  int64 // memory for the pixels and all of the decoder's buffers. Default: 1 GiB
	Scans  int   // scans of a progressive JPEG; its work is Scans x Pixels. Default: 500
}

// DefaultLimits are the limits where none are given.
func DefaultLimits() Limits { return Limits{Pixels: 100e6, Bytes: 1 << 30, Scans: 500} }

// CheckSize refuses an image of width x height pixels whose decoding takes
// bytesPerPixel bytes for each: an *Error of kind ErrLimit, or ErrFormat when a side is not positive.
func (l Limits) CheckSize(format string, width, height, bytesPerPixel int) error {
	if width <= 0 || height <= 0 {
		return Errorf(format, -1, ErrFormat, "%dx%d pixels, want at least 1x1", width, height)
	}
	n := int64(width) * int64(height)
	if l.Pixels > 0 && n > l.Pixels {
		return Errorf(format, -1, ErrLimit, "%dx%d is %d pixels, the limit is %d", width, height, n, l.Pixels)
	}
	if b := n * int64(bytesPerPixel); l.Bytes > 0 && (b/int64(bytesPerPixel) != n || b > l.Bytes) {
		return Errorf(format, -1, ErrLimit, "%dx%d needs %d bytes, the limit is %d", width, height, b, l.Bytes)
	}
	return nil
}
