package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// RandomErasing overwrites a random box of an image with a probability, and leaves
// it as it is otherwise. Dtypes and layouts are those of Erase, with Noise of EraseNoise.
//
// Reference: torchvision 0.29.2's RandomErasing. One number of [0, 1) is drawn, and nothing
// is done unless it is below the probability. Up to ten times an area is drawn, uniform in Scale times the
// image's, then an aspect ratio (height by width), of which the logarithm is uniform between those of
// Ratio's ends. The sides sqrt(area*ratio) and sqrt(area/ratio) are rounded half to even; if both are smaller than
// the image's, the noise's key is drawn, if there is noise, then the first row, all as likely, and then likewise the
// first column. A side of 0 erases nothing; nor does the op after ten times.
type RandomErasing struct {
	Probability float64 `json:"probability"` // 0 to 1, usually 0.5
	Scale       Range   `json:"scale"`       // of the box's area, 0 to 1, usually 0.02 to 0.33
	Ratio       Range   `json:"ratio"`       // of its aspect ratio, 0.001 to 1000, usually 0.3 to 3.3
	// Value is what the box becomes, in the image's own range: one for all channels
	// or one for each. Usually 0.
	Value []float64 `json:"value"`
	Noise bool      `json:"noise"` // the box becomes normal noise and Value is not used; usually false
}

//msgp:tuple RandomErasing

func init() {
	Register(Info{
		Name: "random_erasing", Version: 1, New: func() Op { return NewRandomErasing() },
		Reference: randomReference, Exactness: randomExactness,
	})
}

// NewRandomErasing makes the op with the usual ranges, the probability 0.5 and the value 0.
func NewRandomErasing() *RandomErasing {
	return &RandomErasing{Probability: 0.5, Scale: Range{0.02, 0.33}, Ratio: Range{0.3, 3.3}, Value: []float64{0}}
}

// Validate checks the probability, the ranges and that there is a value.
func (o *RandomErasing) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	if err := checkBoxes(o.Scale, 1, o.Ratio); err != nil {
		return err
	}
	return checkValues("value", o.Value)
}

// Infer keeps the description.
func (o *RandomErasing) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if o.Noise {
		return wantImage(in[0], tensor.Float32)
	}
	if err := wantImage(in[0]); err != nil {
		return err
	}
	return wantFill(in[0], "value", o.Value)
}

// Apply is not for random ops.
func (o *RandomErasing) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits an Erase, an EraseNoise or nothing.
func (o *RandomErasing) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil || !d.Coin(o.Probability) {
		return err
	}
	logs := Range{kernel.Log(o.Ratio.Min), kernel.Log(o.Ratio.Max)}
	for range boxTries {
		height, width := drawSides(&d.Stream, h, w, o.Scale, logs)
		if height >= h || width >= w {
			continue
		}
		var key uint64
		if o.Noise {
			key = d.Uint64()
		}
		top := d.IntN(h - height + 1)
		left := d.IntN(w - width + 1)
		switch {
		case height == 0 || width == 0:
			return nil
		case o.Noise:
			op := Make[EraseNoise](d)
			*op = EraseNoise{top, left, height, width, key}
			return d.Emit(op)
		}
		op := Make[Erase](d)
		*op = Erase{top, left, height, width, o.Value}
		return d.Emit(op)
	}
	return nil
}
