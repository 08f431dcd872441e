package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomPerspective moves the corners of an image inwards at random, with a
// given probability; otherwise it does not change the image. It takes the
// images of Perspective with the same backend. An image with a side of one
// pixel is an ErrInput.
//
// Reference: torchvision 0.29.2's RandomPerspective. One number of [0, 1) is
// drawn. If it is below the probability, x and y of the corners are drawn, in
// the order top left, top right, bottom right, bottom left. They are whole
// numbers, uniform among the floor(Distortion*floor(side/2)) + 1 nearest to the
// corner. If three corners are on a line, which torchvision may refuse, all of
// them are drawn again, up to 100 times.
type RandomPerspective struct {
	Probability   float64       `json:"probability"`   // 0 to 1; default 0.5
	Distortion    float64       `json:"distortion"`    // how far corners move, as a fraction of half the sides, 0 to 1; default 0.5
	Interpolation Interpolation `json:"interpolation"` // see Perspective; default bilinear
	Backend       Backend       `json:"backend"`       // pillow, torch or opencv4; default pillow
	Fill          NumberList    `json:"fill"`          // see Perspective; default 0
}

//msgp:tuple RandomPerspective

// NewRandomPerspective returns the op with a probability of 0.5: bilinear,
// Pillow, with a fill of 0.
func NewRandomPerspective(distortion float64) *RandomPerspective {
	return &RandomPerspective{Probability: 0.5, Distortion: distortion, Interpolation: Bilinear, Backend: Pillow, Fill: NumberList{0}}
}

// perspective returns the op for drawn corners of an image of h x w.
func (o *RandomPerspective) perspective(h, w int, end Quad) Perspective {
	x, y := float64(w-1), float64(h-1)
	return Perspective{Start: Quad{0, 0, x, 0, x, y, 0, y}, End: end, Interpolation: o.Interpolation, Backend: o.Backend, Fill: o.Fill}
}

// Info describes the op.
func (*RandomPerspective) Info() Info {
	return Info{
		Name: "random_perspective", Version: 1, New: func() Op { return NewRandomPerspective(0.5) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the probability, the distortion and the parameters of
// Perspective.
func (o *RandomPerspective) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	if err := checkBounds("distortion", o.Distortion, 0, 1); err != nil {
		return err
	}
	p := o.perspective(2, 2, Quad{0, 0, 1, 0, 1, 1, 0, 1})
	return p.Validate()
}

// Infer keeps the description.
func (o *RandomPerspective) Infer(dst, in []tensor.Desc) error {
	p := o.perspective(2, 2, Quad{})
	if err := p.Infer(dst, in); err != nil {
		return err
	}
	if in[0].Height() == 1 || in[0].Width() == 1 {
		return inputErr("%v, want sides of at least 2", in[0])
	}
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomPerspective) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Perspective or nothing.
func (o *RandomPerspective) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	if h == 1 || w == 1 {
		return inputErr("%v, want sides of at least 2", d.In[0])
	}
	if !d.Coin(o.Probability) {
		return nil
	}
	bx, by := int(float64(o.Distortion*float64(w/2)))+1, int(float64(o.Distortion*float64(h/2)))+1
	op := NewOp[Perspective](d)
	for range 100 {
		var end Quad
		for i, from := range [8]int{0, 0, w - bx, 0, w - bx, h - by, 0, h - by} {
			n := bx
			if i%2 != 0 {
				n = by
			}
			end[i] = float64(from + d.IntN(n))
		}
		*op = o.perspective(h, w, end)
		if op.connected() {
			break
		}
	}
	return d.Emit(op)
}
