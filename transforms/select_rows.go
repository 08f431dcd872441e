package transforms

import "github.com/infer-prep/infer-prep/tensor"

// SelectRows keeps the rows of a tensor that a mask marks, in order. A row is
// an element of the first axis: a box, a label, or the mask of one object. No
// value changes.
//
// Inputs: rows, of any dtype of fixed size, without layout or CHW, whose
// channels are the rows; mask, bool (n), with one value for each row. The
// output keeps the dtype, the layout and the other axes. It may have no rows.
//
// Reference: torch 2.15.0, rows[mask], as SanitizeBoundingBoxes of torchvision
// 0.29.2 uses it.
type SelectRows struct{}

//msgp:tuple SelectRows

// NewSelectRows returns the op.
func NewSelectRows() *SelectRows { return &SelectRows{} }

// Info describes the op.
func (*SelectRows) Info() Info {
	return Info{
		Name: "select_rows", Version: 1, New: func() Op { return NewSelectRows() },
		In: []string{"rows", "mask"}, Out: []string{"rows"},
		Reference: "torch 2.15.0 indexing by a mask", Exactness: "0",
	}
}

// Validate returns nil: there are no parameters.
func (o *SelectRows) Validate() error { return nil }

// Infer leaves the number of rows Unknown.
func (o *SelectRows) Infer(dst, in []tensor.Desc) error {
	d, m := in[0], in[1]
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if err := m.Validate(); err != nil {
		return inputErr("mask: %v", err)
	}
	if d.DType.Size() == 0 || d.Layout != tensor.NoLayout && d.Layout != tensor.CHW || d.Shape.Rank() == 0 {
		return inputErr("%v, want a first axis, no layout or CHW, and a dtype of fixed size", d)
	}
	if m.DType != tensor.Bool || m.Layout != tensor.NoLayout || m.Shape.Rank() != 1 {
		return inputErr("mask is %v, want bool with one axis", m)
	}
	if n, k := d.Shape.At(0), m.Shape.At(0); n != tensor.Unknown && k != tensor.Unknown && n != k {
		return inputErr("mask has %d values, want one for each of the %d rows", k, n)
	}
	dst[0] = d
	dst[0].Shape = d.Shape.With(0, tensor.Unknown)
	return inferred(dst[0])
}

// InferData counts the rows to keep.
func (o *SelectRows) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	m, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	n := 0
	for _, b := range m.Data {
		n += int(boolByte(b != 0))
	}
	dst[0] = src[0].Desc
	dst[0].Shape = dst[0].Shape.With(0, n)
	return inferred(dst[0])
}

// Apply copies the rows.
func (o *SelectRows) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	m, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	if len(m.Data) == 0 {
		return nil
	}
	row, at := len(s.Data)/len(m.Data), 0
	for i, b := range m.Data {
		if b != 0 {
			at += copy(dst[0].Data[at:], s.Data[i*row:][:row])
		}
	}
	return nil
}
