package transforms

import (
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// RandomErasing overwrites a random box of an image with a given probability;
// otherwise it does not change the image. It takes the dtypes and the layouts
// of Erase, or those of EraseNoise if Noise is set.
//
// Reference: torchvision 0.29.2's RandomErasing. One number of [0, 1) is drawn.
// If it is not below the probability, nothing happens. Otherwise the op draws
// boxes, up to ten times:
//
//   - The area is uniform in Scale times the image's area. The logarithm of the
//     aspect ratio (height by width) is uniform between the logarithms of
//     Ratio's bounds.
//   - The sides sqrt(area*ratio) and sqrt(area/ratio) are rounded half to even.
//   - If both are smaller than the image's, the key of the noise is drawn (with
//     Noise), then the first row and the first column, both uniformly.
//
// A side of 0 erases nothing, and neither does the op after ten failed
// attempts.
type RandomErasing struct {
	Probability float64 `json:"probability"` // 0 to 1; default 0.5
	Scale       Range   `json:"scale"`       // area of the box relative to the image, 0 to 1; default 0.02 to 0.33
	Ratio       Range   `json:"ratio"`       // aspect ratio of the box, height by width, 0.001 to 1000; default 0.3 to 3.3
	// Value is the new value, in the image's own range: one for all channels or
	// one per channel. Default 0.
	Value []float64 `json:"value"`
	Noise bool      `json:"noise"` // fill the box with normal noise and ignore Value; default false
}

//msgp:tuple RandomErasing

// NewRandomErasing returns the op with the default ranges, probability 0.5 and
// value 0.
func NewRandomErasing() *RandomErasing {
	return &RandomErasing{Probability: 0.5, Scale: Range{0.02, 0.33}, Ratio: Range{0.3, 3.3}, Value: []float64{0}}
}

// Info describes the op.
func (*RandomErasing) Info() Info {
	return Info{
		Name: "random_erasing", Version: 1, New: func() Op { return NewRandomErasing() },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the probability, the ranges and the value.
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

// Apply returns ErrNotDrawn.
func (o *RandomErasing) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits an Erase, an EraseNoise or nothing.
func (o *RandomErasing) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil || !d.Coin(o.Probability) {
		return err
	}
	logs := Range{exactmath.Log(o.Ratio.Min), exactmath.Log(o.Ratio.Max)}
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
			return emitOp(d, EraseNoise{top, left, height, width, key})
		}
		return emitOp(d, Erase{top, left, height, width, o.Value})
	}
	return nil
}
