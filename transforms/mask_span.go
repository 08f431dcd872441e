//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// MaskSpan sets consecutive rows or columns of a matrix to Value: a mask of
// SpecAugment. It takes a float32 matrix without a layout, such as features of
// (frames, bands), and keeps the description. A span that exceeds the matrix is
// an ErrInput.
//
// Reference: torchaudio 2.11.0, functional.mask_along_axis, whose span
// RandomMaskSpan draws.
type MaskSpan struct {
	Axis   int     `json:"axis"`   // 0 for rows, 1 for columns
	Start  int     `json:"start"`  // first row or column, 0 to 2^29
	Length int     `json:"length"` // rows or columns, 0 to 2^29
	Value  float64 `json:"value"`  // rounded to float32; default 0
}

//msgp:tuple MaskSpan

// NewMaskSpan returns the op with the value 0.
func NewMaskSpan(axis, start, length int) *MaskSpan {
	return &MaskSpan{Axis: axis, Start: start, Length: length}
}

// Info describes the op.
func (*MaskSpan) Info() Info {
	return Info{
		Name: "mask_span", Version: 1, New: func() Op { return NewMaskSpan(0, 0, 0) }, InPlace: true,
		In: soundColumn, Out: soundColumn,
		Reference: "torchaudio 2.11.0 functional.mask_along_axis", Exactness: "0",
	}
}

// Validate checks the parameters.
func (o *MaskSpan) Validate() error {
	if o.Start < 0 || o.Length < 0 || o.Start > maxSequence || o.Length > maxSequence {
		return paramErr("start %d, length %d, want 0 to %d", o.Start, o.Length, maxSequence)
	}
	return checkMasked(o.Axis, o.Value)
}

// checkMasked checks an axis of a matrix and a value.
func checkMasked(axis int, value float64) error {
	if axis < 0 || axis > 1 {
		return paramErr("axis is %d, want 0 or 1", axis)
	}
	return checkValues("value", []float64{value})
}

// Infer keeps the description.
func (o *MaskSpan) Infer(dst, in []tensor.Desc) error {
	if err := inferMatrix(dst, in); err != nil {
		return err
	}
	if n := in[0].Shape.At(o.Axis); n != tensor.Unknown && o.Start+o.Length > n {
		return inputErr("%v, want at least %d along axis %d", in[0], o.Start+o.Length, o.Axis)
	}
	return nil
}

// inferMatrix keeps the description of a float32 matrix.
func inferMatrix(dst, in []tensor.Desc) error {
	if err := inferFloats(dst, in); err != nil {
		return err
	}
	if in[0].Shape.Rank() != 2 {
		return inputErr("%v, want float32 (frames, bands)", in[0])
	}
	return nil
}

// Apply sets the span.
func (o *MaskSpan) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copyUnlessSame(dst[0], s)
	out, columns, value := tensor.View[float32](dst[0]), s.Shape.At(1), float32(o.Value)
	fill := func(to []float32) {
		for i := range to {
			to[i] = value
		}
	}
	if o.Axis == 0 {
		fill(out[o.Start*columns:][:o.Length*columns])
		return nil
	}
	for y := range s.Shape.At(0) {
		fill(out[y*columns+o.Start:][:o.Length])
	}
	return nil
}
