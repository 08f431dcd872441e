package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ResizeCoords moves points or boxes as a resize from FromHeight x FromWidth to
// ToHeight x ToWidth pixels moves an image. It multiplies all values by the
// ratios of the sides: computed in float64, rounded to float32. The corners of
// a rotated box are multiplied so. They are a parallelogram then, of which the
// longer diagonal stays and the other corners move to make a rectangle. This
// happens even if the sizes are equal, where torchvision changes nothing.
//
// It takes a float32 tensor without layout, with the format's values on the
// last axis, and keeps its shape. Further values do not change. There may be no
// boxes.
//
// Reference: resize_bounding_boxes and resize_keypoints of torchvision 0.29.2
// (transforms.v2) with torch 2.15.0.
type ResizeCoords struct {
	Format     CoordFormat `json:"format"`      // of boxes, or xy; default xyxy
	FromHeight int         `json:"from_height"` // height of the image before in pixels, 1 to 2^24
	FromWidth  int         `json:"from_width"`  // width of the image before in pixels, 1 to 2^24
	ToHeight   int         `json:"to_height"`   // height of the image afterwards in pixels, 1 to 2^24
	ToWidth    int         `json:"to_width"`    // width of the image afterwards in pixels, 1 to 2^24
}

//msgp:tuple ResizeCoords

// NewResizeCoords returns the op for the sizes of the image before and
// afterwards.
func NewResizeCoords(format CoordFormat, fromHeight, fromWidth, toHeight, toWidth int) *ResizeCoords {
	return &ResizeCoords{format, fromHeight, fromWidth, toHeight, toWidth}
}

// Info describes the op.
func (*ResizeCoords) Info() Info {
	boxes := []string{"boxes"}
	return Info{
		Name: "resize_coords", Version: 1, New: func() Op { return NewResizeCoords(CoordXYXY, 224, 224, 224, 224) },
		In: boxes, Out: boxes, InPlace: true,
		Reference: "torchvision 0.29.2 resize_bounding_boxes, resize_keypoints", Exactness: rotatedExactness,
	}
}

// Validate checks the format and the sizes.
func (o *ResizeCoords) Validate() error {
	if err := checkEnum("format", o.Format, pixelFormats); err != nil {
		return err
	}
	for i, n := range []int{o.FromHeight, o.FromWidth, o.ToHeight, o.ToWidth} {
		if n < 1 || n > maxSide {
			return paramErr("%s is %d, want 1 to %d", []string{"from_height", "from_width", "to_height", "to_width"}[i], n, maxSide)
		}
	}
	return nil
}

// Infer keeps the shape.
func (o *ResizeCoords) Infer(dst, in []tensor.Desc) error { return keepCoords(dst, in, o.Format) }

// Apply scales.
func (o *ResizeCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	y := float32(float64(o.ToHeight) / float64(o.FromHeight))
	x := float32(float64(o.ToWidth) / float64(o.FromWidth))
	if o.Format.rotated() {
		return eachRotated(c, dst, src, o.Format, func(row []float32) {
			b := toCorners(row, o.Format)
			for i := 0; i < 8; i += 2 {
				b[i] = float32(b[i] * x)
				b[i+1] = float32(b[i+1] * y)
			}
			rectangle(&b)
			fromCorners(row, o.Format, b)
		})
	}
	n := o.Format.values()
	return eachCoords(c, dst, src, func(row []float32) {
		for i := 0; i < n; i += 2 {
			row[i] = float32(row[i] * x)
			row[i+1] = float32(row[i+1] * y)
		}
	})
}
