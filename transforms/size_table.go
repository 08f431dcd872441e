package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/lazy"
	"github.com/infer-prep/infer-prep/tensor"
)

// sizing is one size rule with one fit.
type sizing struct {
	fit  Fit
	rule SizeRule
	// size returns the new height and width of an image of h x w. It gets a
	// copy, so that a Resize can stay on the stack.
	size func(o Resize, h, w float64) (nh, nw float64)
	edge edgeUse // of MaxEdge
	// aligns reports whether the sides become multiples of Multiple.
	aligns bool
	check  func(o *Resize) error // of other parameters; may be nil
}

// edgeUse says whether a sizing uses MaxEdge.
type edgeUse uint8

const (
	noMaxEdge     edgeUse = iota
	maxEdge               // 0 means no limit
	maxEdgeBeyond         // as maxEdge, and larger than Edge
	needsMaxEdge
)

// sizes is the table of sizings.
var sizes lazy.Table[sizeTable]

// sizeTable lists all sizings that Resize supports.
type sizeTable struct {
	all []sizing
	of  [FitHeight + 1][SizeNear + 1]*sizing // by fit and rule
}

// fill is code, so that programs without Resize do not link the sizings.
func (t *sizeTable) fill() {
	t.all = []sizing{
		{fit: FitExact, rule: SizeTruncate, size: box},
		{fit: FitExact, rule: SizeHalfEven, size: box},
		{fit: FitExact, rule: SizeHalfUp, size: box},

		{fit: FitShortest, rule: SizeTruncate, size: byEdges(shortestTruncate), edge: maxEdgeBeyond},
		{fit: FitShortest, rule: SizeHalfEven, size: byEdges(shortestHalfEven), edge: maxEdge},
		{fit: FitShortest, rule: SizeHalfUp, size: byEdges(shortestHalfUp), edge: maxEdge},
		{fit: FitShortest, rule: SizeCapUnrounded, size: byEdges(capUnrounded), edge: maxEdge},
		{fit: FitShortest, rule: SizeCapUnroundedDown, size: capUnroundedDown, edge: maxEdge, aligns: true},
		{fit: FitShortest, rule: SizeCapUnroundedUp, size: up(byEdges(capUnrounded)), edge: maxEdge, aligns: true},
		{fit: FitShortest, rule: SizeTruncateUp, size: up(byEdges(shortestTruncate)), edge: maxEdgeBeyond, aligns: true},
		{fit: FitShortest, rule: SizeScaleUp, size: up(byEdges(shortestScale)), aligns: true},
		{fit: FitShortest, rule: SizeCapHalfUpDown, size: byEdges(capHalfUpDown), edge: needsMaxEdge, aligns: true},

		{fit: FitLongest, rule: SizeTruncate, size: byEdges(longestTruncate)},
		{fit: FitLongest, rule: SizeHalfEven, size: byEdges(longestHalfEven)},
		{fit: FitLongest, rule: SizeHalfUp, size: byEdges(longestHalfUp)},
		{fit: FitLongest, rule: SizeScale, size: byEdges(longestScale)},
		{fit: FitLongest, rule: SizeScaleDown, size: byEdges(longestScaleDown)},
		{fit: FitLongest, rule: SizeAspect, size: byEdges(longestAspect)},
		{fit: FitLongest, rule: SizeEven, size: even, edge: maxEdge},
		{fit: FitLongest, rule: SizeNear, size: nearMultiple, edge: maxEdge, aligns: true},

		{fit: FitLongestMin, rule: SizeTruncate, size: atLeast(byEdges(longestTruncate))},
		{fit: FitLongestMin, rule: SizeHalfEven, size: atLeast(byEdges(longestHalfEven))},
		{fit: FitLongestMin, rule: SizeHalfUp, size: atLeast(byEdges(longestHalfUp))},
		{fit: FitLongestMin, rule: SizeScale, size: atLeast(byEdges(longestScale))},
		{fit: FitLongestMin, rule: SizeScaleDown, size: atLeast(byEdges(longestScaleDown))},
		{fit: FitLongestMin, rule: SizeCapped, size: atLeast(capped)},

		{fit: FitInside, rule: SizeTruncate, size: insideTruncate},
		{fit: FitInside, rule: SizeHalfEven, size: byRatio(math.Max)},
		{fit: FitInside, rule: SizeHalfUp, size: byScale(math.Min, halfUp)},
		{fit: FitInside, rule: SizeTruncate32, size: insideTruncate32},
		{fit: FitInside, rule: SizeTruncateUp, size: up(insideTruncate), aligns: true},
		{fit: FitInside, rule: SizeShrink, size: shrink},
		{fit: FitInside, rule: SizeShrinkUp, size: up(shrinkFloor), aligns: true},
		{fit: FitInside, rule: SizeNear, size: nearMultiple, edge: maxEdge, aligns: true, check: square},

		{fit: FitCover, rule: SizeTruncate, size: byScale(math.Max, math.Trunc)},
		{fit: FitCover, rule: SizeHalfEven, size: byRatio(math.Min)},
		{fit: FitCover, rule: SizeHalfUp, size: byScale(math.Max, halfUp)},
		{fit: FitCover, rule: SizeNear, size: nearMultiple, edge: maxEdge, aligns: true, check: square},

		{fit: FitThumbnail, rule: SizeTruncate, size: thumbnail},
		{fit: FitThumbnail, rule: SizeTruncateGap, size: thumbnail},

		{fit: FitMultiple, rule: SizeTruncate, size: multiple(math.Trunc), aligns: true},
		{fit: FitMultiple, rule: SizeHalfEven, size: multiple(math.RoundToEven), aligns: true},
		{fit: FitMultiple, rule: SizeHalfUp, size: multiple(halfUp), aligns: true},
		{fit: FitMultiple, rule: SizeFraction, size: fraction, aligns: true},

		{fit: FitAligned, rule: SizeTruncate, size: aligned(math.Trunc), aligns: true},
		{fit: FitAligned, rule: SizeHalfEven, size: aligned(math.RoundToEven), aligns: true},
		{fit: FitAligned, rule: SizeHalfUp, size: aligned(halfUp), aligns: true},

		{fit: FitHeight, rule: SizeTruncate, size: textLine, edge: needsMaxEdge},
	}
	for i := range t.all {
		t.of[t.all[i].fit][t.all[i].rule] = &t.all[i]
	}
}

// sizing returns the sizing of o, nil if there is none.
func (o *Resize) sizing() *sizing {
	if o.Fit > FitHeight || o.SizeRule > SizeNear {
		return nil
	}
	return sizes.Get((*sizeTable).fill).of[o.Fit][o.SizeRule]
}

// rules lists the size rules that go with a fit.
func (f Fit) rules() (l []SizeRule) {
	for _, s := range sizes.Get((*sizeTable).fill).all {
		if s.fit == f {
			l = append(l, s.rule)
		}
	}
	return l
}

// sized returns the output size of Resize. Unknown sides stay unknown.
func (o *Resize) sized(h, w int) (int, int, error) {
	if o.Fit == FitExact {
		return o.Height, o.Width, nil
	}
	if h == tensor.Unknown || w == tensor.Unknown {
		return tensor.Unknown, tensor.Unknown, nil
	}
	nh, nw := o.sizing().size(*o, float64(h), float64(w))
	if o.SizeRule == SizeTruncateGap && (float64(h)/nh >= 4 || float64(w)/nw >= 4) {
		return 0, 0, inputErr("an image of %d x %d (height x width) would shrink to %.0f x %.0f: want a factor below 4 on both sides", h, w, nh, nw)
	}
	return sides(h, w, nh, nw)
}

// sides converts nh and nw, the new size of an image of h x w, to ints. It
// rejects sizes that no image can have.
func sides(h, w int, nh, nw float64) (int, int, error) {
	if !(nh >= 1 && nw >= 1 && nh <= maxSide && nw <= maxSide) {
		return 0, 0, inputErr("an image of %d x %d (height x width) would become %.0f x %.0f, want sides of 1 to %d", h, w, nh, nw, maxSide)
	}
	return int(nh), int(nw), nil
}

func square(o *Resize) error {
	if o.Height != o.Width {
		return paramErr("height %d and width %d with size_rule near, want equal sides", o.Height, o.Width)
	}
	return nil
}

func halfUp(v float64) float64 { return math.Trunc(v + 0.5) }

// byEdges returns a rule for the shorter and the longer edge.
func byEdges(size func(o Resize, short, long float64) (s, l float64)) func(Resize, float64, float64) (float64, float64) {
	return func(o Resize, h, w float64) (float64, float64) {
		s, l := size(o, min(h, w), max(h, w))
		if h > w {
			return l, s
		}
		return s, l
	}
}

// up returns a rule whose sides then grow to multiples of Multiple.
func up(size func(o Resize, h, w float64) (float64, float64)) func(Resize, float64, float64) (float64, float64) {
	return func(o Resize, h, w float64) (float64, float64) {
		h, w = size(o, h, w)
		m := float64(o.Multiple)
		return float64(math.Ceil(h/m) * m), float64(math.Ceil(w/m) * m)
	}
}

// atLeast returns a rule whose sides are then at least Height and Width.
func atLeast(size func(o Resize, h, w float64) (float64, float64)) func(Resize, float64, float64) (float64, float64) {
	return func(o Resize, h, w float64) (float64, float64) {
		h, w = size(o, h, w)
		return max(h, float64(o.Height)), max(w, float64(o.Width))
	}
}

func box(o Resize, _, _ float64) (float64, float64) { return float64(o.Height), float64(o.Width) }

func shortestTruncate(o Resize, short, long float64) (s, l float64) {
	edge, most := float64(o.Edge), float64(o.MaxEdge)
	s, l = edge, math.Trunc(float64(edge*long)/short)
	if most > 0 && l > most {
		s, l = math.Trunc(float64(most*s)/l), most
	}
	return s, l
}

func shortestHalfEven(o Resize, short, long float64) (s, l float64) {
	ratio := short / float64(o.Edge)
	if most := float64(o.MaxEdge); most > 0 {
		ratio = max(ratio, long/most)
	}
	return math.RoundToEven(short / ratio), math.RoundToEven(long / ratio)
}

func shortestHalfUp(o Resize, short, long float64) (s, l float64) {
	scale := float64(o.Edge) / short
	if most := float64(o.MaxEdge); most > 0 {
		scale = min(scale, most/long)
	}
	return halfUp(float64(short * scale)), halfUp(float64(long * scale))
}

func shortestScale(o Resize, short, long float64) (s, l float64) {
	scale := float64(o.Edge) / short
	return math.RoundToEven(float64(short * scale)), math.RoundToEven(float64(long * scale))
}

func capUnrounded(o Resize, short, long float64) (s, l float64) {
	return unrounded(o, short, long, true)
}

func capUnroundedDown(o Resize, h, w float64) (float64, float64) {
	s, l := unrounded(o, min(h, w), max(h, w), h <= w) // the reference checks no portrait image
	m := float64(o.Multiple)
	s, l = float64(math.Trunc(s/m)*m), float64(math.Trunc(l/m)*m)
	if h > w {
		return l, s
	}
	return s, l
}

// unrounded is the rule of SizeCapUnrounded. keep leaves an image unchanged
// whose shorter edge is right already.
func unrounded(o Resize, short, long float64, keep bool) (s, l float64) {
	edge, most := float64(o.Edge), float64(o.MaxEdge)
	s, l = edge, math.Trunc(float64(edge*long)/short)
	if most > 0 && float64(long/short*edge) > most {
		raw := float64(most*short) / long
		s, l = math.RoundToEven(raw), math.Trunc(float64(raw*long)/short)
	}
	if s == short && keep {
		l = long
	}
	return s, l
}

func capHalfUpDown(o Resize, short, long float64) (s, l float64) {
	edge, most := float64(o.Edge), float64(o.MaxEdge)
	s, l = edge, float64(edge/short*long)
	if l > most {
		scale := most / l
		s, l = float64(scale*s), float64(scale*l)
	}
	m := float64(o.Multiple)
	return float64(math.Trunc(halfUp(s)/m) * m), float64(math.Trunc(halfUp(l)/m) * m)
}

func longestTruncate(o Resize, short, long float64) (s, l float64) {
	edge := float64(o.Edge)
	return math.Trunc(float64(edge*short) / long), edge
}

func longestHalfEven(o Resize, short, long float64) (s, l float64) {
	ratio := long / float64(o.Edge)
	return math.RoundToEven(short / ratio), math.RoundToEven(long / ratio)
}

func longestHalfUp(o Resize, short, long float64) (s, l float64) {
	scale := float64(o.Edge) / long
	return halfUp(float64(short * scale)), halfUp(float64(long * scale))
}

func longestScale(o Resize, short, long float64) (s, l float64) {
	scale := float64(o.Edge) / long
	return math.RoundToEven(float64(short * scale)), math.RoundToEven(float64(long * scale))
}

func longestScaleDown(o Resize, short, long float64) (s, l float64) {
	edge := float64(o.Edge)
	return math.Trunc(float64(short * float64(edge/long))), edge
}

func longestAspect(o Resize, short, long float64) (s, l float64) {
	edge := float64(o.Edge)
	return math.Trunc(float64(edge * float64(short/long))), edge
}

func capped(o Resize, h, w float64) (float64, float64) {
	edge, aspect := float64(o.Edge), w/h
	switch {
	case max(h, w) <= edge:
		return h, w
	case w >= h:
		return math.Trunc(edge / aspect), edge
	}
	return edge, math.Trunc(float64(edge * aspect))
}

// even is the rule of SizeEven.
func even(o Resize, h, w float64) (float64, float64) {
	edge, most := float64(o.Edge), float64(o.MaxEdge)
	aspect := w / h
	if w >= h {
		h, w = math.Trunc(edge/aspect), edge
		h = max(1, h+math.Mod(h, 2))
	} else {
		h, w = edge, math.Trunc(float64(edge*aspect))
		w = max(1, w+math.Mod(w, 2))
	}
	if most == 0 || max(h, w) <= most {
		return h, w
	}
	aspect = w / h
	if w >= h {
		return max(1, math.Trunc(most/aspect)), most
	}
	return most, max(1, math.Trunc(float64(most*aspect)))
}

// nearMultiple is the rule of SizeNear.
func nearMultiple(o Resize, h, w float64) (float64, float64) {
	long, scale := max(h, w), 1.0
	switch {
	case o.Fit == FitLongest:
		scale = float64(o.Edge) / long
	case o.Fit == FitInside && long > float64(o.Height):
		scale = float64(o.Height) / long
	case o.Fit == FitCover && min(h, w) < float64(o.Height):
		scale = float64(o.Height) / min(h, w)
	}
	h, w = math.Trunc(float64(h*scale)), math.Trunc(float64(w*scale))
	if most := float64(o.MaxEdge); most > 0 && max(h, w) > most {
		scale = most / max(h, w)
		h, w = math.Trunc(float64(h*scale)), math.Trunc(float64(w*scale))
	}
	m := float64(o.Multiple)
	return max(m, float64(math.RoundToEven(h/m)*m)), max(m, float64(math.RoundToEven(w/m)*m))
}

// scales returns the scales of both sides to Height and Width.
func (o Resize) scales(h, w float64) (sh, sw float64) {
	return float64(o.Height) / h, float64(o.Width) / w
}

// byScale returns a rule that multiplies both sides by one of the two scales.
func byScale(choose func(x, y float64) float64, round func(float64) float64) func(Resize, float64, float64) (float64, float64) {
	return func(o Resize, h, w float64) (float64, float64) {
		scale := choose(o.scales(h, w))
		return round(float64(h * scale)), round(float64(w * scale))
	}
}

// byRatio returns a rule that divides both sides by one of the two ratios.
func byRatio(choose func(x, y float64) float64) func(Resize, float64, float64) (float64, float64) {
	return func(o Resize, h, w float64) (float64, float64) {
		ratio := choose(h/float64(o.Height), w/float64(o.Width))
		return math.RoundToEven(h / ratio), math.RoundToEven(w / ratio)
	}
}

func insideTruncate(o Resize, h, w float64) (float64, float64) {
	scale := min(o.scales(h, w))
	return math.Trunc(float64(h * scale)), math.Trunc(float64(w * scale))
}

func insideTruncate32(o Resize, h, w float64) (float64, float64) {
	scale := min(float32(o.Width)/float32(w), float32(o.Height)/float32(h))
	return math.Trunc(float64(float32(h) * scale)), math.Trunc(float64(float32(w) * scale))
}

func shrink(o Resize, h, w float64) (float64, float64) {
	if h <= float64(o.Height) && w <= float64(o.Width) {
		return h, w
	}
	return insideTruncate(o, h, w)
}

func shrinkFloor(o Resize, h, w float64) (float64, float64) {
	if ratio := max(h/float64(o.Height), w/float64(o.Width)); ratio > 1 {
		return math.Floor(h / ratio), math.Floor(w / ratio)
	}
	return h, w
}

func thumbnail(o Resize, h, w float64) (float64, float64) {
	nh, nw := min(h, float64(o.Height)), min(w, float64(o.Width))
	switch {
	case h <= float64(o.Height) && w <= float64(o.Width):
	case h > w:
		nw = math.Trunc(float64(w*nh) / h)
	case w > h:
		nh = math.Trunc(float64(h*nw) / w)
	}
	return nh, nw
}

// toBox returns the scales of FitMultiple.
func (o Resize) toBox(h, w float64) (sh, sw float64) {
	sh, sw = o.scales(h, w)
	switch {
	case !o.KeepAspect:
	case math.Abs(1-sw) < math.Abs(1-sh):
		sh = sw
	default:
		sw = sh
	}
	return sh, sw
}

func multiple(round func(float64) float64) func(Resize, float64, float64) (float64, float64) {
	return func(o Resize, h, w float64) (float64, float64) {
		sh, sw := o.toBox(h, w)
		m := float64(o.Multiple)
		return float64(round(float64(sh*h)/m) * m), float64(round(float64(sw*w)/m) * m)
	}
}

func fraction(o Resize, h, w float64) (float64, float64) {
	sh, sw := o.toBox(h, w)
	part := 1 / float64(o.Multiple)
	return math.Trunc(float64(math.RoundToEven(float64(sh*h)/part) * part)), math.Trunc(float64(math.RoundToEven(float64(sw*w)/part) * part))
}

func aligned(round func(float64) float64) func(Resize, float64, float64) (float64, float64) {
	return func(o Resize, h, w float64) (float64, float64) {
		m := float64(o.Multiple)
		return float64(round(h/m) * m), float64(round(w/m) * m)
	}
}

// textLine is the size of FitHeight.
func textLine(o Resize, h, w float64) (float64, float64) {
	nh, most := float64(o.Height), float64(o.MaxEdge)
	aspect := w / h
	nw := math.Trunc(float64(nh * max(aspect, float64(o.Width)/nh)))
	if up := math.Ceil(float64(nh * aspect)); nw > most {
		nw = most
	} else if nw >= up {
		nw = up
	}
	return nh, nw
}
