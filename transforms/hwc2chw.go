package transforms

import "github.com/infer-prep/infer-prep/tensor"

// HWC2CHW moves the channels of an image from the innermost to the outermost
// axis. It takes HWC images of any dtype of fixed size and gives CHW ones of
// the same dtype; no value is changed. Another layout is an ErrInput.
//
// Reference: NumPy 2.4.6, transpose(2, 0, 1).
type HWC2CHW struct{}

//msgp:tuple HWC2CHW

func init() {
	Register(Info{
		Name: "hwc2chw", Version: 1, New: func() Op { return NewHWC2CHW() },
		Reference: "NumPy 2.4.6 transpose", Exactness: "0",
	})
}

// NewHWC2CHW makes the op.
func NewHWC2CHW() *HWC2CHW { return &HWC2CHW{} }

// Validate accepts it always: there are no parameters.
func (o *HWC2CHW) Validate() error { return nil }

// Infer takes HWC and gives CHW.
func (o *HWC2CHW) Infer(dst, in []tensor.Desc) error {
	return inferLayout(dst, in, tensor.HWC, tensor.CHW)
}

// Apply copies.
func (o *HWC2CHW) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	transpose(dst[0].Data, s.Data, s.DType.Size(), s.Height()*s.Width(), s.Channels())
	return nil
}

// inferLayout takes an image of one layout and gives it in another.
func inferLayout(dst, in []tensor.Desc, from, to tensor.Layout) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	if in[0].Layout != from {
		return inputErr("%v, want layout %v", in[0], from)
	}
	dst[0] = tensor.Image(in[0].DType, to, in[0].Height(), in[0].Width(), in[0].Channels())
	return nil
}

// transpose writes the rows x cols matrix of elements of size bytes, in row-major order, as cols x rows.
func transpose(dst, src []byte, size, rows, cols int) {
	switch size {
	case 1:
		transposeOf(dst, src, rows, cols)
	case 2:
		transposeOf(tensor.Cast[uint16](dst), tensor.Cast[uint16](src), rows, cols)
	case 4:
		transposeOf(tensor.Cast[int32](dst), tensor.Cast[int32](src), rows, cols)
	case 8:
		transposeOf(tensor.Cast[int64](dst), tensor.Cast[int64](src), rows, cols)
	}
}

func transposeOf[T any](dst, src []T, rows, cols int) {
	if rows < cols { // CHW to HWC: read in order, write in steps
		for r := range rows {
			row, at := src[r*cols:][:cols], r
			for _, v := range row {
				dst[at] = v
				at += rows
			}
		}
		return
	}
	for c := range cols {
		col, at := dst[c*rows:][:rows], c
		for i := range col {
			col[i] = src[at]
			at += cols
		}
	}
}

// Pointwise says that the op is one, see type Pointwise.
func (o *HWC2CHW) Pointwise() {}
