package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Rotate90 rotates an image counter-clockwise by a multiple of 90 degrees. It
// takes any dtype of fixed size, HWC or CHW, and keeps both. No value changes.
//
// Reference: NumPy 2.4.6, rot90 over height and width.
type Rotate90 struct {
	Turns int `json:"turns"` // number of rotations by 90 degrees counter-clockwise; negative is clockwise
}

//msgp:tuple Rotate90

// NewRotate90 returns the op.
func NewRotate90(turns int) *Rotate90 { return &Rotate90{Turns: turns} }

// Info describes the op.
func (*Rotate90) Info() Info {
	return Info{
		Name: "rotate90", Version: 1, New: func() Op { return NewRotate90(1) },
		Reference: "NumPy 2.4.6 rot90", Exactness: "0",
	}
}

// Validate returns nil: any number of turns is valid.
func (o *Rotate90) Validate() error { return nil }

// Infer swaps the height and the width if the number of turns is odd.
func (o *Rotate90) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	dst[0] = in[0]
	if o.Turns&1 != 0 {
		dst[0] = in[0].WithSize(in[0].Width(), in[0].Height())
	}
	return nil
}

// Apply rotates.
func (o *Rotate90) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	rotateQuarters(dst[0], s, mod(o.Turns, 4))
	return nil
}

// rotateQuarters rotates the dense image src counter-clockwise by 0 to 3 times
// 90 degrees.
func rotateQuarters(dst, src *tensor.Tensor, turns int) {
	in, out := gridOf(src.Desc), gridOf(dst.Desc)
	size, line, step := in.width*in.height*in.pixel, out.width*out.pixel, in.width*in.pixel
	for p := range out.planes {
		d := kernel.Rows{Data: dst.Data[p*size:][:size], Step: line}
		s := kernel.Rows{Data: src.Data[p*size:][:size], Step: step}
		switch turns {
		case 0:
			copy(d.Data, s.Data)
			continue
		case 1: // the last column becomes the first row
			d.At, d.Step = size-line, -line
		case 2:
			kernel.FlipRow(d.Data, s.Data, in.pixel)
			continue
		case 3: // the first column, read upwards, becomes the first row
			s.At, s.Step = size-step, -step
		}
		kernel.Transpose(d, s, out.height, out.width, in.pixel)
	}
}

// Move rotates a column. One turn moves a point (x, y) of an image of width w
// to (y, w-x), as torchvision's rotate does but for rounding.
func (o *Rotate90) Move(d *Draw, r Role, from, to tensor.Desc) error {
	turns := mod(o.Turns, 4)
	if turns == 0 {
		return nil
	}
	if r.Kind <= RoleMask {
		return emitOp(d, *o)
	}
	if r.Format == CoordRelative {
		return cannotMove(o, r, movedRelative)
	}
	c := NewOp[AffineCoords](d)
	*c = AffineCoords{Format: r.Format, Height: to.Height(), Width: to.Width(), Clamping: r.Clamping}
	w, h := float64(from.Width()), float64(from.Height())
	switch turns {
	case 1:
		c.Matrix = AffineMatrix{0, 1, 0, -1, 0, w}
	case 2:
		c.Matrix = AffineMatrix{-1, 0, w, 0, -1, h}
	case 3:
		c.Matrix = AffineMatrix{0, -1, h, 1, 0, 0}
	}
	return d.Emit(c)
}
