package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ClampCoords clamps points or boxes to an image of Height x Width pixels. The
// corners of a box get x in 0..Width and y in 0..Height. A point gets x in
// 0..Width-1 and y in 0..Height-1. NaN and -0 stay. A box in another format
// than xyxy is converted to xyxy and back, in float32, so that it can change by
// a rounding even inside the image.
//
// A rotated box keeps its angle. With soft clamping its corners may stay
// outside: it is the smallest box around what the image shows of it. With hard
// clamping all corners are inside. Its corners are cut at the four sides of the
// image one after another, in float32; so a box can change by roundings inside
// the image. A box without an overlap becomes zeros.
//
// It takes a float32 tensor without layout, with the format's values on the
// last axis, and keeps its shape. Further values do not change. There may be no
// boxes.
//
// Reference: clamp_bounding_boxes and clamp_keypoints of torchvision 0.29.2
// (transforms.v2) with torch 2.15.0.
type ClampCoords struct {
	Format   CoordFormat `json:"format"`   // of boxes, or xy; default xyxy
	Height   int         `json:"height"`   // height of the image in pixels, 1 to 2^24
	Width    int         `json:"width"`    // width of the image in pixels, 1 to 2^24
	Clamping Clamping    `json:"clamping"` // of boxes: soft, hard or none, which changes nothing; points are clamped always; default soft
}

//msgp:tuple ClampCoords

// NewClampCoords returns the op for an image of height x width pixels, with
// soft clamping.
func NewClampCoords(format CoordFormat, height, width int) *ClampCoords {
	return &ClampCoords{Format: format, Height: height, Width: width}
}

// Info describes the op.
func (*ClampCoords) Info() Info {
	boxes := []string{"boxes"}
	return Info{
		Name: "clamp_coords", Version: 1, New: func() Op { return NewClampCoords(CoordXYXY, 224, 224) },
		In: boxes, Out: boxes, InPlace: true,
		Reference: "torchvision 0.29.2 clamp_bounding_boxes, clamp_keypoints", Exactness: rotatedExactness,
	}
}

// Validate checks the names and the size.
func (o *ClampCoords) Validate() error {
	if err := checkCoords(o.Format, o.Clamping); err != nil {
		return err
	}
	return checkSides(o.Height, o.Width)
}

// Infer keeps the shape.
func (o *ClampCoords) Infer(dst, in []tensor.Desc) error { return keepCoords(dst, in, o.Format) }

// Apply clamps.
func (o *ClampCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	h, w := float32(o.Height), float32(o.Width)
	if o.Format.rotated() {
		return eachRotated(c, dst, src, o.Format, func(row []float32) { clampRotated(row, o.Format, o.Clamping, h, w) })
	}
	return eachCoords(c, dst, src, func(row []float32) {
		switch {
		case o.Format == CoordXY:
			row[0], row[1] = clipped(row[0], w-1), clipped(row[1], h-1)
		case o.Clamping != ClampNone:
			clampBox(row, o.Format, h, w)
		}
	})
}

// checkCoords checks the names of an op on boxes.
func checkCoords(f CoordFormat, c Clamping) error {
	if err := checkEnum("format", f, pixelFormats); err != nil {
		return err
	}
	return checkEnum("clamping", c, clampingNames)
}

// keepCoords is Infer of an op on boxes alone.
func keepCoords(dst, in []tensor.Desc, f CoordFormat) error {
	dst[0] = in[0]
	return wantCoords(in[0], f)
}

// eachCoords copies src[0] to dst[0] and calls f for every row of the last axis
// of dst[0].
func eachCoords(c *Context, dst, src []*tensor.Tensor, f func(row []float32)) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copy(dst[0].Data, s.Data)
	width := s.Shape.At(s.Shape.Rank() - 1)
	for rows := tensor.View[float32](dst[0]); len(rows) > 0; rows = rows[width:] {
		f(rows[:width])
	}
	return nil
}

// toXYXY converts a box to xyxy in place, in torchvision's order of operations.
func toXYXY(row []float32, f CoordFormat) {
	for i := range 2 {
		switch f {
		case CoordCXCYWH:
			row[i] -= float32(row[i+2] / 2) // else arm64 fuses it, as a product with 0.5
			row[i+2] += row[i]
		case CoordLTWH:
			row[i+2] += row[i]
		}
	}
}

// xyxyOf returns the first box of a list as xyxy.
func xyxyOf(row []float32, f CoordFormat) [4]float32 {
	b := [4]float32(row)
	toXYXY(b[:], f)
	return b
}

// fromXYXY converts a box from xyxy in place, in torchvision's order of
// operations.
func fromXYXY(row []float32, f CoordFormat) {
	for i := range 2 {
		switch f {
		case CoordCXCYWH:
			row[i+2] -= row[i]
			row[i] = float32((float32(row[i]*2) + row[i+2]) / 2)
		case CoordLTWH:
			row[i+2] -= row[i]
		}
	}
}

// clampBox clamps a box to an image of h x w pixels.
func clampBox(row []float32, f CoordFormat, h, w float32) {
	toXYXY(row, f)
	for i := 0; i < 4; i += 2 {
		row[i], row[i+1] = clipped(row[i], w), clipped(row[i+1], h)
	}
	fromXYXY(row, f)
}
