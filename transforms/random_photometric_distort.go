package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomPhotometricDistort changes brightness, contrast, saturation and hue by
// random factors and exchanges the channels, each with the same probability. It
// takes the images and the backends of AdjustHue.
//
// Reference: torchvision 0.29.2's v2 RandomPhotometricDistort. For brightness,
// contrast, saturation and hue, in this order, one number of [0, 1) is drawn.
// If it is below the probability, the factor is drawn uniformly from its range.
// A next number below 0.5 changes the contrast after the brightness, any other
// one after the hue. The last number decides on the permutation of the
// channels, which is then drawn as by RandomChannelPermutation.
type RandomPhotometricDistort struct {
	Brightness  Range   `json:"brightness"`  // of factors, 0 to 1e6; default 0.875 to 1.125
	Contrast    Range   `json:"contrast"`    // of factors, 0 to 1e6; default 0.5 to 1.5
	Saturation  Range   `json:"saturation"`  // of factors, 0 to 1e6; default 0.5 to 1.5
	Hue         Range   `json:"hue"`         // in turns, within -0.5 to 0.5; default -0.05 to 0.05
	Probability float64 `json:"probability"` // 0 to 1; default 0.5
	Backend     Backend `json:"backend"`     // pillow, opencv or torch; default pillow
}

//msgp:tuple RandomPhotometricDistort

// NewRandomPhotometricDistort returns the op with torchvision's defaults and
// Pillow's arithmetic.
func NewRandomPhotometricDistort() *RandomPhotometricDistort {
	return &RandomPhotometricDistort{
		Brightness: Range{0.875, 1.125}, Contrast: Range{0.5, 1.5}, Saturation: Range{0.5, 1.5}, Hue: Range{-0.05, 0.05},
		Probability: 0.5, Backend: Pillow,
	}
}

// Info describes the op.
func (*RandomPhotometricDistort) Info() Info {
	return Info{
		Name: "random_photometric_distort", Version: 1, New: func() Op { return NewRandomPhotometricDistort() },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the ranges, the probability and the backend.
func (o *RandomPhotometricDistort) Validate() error {
	for i, r := range []Range{o.Brightness, o.Contrast, o.Saturation} {
		if err := r.check([]string{"brightness", "contrast", "saturation"}[i], 0, maxFactor); err != nil {
			return err
		}
	}
	if err := o.Hue.check("hue", -0.5, 0.5); err != nil {
		return err
	}
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	return checkLibrary(o.Backend)
}

// Infer keeps the description.
func (o *RandomPhotometricDistort) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantAdjusted(in[0], o.Backend)
}

// Apply returns ErrNotDrawn.
func (o *RandomPhotometricDistort) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits up to four adjustments and a permutation.
func (o *RandomPhotometricDistort) Draw(d *Draw) error {
	var factors [4]float64
	var drawn [4]bool
	for i, r := range [4]Range{o.Brightness, o.Contrast, o.Saturation, o.Hue} {
		if drawn[i] = d.Coin(o.Probability); drawn[i] {
			factors[i] = r.draw(&d.Stream)
		}
	}
	early := d.Coin(0.5)
	permute := d.Coin(o.Probability)
	contrast := func() error {
		return emitOp(d, AdjustContrast{factors[1], o.Backend})
	}
	if drawn[0] {
		if err := emitOp(d, AdjustBrightness{factors[0], o.Backend}); err != nil {
			return err
		}
	}
	if drawn[1] && early {
		if err := contrast(); err != nil {
			return err
		}
	}
	if drawn[2] {
		if err := emitOp(d, AdjustSaturation{factors[2], o.Backend}); err != nil {
			return err
		}
	}
	if drawn[3] {
		if err := emitOp(d, AdjustHue{factors[3], o.Backend}); err != nil {
			return err
		}
	}
	if drawn[1] && !early {
		if err := contrast(); err != nil {
			return err
		}
	}
	if permute {
		return d.permuteChannels()
	}
	return nil
}
