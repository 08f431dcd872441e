package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// RescaleRule is the arithmetic of Rescale.
type RescaleRule uint8

// The rules, for a value v:
const (
	RescaleHF       RescaleRule = iota // float32(float64(v) * Scale): transformers' rescale
	RescaleMultiply                    // float32(v) * float32(Scale): torchvision's v2.to_dtype
	RescaleDivide                      // float32(v) / float32(Scale): ToTensor's division by 255
	RescaleFused                       // float32(float64(v)*float64(float32(Scale)) + float64(float32(Offset))): MindSpore's Rescale
)

var rescaleRuleNames = []string{"hf", "multiply", "divide", "fused"}

func (r RescaleRule) String() string { return enum.String("rescale rule", rescaleRuleNames, r) }

// MarshalText returns the name.
func (r RescaleRule) MarshalText() ([]byte, error) {
	return enum.Format("rescale rule", rescaleRuleNames, r)
}

// UnmarshalText parses the name.
func (r *RescaleRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "rescale rule", rescaleRuleNames, t)
}

// Rescale multiplies or divides every value by Scale and adds Offset. The
// result is float32. It takes an image of any dtype except int64, bool and
// bytes, HWC or CHW.
//
// The rules differ in the last bit. RescaleMultiply by 1/255 computes 126 of
// the 256 values v/255 differently from the quotient rounded to float32.
// RescaleHF and RescaleDivide match it for all of them. RescaleFused rounds
// once, after adding Offset. The other rules add Offset to the float32 result
// in float32. An Offset of 0 adds nothing and keeps the sign of -0. The bits of
// a NaN are unspecified.
//
// Reference: transformers 5.23.0, image_transforms.rescale, and with Offset -1
// the rescaling with offset of EfficientNet and ViViT; torchvision 0.29.2,
// v2.to_dtype with scale (multiply) and to_tensor (divide); MindSpore 2.10.0,
// vision.Rescale (fused).
type Rescale struct {
	Scale  float64     `json:"scale"`  // finite in float32; for divide not 0; 1/255 is common, for divide 255
	Offset float64     `json:"offset"` // finite in float32; default 0
	Rule   RescaleRule `json:"rule"`   // default hf
}

//msgp:tuple Rescale

// NewRescale returns the op with transformers' arithmetic and no offset.
func NewRescale(scale float64) *Rescale { return &Rescale{Scale: scale, Rule: RescaleHF} }

// Info describes the op.
func (*Rescale) Info() Info {
	return Info{
		Name: "rescale", Version: 1, New: func() Op { return NewRescale(1.0 / 255) }, InPlace: true,
		Reference: "transformers 5.23.0 rescale; torchvision 0.29.2 to_dtype, to_tensor", Exactness: "0",
	}
}

// Validate checks that the numbers are finite and that a divisor is not 0.
func (o *Rescale) Validate() error {
	if err := checkEnum("rule", o.Rule, rescaleRuleNames); err != nil {
		return err
	}
	scale := []float64{o.Scale}
	if o.Rule == RescaleDivide {
		if err := checkDivisors("scale", scale); err != nil {
			return err
		}
	}
	if err := checkValues("scale", scale); err != nil {
		return err
	}
	return checkValues("offset", []float64{o.Offset})
}

// Infer changes the dtype to float32.
func (o *Rescale) Infer(dst, in []tensor.Desc) error {
	err := wantImage(in[0], tensor.Uint8, tensor.Int8, tensor.Uint16, tensor.Int16, tensor.Int32,
		tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64)
	dst[0] = in[0]
	dst[0].DType = tensor.Float32
	if err != nil {
		return err
	}
	return inferred(dst[0])
}

// of applies the rule to one value, which must be exact in float64.
func (o *Rescale) of(v float64) float32 {
	var f float32
	if o.Rule == RescaleFused {
		return float32(float64(v*float64(float32(o.Scale))) + float64(float32(o.Offset)))
	}
	switch o.Rule {
	case RescaleHF:
		f = float32(float64(v * o.Scale))
	case RescaleMultiply:
		f = float32(float32(v) * float32(o.Scale))
	default:
		f = float32(v) / float32(o.Scale)
	}
	if o.Offset != 0 {
		f += float32(o.Offset)
	}
	return f
}

// rescaleState is the lookup table of an op for uint8.
type rescaleState struct {
	op    Rescale
	table [256]float32
}

// Apply rescales.
func (o *Rescale) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	out := tensor.View[float32](dst[0])
	if s.DType == tensor.Uint8 {
		st, ok := c.State.(*rescaleState)
		if !ok || st.op != *o {
			st = &rescaleState{op: *o}
			for v := range st.table {
				st.table[v] = o.of(float64(v))
			}
			c.State = st
		}
		kernel.LookupHWC(out, s.Data[:len(out)], 1, st.table[:])
		return nil
	}
	var block [blockLen]float64
	for i := 0; i < len(out); i += blockLen {
		b := block[:min(blockLen, len(out)-i)]
		loadFloats(b, s, i)
		for k, v := range b {
			out[i+k] = o.of(v)
		}
	}
	return nil
}

// Pointwise marks the op as Pointwise.
func (o *Rescale) Pointwise() {}

// Linear returns v * Scale + Offset, or v / Scale + Offset.
func (o *Rescale) Linear() (LinearMap, bool) {
	scale := o.Scale
	if o.Rule == RescaleDivide {
		scale = 1 / scale
	}
	return LinearMap{Mul: []float64{scale}, Add: []float64{o.Offset}}, true
}
