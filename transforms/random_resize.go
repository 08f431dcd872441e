package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomResize scales an image so that its shorter edge has a random length and
// the aspect ratio stays. It takes the images of Resize and uses its
// arithmetic, with the size rule truncate.
//
// Reference: torchvision 0.29.2's RandomResize. The edge is drawn uniformly
// from the whole numbers from MinSize up to and without MaxSize.
type RandomResize struct {
	MinSize       int           `json:"min_size"`      // shortest edge in pixels, 1 to 2^24-1
	MaxSize       int           `json:"max_size"`      // one more than the longest edge in pixels, MinSize+1 to 2^24
	Interpolation Interpolation `json:"interpolation"` // default bilinear
	Backend       Backend       `json:"backend"`       // default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
}

//msgp:tuple RandomResize

// NewRandomResize returns the op for edges from minSize up to and without
// maxSize: bilinear, Pillow, antialiased.
func NewRandomResize(minSize, maxSize int) *RandomResize {
	return &RandomResize{MinSize: minSize, MaxSize: maxSize, Interpolation: Bilinear, Backend: Pillow}
}

// Info describes the op.
func (*RandomResize) Info() Info {
	return Info{
		Name: "random_resize", Version: 1, New: func() Op { return NewRandomResize(256, 481) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the sizes and that the backend supports the interpolation.
func (o *RandomResize) Validate() error {
	if err := checkSide("min_size", o.MinSize); err != nil {
		return err
	}
	if err := checkSide("max_size", o.MaxSize); err != nil {
		return err
	}
	if o.MaxSize <= o.MinSize {
		return paramErr("max_size is %d, want more than min_size, %d", o.MaxSize, o.MinSize)
	}
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}.validate()
}

// Infer leaves the size unknown.
func (o *RandomResize) Infer(dst, in []tensor.Desc) error {
	if err := (sampling{o.Interpolation, o.Backend, !o.NoAntialias}).want(in[0]); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomResize) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Resize.
func (o *RandomResize) Draw(d *Draw) error {
	return emitOp(d, Resize{
		Fit: FitShortest, Edge: o.MinSize + d.IntN(o.MaxSize-o.MinSize),
		Interpolation: o.Interpolation, Backend: o.Backend, NoAntialias: o.NoAntialias,
	})
}
