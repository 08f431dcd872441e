package transforms

import "github.com/infer-prep/infer-prep/tensor"

// NormalizePad normalizes an RGB image and adds a fourth channel of zeros. The
// first three channels are (x - mean) / std, computed as in Normalize and
// rounded half to even to the output's dtype. It takes uint8 or float32 with
// three channels, HWC or CHW. The bits of a NaN are unspecified.
//
// Reference: MindSpore 2.10.0, vision.NormalizePad with is_hwc=False. With
// is_hwc=True that release packs the three-channel pixels one after another
// into the four-channel buffer and leaves all zeros at its end. Here HWC images
// have the same values as CHW images.
type NormalizePad struct {
	Mean  []float64    `json:"mean"`  // one for all three channels or one per channel, in the image's own range
	Std   []float64    `json:"std"`   // one for all three channels or one per channel; not 0, also after rounding to float32
	DType tensor.DType `json:"dtype"` // of the output: float32 or float16; default float32
}

//msgp:tuple NormalizePad

// NewNormalizePad returns the op with a float32 output. It keeps the slices.
func NewNormalizePad(mean, std []float64) *NormalizePad {
	return &NormalizePad{Mean: mean, Std: std, DType: tensor.Float32}
}

// Info describes the op.
func (*NormalizePad) Info() Info {
	return Info{
		Name: "normalize_pad", Version: 1,
		New: func() Op {
			// ImageNet's, for values of 0 to 255.
			return NewNormalizePad([]float64{123.675, 116.28, 103.53}, []float64{58.395, 57.12, 57.375})
		},
		Reference: "MindSpore 2.10.0 NormalizePad (is_hwc=False)", Exactness: "0",
	}
}

// Validate checks the dtype, that the values are present and finite, and that
// no divisor is 0.
func (o *NormalizePad) Validate() error {
	if o.DType != tensor.Float32 && o.DType != tensor.Float16 {
		return paramErr("dtype is %v, want float32 or float16", o.DType)
	}
	for i, v := range [][]float64{o.Mean, o.Std} {
		if n := len(v); n != 1 && n != 3 {
			return paramErr("%s has %d values, want 1 or 3", []string{"mean", "std"}[i], n)
		}
	}
	return checkMeanStd(o.Mean, o.Std)
}

// Infer describes four channels of the dtype.
func (o *NormalizePad) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0], tensor.Uint8, tensor.Float32); err != nil {
		return err
	}
	if err := wantChannels(in[0], 3); err != nil {
		return err
	}
	dst[0] = in[0].WithChannels(4)
	dst[0].DType = o.DType
	return inferred(dst[0])
}

// normalizePadState holds the parameters it was built for. For uint8 it also
// holds the results for all values of each channel.
type normalizePadState struct {
	mean, std [3]float32
	float     [3][256]float32
	half      [3][256]uint16
}

func (o *NormalizePad) state(c *Context) *normalizePadState {
	var mean, std [3]float32
	for i := range 3 {
		mean[i], std[i] = float32(channelValue(o.Mean, i)), float32(channelValue(o.Std, i))
	}
	st, ok := c.State.(*normalizePadState)
	if ok && st.mean == mean && st.std == std {
		return st
	}
	st = &normalizePadState{mean: mean, std: std}
	for i := range 3 {
		for v := range 256 {
			st.float[i][v] = (float32(v) - mean[i]) / std[i]
			st.half[i][v] = tensor.Float16FromFloat32(st.float[i][v])
		}
	}
	c.State = st
	return st
}

// Apply normalizes.
func (o *NormalizePad) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	st := o.state(c)
	pixels := s.Height() * s.Width()
	inStep, inNext := strides(s.Desc)
	outStep, outNext := strides(dst[0].Desc)
	for ch := range 3 {
		in, out := span{ch * inNext, inStep, pixels}, span{ch * outNext, outStep, pixels}
		switch {
		case s.DType == tensor.Uint8 && o.DType == tensor.Float32:
			lookup256(tensor.View[float32](dst[0]), out, s.Data, in, &st.float[ch])
		case s.DType == tensor.Uint8:
			lookup256(tensor.View[uint16](dst[0]), out, s.Data, in, &st.half[ch])
		default:
			mean, std, x := st.mean[ch], st.std[ch], tensor.View[float32](s)
			if o.DType == tensor.Float32 {
				y := tensor.View[float32](dst[0])
				for i := range pixels {
					y[out.at(i)] = (x[in.at(i)] - mean) / std
				}
				continue
			}
			y := tensor.View[uint16](dst[0])
			for i := range pixels {
				y[out.at(i)] = tensor.Float16FromFloat32((x[in.at(i)] - mean) / std)
			}
		}
	}
	zero := span{3 * outNext, outStep, pixels}
	if o.DType == tensor.Float32 {
		clearSpan(tensor.View[float32](dst[0]), zero)
	} else {
		clearSpan(tensor.View[uint16](dst[0]), zero)
	}
	return nil
}

// span holds the elements of one channel: n elements from start on, step apart.
type span struct{ start, step, n int }

func (s span) at(i int) int { return s.start + i*s.step }

func lookup256[T any](dst []T, out span, src []byte, in span, table *[256]T) {
	for i := range out.n {
		dst[out.at(i)] = table[src[in.at(i)]]
	}
}

func clearSpan[T any](dst []T, s span) {
	var zero T
	for i := range s.n {
		dst[s.at(i)] = zero
	}
}
