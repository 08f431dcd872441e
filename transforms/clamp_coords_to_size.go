package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ClampCoordsToSize clamps points or boxes to an image whose size is an input:
// x to 0..width and y to 0..height. NaN and -0 stay.
//
// Inputs: boxes, a float32 tensor without layout, with the format's values on
// the last axis (further values do not change); size, int32, int64 or float32
// (2): height and width, 0 to 2^24. A size of (n, 2) has a row for each element
// of the first axis of boxes. The output keeps the shape, and there may be no
// boxes.
//
// Reference: clip_boxes and clip_coords of ultralytics 8.4.190 with torch
// 2.15.0.
type ClampCoordsToSize struct {
	Format CoordFormat `json:"format"` // of boxes: xyxy or xy; default xyxy
}

//msgp:tuple ClampCoordsToSize

// NewClampCoordsToSize returns the op for points or boxes.
func NewClampCoordsToSize(format CoordFormat) *ClampCoordsToSize {
	return &ClampCoordsToSize{Format: format}
}

// Info describes the op.
func (*ClampCoordsToSize) Info() Info {
	return Info{
		Name: "clamp_coords_to_size", Version: 1, New: func() Op { return NewClampCoordsToSize(CoordXYXY) },
		In: []string{"boxes", "size"}, Out: []string{"boxes"}, InPlace: true,
		Reference: "ultralytics 8.4.190 clip_boxes, clip_coords", Exactness: "0",
	}
}

// Validate checks that the format has only positions.
func (o *ClampCoordsToSize) Validate() error {
	if o.Format != CoordXYXY && o.Format != CoordXY {
		return paramErr("format is %v, want xyxy or xy", o.Format)
	}
	return nil
}

// Infer keeps the shape.
func (o *ClampCoordsToSize) Infer(dst, in []tensor.Desc) error {
	return inferCoords(dst, in, o.Format, "size", false)
}

// Apply clamps.
func (o *ClampCoordsToSize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	n := o.Format.values()
	return coordRows(c, dst, src, "size", func(row []float32, height, width float32) error {
		if height < 0 || width < 0 {
			return inputErr("size is %v x %v (height x width), want at least 0", height, width)
		}
		for i := 0; i < n; i += 2 {
			row[i], row[i+1] = clipped(row[i], width), clipped(row[i+1], height)
		}
		return nil
	})
}

// clipped returns v clipped to 0..limit. The built-in min and max would change
// the sign of zero.
func clipped(v, limit float32) float32 {
	switch {
	case v < 0:
		return 0
	case v > limit:
		return limit
	}
	return v
}
