package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// PadSequence pads a sequence at the end to Length rows and reports which rows
// are from the input. A sequence is a tensor without a layout; its first axis
// counts the rows. It takes any dtype of fixed size and keeps it. A longer
// sequence is an ErrInput unless KeepLonger is set. A fill that the dtype
// cannot hold is an ErrInput.
//
// Outputs: image, the sequence; mask, int32 (Length): 1 for a row of the input,
// 0 for an added row.
//
// Reference: pad_along_first_dim of transformers 5.23.0 (SigLIP2). As there,
// KeepLonger does not change longer sequences, and their mask still has Length
// ones.
type PadSequence struct {
	Length     int     `json:"length"`      // rows of the output, 1 to 2^24
	Fill       float64 `json:"fill"`        // value of the added rows; default 0
	KeepLonger bool    `json:"keep_longer"` // accept longer sequences, whose mask is then too short; default false
}

//msgp:tuple PadSequence

// NewPadSequence returns the op with a fill of 0.
func NewPadSequence(length int) *PadSequence { return &PadSequence{Length: length} }

// Info describes the op.
func (*PadSequence) Info() Info {
	return Info{
		Name: "pad_sequence", Version: 1, New: func() Op { return NewPadSequence(256) },
		Out:       []string{"image", "mask"},
		Reference: "transformers 5.23.0 pad_along_first_dim", Exactness: "0",
	}
}

// Validate checks the length and the fill.
func (o *PadSequence) Validate() error {
	if err := checkSide("length", o.Length); err != nil {
		return err
	}
	return checkValues("fill", []float64{o.Fill})
}

// wantSequence checks a sequence that is padded with fill.
func wantSequence(d tensor.Desc, fill float64) error {
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType.Size() == 0 || d.Layout != tensor.NoLayout || d.Shape.Rank() == 0 {
		return inputErr("%v, want a sequence: a first axis, no layout and a dtype of fixed size", d)
	}
	if !holds(d.DType, fill) {
		return inputErr("%v cannot hold fill = %v", d.DType, fill)
	}
	return nil
}

// Infer sets the number of rows to Length.
func (o *PadSequence) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSequence(d, o.Fill); err != nil {
		return err
	}
	n := d.Shape.At(0)
	switch {
	case n > o.Length && !o.KeepLonger:
		return inputErr("%v has more than %d rows", d, o.Length)
	case n > o.Length, n == tensor.Unknown && o.KeepLonger:
	default:
		n = o.Length
	}
	dst[0] = d
	dst[0].Shape = d.Shape.With(0, n)
	dst[1] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(o.Length)}
	return inferred(dst[0])
}

// Apply copies the rows and appends the padding.
func (o *PadSequence) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	n := copy(dst[0].Data, s.Data)
	if rest := dst[0].Data[n:]; len(rest) > 0 {
		fill := c.Scratch(s.DType.Size())
		putNumber(fill, s.DType, o.Fill)
		kernel.RepeatPixel(rest, fill)
	}
	mask, rows := tensor.View[int32](dst[1]), s.Shape.At(0)
	for i := range mask {
		mask[i] = 0
		if i < rows {
			mask[i] = 1
		}
	}
	return nil
}
