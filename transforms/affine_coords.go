package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// AffineCoords moves points or boxes by an affine map, as Affine and Rotate
// move the pixels of an image. A point (x, y) moves to
//
//	M0*x + M1*y + M2 - ShiftX, M3*x + M4*y + M5 - ShiftY
//
// The four corners of a box move so, and their bounds are the box afterwards.
// Those of a rotated box become a rectangle as by ResizeCoords.
// It is then clamped to Height x Width as by ClampCoords. Points are never
// clamped. All numbers are rounded to float32, and so is each step.
//
// It takes a float32 tensor without layout, with the format's values on the
// last axis, and keeps its shape. Further values do not change. There may be no
// boxes.
//
// Reference: affine_bounding_boxes, affine_keypoints, rotate_bounding_boxes and
// rotate_keypoints of torchvision 0.29.2 (transforms.v2) with torch 2.15.0,
// whose matrix product fuses neither on AMD's CPUs nor with
// MKL_CBWR=COMPATIBLE.
type AffineCoords struct {
	Format   CoordFormat  `json:"format"`   // of boxes, or xy; default xyxy
	Matrix   AffineMatrix `json:"matrix"`   // from the input to the output, finite in float32
	ShiftX   float64      `json:"shift_x"`  // column of the moved image where the output starts, finite in float32; default 0
	ShiftY   float64      `json:"shift_y"`  // row of the moved image where the output starts, finite in float32; default 0
	Height   int          `json:"height"`   // height of the output in pixels, 1 to 2^24
	Width    int          `json:"width"`    // width of the output in pixels, 1 to 2^24
	Clamping Clamping     `json:"clamping"` // of boxes: soft, hard or none; default soft
}

//msgp:tuple AffineCoords

// NewAffineCoords returns the op for an image of height x width pixels, without
// a shift, with soft clamping.
func NewAffineCoords(format CoordFormat, matrix [6]float64, height, width int) *AffineCoords {
	return &AffineCoords{Format: format, Matrix: matrix, Height: height, Width: width}
}

// Info describes the op.
func (*AffineCoords) Info() Info {
	boxes := []string{"boxes"}
	return Info{
		Name: "affine_coords", Version: 1,
		New: func() Op { return NewAffineCoords(CoordXYXY, [6]float64{1, 0, 0, 0, 1, 0}, 224, 224) },
		In:  boxes, Out: boxes, InPlace: true,
		Reference: "torchvision 0.29.2 affine_bounding_boxes, affine_keypoints, rotate_bounding_boxes, rotate_keypoints", Exactness: rotatedExactness,
	}
}

// Validate checks the names, the numbers and the size.
func (o *AffineCoords) Validate() error {
	if err := checkCoords(o.Format, o.Clamping); err != nil {
		return err
	}
	if err := checkFloats("matrix", o.Matrix[:]...); err != nil {
		return err
	}
	if err := checkFloats("shift", o.ShiftX, o.ShiftY); err != nil {
		return err
	}
	return checkSides(o.Height, o.Width)
}

// checkFloats rejects numbers that are not finite in float32.
func checkFloats(name string, values ...float64) error {
	for i, v := range values {
		if f := float64(float32(v)); math.IsNaN(f) || math.IsInf(f, 0) {
			return paramErr("%s[%d] is %v, want a finite number in the range of float32", name, i, v)
		}
	}
	return nil
}

// Infer keeps the shape.
func (o *AffineCoords) Infer(dst, in []tensor.Desc) error { return keepCoords(dst, in, o.Format) }

// Apply moves the boxes.
func (o *AffineCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	var m [6]float32
	for i, v := range o.Matrix {
		m[i] = float32(v)
	}
	b := boxMover{o.Format, o.Clamping, float32(o.ShiftX), float32(o.ShiftY), float32(o.Height), float32(o.Width)}
	return eachRotated(c, dst, src, o.Format, func(row []float32) {
		b.move(row, func(x, y float32) (float32, float32) {
			return float32(x*m[0]) + float32(y*m[1]) + m[2], float32(x*m[3]) + float32(y*m[4]) + m[5]
		})
	})
}

// boxMover moves points, or boxes by their corners.
type boxMover struct {
	format        CoordFormat
	clamping      Clamping
	x, y          float32 // subtracted
	height, width float32
}

// move moves a point or a box in place by a map of points.
func (b *boxMover) move(row []float32, f func(x, y float32) (float32, float32)) {
	if b.format == CoordXY {
		x, y := f(row[0], row[1])
		row[0], row[1] = x-b.x, y-b.y
		return
	}
	if b.format.rotated() {
		c := toCorners(row, b.format)
		for i := 0; i < 8; i += 2 {
			c[i], c[i+1] = f(c[i], c[i+1])
		}
		rectangle(&c)
		for i := 0; i < 8; i += 2 {
			c[i], c[i+1] = c[i]-b.x, c[i+1]-b.y
		}
		clampRotated(c[:], CoordXYXYXYXY, b.clamping, b.height, b.width)
		fromCorners(row, b.format, c)
		return
	}
	toXYXY(row, b.format)
	x, y := f(row[0], row[1])
	left, top, right, bottom := x, y, x, y
	for _, p := range [3][2]float32{{row[2], row[1]}, {row[2], row[3]}, {row[0], row[3]}} {
		x, y := f(p[0], p[1])
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	}
	row[0], row[1], row[2], row[3] = left-b.x, top-b.y, right-b.x, bottom-b.y
	if b.clamping != ClampNone {
		clampBox(row, CoordXYXY, b.height, b.width)
	}
	fromXYXY(row, b.format)
}
