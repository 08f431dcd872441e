package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// RandomCanvas puts an image at a random place on a larger canvas of a random
// shape, with a given probability. Otherwise, or if it finds no canvas, the
// image does not change. It takes any dtype of fixed size, HWC or CHW, and
// keeps both. No value changes.
//
// One number of [0, 1) is drawn. If it is below the probability, a canvas is
// tried up to Trials times. Its width/height is drawn uniformly from Ratio. Its
// height is drawn uniformly from the integers that give it an area within Area
// and room for the image. A canvas that adds less than 2 rows or 2 columns is
// discarded. The image's first row on it is drawn, then its first column.
//
// Reference: MXNet 1.9.1, mx.image.DetRandomPadAug in a DetRandomSelectAug,
// whose skip_prob is 1 - Probability.
type RandomCanvas struct {
	Probability float64 `json:"probability"` // 0 to 1; default 1
	Ratio       Range   `json:"ratio"`       // of width/height of the canvas, 1e-6 to 1e6; default 0.75 to 1.33
	Area        Range   `json:"area"`        // of the canvas relative to the image's, 1 to 1000; default 1 to 3
	Trials      int     `json:"trials"`      // canvases to try, 1 to 1000; default 50
	// Fill is the value of the canvas, in the image's own range: one for all
	// channels or one per channel. Default 128.
	Fill []float64 `json:"fill"`
}

//msgp:tuple RandomCanvas

// NewRandomCanvas returns the op with MXNet's defaults.
func NewRandomCanvas(probability float64) *RandomCanvas {
	return &RandomCanvas{Probability: probability, Ratio: Range{0.75, 1.33}, Area: Range{1, 3}, Trials: 50, Fill: []float64{128}}
}

// Info describes the op.
func (*RandomCanvas) Info() Info {
	return Info{
		Name: "random_canvas", Version: 1, New: func() Op { return NewRandomCanvas(1) },
		Reference: "MXNet 1.9.1 mx.image.DetRandomPadAug (distribution of the draws)", Exactness: randomExactness,
	}
}

// Validate checks the probability, the ranges and the fill.
func (o *RandomCanvas) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	if err := o.Ratio.check("ratio", 1e-6, 1e6); err != nil {
		return err
	}
	if err := o.Area.check("area", 1, 1000); err != nil {
		return err
	}
	if err := checkTrials(o.Trials); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer leaves the size unknown, unless it never changes.
func (o *RandomCanvas) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], PadConstant, o.Fill); err != nil {
		return err
	}
	dst[0] = in[0]
	if o.Probability > 0 {
		dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	}
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomCanvas) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Pad or nothing.
func (o *RandomCanvas) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil || !d.Coin(o.Probability) {
		return err
	}
	area := float64(int64(h) * int64(w))
	for range o.Trials {
		ratio := o.Ratio.draw(&d.Stream)
		height := func(share float64) int {
			return int(math.RoundToEven(math.Sqrt(float64(share*area) / ratio)))
		}
		ch, most := height(o.Area.Min), height(o.Area.Max)
		if math.RoundToEven(float64(float64(ch)*ratio)) < float64(w) {
			ch = int((float64(w) + 0.499999) / ratio)
		}
		if ch = min(max(ch, h), most); ch < most {
			ch += d.IntN(most - ch + 1)
		}
		cw := int(math.RoundToEven(float64(float64(ch) * ratio)))
		if ch-h < 2 || cw-w < 2 {
			continue
		}
		if err := wantScaled(d.In[0], ch, cw); err != nil {
			return err
		}
		top, left := d.IntN(ch-h+1), d.IntN(cw-w+1)
		return emitOp(d, Pad{Top: top, Bottom: ch - h - top, Left: left, Right: cw - w - left, Mode: PadConstant, Fill: o.Fill})
	}
	return nil
}
