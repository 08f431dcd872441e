//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// MaskSequence multiplies the rows of a sequence by a mask. A row of mask 1
// stays; the values of a row of mask 0 become 0 or, if they were negative, -0.
//
// Inputs: sound, float32 without a layout, whose first axis counts the rows;
// mask, int32 (rows), such as that of fit_sequence. The output has the
// description of sound.
//
// Reference: NumPy 2.4.6, rows * mask[..., None], as
// Gemma4AudioFeatureExtractor of transformers 5.23.0 computes it.
type MaskSequence struct{}

//msgp:tuple MaskSequence

// NewMaskSequence returns the op.
func NewMaskSequence() *MaskSequence { return &MaskSequence{} }

// Info describes the op.
func (*MaskSequence) Info() Info {
	return Info{
		Name: "mask_sequence", Version: 1, New: func() Op { return NewMaskSequence() },
		In: []string{"sound", "mask"}, Out: soundColumn,
		Reference: "transformers 5.23.0 Gemma4AudioFeatureExtractor, NumPy 2.4.6", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *MaskSequence) Validate() error { return nil }

// Infer keeps the description of the sequence.
func (o *MaskSequence) Infer(dst, in []tensor.Desc) error {
	d, m := in[0], in[1]
	if err := wantSequence(d, 0); err != nil {
		return err
	}
	if err := m.Validate(); err != nil {
		return inputErr("mask: %v", err)
	}
	if d.DType != tensor.Float32 {
		return inputErr("%v, want float32", d)
	}
	if m.DType != tensor.Int32 || m.Layout != tensor.NoLayout || m.Shape.Rank() != 1 {
		return inputErr("mask is %v, want int32 with one axis", m)
	}
	if n, k := d.Shape.At(0), m.Shape.At(0); n != tensor.Unknown && k != tensor.Unknown && n != k {
		return inputErr("mask has %d values, want one for each of the %d rows", k, n)
	}
	dst[0] = d
	return nil
}

// Apply multiplies.
func (o *MaskSequence) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	m, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	mask := tensor.View[int32](m)
	if len(mask) == 0 {
		return nil
	}
	columns := len(in) / len(mask)
	for i, k := range mask {
		f := float32(k)
		for j, x := range in[i*columns : (i+1)*columns] {
			out[i*columns+j] = float32(x * f)
		}
	}
	return nil
}
