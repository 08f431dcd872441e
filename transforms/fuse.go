package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

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

// Reported is an Op whose last outputs depend only on the descriptions of its
// inputs.
type Reported interface {
	Op
	// Reported returns the index of the first of these outputs.
	Reported() int
	// Report writes them. dst and in are as for Infer, which accepted in;
	// other outputs may be nil.
	Report(dst []*tensor.Tensor, in []tensor.Desc)
}

// Blocked is an Op that cuts an image into blocks of equal size, its first
// output. Values do not change.
type Blocked interface {
	Op
	// Blocks returns where the pixels of an image d go. ok is false if Blocks
	// cannot say so. ok does not depend on the size.
	Blocks(d tensor.Desc) (b Blocks, ok bool)
}

// Blocks says where the pixels of a CHW image lie in a tensor of blocks. The
// image has as many blocks as cover it. Value c of the pixel (y, x) of block n
// is element n*Size + c*Plane + y*Width + x.
type Blocks struct {
	Height, Width int // of a block in pixels
	// Merge groups blocks: the order is by groups of Merge x Merge blocks, row
	// by row, then within each group, row by row.
	Merge int
	Size  int // elements of a block
	Plane int
	// Copies is how often a block has its pixels, Step elements apart.
	Copies, Step int
}

// Concatenated is an Op whose output has the rows of its two inputs, or of one.
type Concatenated interface {
	Op
	// Kept returns of which of the inputs a and b the output has the rows.
	Kept(a, b tensor.Desc) (first, second bool)
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

// Bordered is an Op with one image input and one image output, which is the
// input with a border. Every output row is border or an input row, and so is
// every column. In contrast to Framed, the border may repeat pixels.
type Bordered interface {
	Op
	// WithFill returns a copy of the op with another fill, and the fill that
	// the op's own border shows, nil if it repeats pixels.
	WithFill(fill []float64) (changed Op, own []float64)
}

// RowSource is an Op with one image output, uint8 HWC, that it can write row by
// row, such as a decoder.
type RowSource interface {
	DataShaped
	// ApplyRows passes the rows of a region to sink, from the top down.
	ApplyRows(c *Context, sink codec.RowSink, region codec.Region, src *tensor.Tensor) error
	// Swapped returns a copy of the op that writes red and blue exchanged. It
	// reports false if its channels are not these.
	Swapped() (RowSource, bool)
}

// RegionSource is an Op with one image output, HWC of any dtype, of which it
// can write a region, such as a decoder.
type RegionSource interface {
	DataShaped
	// ApplyRegion writes the pixels of a region to dst, as dense rows.
	ApplyRegion(c *Context, dst []byte, region codec.Region, src *tensor.Tensor) error
}

// Swap is an Op with one image input and one image output that may exchange the
// first and the third of three channels, and do nothing else.
type Swap interface {
	Op
	// Swaps reports whether the op does so with its parameters.
	Swaps() bool
}

// Linear is a Pointwise that may map every channel by a linear function, up to
// its rounding.
type Linear interface {
	Pointwise
	// Linear returns the function. It reports false if the op has none with its
	// parameters.
	Linear() (LinearMap, bool)
}

// LinearMap is the function ((v - Sub) * Mul / Div) + Add. Each list has one
// number for all channels or one for each; nil leaves the operation out.
type LinearMap struct{ Sub, Mul, Div, Add []float64 }

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
