package transforms

import "github.com/infer-prep/infer-prep/tensor"

// FlipCoords mirrors points or boxes as HorizontalFlip or VerticalFlip mirrors
// the pixels of an image. An edge or the centre of a box at p moves to Size-p,
// and a point to Size-1-p. Corners keep their order. All sums are float32.
//
// It takes a float32 tensor without layout, with the format's values on the
// last axis, and keeps its shape. Further values do not change. There may be no
// boxes.
//
// Reference: horizontal_flip_bounding_boxes, vertical_flip_bounding_boxes,
// horizontal_flip_keypoints and vertical_flip_keypoints of torchvision 0.29.2
// (transforms.v2) with torch 2.15.0.
type FlipCoords struct {
	Format   CoordFormat `json:"format"`   // of boxes: xyxy, cxcywh, ltwh or xy; default xyxy
	Vertical bool        `json:"vertical"` // mirror top to bottom; default false, left to right
	Size     int         `json:"size"`     // width of the image in pixels, its height if Vertical, 1 to 2^24
}

//msgp:tuple FlipCoords

func init() {
	boxes := []string{"boxes"}
	Register(Info{
		Name: "flip_coords", Version: 1, New: func() Op { return NewFlipCoords(CoordXYXY, false, 224) },
		In: boxes, Out: boxes, InPlace: true,
		Reference: "torchvision 0.29.2 horizontal_flip_bounding_boxes, vertical_flip_bounding_boxes, horizontal_flip_keypoints, vertical_flip_keypoints", Exactness: "0",
	})
}

// NewFlipCoords returns the op for an image whose width, or height if vertical,
// is size.
func NewFlipCoords(format CoordFormat, vertical bool, size int) *FlipCoords {
	return &FlipCoords{Format: format, Vertical: vertical, Size: size}
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
