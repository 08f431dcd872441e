package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomColorAdjust changes brightness, contrast, saturation and hue by random
// factors in random order. It takes the images and the backends of
// AdjustBrightness, AdjustContrast, AdjustSaturation and AdjustHue. A range
// that changes nothing skips its adjustment: 1 to 1, or 0 to 0 for the hue.
//
// Reference: torchvision 0.29.2's ColorJitter. First the order of all four is
// drawn. Then the factor of each adjustment that is not skipped is drawn
// uniformly from its range, in the order brightness, contrast, saturation, hue.
// MXNet 1.9.1's ImageRecordIter draws brightness, contrast and saturation in
// the same way.
type RandomColorAdjust struct {
	Brightness Range   `json:"brightness"` // of factors, 0 to 1e6 (mxnet: -1e6 to 1e6)
	Contrast   Range   `json:"contrast"`   // of factors, 0 to 1e6 (mxnet: -1e6 to 1e6)
	Saturation Range   `json:"saturation"` // of factors, 0 to 1e6 (mxnet: -1e6 to 1e6)
	Hue        Range   `json:"hue"`        // in turns, within -0.5 to 0.5 (mxnet: 0 to 0)
	Backend    Backend `json:"backend"`    // default pillow
}

//msgp:tuple RandomColorAdjust
//sheet:random_color_adjust {"brightness": [0.5, 1.5], "saturation": [0, 3], "hue": [-0.3, 0.3]}

// NewRandomColorAdjust returns the op with Pillow's arithmetic and the ranges
// of ColorJitter: factors of 1-v to 1+v, at least 0, and -v to v for the hue.
func NewRandomColorAdjust(brightness, contrast, saturation, hue float64) *RandomColorAdjust {
	around := func(v float64) Range { return Range{max(0, 1-v), 1 + v} }
	return &RandomColorAdjust{around(brightness), around(contrast), around(saturation), Range{-hue, hue}, Pillow}
}

// Info describes the op.
func (*RandomColorAdjust) Info() Info {
	return Info{
		Name: "random_color_adjust", Version: 1, New: func() Op { return NewRandomColorAdjust(0.4, 0.4, 0.4, 0) },
		Reference: randomReference, Exactness: randomExactness,
	}
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
		return paramErr("hue is %v to %v with backend mxnet, want 0 to 0: MXNet has no hue adjustment", o.Hue.Min, o.Hue.Max)
	}
	return checkAdjustBackend(o.Backend)
}

// Infer keeps the description.
func (o *RandomColorAdjust) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantAdjusted(in[0], o.Backend)
}

// Apply returns ErrNotDrawn.
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
			op := NewOp[AdjustBrightness](d)
			*op = AdjustBrightness{factors[i], o.Backend}
			err = d.Emit(op)
		case 1:
			op := NewOp[AdjustContrast](d)
			*op = AdjustContrast{factors[i], o.Backend}
			err = d.Emit(op)
		case 2:
			op := NewOp[AdjustSaturation](d)
			*op = AdjustSaturation{factors[i], o.Backend}
			err = d.Emit(op)
		default:
			op := NewOp[AdjustHue](d)
			*op = AdjustHue{factors[i], o.Backend}
			err = d.Emit(op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
