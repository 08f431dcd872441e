package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// RandomObjectCrop cuts a random window out of an image such that it covers
// every box that it touches by more than a given share, with a given
// probability. Otherwise, or if no window is found, it does not change the
// image. It takes any dtype of fixed size, HWC or CHW, and keeps both. No value
// changes. Boxes that move with the image become zeros if MinKept of their area
// or less is in the window: ValidBoxes and SelectRows remove them.
//
// There may be several kinds of crops. MinCovered to Trials then have one value
// for each kind, or one for all.
//
// Inputs: image; boxes, float32 (n, 4 or more), which Format describes, and
// which only the draw reads. Output: image.
//
// One number of [0, 1) is drawn; if it is below the probability, one of the
// kinds is chosen. A window is then tried up to Trials times. Its width/height
// is drawn uniformly from Ratio. Its height is drawn uniformly from the
// integers that give it an area within Area. Its first row is drawn, then its
// first column. A box with at most 2 pixels does not count. The window is
// discarded if it touches no box, or if it covers a share of at most MinCovered
// of a box that it touches, or if it keeps no box.
//
// Reference: MXNet 1.9.1, mx.image.DetRandomCropAug in a DetRandomSelectAug,
// whose skip_prob is 1 - Probability. MXNet's boxes have the format relative,
// so only with it the same windows are discarded; in pixels roundings differ.
type RandomObjectCrop struct {
	Probability float64     `json:"probability"` // 0 to 1; default 1
	Format      CoordFormat `json:"format"`      // of the boxes: xyxy, cxcywh, ltwh or relative; default xyxy
	MinCovered  []float64   `json:"min_covered"` // 1 to 64 shares of a box, 0 to 1; default 0.1
	MinKept     []float64   `json:"min_kept"`    // 1 to 64 shares of a box that it needs in the window to be kept, 0 to 1; default 0.3
	Ratio       []Range     `json:"ratio"`       // 1 to 64 ranges of width/height of the window, 1e-6 to 1e6; default 0.75 to 1.33
	Area        []Range     `json:"area"`        // 1 to 64 ranges of the window's area relative to the image's, 0 to 1000; default 0.05 to 1
	Trials      []int       `json:"trials"`      // 1 to 64 numbers of windows to try, 1 to 1000; default 50
}

//msgp:tuple RandomObjectCrop

// NewRandomObjectCrop returns the op with MXNet's defaults for boxes of a
// format. It always runs.
func NewRandomObjectCrop(format CoordFormat) *RandomObjectCrop {
	return &RandomObjectCrop{
		Probability: 1, Format: format, MinCovered: []float64{0.1}, MinKept: []float64{0.3},
		Ratio: []Range{{0.75, 1.33}}, Area: []Range{{0.05, 1}}, Trials: []int{50},
	}
}

// Info describes the op.
func (*RandomObjectCrop) Info() Info {
	return Info{
		Name: "random_object_crop", Version: 1, New: func() Op { return NewRandomObjectCrop(CoordXYXY) },
		In: imageBoxes, Reference: "MXNet 1.9.1 mx.image.DetRandomCropAug (distribution of the draws)", Exactness: randomExactness,
	}
}

// Validate checks the probability, the format, the shares and the ranges.
func (o *RandomObjectCrop) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	if o.Format != CoordRelative {
		if err := checkBoxFormat("format", o.Format); err != nil {
			return err
		}
	}
	n := o.kinds()
	if err := checkKinds("min_covered", o.MinCovered, n, func(v float64) error { return checkBounds("min_covered", v, 0, 1) }); err != nil {
		return err
	}
	if err := checkKinds("min_kept", o.MinKept, n, func(v float64) error { return checkBounds("min_kept", v, 0, 1) }); err != nil {
		return err
	}
	if err := checkKinds("ratio", o.Ratio, n, func(r Range) error { return r.check("ratio", 1e-6, 1e6) }); err != nil {
		return err
	}
	if err := checkKinds("area", o.Area, n, func(r Range) error { return r.check("area", 0, 1000) }); err != nil {
		return err
	}
	return checkKinds("trials", o.Trials, n, checkTrials)
}

// kinds returns the number of kinds of crops.
func (o *RandomObjectCrop) kinds() int {
	return max(1, len(o.MinCovered), len(o.MinKept), len(o.Ratio), len(o.Area), len(o.Trials))
}

// checkKinds checks a parameter with one value or n of them.
func checkKinds[T any](name string, l []T, n int, check func(T) error) error {
	if len(l) != 1 && len(l) != n || n > 64 {
		return paramErr("%s has %d values, want 1 or as many as other parameters, at most 64", name, len(l))
	}
	for _, v := range l {
		if err := check(v); err != nil {
			return err
		}
	}
	return nil
}

// Infer leaves the size unknown.
func (o *RandomObjectCrop) Infer(dst, in []tensor.Desc) error {
	return inferObjects(dst, in, o.Format)
}

// Apply returns ErrNotDrawn.
func (o *RandomObjectCrop) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits an ObjectCrop or nothing.
func (o *RandomObjectCrop) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil || !d.Coin(o.Probability) {
		return err
	}
	kind := d.IntN(o.kinds())
	covered, kept := channelValue(o.MinCovered, kind), channelValue(o.MinKept, kind)
	boxes, n := tensor.View[float32](d.Src[1]), d.In[1].Shape.At(1)
	for range channelValue(o.Trials, kind) {
		ch, cw, ok := drawWindow(d, channelValue(o.Ratio, kind), channelValue(o.Area, kind), h, w)
		if !ok {
			continue
		}
		c := ObjectCrop{Top: d.IntN(h - ch + 1), Left: d.IntN(w - cw + 1), Height: ch, Width: cw, Keep: KeepCovered, Coverage: kept}
		if !o.covers(boxes, n, &c, h, w, covered) {
			continue
		}
		return emitOp(d, c)
	}
	return nil
}

// drawWindow draws the size of a window in an image of h x w pixels.
func drawWindow(d *Draw, ratios, areas Range, h, w int) (ch, cw int, ok bool) {
	area := float64(int64(h) * int64(w))
	least, most := float64(areas.Min*area), float64(areas.Max*area)
	ratio := ratios.draw(&d.Stream)
	height := func(area float64) int { return int(math.RoundToEven(math.Sqrt(area / ratio))) }
	width := func(h int) int { return int(math.RoundToEven(float64(float64(h) * ratio))) }
	ch, top := height(least), height(most)
	if width(top) > w {
		top = int((float64(w) + 0.4999999) / ratio)
	}
	top = min(top, h)
	if ch = min(ch, top); ch < top {
		ch += d.IntN(top - ch + 1)
	}
	if cw = width(ch); float64(int64(cw)*int64(ch)) < least {
		ch++
		cw = width(ch)
	}
	if float64(int64(cw)*int64(ch)) > most {
		ch--
		cw = width(ch)
	}
	a := float64(int64(cw) * int64(ch))
	return ch, cw, least <= a && a <= most && cw <= w && ch <= h && a >= 2
}

// covers reports whether a window in an image of h x w pixels covers more than
// a share of all boxes that it touches, and keeps at least one.
func (o *RandomObjectCrop) covers(boxes []float32, n int, c *ObjectCrop, h, w int, covered float64) bool {
	k := CropCoords{Top: c.Top, Left: c.Left, Height: c.Height, Width: c.Width, Keep: KeepCovered, Coverage: c.Coverage}
	p := c.project(h, w)
	edge := func(n, of int) float32 { return float32(float64(n) / float64(of)) }
	window := [4]float32{edge(c.Left, w), edge(c.Top, h), edge(c.Left+c.Width, w), edge(c.Top+c.Height, h)}
	touched, kept := false, false
	for ; len(boxes) > 0; boxes = boxes[n:] {
		b := xyxyOf(boxes, o.Format)
		area := boxArea(b)
		pixels, share := area, 0.0
		if o.Format == CoordRelative {
			pixels = float32(float32(area*float32(w)) * float32(h))
			share = float64(boxArea(clipBox(b, window)) / area)
			kept = kept || p.keeps(b, p.project(b))
		} else {
			share = float64(boxArea(k.clip(b))) / float64(area)
			kept = kept || k.keeps(b)
		}
		if pixels > 2 && share > 0 {
			touched = true
			if !(share > covered) {
				return false
			}
		}
	}
	return touched && kept
}
