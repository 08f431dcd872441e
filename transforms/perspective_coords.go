package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PerspectiveCoefficients are the eight coefficients of a perspective map of
// pixels; the ninth is 1.
type PerspectiveCoefficients [8]float64

// UnmarshalJSON parses a list of eight numbers.
func (p *PerspectiveCoefficients) UnmarshalJSON(b []byte) error { return unmarshalExactly(b, p[:]) }

// PerspectiveCoords moves points or boxes by a perspective map, as Perspective
// moves the pixels of an image. With the coefficients c, a point (x, y) moves
// to
//
//	(c0*x + c1*y + c2) / (c6*x + c7*y + 1), (c3*x + c4*y + c5) / (c6*x + c7*y + 1)
//
// The four corners of a box move so, and their bounds are the box afterwards.
// Those of a rotated box become a rectangle as by ResizeCoords.
// It is then clamped to Height x Width as by ClampCoords. Points are never
// clamped. All numbers are rounded to float32, and so is each step. A divisor
// of 0 gives infinite values or NaN.
//
// It takes a float32 tensor without layout, with the format's values on the
// last axis, and keeps its shape. Further values do not change. There may be no
// boxes.
//
// Reference: perspective_bounding_boxes and perspective_keypoints of
// torchvision 0.29.2 (transforms.v2) with torch 2.15.0, whose matrix product
// fuses neither on AMD's CPUs nor with MKL_CBWR=COMPATIBLE.
type PerspectiveCoords struct {
	Format       CoordFormat             `json:"format"`       // of boxes, or xy; default xyxy
	Coefficients PerspectiveCoefficients `json:"coefficients"` // from the input to the output, finite in float32
	Height       int                     `json:"height"`       // height of the image in pixels, 1 to 2^24
	Width        int                     `json:"width"`        // width of the image in pixels, 1 to 2^24
	Clamping     Clamping                `json:"clamping"`     // of boxes: soft, hard or none; default soft
}

//msgp:tuple PerspectiveCoefficients PerspectiveCoords

// NewPerspectiveCoords returns the op for an image of height x width pixels,
// with soft clamping.
func NewPerspectiveCoords(format CoordFormat, coefficients [8]float64, height, width int) *PerspectiveCoords {
	return &PerspectiveCoords{Format: format, Coefficients: coefficients, Height: height, Width: width}
}

// Info describes the op.
func (*PerspectiveCoords) Info() Info {
	boxes := []string{"boxes"}
	return Info{
		Name: "perspective_coords", Version: 1,
		New: func() Op { return NewPerspectiveCoords(CoordXYXY, [8]float64{1, 0, 0, 0, 1, 0, 0, 0}, 224, 224) },
		In:  boxes, Out: boxes, InPlace: true,
		Reference: "torchvision 0.29.2 perspective_bounding_boxes, perspective_keypoints", Exactness: rotatedExactness,
	}
}

// Validate checks the names, the numbers and the size.
func (o *PerspectiveCoords) Validate() error {
	if err := checkCoords(o.Format, o.Clamping); err != nil {
		return err
	}
	if err := checkFloats("coefficients", o.Coefficients[:]...); err != nil {
		return err
	}
	return checkSides(o.Height, o.Width)
}

// Infer keeps the shape.
func (o *PerspectiveCoords) Infer(dst, in []tensor.Desc) error { return keepCoords(dst, in, o.Format) }

// Apply moves the boxes.
func (o *PerspectiveCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	var m [8]float32
	for i, v := range o.Coefficients {
		m[i] = float32(v)
	}
	b := boxMover{format: o.Format, clamping: o.Clamping, height: float32(o.Height), width: float32(o.Width)}
	return eachRotated(c, dst, src, o.Format, func(row []float32) {
		b.move(row, func(x, y float32) (float32, float32) {
			d := float32(x*m[6]) + float32(y*m[7]) + 1
			return (float32(x*m[0]) + float32(y*m[1]) + m[2]) / d, (float32(x*m[3]) + float32(y*m[4]) + m[5]) / d
		})
	})
}
