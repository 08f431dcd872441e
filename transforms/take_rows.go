package transforms

import "github.com/infer-prep/infer-prep/tensor"

// TakeRows returns Count rows of a tensor from row Start on. A row is an
// element of the first axis: a number of a vector, or a tile. It takes a tensor
// without a layout, of any dtype of fixed size, and keeps the dtype. A tensor
// with too few rows is an ErrInput. No value changes.
//
// Reference: NumPy 2.4.6, a[start:start+count].
type TakeRows struct {
	Start int `json:"start"` // 0 to 2^24; default 0
	Count int `json:"count"` // 1 to 2^24; default 1
}

//msgp:tuple TakeRows

// NewTakeRows returns the op.
func NewTakeRows(start, count int) *TakeRows { return &TakeRows{Start: start, Count: count} }

// Info describes the op.
func (*TakeRows) Info() Info {
	return Info{
		Name: "take_rows", Version: 1, New: func() Op { return NewTakeRows(0, 1) },
		Reference: "NumPy 2.4.6 slicing", Exactness: "0",
	}
}

// Validate checks the range.
func (o *TakeRows) Validate() error {
	if o.Start < 0 || o.Start > maxSide {
		return paramErr("start is %d, want 0 to %d", o.Start, maxSide)
	}
	return checkSide("count", o.Count)
}

// Infer sets the number of rows.
func (o *TakeRows) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantTiles(d); err != nil {
		return err
	}
	if n := d.Shape.At(0); n != tensor.Unknown && n < o.Start+o.Count {
		return inputErr("%v has %d rows, want at least %d", d, n, o.Start+o.Count)
	}
	dst[0] = d
	dst[0].Shape = d.Shape.With(0, o.Count)
	return inferred(dst[0])
}

// Apply copies the rows.
func (o *TakeRows) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	row := len(dst[0].Data) / o.Count
	copy(dst[0].Data, s.Data[o.Start*row:])
	return nil
}
