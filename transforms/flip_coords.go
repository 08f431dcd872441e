package transforms

import "github.com/infer-prep/infer-prep/tensor"

// FlipCoords mirrors points or boxes as HorizontalFlip or VerticalFlip mirrors
// the pixels of an image. An edge or the centre of a box at p moves to Size-p,
// and a point to Size-1-p. Corners keep their order; those of a rotated box
// exchange the first with the second and the third with the fourth. Its angle a
// becomes -a, or 180-a if Vertical. All sums are float32.
//
// It takes a float32 tensor without layout, with the format's values on the
// last axis, and keeps its shape. Further values do not change. There may be no
// boxes.
//
// Reference: horizontal_flip_bounding_boxes, vertical_flip_bounding_boxes,
// horizontal_flip_keypoints and vertical_flip_keypoints of torchvision 0.29.2
// (transforms.v2) with torch 2.15.0.
type FlipCoords struct {
	Format   CoordFormat `json:"format"`   // of boxes, or xy; default xyxy
	Vertical bool        `json:"vertical"` // mirror top to bottom; default false, left to right
	Size     int         `json:"size"`     // width of the image in pixels, its height if Vertical, 1 to 2^24
}

//msgp:tuple FlipCoords

// NewFlipCoords returns the op for an image whose width, or height if vertical,
// is size.
func NewFlipCoords(format CoordFormat, vertical bool, size int) *FlipCoords {
	return &FlipCoords{Format: format, Vertical: vertical, Size: size}
}

// Info describes the op.
func (*FlipCoords) Info() Info {
	boxes := []string{"boxes"}
	return Info{
		Name: "flip_coords", Version: 1, New: func() Op { return NewFlipCoords(CoordXYXY, false, 224) },
		In: boxes, Out: boxes, InPlace: true,
		Reference: "torchvision 0.29.2 horizontal_flip_bounding_boxes, vertical_flip_bounding_boxes, horizontal_flip_keypoints, vertical_flip_keypoints", Exactness: rotatedExactness,
	}
}

// Validate checks the format and the size.
func (o *FlipCoords) Validate() error {
	if err := checkEnum("format", o.Format, pixelFormats); err != nil {
		return err
	}
	if o.Size < 1 || o.Size > maxSide {
		return paramErr("size is %d, want 1 to %d", o.Size, maxSide)
	}
	return nil
}

// Infer keeps the shape.
func (o *FlipCoords) Infer(dst, in []tensor.Desc) error { return keepCoords(dst, in, o.Format) }

// Apply mirrors.
func (o *FlipCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	size, i := float32(o.Size), 0
	if o.Vertical {
		i = 1
	}
	if o.Format.rotated() {
		return eachRotated(c, dst, src, o.Format, func(row []float32) { o.rotated(row, size, i) })
	}
	return eachCoords(c, dst, src, func(row []float32) {
		switch o.Format {
		case CoordXY:
			row[i] = -(row[i] - (size - 1))
		case CoordXYXY:
			row[i], row[i+2] = -(row[i+2] - size), -(row[i] - size)
		case CoordCXCYWH:
			row[i] = -(row[i] - size)
		case CoordLTWH:
			row[i] = -(row[i] + row[i+2] - size)
		}
	})
}

// rotated mirrors a rotated box along axis i, 0 for x. The corners keep their
// names, so that the box changes its angle.
func (o *FlipCoords) rotated(row []float32, size float32, i int) {
	switch o.Format {
	case CoordXYXYXYXY:
		for k := 0; k < 8; k += 4 { // exchange corners 1 and 2, and 3 and 4
			row[k], row[k+1], row[k+2], row[k+3] = row[k+2], row[k+3], row[k], row[k+1]
			row[k+i], row[k+2+i] = -(row[k+i] - size), -(row[k+2+i] - size)
		}
		return
	case CoordLTWHR: // corner 2 becomes the first one
		cos, sin := cosSinDegrees(row[4])
		row[0] += float32(row[2] * cos)
		row[1] -= float32(row[2] * sin)
	}
	row[i] = -(row[i] - size)
	row[4] = -row[4]
	if i == 1 {
		row[4] += 180
	}
}
