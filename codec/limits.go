package codec

import "cmp"

// Limits bounds the cost of one image. Decoders check it against the header,
// before they allocate. A field of 0 means its default, a negative field no
// limit.
type Limits struct {
	Pixels int64 // width x height as stored, before scaling. Default 100,000,000
	Bytes  int64 // memory for the pixels and all buffers of the decoder. Default 1 GiB
	Scans  int   // scans of a progressive JPEG, whose cost is Scans x Pixels. Default 500
}

// DefaultLimits returns the limits that the zero Limits means.
func DefaultLimits() Limits { return Limits{Pixels: 100e6, Bytes: 1 << 30, Scans: 500} }

// NoLimits returns Limits without any limit. Use it for trusted data only.
func NoLimits() Limits { return Limits{Pixels: -1, Bytes: -1, Scans: -1} }

// WithDefaults returns l with the defaults in place of zero fields.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	return Limits{Pixels: cmp.Or(l.Pixels, d.Pixels), Bytes: cmp.Or(l.Bytes, d.Bytes), Scans: cmp.Or(l.Scans, d.Scans)}
}

// CheckSize checks an image of width x height pixels whose decoding takes
// bytesPerPixel bytes for each pixel. It returns an *Error of kind ErrLimit, or
// ErrFormat if a side is not positive.
func (l Limits) CheckSize(format string, width, height, bytesPerPixel int) error {
	l = l.WithDefaults()
	if err := l.checkPixels(format, width, height); err != nil {
		return err
	}
	return l.checkBytes(format, width, height, bytesPerPixel)
}

func (l Limits) checkPixels(format string, width, height int) error {
	if width <= 0 || height <= 0 {
		return Errorf(format, -1, ErrFormat, "%dx%d pixels: want at least 1x1", width, height)
	}
	if n := int64(width) * int64(height); l.Pixels > 0 && n > l.Pixels {
		return Errorf(format, -1, ErrPixels, "%dx%d is %d pixels, the limit is %d", width, height, n, l.Pixels)
	}
	return nil
}

func (l Limits) checkBytes(format string, width, height, perPixel int) error {
	n := int64(width) * int64(height)
	if b := n * int64(perPixel); l.Bytes > 0 && (b/int64(perPixel) != n || b > l.Bytes) {
		return Errorf(format, -1, ErrBytes, "%dx%d pixels need %d bytes, the limit is %d", width, height, b, l.Bytes)
	}
	return nil
}
