package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomZoomOut puts an image at a random place on a larger canvas, with a
// given probability; otherwise it does not change the image. It takes any dtype
// of fixed size, HWC or CHW, and keeps both. No value changes.
//
// Reference: torchvision 0.29.2's RandomZoomOut. One number of [0, 1) is drawn.
// If it is below the probability, a factor is drawn uniformly and rounded to
// float32. Its products with the sides are rounded to float32, and truncated.
// Two more numbers of [0, 1), for the columns and then for the rows, times the
// pixels that were added, truncated, are the place.
type RandomZoomOut struct {
	Probability float64 `json:"probability"` // 0 to 1; default 0.5
	Side        Range   `json:"side"`        // of the canvas's sides relative to the image's, 1 to 1000; default 1 to 4
	// Fill is the value of the canvas, in the image's own range: one for all
	// channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple RandomZoomOut

// NewRandomZoomOut returns the op with factors of 1 to 4 and a fill of 0.
func NewRandomZoomOut(probability float64) *RandomZoomOut {
	return &RandomZoomOut{Probability: probability, Side: Range{1, 4}, Fill: []float64{0}}
}

// Info describes the op.
func (*RandomZoomOut) Info() Info {
	return Info{
		Name: "random_zoom_out", Version: 1, New: func() Op { return NewRandomZoomOut(0.5) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the probability, the range and the fill.
func (o *RandomZoomOut) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	if err := o.Side.check("side", 1, 1000); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer leaves the size unknown, unless it never changes.
func (o *RandomZoomOut) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], PadConstant, o.Fill); err != nil {
		return err
	}
	dst[0] = in[0]
	if o.Probability > 0 && o.Side.Max > 1 {
		dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	}
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomZoomOut) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Pad or nothing.
func (o *RandomZoomOut) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	if !d.Coin(o.Probability) {
		return nil
	}
	r := float32(o.Side.draw(&d.Stream))
	ch, cw := truncated(float32(float32(h)*r)), truncated(float32(float32(w)*r))
	if err := wantScaled(d.In[0], ch, cw); err != nil {
		return err
	}
	left := int(float64(float64(cw-w) * d.Float64()))
	top := int(float64(float64(ch-h) * d.Float64()))
	return emitOp(d, Pad{Top: top, Bottom: ch - h - top, Left: left, Right: cw - w - left, Mode: PadConstant, Fill: o.Fill})
}
