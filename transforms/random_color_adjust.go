package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomColorAdjust changes brightness, contrast, saturation and hue by random
// factors in random order. Images and backends are those of AdjustBrightness,
// AdjustContrast, AdjustSaturation and AdjustHue. A range of the one number that changes nothing, 1 to 1 or
// for hue 0 to 0, leaves its adjustment out.
//
// Reference: torchvision 0.29.2's ColorJitter. First the order of all four is
// drawn, then the factor of each that is not left out, uniform in its range, in
// the order brightness, contrast, saturation, hue. MXNet 1.9.1's ImageRecordIter draws brightness, contrast and saturation alike.
type RandomColorAdjust struct {
	Brightness Range   `json:"brightness"` // of factors, 0 to 1e6, mxnet: -1e6 to 1e6
	Contrast   Range   `json:"contrast"`   // likewise
	Saturation Range   `json:"saturation"` // likewise
	Hue        Range   `json:"hue"`        // of factors, in turns, within -0.5 to 0.5; mxnet: 0 to 0
	Backend    Backend `json:"backend"`    // usually pillow
}

//msgp:tuple RandomColorAdjust

func init() {
	Register(Info{
		Name: "random_color_adjust", Version: 1, New: func() Op { return NewRandomColorAdjust(0.4, 0.4, 0.4, 0) },
		Reference: randomReference, Exactness: randomExactness,
	})
}

// NewRandomColorAdjust adjusts as ColorJitter of these numbers does with Pillow:
// factors of 1-v to 1+v, not below 0, for hue of -v to v.
func NewRandomColorAdjust(brightness, contrast, saturation, hue float64) *RandomColorAdjust {
	around := func(v float64) Range { return Range{max(0, 1-v), 1 + v} }
	return &RandomColorAdjust{around(brightness), around(contrast), around(saturation), Range{-hue, hue}, Pillow}
}

// Validate checks the ranges and the backend.
func (o *RandomColorAdjust) Validate() error {
	for i, r := range []Range{o.Brightness, o.Contrast, o.Saturation} {
		if err := r.check([]string{"brightness", "contrast", "saturation"}[i], leastFactor(o.Backend), maxFactor); err != nil {
			return err
		}
	}
	if err := o.Hue.check("hue", -0.5, 0.5); err != nil {
		return err
	}
	if o.Backend == MXNet && o.Hue != (Range{}) {
		return paramErr("hue is %v to %v with backend mxnet, which does not adjust it: want 0 to 0", o.Hue.Min, o.Hue.Max)
	}
	return checkAdjustBackend(o.Backend)
}

// Infer keeps the description.
func (o *RandomColorAdjust) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantAdjusted(in[0], o.Backend)
}

// Apply is not for random ops.
func (o *RandomColorAdjust) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits up to four adjustments.
func (o *RandomColorAdjust) Draw(d *Draw) error {
	var order [4]uint8
	d.permute(order[:])
	var factors [4]float64
	var drawn [4]bool
	for i, r := range [4]Range{o.Brightness, o.Contrast, o.Saturation, o.Hue} {
		if r == (Range{1, 1}) && i < 3 || r == (Range{}) && i == 3 {
			continue
		}
		factors[i], drawn[i] = r.draw(&d.Stream), true
	}
	for _, i := range order {
		if !drawn[i] {
			continue
		}
		var err error
		switch i {
		case 0:
			op := Make[AdjustBrightness](d)
			*op = AdjustBrightness{factors[i], o.Backend}
			err = d.Emit(op)
		case 1:
			op := Make[AdjustContrast](d)
			*op = AdjustContrast{factors[i], o.Backend}
			err = d.Emit(op)
		case 2:
			op := Make[AdjustSaturation](d)
			*op = AdjustSaturation{factors[i], o.Backend}
			err = d.Emit(op)
		default:
			op := Make[AdjustHue](d)
			*op = AdjustHue{factors[i], o.Backend}
			err = d.Emit(op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
