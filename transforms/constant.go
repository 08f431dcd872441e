package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Constant returns the same number for every input: a tensor without axes. It
// takes any tensor and does not read it. Models take such a number as an input
// of its own.
//
// Reference: transformers 5.23.0, image_merge_sizes of VideoLLaMA 3, which is
// int64; NumPy 2.4.6 for the other dtypes.
type Constant struct {
	Value float64      `json:"value"` // must be a value of DType; default 0
	DType tensor.DType `json:"dtype"` // any except bytes; default int64
}

//msgp:tuple Constant

// NewConstant returns the op with an int64 output.
func NewConstant(value float64) *Constant { return &Constant{Value: value, DType: tensor.Int64} }

// Info describes the op.
func (*Constant) Info() Info {
	return Info{
		Name: "constant", Version: 1, New: func() Op { return NewConstant(0) },
		Out:       []string{"value"},
		Reference: "transformers 5.23.0 VideoLlama3ImageProcessorPil", Exactness: "0",
	}
}

// Validate checks the dtype and that it holds the value.
func (o *Constant) Validate() error {
	if err := checkElement("dtype", o.DType); err != nil {
		return err
	}
	if err := checkValues("value", []float64{o.Value}); err != nil {
		return err
	}
	if !holds(o.DType, o.Value) {
		return paramErr("value is %v, want a value of %v", o.Value, o.DType)
	}
	return nil
}

// Infer describes one number.
func (o *Constant) Infer(dst, in []tensor.Desc) error {
	if err := in[0].Validate(); err != nil {
		return inputErr("%v", err)
	}
	dst[0] = tensor.Desc{DType: o.DType, Shape: tensor.Dims()}
	return nil
}

// Apply writes the number.
func (o *Constant) Apply(_ *Context, dst, _ []*tensor.Tensor) error {
	putNumber(dst[0].Data, o.DType, o.Value)
	return nil
}

// DescOnly marks the op as DescOnly.
func (o *Constant) DescOnly() {}
