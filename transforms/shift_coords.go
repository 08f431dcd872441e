package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ShiftCoords moves points or boxes: by the origin of the tile that they were
// found in, or back by an image's padding.
//
// Inputs: boxes, a float32 tensor without layout, with the format's values on
// the last axis (further values do not change); offset, int32, int64 or
// float32, within ±2^24: (2), the offset of y and of x, or (4), a padding of
// top, bottom, left and right, of which top and left are used. An offset of (n,
// 2) or (n, 4) has a row for each element of the first axis of boxes. The
// output keeps the shape, and there may be no boxes.
//
// Reference: torch 2.15.0, and so scale_boxes and scale_coords of ultralytics
// 8.4.190 (with Subtract).
type ShiftCoords struct {
	Format   CoordFormat `json:"format"`   // of boxes without an angle, or xy; default xyxy
	Subtract bool        `json:"subtract"` // subtract the offset; default false
}

//msgp:tuple ShiftCoords

// NewShiftCoords returns the op that adds.
func NewShiftCoords(format CoordFormat) *ShiftCoords { return &ShiftCoords{Format: format} }

// Info describes the op.
func (*ShiftCoords) Info() Info {
	return Info{
		Name: "shift_coords", Version: 1, New: func() Op { return NewShiftCoords(CoordXYXY) },
		In: []string{"boxes", "offset"}, Out: []string{"boxes"}, InPlace: true,
		Reference: "ultralytics 8.4.190 scale_boxes, scale_coords; torch 2.15.0 add", Exactness: "0",
	}
}

// Validate checks the format.
func (o *ShiftCoords) Validate() error { return checkEnum("format", o.Format, uprightNames) }

// Infer keeps the shape.
func (o *ShiftCoords) Infer(dst, in []tensor.Desc) error {
	return inferCoords(dst, in, o.Format, "offset", true)
}

// Apply moves.
func (o *ShiftCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	n := o.Format.positions()
	return coordRows(c, dst, src, "offset", func(row []float32, y, x float32) error {
		if o.Subtract {
			y, x = -y, -x
		}
		for i := 0; i < n; i += 2 {
			row[i] += x
			row[i+1] += y
		}
		return nil
	})
}
