package datagraph

import "github.com/infer-prep/infer-prep/transforms"

// axis is one axis of a canvas on which an image lies. Canvas pixel i of n
// shows image pixel at + step*i if lo <= i < hi, and a fill value otherwise.
type axis struct {
	n, at, step int
	lo, hi      int
}

// wholeAxis returns the axis of a canvas that is exactly the image.
func wholeAxis(n int) axis { return axis{n: n, step: 1, hi: n} }

// through returns the axis as seen through a window of n pixels that begins at
// start and is mirrored if flip is set.
func (a axis) through(start, n int, flip bool) axis {
	b := axis{
		n: n, at: a.at + a.step*start, step: a.step,
		lo: max(a.lo-start, 0), hi: min(a.hi-start, n),
	}
	if flip {
		b.at, b.step = b.at+b.step*(n-1), -b.step
		b.lo, b.hi = n-b.hi, n-b.lo
	}
	return b
}

// full reports whether the axis shows image pixels only.
func (a axis) full() bool { return a.lo == 0 && a.hi == a.n }

// pixels writes the visible image pixels to list, in canvas order, and returns
// list.
func (a axis) pixels(list []int32) []int32 {
	list = list[:0]
	for i := a.lo; i < a.hi; i++ {
		list = append(list, int32(a.at+a.step*i))
	}
	return list
}

// visible returns the range of image pixels that the canvas shows.
func (a axis) visible() (from, to int) {
	first, last := a.at+a.step*a.lo, a.at+a.step*(a.hi-1)
	return min(first, last), max(first, last) + 1
}

// over composes two axes: b shows the canvas of a, and the result shows the
// image of a on the canvas of b. a must be full wherever b looks.
func (a axis) over(b axis) axis {
	b.at, b.step = a.at+a.step*b.at, a.step*b.step
	return b
}

// canvas is an area on which an image lies, and the fill around the image.
type canvas struct {
	x, y axis
	fill []float64 // one value, or one for each channel
}

// wholeCanvas returns the canvas that is exactly an image of h by w pixels.
func wholeCanvas(h, w int) canvas { return canvas{x: wholeAxis(w), y: wholeAxis(h)} }

// padded reports whether the canvas shows any fill.
func (c canvas) padded() bool { return !c.x.full() || !c.y.full() }

// empty reports whether the canvas shows no image pixel.
func (c canvas) empty() bool { return c.x.lo >= c.x.hi || c.y.lo >= c.y.hi }

// through returns the canvas as seen through a frame. ok is false if the result
// needs two different fills.
func (c canvas) through(f transforms.Frame) (_ canvas, ok bool) {
	v := canvas{x: c.x.through(f.Left, f.Width, f.FlipX), y: c.y.through(f.Top, f.Height, f.FlipY), fill: c.fill}
	if f.Top >= 0 && f.Left >= 0 && f.Top+f.Height <= c.y.n && f.Left+f.Width <= c.x.n {
		return v, true
	}
	v.fill = f.Fill
	return v, !c.padded() || sameFill(c.fill, f.Fill)
}

// sameFill reports whether two fills are equal on every channel.
func sameFill(a, b []float64) bool {
	for i := range max(len(a), len(b)) {
		if a[i%len(a)] != b[i%len(b)] {
			return false
		}
	}
	return true
}
