//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PCMToFloat converts integer samples to float32. It takes int16 or int32,
// (samples) or (channels, samples), and keeps the shape. int16 is divided by
// 32768; int32 is rounded to float32 and divided by 2147483648.
//
// Reference: libsndfile 1.2.2, as soundfile 0.14.0 reads such samples as
// float32; NumPy 2.4.6.
type PCMToFloat struct{}

//msgp:tuple PCMToFloat

// NewPCMToFloat returns the op.
func NewPCMToFloat() *PCMToFloat { return &PCMToFloat{} }

// Info describes the op.
func (*PCMToFloat) Info() Info {
	return Info{
		Name: "pcm_to_float", Version: 1, New: func() Op { return NewPCMToFloat() },
		In: soundColumn, Out: soundColumn,
		Reference: "libsndfile 1.2.2 (soundfile 0.14.0), NumPy 2.4.6", Exactness: "0",
	}
}

// Validate accepts the op, which has no parameters.
func (o *PCMToFloat) Validate() error { return nil }

// Infer changes the dtype.
func (o *PCMToFloat) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	if r := d.Shape.Rank(); d.DType != tensor.Int16 && d.DType != tensor.Int32 || d.Layout != tensor.NoLayout || r < 1 || r > 2 {
		return inputErr("%v, want int16 or int32, (samples) or (channels, samples)", d)
	}
	dst[0] = d
	dst[0].DType = tensor.Float32
	return inferred(dst[0])
}

// Apply converts.
func (o *PCMToFloat) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	out := tensor.View[float32](dst[0])
	if s.DType == tensor.Int16 {
		for i, x := range tensor.View[int16](s) {
			out[i] = float32(float32(x) * (1.0 / (1 << 15)))
		}
		return nil
	}
	for i, x := range tensor.View[int32](s) {
		out[i] = float32(float32(x) * (1.0 / (1 << 31)))
	}
	return nil
}
