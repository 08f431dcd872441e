//go:build !small

package transforms

import "github.com/infer-prep/infer-prep/tensor"

// MixMono averages the channels of a sound. It takes float32 (channels,
// samples) with at least one channel and returns float32 (samples): the sum of
// the channels in their order, divided by their number, in float32.
//
// Reference: librosa 0.11.0, to_mono; NumPy 2.4.6, np.mean(x, axis=0).
type MixMono struct{}

//msgp:tuple MixMono

// NewMixMono returns the op.
func NewMixMono() *MixMono { return &MixMono{} }

// Info describes the op.
func (*MixMono) Info() Info {
	return Info{
		Name: "mix_mono", Version: 1, New: func() Op { return NewMixMono() },
		In: soundColumn, Out: soundColumn,
		Reference: "librosa 0.11.0 to_mono, NumPy 2.4.6 mean", Exactness: "0",
	}
}

// Validate accepts the op, which has no parameters.
func (o *MixMono) Validate() error { return nil }

// Infer drops the channels.
func (o *MixMono) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSized(d); err != nil {
		return err
	}
	if d.DType != tensor.Float32 || d.Layout != tensor.NoLayout || d.Shape.Rank() != 2 || d.Shape.At(0) == 0 {
		return inputErr("%v, want a sound: float32 (channels, samples)", d)
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(d.Shape.At(1))}
	return nil
}

// Apply averages.
func (o *MixMono) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	n := len(out)
	copy(out, in)
	channels := s.Shape.At(0)
	for ch := 1; ch < channels; ch++ {
		for i, x := range in[ch*n:][:n] {
			out[i] += x
		}
	}
	if channels > 1 {
		by := float32(channels)
		for i := range out {
			out[i] /= by
		}
	}
	return nil
}
