package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// RandomAffine shears, rotates, scales and moves an image at random. It takes
// the images of Affine with the same backend.
//
// Reference: torchvision 0.29.2's RandomAffine. The angle, the translation of x
// and of y, the scale and the shear of x and of y are drawn uniformly, in this
// order. The translations are within the fractions of the sides and rounded to
// whole pixels, half to even.
type RandomAffine struct {
	Degrees       Range         `json:"degrees"`       // of angles, clockwise, within -1,000,000 to 1,000,000
	TranslateX    float64       `json:"translate_x"`   // largest translation as a fraction of the width, 0 to 1; default 0
	TranslateY    float64       `json:"translate_y"`   // largest translation as a fraction of the height, 0 to 1; default 0
	Scale         Range         `json:"scale"`         // of factors of both sides, within 0.000001 to 1,000,000; default 1 to 1
	ShearX        Range         `json:"shear_x"`       // of degrees, within -1,000,000 to 1,000,000; default 0 to 0
	ShearY        Range         `json:"shear_y"`       // of degrees, within -1,000,000 to 1,000,000; default 0 to 0
	Interpolation Interpolation `json:"interpolation"` // see Affine; default nearest
	Backend       Backend       `json:"backend"`       // pillow, torch or opencv4; default pillow
	Center        NumberList    `json:"center"`        // see Affine; default empty, which is the image's centre
	Fill          NumberList    `json:"fill"`          // see Affine; default 0
}

//msgp:tuple RandomAffine
//sheet:random_affine {"interpolation": "bilinear"}

// NewRandomAffine returns the op that rotates by -degrees to degrees: nearest,
// Pillow, with a fill of 0.
func NewRandomAffine(degrees float64) *RandomAffine {
	return &RandomAffine{Degrees: Range{-degrees, degrees}, Scale: Range{1, 1}, Interpolation: Nearest, Backend: Pillow, Fill: NumberList{0}}
}

// affine returns the op for drawn numbers.
func (o *RandomAffine) affine(angle, tx, ty, scale, sx, sy float64) Affine {
	return Affine{angle, tx, ty, scale, sx, sy, o.Interpolation, o.Backend, o.Center, o.Fill}
}

// Info describes the op.
func (*RandomAffine) Info() Info {
	return Info{
		Name: "random_affine", Version: 1, New: func() Op { return NewRandomAffine(15) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the ranges and the parameters of Affine.
func (o *RandomAffine) Validate() error {
	turn := o.affine(0, 0, 0, 1, 0, 0)
	most := turn.maxAngle()
	for _, r := range [4]struct {
		name   string
		r      Range
		lo, hi float64
	}{
		{"degrees", o.Degrees, -most, most}, {"scale", o.Scale, 1 / maxAffineScale, maxAffineScale},
		{"shear_x", o.ShearX, -most, most}, {"shear_y", o.ShearY, -most, most},
	} {
		if err := r.r.check(r.name, r.lo, r.hi); err != nil {
			return err
		}
	}
	if err := checkBounds("translate_x", o.TranslateX, 0, 1); err != nil {
		return err
	}
	if err := checkBounds("translate_y", o.TranslateY, 0, 1); err != nil {
		return err
	}
	return turn.Validate()
}

// Infer keeps the description.
func (o *RandomAffine) Infer(dst, in []tensor.Desc) error {
	a := o.affine(0, 0, 0, 1, 0, 0)
	return a.Infer(dst, in)
}

// Apply returns ErrNotDrawn.
func (o *RandomAffine) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits an Affine.
func (o *RandomAffine) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	s := &d.Stream
	angle := o.Degrees.draw(s)
	move := func(fraction float64, side int) float64 {
		most := float64(fraction * float64(side))
		return math.RoundToEven(Range{-most, most}.draw(s)) + 0 // not -0
	}
	tx := move(o.TranslateX, w)
	ty := move(o.TranslateY, h)
	scale := o.Scale.draw(s)
	sx := o.ShearX.draw(s)
	sy := o.ShearY.draw(s)
	op := NewOp[Affine](d)
	*op = o.affine(angle, tx, ty, scale, sx, sy)
	return d.Emit(op)
}
