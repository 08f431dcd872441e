package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ScaleJitter scales an image to fit into a box and then by a random factor, in
// one step. It takes the images of Resize and uses its arithmetic.
//
// Reference: torchvision 0.29.2's ScaleJitter. The factor is drawn uniformly
// and rounded to float32. It is multiplied by the smaller ratio of the box's
// sides to the image's, and both sides of the image by the product. Every
// product is rounded to float32, and the sides are truncated. A side that
// becomes 0 is an ErrInput.
type ScaleJitter struct {
	Height        int           `json:"height"`        // of the box in pixels, 1 to 2^24
	Width         int           `json:"width"`         // of the box in pixels, 1 to 2^24
	Scale         Range         `json:"scale"`         // of factors, 0.001 to 1000; default 0.1 to 2
	Interpolation Interpolation `json:"interpolation"` // default bilinear
	Backend       Backend       `json:"backend"`       // default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
}

//msgp:tuple ScaleJitter

// NewScaleJitter returns the op for a box of height x width: bilinear, Pillow,
// antialiased.
func NewScaleJitter(height, width int) *ScaleJitter {
	return &ScaleJitter{Height: height, Width: width, Scale: Range{0.1, 2}, Interpolation: Bilinear, Backend: Pillow}
}

// Info describes the op.
func (*ScaleJitter) Info() Info {
	return Info{
		Name: "scale_jitter", Version: 1, New: func() Op { return NewScaleJitter(1024, 1024) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the box, the range, and that the backend supports the
// interpolation.
func (o *ScaleJitter) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := o.Scale.check("scale", 0.001, 1000); err != nil {
		return err
	}
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}.validate()
}

// Infer leaves the size unknown.
func (o *ScaleJitter) Infer(dst, in []tensor.Desc) error {
	if err := (sampling{o.Interpolation, o.Backend, !o.NoAntialias}).want(in[0]); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	return nil
}

// Apply returns ErrNotDrawn.
func (o *ScaleJitter) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Resize.
func (o *ScaleJitter) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	fit := min(float64(o.Height)/float64(h), float64(o.Width)/float64(w))
	r := float32(float32(fit) * float32(o.Scale.draw(&d.Stream)))
	op := NewOp[Resize](d)
	*op = Resize{
		Fit: FitExact, Height: truncated(float32(float32(h) * r)), Width: truncated(float32(float32(w) * r)),
		Interpolation: o.Interpolation, Backend: o.Backend, NoAntialias: o.NoAntialias,
	}
	if err := wantScaled(d.In[0], op.Height, op.Width); err != nil {
		return err
	}
	return d.Emit(op)
}

// truncated truncates a side, up to one that is too large.
func truncated(v float32) int { return int(min(v, 2*maxSide)) }
