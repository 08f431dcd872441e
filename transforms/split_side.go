package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// SplitSide cuts an image along its longer side into windows of Size pixels,
// the fewest that cover it. The windows are spread evenly and may overlap. A
// square is cut along its width. An image whose longer side is at most Size is
// the only window. It takes any dtype of fixed size, HWC or CHW. No value
// changes.
//
// Of n windows of a side l, with o = (n*Size - l) / (n - 1), window i starts at
// i * (Size - o), truncated. All arithmetic is float64.
//
// Outputs: image, the windows, without a layout: the first axis counts them,
// the others are those of an image; offsets, int64 (windows, 3): 0, the number
// of the image in its batch, then start and start + Size.
//
// Reference: transformers 5.23.0, EomtImageProcessor with do_split_image.
type SplitSide struct {
	Size int `json:"size"` // of a window in pixels, 1 to 2^24
}

//msgp:tuple SplitSide

// NewSplitSide returns the op.
func NewSplitSide(size int) *SplitSide { return &SplitSide{Size: size} }

// Info describes the op.
func (*SplitSide) Info() Info {
	return Info{
		Name: "split_side", Version: 1, New: func() Op { return NewSplitSide(512) },
		Out:       []string{"image", "offsets"},
		Reference: "transformers 5.23.0 EomtImageProcessor", Exactness: "0",
	}
}

// Validate checks the size.
func (o *SplitSide) Validate() error { return checkSide("size", o.Size) }

// windows returns how many windows a side of n pixels has.
func (o *SplitSide) windows(n int) int { return (n + o.Size - 1) / o.Size }

// start returns where window i of n begins on a side.
func (o *SplitSide) start(i, n, side int) int {
	overlap := 0.0
	if n > 1 {
		overlap = float64(n*o.Size-side) / float64(n-1)
	}
	return int(math.Trunc(float64(float64(i) * (float64(o.Size) - overlap))))
}

// Infer describes the windows.
func (o *SplitSide) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantImage(d); err != nil {
		return err
	}
	h, w, n := d.Height(), d.Width(), tensor.Unknown
	switch {
	case h == tensor.Unknown || w == tensor.Unknown:
		d = d.WithSize(tensor.Unknown, tensor.Unknown)
	case max(h, w) > maxSide:
		return inputErr("%v, want sides of at most %d", d, maxSide)
	case h > w:
		n, d = o.windows(h), d.WithSize(min(h, o.Size), w)
	default:
		n, d = o.windows(w), d.WithSize(h, min(w, o.Size))
	}
	dst[0] = tiled(d, n)
	dst[1] = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(n, 3)}
	return inferred(dst[0])
}

// Apply copies the windows.
func (o *SplitSide) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	h, w := s.Height(), s.Width()
	n := o.windows(max(h, w))
	height, width := h, min(w, o.Size)
	if h > w {
		height, width = min(h, o.Size), w
	}
	part, rest, offsets := s.WithSize(height, width), dst[0].Data, tensor.View[int64](dst[1])
	for i := range n {
		start := o.start(i, n, max(h, w))
		offsets[3*i], offsets[3*i+1], offsets[3*i+2] = 0, int64(start), int64(start+o.Size)
		at := window{left: start, mode: PadEdge} // nothing is outside
		if h > w {
			at = window{top: start, mode: PadEdge}
		}
		rest = at.cut(rest, part, s)
	}
	return nil
}
