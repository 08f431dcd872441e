package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomRelativeCrop cuts a random window out of an image such that at least
// one box overlaps it as much as demanded, with a given probability. Otherwise,
// or if no window is found, it does not change the image. It takes any dtype of
// fixed size, HWC or CHW, and keeps both. No value changes. Relative boxes that
// move with the image become zeros unless Keep selects them: ValidBoxes and
// SelectRows remove them.
//
// Inputs: image; boxes, float32 (n, 4 or more) of format relative, which only
// the draw reads. A box without area does not count. Output: image.
//
// There may be several samplers. Scale to Trials then have one value for each
// of them, or one for all.
//
// One number of [0, 1) is drawn. If it is below the probability, the order of
// the samplers is drawn. Each of them tries windows up to Trials times, until
// one is found. A factor s is drawn uniformly from Scale, and 1e-12 is added.
// The square of a ratio r is drawn uniformly between the larger of s*s and
// Ratio's least value divided by the image's width/height, and the smaller of
// 1/(s*s) and Ratio's largest value divided by it. The window is s*r wide and
// s/r high, both at most 1. Its first column is drawn uniformly from the places
// inside the image, then its first row. See RelativeWindow for its pixels. All
// arithmetic is float32.
//
// A window is discarded if no single box fulfils all three bounds: Overlap of
// intersection over union, SampleCoverage of intersection over window,
// ObjectCoverage of intersection over box. Bounds of 0 to 1 always hold.
// The window is also discarded if it keeps no box, or if it has no pixel; the
// reference fails then. Without boxes, every window with a pixel is found.
//
// Reference: MXNet 1.9.1 ImageDetRecordIter, rand_crop_prob and others.
type RandomRelativeCrop struct {
	Probability    float64 `json:"probability"`     // 0 to 1; default 1
	Scale          []Range `json:"scale"`           // 1 to 64 ranges of the window's sides, 0 to 1; default 0 to 1
	Ratio          []Range `json:"ratio"`           // 1 to 64 ranges of width/height of the window in pixels, 0 to 1e6; default 1 to 1
	Overlap        []Range `json:"overlap"`         // 1 to 64 ranges of intersection/union, -1e6 to 1e6; default 0 to 1
	SampleCoverage []Range `json:"sample_coverage"` // 1 to 64 ranges of intersection/window, -1e6 to 1e6; default 0 to 1
	ObjectCoverage []Range `json:"object_coverage"` // 1 to 64 ranges of intersection/box, -1e6 to 1e6; default 0 to 1
	Trials         []int   `json:"trials"`          // 1 to 64 numbers of windows to try, 0 to 1000; default 25
	Keep           Keep    `json:"keep"`            // which boxes to keep: all, center, covered or overlap; default center
	Coverage       float64 `json:"coverage"`        // for covered and overlap: 0 to 1; else 0
}

//msgp:tuple RandomRelativeCrop

// NewRandomRelativeCrop returns the op with MXNet's defaults. It always runs.
func NewRandomRelativeCrop() *RandomRelativeCrop {
	free := func() []Range { return []Range{{0, 1}} }
	return &RandomRelativeCrop{
		Probability: 1, Scale: free(), Ratio: []Range{{1, 1}}, Overlap: free(), SampleCoverage: free(), ObjectCoverage: free(),
		Trials: []int{25}, Keep: KeepCenter,
	}
}

// samplers returns the number of samplers.
func (o *RandomRelativeCrop) samplers() int {
	return max(1, len(o.Scale), len(o.Ratio), len(o.Overlap), len(o.SampleCoverage), len(o.ObjectCoverage), len(o.Trials))
}

// Info describes the op.
func (*RandomRelativeCrop) Info() Info {
	return Info{
		Name: "random_relative_crop", Version: 1, New: func() Op { return NewRandomRelativeCrop() },
		In: imageBoxes, Reference: "MXNet 1.9.1 ImageDetRecordIter (distribution of the draws)", Exactness: randomExactness,
	}
}

// Validate checks the probability, the samplers and the rule.
func (o *RandomRelativeCrop) Validate() error {
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	for i, l := range [][]Range{o.Scale, o.Ratio, o.Overlap, o.SampleCoverage, o.ObjectCoverage} {
		name := []string{"scale", "ratio", "overlap", "sample_coverage", "object_coverage"}[i]
		least, most := -1e6, 1e6
		if i < 2 {
			least, most = 0, []float64{1, 1e6}[i]
		}
		if err := checkKinds(name, l, o.samplers(), func(r Range) error { return r.check(name, least, most) }); err != nil {
			return err
		}
	}
	if err := checkKinds("trials", o.Trials, o.samplers(), func(n int) error { return checkBounds("trials", float64(n), 0, 1000) }); err != nil {
		return err
	}
	return o.Keep.check(o.Coverage, keepNames)
}

// Infer leaves the size unknown.
func (o *RandomRelativeCrop) Infer(dst, in []tensor.Desc) error {
	return inferObjects(dst, in, CoordRelative)
}

// Apply returns ErrNotDrawn.
func (o *RandomRelativeCrop) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a RelativeWindow or nothing.
func (o *RandomRelativeCrop) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil || !d.Coin(o.Probability) {
		return err
	}
	boxes, n := tensor.View[float32](d.Src[1]), d.In[1].Shape.At(1)
	aspect := float32(w) / float32(h)
	var order [64]uint8
	samplers := order[:o.samplers()]
	d.permute(samplers)
	for _, sampler := range samplers {
		i := int(sampler)
		for range channelValue(o.Trials, i) {
			c := o.window(d, i, aspect)
			if _, _, ch, cw := c.frame(h, w); ch < 1 || cw < 1 || !o.fulfils(boxes, n, &c, i) {
				continue
			}
			return emitOp(d, c)
		}
	}
	return nil
}

// window draws a window of sampler i in an image of an aspect.
func (o *RandomRelativeCrop) window(d *Draw, i int, aspect float32) RelativeWindow {
	scales, ratios := channelValue(o.Scale, i), channelValue(o.Ratio, i)
	s := d.uniform32(float32(scales.Min), float32(scales.Max)) + 1e-12
	square := float32(s * s)
	least, most := max(float32(ratios.Min)/aspect, square), min(float32(ratios.Max)/aspect, float32(1/float64(square)))
	r := sqrt32(d.uniform32(least, most))
	w, h := min(1, float32(s*r)), min(1, s/r)
	x := d.uniform32(0, 1-w)
	return RelativeWindow{
		Top: float64(d.uniform32(0, 1-h)), Left: float64(x), Height: float64(h), Width: float64(w), Fill: zeroFill, Keep: o.Keep, Coverage: o.Coverage,
	}
}

// fulfils reports whether one box fulfils the bounds of sampler i, and the
// window keeps at least one. It reports true without boxes.
func (o *RandomRelativeCrop) fulfils(boxes []float32, n int, c *RelativeWindow, i int) bool {
	p := c.project()
	x, y, w, h := float32(c.Left), float32(c.Top), float32(c.Width), float32(c.Height)
	bounds := [3]Range{channelValue(o.Overlap, i), channelValue(o.SampleCoverage, i), channelValue(o.ObjectCoverage, i)}
	some, fulfilled, kept := false, false, false
	for ; len(boxes) > 0; boxes = boxes[n:] {
		b := [4]float32(boxes)
		if !(b[2] > b[0] && b[3] > b[1]) {
			continue
		}
		some = true
		kept = kept || p.keeps(b, p.project(b))
		both, window, area := intersection(b, x, y, w, h), float32(w*h), float32((b[2]-b[0])*(b[3]-b[1]))
		shares := [3]float32{0, both / window, both / area}
		if both > 0 {
			shares[0] = both / (window + area - both)
		}
		ok := true
		for k, r := range bounds {
			lo, hi := float32(r.Min), float32(r.Max)
			ok = ok && (!(lo > 0 || hi < 1) || shares[k] >= lo && shares[k] <= hi)
		}
		fulfilled = fulfilled || ok
	}
	return !some || fulfilled && kept
}
