package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// maxTurn is the largest angle of a rotated box in degrees.
const maxTurn = 1e7

const rotatedExactness = "0 (rotated boxes: with sines, arctangents and roots that are rounded to the nearest float32)"

// rotated reports whether a format is one of rotated boxes.
func (f CoordFormat) rotated() bool { return f >= CoordLTWHR && f <= CoordXYXYXYXY }

// checkTurn rejects angles that are too large for an exact sine.
func checkTurn(row []float32, f CoordFormat) error {
	if !f.rotated() || f == CoordXYXYXYXY {
		return nil
	}
	if a := math.Abs(float64(row[4])); a > maxTurn && !math.IsInf(a, 0) {
		return inputErr("the angle of a box %v is %v degrees, want -%v to %[3]v", f, row[4], maxTurn)
	}
	return nil
}

// eachRotated is eachCoords for a function that needs the angles of boxes.
func eachRotated(c *Context, dst, src []*tensor.Tensor, f CoordFormat, move func(row []float32)) error {
	var bad error
	err := eachCoords(c, dst, src, func(row []float32) {
		if bad == nil {
			bad = checkTurn(row, f)
		}
		if bad == nil {
			move(row)
		}
	})
	if err == nil {
		err = bad
	}
	return err
}

// cosSinDegrees returns the cosine and the sine of an angle in degrees, which
// is converted to radians in float32.
func cosSinDegrees(a float32) (cos, sin float32) {
	sin, cos = sinCos32(float32(a*math.Pi) / 180)
	return cos, sin
}

// atan2 rounds the angle of the point (x, y) in radians to float32.
func atan2(y, x float32) float32 { return float32(exactmath.Atan2(float64(y), float64(x))) }

// length returns the length of the vector (x, y), with squares in float32.
func length(x, y float32) float32 {
	return float32(math.Sqrt(float64(float32(x*x) + float32(y*y))))
}

// halfOf returns half of the absolute value.
func halfOf(v float32) float32 { return float32(math.Abs(float64(v / 2))) }

// convertRotated writes a rotated box of another format to dst, in
// torchvision's order of operations. dst may be row.
func convertRotated(dst, row []float32, from, to CoordFormat) {
	if from == to {
		copy(dst[:to.values()], row)
		return
	}
	var b [8]float32 // ltwhr
	copy(b[:], row[:from.values()])
	switch from {
	case CoordCXCYWHR:
		cos, sin := cosSinDegrees(b[4])
		w, h := halfOf(b[2]), halfOf(b[3])
		b[0] = b[0] - float32(w*cos) - float32(h*sin)
		b[1] = b[1] + float32(w*sin) - float32(h*cos)
	case CoordXYXYXYXY:
		w, h := length(b[2]-b[0], b[3]-b[1]), length(b[4]-b[2], b[5]-b[3])
		b[4] = float32(float32(atan2(b[1]-b[3], b[2]-b[0])/math.Pi) * 180)
		b[2], b[3] = w, h
	}
	switch to {
	case CoordCXCYWHR:
		cos, sin := cosSinDegrees(b[4])
		w, h := halfOf(b[2]), halfOf(b[3])
		b[0] = b[0] + float32(w*cos) + float32(h*sin)
		b[1] = b[1] - float32(w*sin) + float32(h*cos)
	case CoordXYXYXYXY:
		cos, sin := cosSinDegrees(b[4])
		x, y := b[0], b[1]
		wc, ws, hc, hs := float32(b[2]*cos), float32(b[2]*sin), float32(b[3]*cos), float32(b[3]*sin)
		b = [8]float32{x, y, x + wc, y - ws, x + (wc + hs), y - (ws - hc), x + hs, y + hc}
	}
	copy(dst[:to.values()], b[:])
}

// toCorners returns the corners of a rotated box.
func toCorners(row []float32, f CoordFormat) (c [8]float32) {
	convertRotated(c[:], row, f, CoordXYXYXYXY)
	return c
}

// fromCorners writes a box of corners in another format.
func fromCorners(row []float32, f CoordFormat, c [8]float32) {
	convertRotated(row, c[:], CoordXYXYXYXY, f)
}

// rectangle makes a rectangle of a parallelogram. The longer diagonal stays.
func rectangle(c *[8]float32) {
	const right = float32(math.Pi / 2)
	x, y := float32((c[0]+c[4])/2), float32((c[1]+c[5])/2)
	wp, hp := length(c[2]-c[0], c[3]-c[1]), length(c[6]-c[0], c[7]-c[1])
	r12, r14 := atan2(c[1]-c[3], c[2]-c[0]), atan2(c[1]-c[7], c[6]-c[0])
	turn := r12 - r14
	sin, cos := sinCos32(turn)
	sign := float32(1)
	if turn > right {
		sign = -1
	}
	w, h := wp+float32(float32(hp*cos)*sign), hp+float32(float32(wp*cos)*sign)
	if wp < hp {
		w = float32(wp * sin)
	}
	if wp > hp {
		h = float32(hp * sin)
	}
	turn = r12
	if hp > wp {
		turn = r14 + right
	}
	sin, cos = sinCos32(turn)
	w, h = float32(w/2), float32(h/2)
	wc, ws, hc, hs := float32(w*cos), float32(w*sin), float32(h*cos), float32(h*sin)
	*c = [8]float32{
		x - wc - hs, y - hc + ws, x + wc - hs, y - hc - ws,
		x + wc + hs, y + hc - ws, x - wc + hs, y + hc + ws,
	}
}

// sinCos32 rounds the sine and the cosine of r in radians. They are NaN for
// NaN and infinities.
func sinCos32(r float32) (sin, cos float32) {
	if nan := r - r; nan != 0 {
		return nan, nan
	}
	s, c := exactmath.SinCos(float64(r))
	return float32(s), float32(c)
}
