package transforms

import "github.com/infer-prep/infer-prep/tensor"

// CropCoords moves points or boxes as Crop moves the pixels: it subtracts Left
// and Top in float32. Boxes are then clamped to Height x Width as by
// ClampCoords. Points are never clamped. A negative Top or Left is a padding.
// At a Top or Left of 0, -0 stays; torchvision's pad by 0 makes 0 of it.
//
// It takes a float32 tensor without layout, with the format's values on the
// last axis, and keeps its shape. Further values do not change. There may be no
// boxes.
//
// Reference: crop_bounding_boxes, pad_bounding_boxes, crop_keypoints and
// pad_keypoints of torchvision 0.29.2 (transforms.v2) with torch 2.15.0.
type CropCoords struct {
	Format   CoordFormat `json:"format"`   // of boxes: xyxy, cxcywh, ltwh or xy; default xyxy
	Top      int         `json:"top"`      // first row of the window, -2^24 to 2^24
	Left     int         `json:"left"`     // first column of the window, -2^24 to 2^24
	Height   int         `json:"height"`   // height of the window in pixels, 1 to 2^24
	Width    int         `json:"width"`    // width of the window in pixels, 1 to 2^24
	Clamping Clamping    `json:"clamping"` // of boxes: soft, hard or none; default soft
}

//msgp:tuple CropCoords

func init() {
	boxes := []string{"boxes"}
	Register(Info{
		Name: "crop_coords", Version: 1, New: func() Op { return NewCropCoords(CoordXYXY, 0, 0, 224, 224) },
		In: boxes, Out: boxes, InPlace: true,
		Reference: "torchvision 0.29.2 crop_bounding_boxes, crop_keypoints", Exactness: "0",
	})
}

// NewCropCoords returns the op for a window of height x width pixels that
// starts at row top and column left, with soft clamping.
func NewCropCoords(format CoordFormat, top, left, height, width int) *CropCoords {
	return &CropCoords{Format: format, Top: top, Left: left, Height: height, Width: width}
}

// Validate checks the names, the position and the size.
func (o *CropCoords) Validate() error {
	if err := checkCoords(o.Format, o.Clamping); err != nil {
		return err
	}
	return NewCrop(o.Top, o.Left, o.Height, o.Width).Validate()
}

// Infer keeps the shape.
func (o *CropCoords) Infer(dst, in []tensor.Desc) error { return keepCoords(dst, in, o.Format) }

// Apply moves the boxes.
func (o *CropCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	x, y := float32(o.Left), float32(o.Top)
	h, w := float32(o.Height), float32(o.Width)
	n := o.Format.positions()
	return eachCoords(c, dst, src, func(row []float32) {
		for i := 0; i < n; i += 2 {
			row[i] -= x
			row[i+1] -= y
		}
		if o.Format != CoordXY && o.Clamping != ClampNone {
			clampBox(row, o.Format, h, w)
		}
	})
}
