package transforms

import "github.com/infer-prep/infer-prep/tensor"

// What an engine may know of an op, so that it can compute several in one go.
// An op that says nothing of itself is run by its Apply, always.

// Pointwise is an Op of one image input and one image output of the same
// height, width and channels, whose every output element follows from the
// input's dtype, the value of the input element at the same row, column and
// channel, and the channel's number, and from nothing else: not from the place,
// the size, the layout or other elements. Dtype and layout may change. An engine
// may run it on any other image with the same values instead.
type Pointwise interface {
	Op
	Pointwise()
}

// Described is an Op of one image input whose outputs follow from the input's
// description alone, not from its values: Apply may be given a tensor without data.
type Described interface {
	Op
	Described()
}

// Frame is a window of Height x Width pixels into an unbounded plane, which
// holds an image with its first pixel at (0, 0) and around it Fill, one value for
// all channels or one for each. Top and Left are the place of the window's first
// pixel. What is seen is then mirrored.
type Frame struct {
	Top, Left, Height, Width int
	FlipX, FlipY             bool
	Fill                     []float64
}

// Framed is an Op of one image input and one image output which shows the input
// through a Frame and changes no value.
type Framed interface {
	Op
	// Frame is the frame for an image of h x w, which Infer has accepted.
	Frame(h, w int) Frame
}

// Scale is what a Scaled op does: Cut is shown of the image, without mirroring,
// scaled to Height x Width, and shown through Place. An image that has the size
// already is not changed by scaling.
type Scale struct {
	Cut           Frame
	Height, Width int
	Place         Frame
	// Halved says that OpenCV's bilinear is the mean of two by two pixels here.
	Halved bool
	// VerticalFirst says that Pillow's filters scale the height before the width here.
	VerticalFirst bool
}

// Scaled is an Op whose first output is its one input, an image, scaled.
type Scaled interface {
	Op
	// Sampling is how it scales; antialias where the backend has the choice.
	Sampling() (i Interpolation, b Backend, antialias bool)
	// Scale is what it does to an image of h x w, which Infer has accepted. The
	// outputs after the first are written to side, unless it is nil.
	Scale(h, w int, side []*tensor.Tensor) (Scale, error)
}

// rules fills in what follows from the sizes.
func (s *Scale) rules(how sampling) {
	s.Halved = how.backend == OpenCV && how.interp == Bilinear &&
		exactly(s.Cut.Height, s.Height) == 2 && exactly(s.Cut.Width, s.Width) == 2
	s.VerticalFirst = how.backend == Pillow && s.Cut.Width != s.Width &&
		how.verticalFirst(shape{h: s.Cut.Height, w: s.Cut.Width}, shape{h: s.Height, w: s.Width})
}

// wholly scales all of an image of h x w to nh x nw, and no more.
func wholly(how sampling, h, w, nh, nw int) Scale {
	s := Scale{Cut: Frame{Height: h, Width: w}, Height: nh, Width: nw, Place: Frame{Height: nh, Width: nw}}
	s.rules(how)
	return s
}
