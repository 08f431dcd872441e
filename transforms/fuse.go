package transforms

import "github.com/infer-prep/infer-prep/tensor"

// The interfaces below describe properties of ops, which let an engine compute
// several ops at once. An op without any of them is always run by its Apply.

// Pointwise is an Op with one image input and one image output of the same
// height, width and channels. Each output element depends only on the input
// element at the same row, column and channel, on the dtype and on the
// channel's number. It does not depend on the position, the size, the layout or
// other elements. Dtype and layout may change. An engine may run the op on a
// different image with the same values.
type Pointwise interface {
	Op
	Pointwise()
}

// DescOnly is an Op with one image input whose outputs depend only on the
// input's description. Apply accepts a tensor without data.
type DescOnly interface {
	Op
	DescOnly()
}

// Frame is a window of Height x Width pixels in an unbounded plane. The image
// lies in the plane with its first pixel at (0, 0). All other pixels are Fill:
// one value for all channels or one for each. Top and Left are the window's
// first row and column. FlipX and FlipY then mirror the content of the window.
type Frame struct {
	Top, Left, Height, Width int
	FlipX, FlipY             bool
	Fill                     []float64
}

// Framed is an Op with one image input and one image output that is a Frame of
// the input. It changes no value.
type Framed interface {
	Op
	// Frame returns the frame for an image of h x w pixels, which Infer has
	// accepted.
	Frame(h, w int) Frame
}

// Scale describes a Scaled op. It scales the window Cut, which is not mirrored,
// to Height x Width and then takes the window Place of the result. Scaling to
// the same size changes nothing.
type Scale struct {
	Cut           Frame
	Height, Width int
	Place         Frame
	// Halved reports whether OpenCV's bilinear filter averages blocks of 2 x 2
	// pixels here.
	Halved bool
	// VerticalFirst reports whether Pillow's filters scale the height before
	// the width here.
	VerticalFirst bool
}

// Scaled is an Op with one image input whose first output is the input, scaled.
type Scaled interface {
	Op
	// Sampling returns the filter. antialias matters only for backends that can
	// switch it off.
	Sampling() (i Interpolation, b Backend, antialias bool)
	// Scale describes the scaling of an image of h x w pixels, which Infer has
	// accepted. It writes the outputs after the first to side, unless side is
	// nil.
	Scale(h, w int, side []*tensor.Tensor) (Scale, error)
}

// rules sets the fields that follow from the sizes.
func (s *Scale) rules(how sampling) {
	s.Halved = how.backend == OpenCV && how.interp == Bilinear &&
		wholeRatio(s.Cut.Height, s.Height) == 2 && wholeRatio(s.Cut.Width, s.Width) == 2
	s.VerticalFirst = s.Cut.Width != s.Width &&
		how.verticalFirst(shape{h: s.Cut.Height, w: s.Cut.Width}, shape{h: s.Height, w: s.Width})
}

// wholeImage returns the scaling of a whole image of h x w pixels to nh x nw.
func wholeImage(how sampling, h, w, nh, nw int) Scale {
	s := Scale{Cut: Frame{Height: h, Width: w}, Height: nh, Width: nw, Place: Frame{Height: nh, Width: nw}}
	s.rules(how)
	return s
}
