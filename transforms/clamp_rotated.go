package transforms

import "math"

// clampRotated clamps a rotated box to an image of h x w pixels, in
// torchvision's order of operations.
func clampRotated(row []float32, f CoordFormat, mode Clamping, h, w float32) {
	if mode == ClampNone {
		return
	}
	box := toCorners(row, f)
	before := box // as it is, while box is cut
	for range 4 {
		first := leftmost(&box)
		box, before = fromCorner(box, first), fromCorner(before, first)
		box = cutLeft(box, before, mode == ClampHard, h, w)
		// As in torchvision, this restores the order of an even first corner
		// only. The corners of others have moved on by two.
		box, before = fromCorner(box, first), fromCorner(before, first)
		box, before = quarterTurn(box, w), quarterTurn(before, w)
		h, w = w, h
	}
	fromCorners(row, f, box)
}

// fromCorner returns the corners from corner i on.
func fromCorner(c [8]float32, i int) (r [8]float32) {
	for k := range r {
		r[k] = c[(2*i+k)%8]
	}
	return r
}

// quarterTurn turns an image of width w, and the corners in it, to the left.
func quarterTurn(c [8]float32, w float32) [8]float32 {
	for k := 0; k < 8; k += 2 {
		c[k], c[k+1] = c[k+1], w-c[k]
	}
	return c
}

// leftmost returns the corner furthest to the left; of equal ones, the highest.
// A weight of x that is NaN comes first.
func leftmost(c *[8]float32) (first int) {
	var x, y float32
	for k := 0; k < 8; k += 2 {
		x, y = max(x, abs32(c[k])), max(y, abs32(c[k+1]))
	}
	var least float32
	for k := 0; k < 8; k += 2 {
		v := c[k+1]/y + float32(float32(c[k]/x)*100)
		if k == 0 || !(v >= least) {
			least, first = v, k/2
			if v != v {
				break
			}
		}
	}
	return first
}

func abs32(v float32) float32 { return float32(math.Abs(float64(v))) }

// lines returns the slopes a and the intercepts b of the lines y = a*x + b from
// each corner to the next.
func lines(c *[8]float32) (a, b [4]float32) {
	for i := range 4 {
		k, n := 2*i, (2*i+2)%8
		a[i] = (c[n+1] - c[k+1]) / (c[n] - c[k])
		b[i] = c[k+1] - float32(a[i]*c[k])
	}
	return a, b
}

// larger and smaller return a if the numbers are equal, also of 0 and -0, and
// NaN if one is NaN.
func larger(a, b float32) float32 {
	if a < b || b != b {
		return b
	}
	return a
}

func smaller(a, b float32) float32 {
	if b < a || b != b {
		return b
	}
	return a
}

// between clamps v. NaN stays, and a NaN among the limits gives NaN.
func between(v, low, high float32) float32 { return smaller(larger(v, low), high) }

// intercepts moves the lines of a box into the image. bm are the intercepts of
// the box before all cuts.
func intercepts(a, b, bm [4]float32, hard bool, h, w float32) [4]float32 {
	b1 := between(between(b[1], b[0], b[2]), 0, h)
	b2, b3 := b[1], b[2]
	b4 := between(between(b3, b2, b[3]), 0, h)
	if hard {
		b1 = float32((b1 + b4) / 2)
		t := larger(float32(b1*a[1])/a[0], float32(b3*a[1])/a[2])
		t = larger(t, float32((a[0]-a[1])*w)+b1)
		b2 = smaller(larger(t, float32((a[2]-a[1])*w)+b3), b2)
		t = smaller(float32((1-a[2]/a[3])*h)+float32(b1*a[2])/a[3], float32((1-a[2]/a[1])*h)+float32(b2*a[2])/a[1])
		t = smaller(t, float32((a[1]-a[2])*w)+b2)
		b3 = larger(smaller(t, float32((a[3]-a[2])*w)+b1), b3)
		// The first and the last intercept are one tensor in torchvision.
		b1 = between(between(b1, bm[0], bm[2]), bm[1], bm[3])
		b4 = b1
	} else {
		b1 = between(b1, bm[0], bm[2])
		b4 = between(b4, bm[1], bm[3])
	}
	return [4]float32{b1, between(b2, bm[1], bm[3]), between(b3, bm[0], bm[2]), b4}
}

// near reports whether two numbers are close to each other, as torch.isclose
// does.
func near(a, b float32) bool {
	d := abs32(a - b)
	return a == b || d <= math.MaxFloat32 && d <= 1e-8+abs32(float32(1e-5*b))
}

// cutLeft cuts a box, whose first corner is the leftmost one, at the left side
// of an image of h x w pixels.
func cutLeft(c, before [8]float32, hard bool, h, w float32) [8]float32 {
	r := c
	if c[0] < 0 {
		a, b := lines(&c)
		_, bm := lines(&before)
		b = intercepts(a, b, bm, hard, h, w)
		var cut [8]float32
		nan := false
		for i := range 4 {
			k := (i + 3) % 4
			x := -(b[i] - b[k]) / (a[i] - a[k])
			y := float32(a[i]*x) + b[i]
			cut[2*i], cut[2*i+1] = x, y
			nan = nan || x != x || y != y
		}
		if !nan {
			r = cut
		}
	}
	upright := near(c[1], c[3]) || near(c[5], c[7])
	if upright {
		r = c
		r[0], r[6] = larger(c[0], 0), larger(c[6], 0)
	}
	if c[0] <= 0 && c[2] <= 0 && c[4] <= 0 && c[6] <= 0 || near(c[1], c[7]) || near(c[3], c[5]) || upright && near(c[0], c[2]) {
		return [8]float32{}
	}
	return r
}
