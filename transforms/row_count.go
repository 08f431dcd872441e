package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RowCount returns the length of the first axis as int64, a scalar: the number
// of tiles, for example. An image counts as one row. It takes any dtype of
// fixed size and does not read the values.
//
// Reference: Python's len, as in num_patches of GOT-OCR2 in transformers
// 5.23.0.
type RowCount struct{}

//msgp:tuple RowCount

// NewRowCount returns the op.
func NewRowCount() *RowCount { return &RowCount{} }

// Info describes the op.
func (*RowCount) Info() Info {
	return Info{
		Name: "row_count", Version: 1, New: func() Op { return NewRowCount() },
		Out:       []string{"count"},
		Reference: "NumPy 2.4.6 len", Exactness: "0",
	}
}

// Validate returns nil: the op has no parameters.
func (o *RowCount) Validate() error { return nil }

// Infer describes the number.
func (o *RowCount) Infer(dst, in []tensor.Desc) error {
	if _, err := rowsOf(in[0]); err != nil {
		return err
	}
	dst[0] = tensor.Desc{DType: tensor.Int64}
	return nil
}

// Apply writes the number.
func (o *RowCount) Apply(_ *Context, dst, src []*tensor.Tensor) error {
	o.Report(dst, []tensor.Desc{src[0].Desc})
	return nil
}

// Reported returns 0, the index of the count.
func (o *RowCount) Reported() int { return 0 }

// Report writes the count.
func (o *RowCount) Report(dst []*tensor.Tensor, in []tensor.Desc) {
	tensor.View[int64](dst[0])[0] = int64(rowCount(in[0]))
}
