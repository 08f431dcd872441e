package transforms

import (
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AdjustGamma raises every value to a power: a gamma above 1 makes dark parts
// darker, one below 1 makes them lighter. It takes a uint8 image of one or
// three channels, HWC or CHW, with torch also a float32 image, and keeps the
// description.
//
//   - Pillow: 255.999*gain * (v/255)^gamma in float64 with each operation
//     rounded, truncated and clipped;
//   - Torch: v*(1/255) to the power of gamma in float32, times gain and clipped
//     to 0..1 if gain is not 1, times 255.999, truncated. The power has torch's
//     error of up to one unit in the last place. For float32 images, v itself
//     is raised, and nothing follows the gain.
//
// Reference: torchvision 0.29.2, v2's adjust_gamma of a Pillow image and of a
// tensor (x86-64 with AVX2); MindSpore 2.10.0, vision.AdjustGamma, for pillow.
// For a gamma of 0.5, torch's square root of float32 values is not correctly
// rounded, and this one is: 20% of them differ in the last bit. So do some of
// the last values of a float32 image, at most 31, to which torch applies
// another function.
type AdjustGamma struct {
	Gamma   float64 `json:"gamma"`   // exponent, 0 to 1e6; 1 keeps most values; default 1
	Gain    float64 `json:"gain"`    // factor, 0 to 1e6; default 1
	Backend Backend `json:"backend"` // pillow or torch; default pillow
}

//msgp:tuple AdjustGamma
//sheet:adjust_gamma {"gamma": 2.2}

// NewAdjustGamma returns the op with Pillow's arithmetic and a gain of 1.
func NewAdjustGamma(gamma float64) *AdjustGamma {
	return &AdjustGamma{Gamma: gamma, Gain: 1, Backend: Pillow}
}

// Info describes the op.
func (*AdjustGamma) Info() Info {
	return Info{
		Name: "adjust_gamma", Version: 1, New: func() Op { return NewAdjustGamma(1) }, InPlace: true,
		Reference: "torchvision 0.29.2 v2 adjust_gamma; MindSpore 2.10.0 vision.AdjustGamma", Exactness: "0 (float32 with gamma 0.5, and the last 31 values of float32: one unit in the last place)",
	}
}

// Validate checks the numbers and the backend.
func (o *AdjustGamma) Validate() error {
	if err := checkBounds("gamma", o.Gamma, 0, maxFactor); err != nil {
		return err
	}
	if err := checkBounds("gain", o.Gain, 0, maxFactor); err != nil {
		return err
	}
	if o.Backend != Pillow && o.Backend != Torch {
		return paramErr("backend is %v, want pillow or torch", o.Backend)
	}
	return nil
}

// Infer keeps the description.
func (o *AdjustGamma) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantToned(in[0], o.Backend)
}

// adjustGammaState is the lookup table of an op.
type adjustGammaState struct {
	op    AdjustGamma
	valid bool
	table [256]uint8
}

// Apply looks the powers up in a table.
func (o *AdjustGamma) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.DType == tensor.Float32 {
		out := tensor.View[float32](dst[0])
		for i, v := range tensor.View[float32](s)[:len(out)] {
			out[i] = o.power(v)
		}
		return nil
	}
	st, ok := c.State.(*adjustGammaState)
	if !ok {
		st = &adjustGammaState{}
		c.State = st
	}
	if !st.valid || st.op != *o {
		st.op, st.valid = *o, true
		for v := range st.table {
			if o.Backend == Pillow {
				st.table[v] = o.pillow(v)
			} else {
				st.table[v] = o.torch(v)
			}
		}
	}
	kernel.LookupHWC(dst[0].Data, s.Data[:len(dst[0].Data)], 1, st.table[:])
	return nil
}

func (o *AdjustGamma) pillow(v int) uint8 {
	// Python adds and subtracts constants: 255 + 1 - 1e-3.
	scale := float64((256 - 1e-3) * o.Gain)
	return clamp8(int32(float64(scale * exactmath.Pow(float64(v)/255, o.Gamma))))
}

func (o *AdjustGamma) torch(v int) uint8 {
	return uint8(float32(o.power(float32(float32(v)*(1./255))) * 255.999))
}

// power is torch's result for a float32 value.
func (o *AdjustGamma) power(v float32) float32 {
	p := exactmath.TorchPow(v, float32(o.Gamma))
	if o.Gain == 1 {
		return p
	}
	return clampUnit(float32(p * float32(o.Gain)))
}

// Pointwise marks the op as Pointwise.
func (o *AdjustGamma) Pointwise() {}
