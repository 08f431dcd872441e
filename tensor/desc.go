package tensor

import (
	"errors"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// Desc describes a tensor without its data. It is a comparable value.
type Desc struct {
	DType  DType  `json:"dtype"`
	Layout Layout `json:"layout"`
	Shape  Shape  `json:"shape"`
}

// ErrDesc reports an invalid description: an invalid dtype or layout, a
// negative size, too many elements, or a layout on a shape without three axes.
var ErrDesc = errors.New("tensor: invalid description")

// Image returns the description of an h x w image with c channels. Any size may
// be Unknown.
func Image(d DType, l Layout, h, w, c int) Desc {
	if l == CHW {
		return Desc{d, CHW, Dims(c, h, w)}
	}
	return Desc{d, HWC, Dims(h, w, c)}
}

// Encoded returns the description of an encoded image: a Bytes scalar.
func Encoded() Desc { return Desc{DType: Bytes} }

// IsImage reports whether d has a layout. Height, Width and Channels need one.
func (d Desc) IsImage() bool { return d.Layout != NoLayout && d.Shape.Rank() == 3 }

// Height returns the number of rows. It panics if d is not an image.
func (d Desc) Height() int { return d.Shape.dim[d.axis(0)] }

// Width returns the number of columns. It panics if d is not an image.
func (d Desc) Width() int { return d.Shape.dim[d.axis(1)] }

// Channels returns the number of channels. It panics if d is not an image.
func (d Desc) Channels() int { return d.Shape.dim[d.axis(2)] }

// imageAxes are the axes of height, width and channels, by layout.
var imageAxes = [3][3]uint8{HWC: {0, 1, 2}, CHW: {1, 2, 0}}

func (d *Desc) axis(i int) uint8 {
	if !d.IsImage() {
		panic("tensor: " + d.String() + " is not an image")
	}
	return imageAxes[d.Layout][i]
}

// WithSize returns the image description d with height h and width w.
func (d Desc) WithSize(h, w int) Desc {
	return Image(d.DType, d.Layout, h, w, d.Channels())
}

// WithChannels returns the image description d with c channels.
func (d Desc) WithChannels(c int) Desc {
	return Image(d.DType, d.Layout, d.Height(), d.Width(), c)
}

// Len returns the number of elements; see [Shape.Len].
func (d Desc) Len() int64 { return d.Shape.Len() }

// Size returns the number of bytes of the dense data: -1 if it is unknown or
// overflows an int64, 0 for Bytes.
func (d Desc) Size() int64 { return d.size() }

func (d *Desc) size() int64 {
	n := d.Shape.len()
	if n < 0 || n > (1<<62)/8 {
		return -1
	}
	return n * int64(d.DType.Size())
}

// Validate returns an error that wraps ErrDesc if d is invalid. Unknown sizes
// are valid.
func (d Desc) Validate() error {
	// Every op validates its inputs, and the sizes of a graph's outputs are
	// computed in microseconds.
	least := d.Shape.least()
	switch {
	case d.DType == Invalid || d.DType > Bytes || int(d.Layout) >= len(layoutNames):
		return errfmt.Errorf("%w: %v", ErrDesc, d)
	case d.DType == Bytes && (d.Shape.rank != 0 || d.Layout != NoLayout):
		return errfmt.Errorf("%w: %v: want bytes without shape and layout", ErrDesc, d)
	case d.Layout != NoLayout && d.Shape.rank != 3:
		return errfmt.Errorf("%w: %v: want three axes for layout %v", ErrDesc, d, d.Layout)
	case least < Unknown:
		return errfmt.Errorf("%w: %v: want sizes of 0 or more", ErrDesc, d)
	case least >= 0 && d.size() < 0:
		return errfmt.Errorf("%w: %v: want less than 2^62 bytes of data", ErrDesc, d)
	}
	return nil
}

// Matches reports whether the concrete description got matches d. An unknown
// axis of d matches any size.
func (d Desc) Matches(got Desc) bool {
	if d.DType != got.DType || d.Layout != got.Layout || d.Shape.Rank() != got.Shape.Rank() {
		return false
	}
	for i := range d.Shape.Rank() {
		if n := d.Shape.At(i); n != Unknown && n != got.Shape.At(i) {
			return false
		}
	}
	return true
}

// String returns the description in the form "uint8 HWC (480, 640, 3)".
func (d Desc) String() string {
	switch {
	case d.DType == Bytes:
		return "bytes"
	case d.Layout == NoLayout:
		return errfmt.Sprintf("%v %v", d.DType, d.Shape)
	}
	return errfmt.Sprintf("%v %v %v", d.DType, d.Layout, d.Shape)
}
