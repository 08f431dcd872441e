package kernel

import "math"

// Perspective warps of 8-bit images as OpenCV 3.4 to 4.11 computes them.
// Source: modules/imgproc/src/imgwarp.cpp and modules/core/src/lapack.cpp of
// OpenCV 4.11.

// CVPerspective returns the map from the points from to the points to, in rows,
// by the LU decomposition of getPerspectiveTransform. Points are pairs of x and
// y in float32. ok is false if there is no such map.
func CVPerspective(from, to *[8]float64) (m [9]float64, ok bool) {
	var a [8][8]float64
	var b [8]float64
	for i := range 4 {
		sx, sy := float32(from[2*i]), float32(from[2*i+1])
		dx, dy := float32(to[2*i]), float32(to[2*i+1])
		a[i] = [8]float64{float64(sx), float64(sy), 1, 0, 0, 0, float64(float32(-sx * dx)), float64(float32(-sy * dx))}
		a[i+4] = [8]float64{0, 0, 0, float64(sx), float64(sy), 1, float64(float32(-sx * dy)), float64(float32(-sy * dy))}
		b[i], b[i+4] = float64(dx), float64(dy)
	}
	for i := range a {
		p := i
		for j := i + 1; j < 8; j++ {
			if math.Abs(a[j][i]) > math.Abs(a[p][i]) {
				p = j
			}
		}
		if math.Abs(a[p][i]) < 100*0x1p-52 {
			return m, false
		}
		a[i], a[p], b[i], b[p] = a[p], a[i], b[p], b[i]
		d := -1 / a[i][i]
		for j := i + 1; j < 8; j++ {
			f := float64(a[j][i] * d)
			for k := i + 1; k < 8; k++ {
				a[j][k] += float64(f * a[i][k])
			}
			b[j] += float64(f * b[i])
		}
	}
	for i := 7; i >= 0; i-- {
		s := b[i]
		for k := i + 1; k < 8; k++ {
			s -= float64(a[i][k] * m[k])
		}
		m[i] = s / a[i][i]
	}
	m[8] = 1
	return m, true
}

// CVInvert returns the inverse of a map of three rows, or zeros.
func CVInvert(m *[9]float64) (t [9]float64) {
	minor := func(a, b, c, d int) float64 { return float64(m[a]*m[b]) - float64(m[c]*m[d]) }
	d := float64(m[0]*minor(4, 8, 5, 7)) - float64(m[1]*minor(3, 8, 5, 6)) + float64(m[2]*minor(3, 7, 4, 6))
	if d == 0 {
		return t
	}
	d = 1 / d
	return [9]float64{
		float64(minor(4, 8, 5, 7) * d), float64(minor(2, 7, 1, 8) * d), float64(minor(1, 5, 2, 4) * d),
		float64(minor(5, 6, 3, 8) * d), float64(minor(0, 8, 2, 6) * d), float64(minor(2, 3, 0, 5) * d),
		float64(minor(3, 7, 4, 6) * d), float64(minor(1, 6, 0, 7) * d), float64(minor(0, 4, 1, 3) * d),
	}
}

// PerspectiveDeltas writes the positions of row y of an output of height rows
// for WarpRow, which then starts at (0, 0). m is the map from the output to the
// input. OpenCV computes blocks of columns, each from its first one.
func (k WarpTaps) PerspectiveDeltas(dx, dy []int32, m *[9]float64, y, height int) {
	const block = 32
	width := len(dx)
	dy = dy[:width]
	columns := min(block*block/min(block/2, height), width)
	scale, shift := float64(1<<warpFrac), warpBits-warpFrac
	if k == 1 {
		scale, shift = 1, warpBits
	}
	for first := 0; first < width; first += columns {
		x := float64(first)
		x0 := (float64(m[0]*x) + float64(m[1]*float64(y))) + m[2]
		y0 := (float64(m[3]*x) + float64(m[4]*float64(y))) + m[5]
		w0 := (float64(m[6]*x) + float64(m[7]*float64(y))) + m[8]
		last := min(first+columns, width)
		args := [9]float64{x0, m[0], y0, m[3], w0, m[6], 0, scale}
		done := k.perspectiveSIMD(dx[first:last], dy[first:last], &args)
		for i := first + done; i < last; i++ {
			n := float64(i - first)
			w := w0 + float64(m[6]*n)
			if w != 0 {
				w = scale / w
			}
			dx[i] = warpPlace(float64((x0+float64(m[0]*n))*w), k) << shift
			dy[i] = warpPlace(float64((y0+float64(m[3]*n))*w), k) << shift
		}
	}
}

// warpPlace rounds a position half to even and clamps whole pixels to int16, so
// that the result has at most 21 bits.
func warpPlace(v float64, k WarpTaps) int32 {
	n := warpInt(max(math.MinInt32, min(math.MaxInt32, v)))
	if k == 1 {
		return min(max(n, math.MinInt16), math.MaxInt16)
	}
	return min(max(n>>warpFrac, math.MinInt16), math.MaxInt16)<<warpFrac | n&warpMask
}
