package datagraph

import "github.com/infer-prep/infer-prep/transforms"

// placed is one axis of a canvas through which an image is seen: pixel i of the
// n shows pixel at + step*i of the image if lo <= i < hi, and a fill value if not.
type placed struct {
	n, at, step int
	lo, hi      int
}

func whole(n int) placed { return placed{n: n, step: 1, hi: n} }

// through is the axis seen through the window of n from start on, then mirrored or not.
func (p placed) through(start, n int, flip bool) placed {
	q := placed{
		n: n, at: p.at + p.step*start, step: p.step,
		lo: max(p.lo-start, 0), hi: min(p.hi-start, n),
	}
	if flip {
		q.at, q.step = q.at+q.step*(n-1), -q.step
		q.lo, q.hi = n-q.hi, n-q.lo
	}
	return q
}

// full reports whether the canvas shows nothing but the image.
func (p placed) full() bool { return p.lo == 0 && p.hi == p.n }

// placement is a canvas: both axes, and the fill.
type placement struct {
	x, y placed
	fill []float64
}

func wholeOf(h, w int) placement { return placement{x: whole(w), y: whole(h)} }

func (p placement) padded() bool { return !p.x.full() || !p.y.full() }

func (p placement) empty() bool { return p.x.lo >= p.x.hi || p.y.lo >= p.y.hi }

// through is the canvas seen through a frame; not ok if it would show two fills.
func (p placement) through(f transforms.Frame) (_ placement, ok bool) {
	q := placement{x: p.x.through(f.Left, f.Width, f.FlipX), y: p.y.through(f.Top, f.Height, f.FlipY), fill: p.fill}
	if f.Top >= 0 && f.Left >= 0 && f.Top+f.Height <= p.y.n && f.Left+f.Width <= p.x.n {
		return q, true
	}
	q.fill = f.Fill
	return q, !p.padded() || sameFill(p.fill, f.Fill)
}

func sameFill(a, b []float64) bool {
	for i := range max(len(a), len(b)) {
		if a[i%len(a)] != b[i%len(b)] {
			return false
		}
	}
	return true
}

// over is the axis q, which shows the result of p, as one that shows p's image.
// What q shows must lie within p's canvas, which must be full.
func (p placed) over(q placed) placed {
	q.at, q.step = p.at+p.step*q.at, p.step*q.step
	return q
}
