package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Threshold reports which values are greater than a value. It takes a float32
// tensor of any shape, with or without a layout, and keeps both. The output is
// 1 for a greater value, else 0, also for NaN.
//
// Reference: torch 2.15.0, in post_process_masks of transformers 5.23.0 (bool,
// 0) and in process_mask of ultralytics 8.4.190 (uint8, 0). As there, Value is
// rounded to float32.
type Threshold struct {
	Value float64      `json:"value"` // a finite number in the range of float32; default 0
	DType tensor.DType `json:"dtype"` // of the output: bool or uint8; default bool
}

//msgp:tuple Threshold
//sheet:threshold {"value": 0.5}

// NewThreshold returns the op with an output of bool.
func NewThreshold(value float64) *Threshold { return &Threshold{Value: value, DType: tensor.Bool} }

// Info describes the op.
func (*Threshold) Info() Info {
	return Info{
		Name: "threshold", Version: 1, New: func() Op { return NewThreshold(0) },
		Reference: "transformers 5.23.0 post_process_masks; ultralytics 8.4.190 process_mask", Exactness: "0",
	}
}

// Validate checks the value and the dtype.
func (o *Threshold) Validate() error {
	if o.DType != tensor.Bool && o.DType != tensor.Uint8 {
		return paramErr("dtype is %v, want bool or uint8", o.DType)
	}
	return checkValues("value", []float64{o.Value})
}

// Infer sets the dtype.
func (o *Threshold) Infer(dst, in []tensor.Desc) error {
	if err := in[0].Validate(); err != nil {
		return inputErr("%v", err)
	}
	if in[0].DType != tensor.Float32 {
		return inputErr("%v, want float32", in[0])
	}
	dst[0] = in[0]
	dst[0].DType = o.DType
	return nil
}

// Apply compares.
func (o *Threshold) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	out, limit := dst[0].Data, float32(o.Value)
	for i, v := range tensor.View[float32](s) {
		out[i] = boolByte(v > limit)
	}
	return nil
}
