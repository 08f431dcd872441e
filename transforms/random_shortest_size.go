package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomShortestSize scales an image so that its shorter edge has a length of a
// list and its longer edge at most MaxSize. It takes the images of Resize and
// uses its arithmetic.
//
// Reference: torchvision 0.29.2's RandomShortestSize. The length is drawn
// uniformly from the list. Both sides are multiplied by the same factor and
// truncated. A side that becomes 0 is an ErrInput.
type RandomShortestSize struct {
	Sizes         []int         `json:"sizes"`         // lengths of the shorter edge in pixels, 1 to 2^24; 1 to 1024 of them
	MaxSize       int           `json:"max_size"`      // longest edge in pixels, 1 to 2^24; 0 means no limit; default 0
	Interpolation Interpolation `json:"interpolation"` // default bilinear
	Backend       Backend       `json:"backend"`       // default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
}

//msgp:tuple RandomShortestSize

// NewRandomShortestSize returns the op: bilinear, Pillow, antialiased.
func NewRandomShortestSize(maxSize int, sizes ...int) *RandomShortestSize {
	return &RandomShortestSize{Sizes: sizes, MaxSize: maxSize, Interpolation: Bilinear, Backend: Pillow}
}

// Info describes the op.
func (*RandomShortestSize) Info() Info {
	return Info{
		Name: "random_shortest_size", Version: 1, New: func() Op { return NewRandomShortestSize(1333, 640, 672, 704, 736, 768, 800) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the sizes and that the backend supports the interpolation.
func (o *RandomShortestSize) Validate() error {
	if n := len(o.Sizes); n < 1 || n > 1024 {
		return paramErr("sizes has %d values, want 1 to 1024", n)
	}
	for _, n := range o.Sizes {
		if err := checkSide("a size", n); err != nil {
			return err
		}
	}
	if o.MaxSize != 0 {
		if err := checkSide("max_size", o.MaxSize); err != nil {
			return err
		}
	}
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}.validate()
}

// Infer leaves the size unknown.
func (o *RandomShortestSize) Infer(dst, in []tensor.Desc) error {
	if err := (sampling{o.Interpolation, o.Backend, !o.NoAntialias}).want(in[0]); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomShortestSize) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Resize.
func (o *RandomShortestSize) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	r := float64(o.Sizes[d.IntN(len(o.Sizes))]) / float64(min(h, w))
	if o.MaxSize != 0 {
		r = min(r, float64(o.MaxSize)/float64(max(h, w)))
	}
	op := NewOp[Resize](d)
	*op = Resize{
		Fit: FitExact, Height: int(float64(float64(h) * r)), Width: int(float64(float64(w) * r)),
		Interpolation: o.Interpolation, Backend: o.Backend, NoAntialias: o.NoAntialias,
	}
	if err := wantScaled(d.In[0], op.Height, op.Width); err != nil {
		return err
	}
	return d.Emit(op)
}

// wantScaled rejects an output size that is drawn and that Resize does not
// support.
func wantScaled(d tensor.Desc, h, w int) error {
	if h < 1 || w < 1 || h > maxSide || w > maxSide {
		return inputErr("%v would become %d x %d (height x width), want sides of 1 to %d", d, h, w, maxSide)
	}
	return nil
}
