package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Quantize converts float32 to an integer type. It divides x by the scale in
// float32, rounds half to even, adds the zero point and clamps the sum to the
// range of the type. NaN becomes the zero point (ONNX leaves it undefined).
// Infinities become the bounds of the range. It takes a float32 image, HWC or
// CHW.
//
// Reference: ONNX QuantizeLinear (opset 21), as the reference evaluator of onnx
// 1.23.2 and ONNX Runtime 1.31.1 compute it.
type Quantize struct {
	Scale     []float64    `json:"scale"`      // above 0, also after rounding to float32; one for all channels or one per channel
	ZeroPoint []int        `json:"zero_point"` // in the range of the dtype; one for all channels or one per channel
	DType     tensor.DType `json:"dtype"`      // of the output: uint8, int8, uint16 or int16
}

//msgp:tuple Quantize

// NewQuantize returns the op, which keeps the slices.
func NewQuantize(scale []float64, zeroPoint []int, d tensor.DType) *Quantize {
	return &Quantize{Scale: scale, ZeroPoint: zeroPoint, DType: d}
}

// Info describes the op.
func (*Quantize) Info() Info {
	return Info{
		Name: "quantize", Version: 1,
		New:       func() Op { return NewQuantize([]float64{1.0 / 255}, []int{0}, tensor.Uint8) },
		Reference: "onnx 1.23.2 reference evaluator and ONNX Runtime 1.31.1, QuantizeLinear", Exactness: "0",
	}
}

// Validate checks the dtype, the scales and the zero points.
func (o *Quantize) Validate() error {
	switch o.DType {
	case tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16:
	default:
		return paramErr("dtype is %v, want uint8, int8, uint16 or int16", o.DType)
	}
	if err := checkDivisors("scale", o.Scale); err != nil {
		return err
	}
	for i, v := range o.Scale {
		if v < 0 {
			return paramErr("scale[%d] is %v, want it above 0", i, v)
		}
	}
	if len(o.ZeroPoint) == 0 {
		return paramErr("zero_point has no values, want 1 or one for each channel")
	}
	for i, z := range o.ZeroPoint {
		if !holds(o.DType, float64(z)) {
			return paramErr("zero_point[%d] is %d, which %v cannot hold", i, z, o.DType)
		}
	}
	return nil
}

// Infer changes the dtype.
func (o *Quantize) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Float32); err != nil {
		return err
	}
	if err := wantPerChannel(in[0], "scale", len(o.Scale)); err != nil {
		return err
	}
	if err := wantPerChannel(in[0], "zero_point", len(o.ZeroPoint)); err != nil {
		return err
	}
	dst[0] = in[0]
	dst[0].DType = o.DType
	return nil
}

// Apply quantizes.
func (o *Quantize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	switch o.DType {
	case tensor.Uint8:
		quantize[uint8](o, c, dst[0], s)
	case tensor.Int8:
		quantize[int8](o, c, dst[0], s)
	case tensor.Uint16:
		quantize[uint16](o, c, dst[0], s)
	case tensor.Int16:
		quantize[int16](o, c, dst[0], s)
	}
	return nil
}

func quantize[T uint8 | int8 | uint16 | int16](o *Quantize, c *Context, dst, src *tensor.Tensor) {
	in, out := tensor.View[float32](src), tensor.View[T](dst)
	channels, pixels := src.Channels(), src.Height()*src.Width()
	scale, zero := tensor.Cast[float32](c.Scratch(4*channels)), tensor.Cast[int32](c.Scratch(4*channels))
	for ch := range channels {
		scale[ch], zero[ch] = float32(channelValue(o.Scale, ch)), int32(channelValue(o.ZeroPoint, ch))
	}
	if src.Layout == tensor.HWC {
		kernel.QuantizeF32(out, in, scale, zero)
		return
	}
	for ch := range channels {
		at := ch * pixels
		kernel.QuantizeF32(out[at:][:pixels], in[at:][:pixels], scale[ch:ch+1], zero[ch:ch+1])
	}
}

// Pointwise marks the op as Pointwise.
func (o *Quantize) Pointwise() {}
