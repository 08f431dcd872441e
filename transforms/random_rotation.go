package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomRotation rotates an image by a random angle. It takes the images of
// Rotate with the same backend.
//
// Reference: torchvision 0.29.2's RandomRotation. The angle is drawn uniformly.
type RandomRotation struct {
	Degrees       Range         `json:"degrees"`       // of angles, counter-clockwise, within -1,000,000 to 1,000,000
	Interpolation Interpolation `json:"interpolation"` // see Rotate; default nearest
	Backend       Backend       `json:"backend"`       // pillow, torch or opencv4; default pillow
	Expand        bool          `json:"expand"`        // enlarge the output to hold the rotated image; default false
	Center        NumberList    `json:"center"`        // see Rotate; default empty, which is the image's centre
	Fill          NumberList    `json:"fill"`          // see Rotate; default 0
}

//msgp:tuple RandomRotation

// NewRandomRotation returns the op for angles of -degrees to degrees: nearest,
// Pillow, with the size of the input and a fill of 0.
func NewRandomRotation(degrees float64) *RandomRotation {
	return &RandomRotation{Degrees: Range{-degrees, degrees}, Interpolation: Nearest, Backend: Pillow, Fill: NumberList{0}}
}

// rotate returns the op for one angle.
func (o *RandomRotation) rotate(angle float64) Rotate {
	return Rotate{angle, o.Interpolation, o.Backend, o.Expand, o.Center, o.Fill}
}

// Info describes the op.
func (*RandomRotation) Info() Info {
	return Info{
		Name: "random_rotation", Version: 1, New: func() Op { return NewRandomRotation(15) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the range and the parameters of Rotate.
func (o *RandomRotation) Validate() error {
	if err := o.Degrees.check("degrees", -maxAngle, maxAngle); err != nil {
		return err
	}
	r := o.rotate(o.Degrees.Min)
	return r.Validate()
}

// Infer keeps the description. With Expand, the size is unknown.
func (o *RandomRotation) Infer(dst, in []tensor.Desc) error {
	r := o.rotate(o.Degrees.Min)
	if err := r.Infer(dst, in); err != nil {
		return err
	}
	if o.Expand && o.Degrees.Min != o.Degrees.Max {
		dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	}
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomRotation) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Rotate.
func (o *RandomRotation) Draw(d *Draw) error {
	op := NewOp[Rotate](d)
	*op = o.rotate(o.Degrees.draw(&d.Stream))
	return d.Emit(op)
}
