package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Transpose puts the axes of a tensor into another order. It takes any tensor
// of fixed-size elements with as many axes as Axes lists, and keeps the dtype.
// The output has no layout. No value changes.
//
// Reference: NumPy 2.4.6, transpose.
type Transpose struct {
	Axes IndexList `json:"axes"` // for each axis of the output the input's axis, from 0; each once
}

//msgp:tuple Transpose
//sheet:transpose {"axes": [1, 0, 2]}

// NewTranspose returns the op.
func NewTranspose(axes ...int) *Transpose { return &Transpose{Axes: axes} }

// Info describes the op.
func (*Transpose) Info() Info {
	return Info{
		Name: "transpose", Version: 1, New: func() Op { return NewTranspose(1, 0) },
		Reference: "NumPy 2.4.6 transpose", Exactness: "0",
	}
}

// Validate checks that each axis is listed once.
func (o *Transpose) Validate() error {
	if len(o.Axes) > tensor.MaxRank {
		return paramErr("axes has %d axes, want at most %d", len(o.Axes), tensor.MaxRank)
	}
	var seen [tensor.MaxRank]bool
	for i, a := range o.Axes {
		if a < 0 || a >= len(o.Axes) || seen[a] {
			return paramErr("axes[%d] is %d, want each of 0 to %d once", i, a, len(o.Axes)-1)
		}
		seen[a] = true
	}
	return nil
}

// Infer exchanges the sizes.
func (o *Transpose) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	if d.Shape.Rank() != len(o.Axes) {
		return inputErr("%v, want %d axes", d, len(o.Axes))
	}
	dst[0] = tensor.Desc{DType: d.DType}
	for _, a := range o.Axes {
		dst[0].Shape = dst[0].Shape.Append(d.Shape.At(a))
	}
	return inferred(dst[0])
}

// Apply copies the elements.
func (o *Transpose) Apply(_ *Context, dst, src []*tensor.Tensor) error {
	s := src[0]
	var dims, steps [tensor.MaxRank]int
	for i, a := range o.Axes {
		dims[i], steps[i] = s.Shape.At(a), s.Strides[a]
		if dims[i] == 0 {
			return nil
		}
	}
	// The last axes that are contiguous in the input too are copied at once.
	n, whole := len(o.Axes), 1
	for n > 0 && (dims[n-1] == 1 || steps[n-1] == whole) {
		n--
		whole *= dims[n]
	}
	size := s.DType.Size()
	copyAxes(dst[0].Data, s.Data, dims[:n], steps[:n], whole*size, size)
	return nil
}

// copyAxes copies blocks of src to dst in row-major order and returns the rest
// of dst. steps are elements of size bytes.
func copyAxes(dst, src []byte, dims, steps []int, block, size int) []byte {
	switch len(dims) {
	case 0:
		return dst[copy(dst[:block], src):]
	case 1:
		if block == size {
			scatterGather(dst, src, dims[0], size, size, steps[0]*size)
			return dst[dims[0]*size:]
		}
	}
	for i := range dims[0] {
		dst = copyAxes(dst, src[i*steps[0]*size:], dims[1:], steps[1:], block, size)
	}
	return dst
}
