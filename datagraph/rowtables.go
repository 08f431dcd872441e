package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// rowTables holds everything about a fused op that depends on the sizes of its
// source and output. It says which source pixels the op reads, with which
// weights, and in which order it writes output rows. A rowRun reads it and
// never changes it.
//
// Frames cost almost nothing: they select the table entries to build and the
// order of the output rows. A pixel is computed only if the output shows it.
type rowTables struct {
	f      *fused
	source tensor.Desc // the source that the tables were built for; zero if none
	ch     int
	region codec.Region // the part of the source that Rows receives
	needed codec.Region // the part of region that the output depends on

	scaleH, scaleW int // the input size of the scaling op
	canvas         canvas
	method         method
	premultiply    bool // for two and four channels; see transforms.Resize
	mirrored       bool // computed rows are mirrored before they are written
	verticalFirst  bool
	staged         bool // rows are collected before the horizontal pass

	x, y       axisTables
	rowWidth   int     // pixels of the rows that x applies to: region's or needed's
	contiguous bool    // x.pixels are consecutive
	used       []int32 // source rows that methodBilinear reads; y.cv indexes them
	rule       []int32 // scratch of nearest: the source pixel of every output pixel

	count       int // output rows, in the order of their source rows
	first, step int // output row i is canvas row first + step*i
	longest     int // the most source rows that one output row depends on
	capacity    int // rows of the window
}

// axisTables says how one axis of the output is computed from the source.
type axisTables struct {
	resampled bool          // false if pixels are copied
	pixels    []int32       // the source pixel of each output pixel that is copied
	taps      kernel.Taps   // the weights of methodTaps, the rows of methodHalve
	cv        kernel.CVTaps // the weights of methodBilinear
}

// method is the way in which output pixels are computed from source pixels.
type method uint8

const (
	methodCopy     method = iota // copies of source pixels
	methodTaps                   // two passes with the fixed-point weights of Pillow or torch
	methodBilinear               // OpenCV's bilinear
	methodHalve                  // OpenCV's mean of two by two pixels
)

// blockRows is the number of rows that methodBilinear computes at once, to sum
// up shared source rows once.
const blockRows = 32

// stageRows is the number of rows collected when they arrive one by one: the
// horizontal pass works on several at once.
const stageRows = 8

var filters = [...]kernel.Filter{
	transforms.Box: kernel.FilterBox, transforms.Bilinear: kernel.FilterBilinear, transforms.Hamming: kernel.FilterHamming,
	transforms.Bicubic: kernel.FilterBicubic, transforms.Lanczos: kernel.FilterLanczos,
	transforms.PILCubic: kernel.FilterBicubic,
}

var torchFilters = [...]kernel.TorchFilter{
	transforms.Bilinear: kernel.TorchLinear, transforms.Bicubic: kernel.TorchCubic, transforms.Lanczos: kernel.TorchLanczos,
}

// prepare builds the tables for a source and an output. It returns errDeclined
// for sizes that rows cannot be computed for.
func (t *rowTables) prepare(d, out tensor.Desc) error {
	f := t.f
	t.ch = d.Channels()
	before := wholeCanvas(d.Height(), d.Width())
	ok := true
	see := func(c *canvas, frame transforms.Frame) {
		q, good := c.through(frame)
		*c, ok = q, ok && good
	}
	for _, o := range f.before {
		see(&before, o.Frame(before.y.n, before.x.n))
	}
	t.scaleH, t.scaleW = before.y.n, before.x.n
	after := before
	t.method = methodCopy
	var sc transforms.Scale
	if f.scale != nil {
		var err error
		if sc, err = f.scale.Scale(before.y.n, before.x.n, nil); err != nil {
			return err
		}
		see(&before, sc.Cut)
		if before.padded() {
			return errDeclined
		}
		after = wholeCanvas(sc.Height, sc.Width)
		see(&after, sc.Place)
		for _, o := range f.after {
			see(&after, o.Frame(after.y.n, after.x.n))
		}
		t.method = t.methodOf(sc, before)
	}
	if !ok || after.empty() {
		return errDeclined
	}
	t.canvas = after
	if after.y.n != out.Height() || after.x.n != out.Width() {
		return errDeclined // an op whose Frame or Scale contradicts its Infer
	}
	t.premultiply, t.verticalFirst, t.x.resampled, t.y.resampled = false, false, false, false
	switch {
	case f.scale == nil:
		t.x.pixels, t.y.pixels = after.x.pixels(t.x.pixels), after.y.pixels(t.y.pixels)
	case t.method == methodCopy:
		if err := t.nearest(before, after, sc); err != nil {
			return err
		}
	case t.method == methodTaps:
		if err := t.passes(before, after, sc); err != nil {
			return err
		}
	case t.method == methodBilinear:
		t.bilinear(before, after, sc)
	default:
		t.halve(before, after)
	}
	t.order(before, after)
	t.needed = codec.Region{}
	t.needed.Left, t.needed.Width = t.columns(d.Width())
	t.needed.Top, t.needed.Height = t.rows(d.Height())
	t.setRegion(d)
	t.relate()
	t.capacity = min(2*t.longest+stageRows, t.needed.Height)
	if t.method == methodBilinear {
		t.capacity = min(blockRows, len(t.used))
	}
	return nil
}

func (t *rowTables) methodOf(sc transforms.Scale, before canvas) method {
	i, b, _ := t.f.scale.Sampling()
	switch {
	case sc.Height == before.y.n && sc.Width == before.x.n, i == transforms.Nearest, i == transforms.NearestExact:
		return methodCopy
	case b == transforms.Pillow, b == transforms.TorchUint8:
		return methodTaps
	case sc.Halved:
		return methodHalve
	}
	return methodBilinear
}

// nearest builds the lists of pixels for a scaling that copies pixels.
func (t *rowTables) nearest(before, after canvas, sc transforms.Scale) error {
	i, b, _ := t.f.scale.Sampling()
	rule := kernel.NearestPillow
	switch {
	case sc.Height == before.y.n && sc.Width == before.x.n:
		rule = func(l []int32, _, _ int) {
			for i := range l {
				l[i] = int32(i)
			}
		}
	case b == transforms.OpenCV && i == transforms.Nearest:
		rule = kernel.NearestCV
	case b == transforms.OpenCV:
		rule = kernel.NearestExactCV
	case b == transforms.TorchUint8 && i == transforms.Nearest:
		rule = kernel.NearestTorch
	case b == transforms.TorchUint8:
		rule = kernel.NearestExactTorch(sc.Height, sc.Width)
	}
	list := func(l []int32, before, after axis, n int) ([]int32, bool) {
		t.rule = slices.Grow(t.rule[:0], n)[:n]
		all := t.rule
		rule(all, before.n, n)
		l = l[:0]
		for i := after.lo; i < after.hi; i++ {
			p := int(all[after.at+after.step*i])
			if p < 0 {
				return l, false // Pillow leaves such a pixel 0
			}
			l = append(l, int32(before.at+before.step*p))
		}
		return l, true
	}
	var okX, okY bool
	t.x.pixels, okX = list(t.x.pixels, before.x, after.x, sc.Width)
	t.y.pixels, okY = list(t.y.pixels, before.y, after.y, sc.Height)
	if !okX || !okY {
		return errDeclined
	}
	return nil
}

// passes builds the tables of two passes in fixed point.
func (t *rowTables) passes(before, after canvas, sc transforms.Scale) error {
	i, b, antialias := t.f.scale.Sampling()
	if b == transforms.TorchUint8 && t.ch > 4 && sc.Width == 1 && sc.Height != before.y.n {
		return errDeclined // torch repeats the first row
	}
	t.premultiply = b == transforms.Pillow && (t.ch == 2 || t.ch == 4)
	t.verticalFirst = sc.VerticalFirst
	build := func(a *axisTables, before, after axis, n int) {
		if a.resampled = n != before.n; !a.resampled {
			a.pixels = before.over(after).pixels(a.pixels)
			return
		}
		from, to := after.visible()
		if b == transforms.Pillow {
			a.taps.Pillow(before.n, n, from, to, filters[i], false)
		} else {
			a.taps.TorchU8(before.n, n, from, to, torchFilters[i], antialias)
		}
		if before.step < 0 {
			a.taps.Mirror(before.at)
		} else {
			a.taps.Shift(-before.at)
		}
	}
	build(&t.x, before.x, after.x, sc.Width)
	if t.x.resampled && t.ch == 3 {
		t.x.taps.PackRows()
	}
	build(&t.y, before.y, after.y, sc.Height)
	return nil
}

// bilinear builds the tables of OpenCV's bilinear. before is not mirrored.
func (t *rowTables) bilinear(before, after canvas, sc transforms.Scale) {
	t.x.resampled, t.y.resampled = true, true
	from, to := after.x.visible()
	t.x.cv.Resize(before.x.n, sc.Width, kernel.CVLinear, false)
	t.x.cv.Cut(from, to, -before.x.at)
	from, to = after.y.visible()
	t.y.cv.Resize(before.y.n, sc.Height, kernel.CVLinear, true)
	t.y.cv.Cut(from, to, -before.y.at)
	t.used = t.used[:0]
	// Index ascends, except that the first row of a pair may lie before the
	// second row of the previous pair.
	for i, y := range t.y.cv.Index {
		if n := len(t.used); n == 0 || y > t.used[n-1] {
			t.used = append(t.used, y)
		}
		n := len(t.used) - 1
		for t.used[n] != y {
			n--
		}
		t.y.cv.Index[i] = int32(n)
	}
}

// halve builds the tables of OpenCV's mean of two by two pixels. before is not
// mirrored.
func (t *rowTables) halve(before, after canvas) {
	t.x.resampled, t.y.resampled = true, true
	rows := &t.y.taps
	rows.Start, rows.Len = rows.Start[:0], rows.Len[:0]
	for from, to := after.y.visible(); from < to; from++ {
		rows.Start = append(rows.Start, int32(before.y.at+2*from))
		rows.Len = append(rows.Len, 2)
	}
	from, to := after.x.visible()
	t.x.pixels = t.x.pixels[:0]
	for i := 2 * from; i < 2*to; i++ {
		t.x.pixels = append(t.x.pixels, int32(before.x.at+i))
	}
}

// order sorts the lists of pixels by source position, as all tables are, and
// records how that reorders the canvas.
func (t *rowTables) order(before, after canvas) {
	t.mirrored = before.x.step*after.x.step < 0
	if !t.x.resampled {
		t.mirrored = ascend(t.x.pixels)
	}
	flip := before.y.step*after.y.step < 0
	if !t.y.resampled {
		flip = ascend(t.y.pixels)
	}
	y := t.canvas.y
	t.count, t.first, t.step = y.hi-y.lo, y.lo, 1
	if flip {
		t.first, t.step = y.hi-1, -1
	}
}

// ascend reverses a descending list. It reports whether the list was
// descending.
func ascend(l []int32) bool {
	if l[0] <= l[len(l)-1] {
		return false
	}
	slices.Reverse(l)
	return true
}

// columns returns the range of source columns that the output depends on.
func (t *rowTables) columns(width int) (left, n int) {
	s := emptySpan(width)
	switch {
	case t.method == methodBilinear:
		s.addPixels(t.x.cv.Index)
	case t.method == methodTaps && t.x.resampled:
		s.addTaps(&t.x.taps)
	default:
		s.addPixels(t.x.pixels)
	}
	return s.lo, s.hi - s.lo
}

// rows returns the range of source rows that the output depends on, and sets
// longest.
func (t *rowTables) rows(height int) (top, n int) {
	s := emptySpan(height)
	t.longest = 1
	switch {
	case t.method == methodBilinear:
		t.longest = 2
		s.addPixels(t.used)
	case t.y.resampled:
		s.addTaps(&t.y.taps)
		for _, n := range t.y.taps.Len {
			t.longest = max(t.longest, int(n))
		}
	default:
		s.addPixels(t.y.pixels)
	}
	return s.lo, s.hi - s.lo
}

// span is a range of source pixels, from lo up to hi.
type span struct{ lo, hi int }

func emptySpan(n int) span { return span{lo: n} }

func (s *span) addPixels(l []int32) {
	for _, p := range l {
		s.lo, s.hi = min(s.lo, int(p)), max(s.hi, int(p)+1)
	}
}

func (s *span) addTaps(t *kernel.Taps) {
	for i, n := range t.Len {
		s.lo, s.hi = min(s.lo, int(t.Start[i])), max(s.hi, int(t.Start[i]+n))
	}
}

// setRegion sets the part of the source that Rows receives.
func (t *rowTables) setRegion(d tensor.Desc) {
	t.region = t.needed
	if t.f.decode == nil { // rows of a tensor come at full width
		t.region.Left, t.region.Width = 0, d.Width()
	} else if !t.f.region {
		t.region = codec.Region{Width: d.Width(), Height: d.Height()}
	}
}

// relate makes the horizontal tables relative to the rows that they apply to:
// rows of the region, or their needed columns if the stage or the window has
// only those.
func (t *rowTables) relate() {
	t.staged = t.f.rows && t.x.resampled && t.y.resampled && t.method == methodTaps && !t.verticalFirst
	left := t.region.Left
	t.rowWidth = t.region.Width
	if t.verticalFirst || t.staged || t.method == methodBilinear {
		left, t.rowWidth = t.needed.Left, t.needed.Width
	}
	if t.method == methodBilinear {
		t.x.cv.Cut(0, len(t.x.cv.Index)/2, left)
	}
	if t.method == methodTaps && t.x.resampled {
		t.x.taps.Shift(left)
	}
	t.contiguous = true
	for i, x := range t.x.pixels {
		t.x.pixels[i] = x - int32(left)
		t.contiguous = t.contiguous && t.x.pixels[i] == t.x.pixels[0]+int32(i)
	}
}

// windowLine returns the bytes of a row of the window.
func (t *rowTables) windowLine() int {
	switch {
	case t.method == methodHalve:
		return len(t.x.pixels) * t.ch
	case t.verticalFirst, t.method == methodBilinear:
		return t.rowWidth * t.ch
	}
	return (t.canvas.x.hi - t.canvas.x.lo) * t.ch
}

// bytes returns the memory that a run needs.
func (t *rowTables) bytes() int64 {
	n := int64(t.canvas.x.n)*int64(t.ch)*2 + int64(t.region.Width)*int64(t.ch)*2
	n += 8*int64(len(t.x.pixels)+len(t.y.pixels)) + 16*int64(t.x.taps.K*len(t.x.taps.Start)+t.y.taps.K*len(t.y.taps.Start))
	return n + t.imageBytes() + t.windowBytes()
}

// imageBytes returns the size of the decoded region if a run keeps all of it.
func (t *rowTables) imageBytes() int64 {
	if t.f.decode == nil || t.f.rows {
		return 0
	}
	return int64(t.region.Width) * int64(t.region.Height) * int64(t.ch)
}

// windowBytes returns the memory for rows on their way through a run.
func (t *rowTables) windowBytes() int64 {
	if !t.y.resampled {
		return 0
	}
	n := int64(t.capacity) * int64(t.windowLine())
	if t.method == methodBilinear { // a block of output rows, and int32 sums of two rows
		n += int64(blockRows+8) * int64((t.canvas.x.hi-t.canvas.x.lo)*t.ch)
	}
	if t.staged {
		n += int64(stageRows * t.rowWidth * t.ch)
	}
	return n
}
