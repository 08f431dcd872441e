package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ScaleCoords multiplies points or boxes by a factor for the height and one for
// the width, or divides by them. With an image's size as the factors it turns
// fractions of the sides into pixels.
//
// Inputs: boxes, a float32 tensor without layout, with the format's values on
// the last axis (further values do not change); scale, int32, int64 or float32
// (2): the factors of y and x, within ±2^24. A scale of (n, 2) has a row for
// each element of the first axis of boxes. A divisor of 0 is an ErrInput of
// Apply. The output keeps the shape, and there may be no boxes.
//
// Reference: torch 2.15.0 in post_process_object_detection of transformers
// 5.23.0 (DETR; Owlv2 with Larger; without clipping) and in scale_boxes and
// scale_coords of ultralytics 8.4.190 (with Divide).
type ScaleCoords struct {
	Format CoordFormat `json:"format"` // of boxes without an angle, or xy; default xyxy
	Divide bool        `json:"divide"` // divide by the factors; default false
	Larger bool        `json:"larger"` // use the larger factor for both axes; default false
}

//msgp:tuple ScaleCoords

// NewScaleCoords returns the op that multiplies.
func NewScaleCoords(format CoordFormat) *ScaleCoords { return &ScaleCoords{Format: format} }

// Info describes the op.
func (*ScaleCoords) Info() Info {
	return Info{
		Name: "scale_coords", Version: 1, New: func() Op { return NewScaleCoords(CoordXYXY) },
		In: []string{"boxes", "scale"}, Out: []string{"boxes"}, InPlace: true,
		Reference: "transformers 5.23.0 post_process_object_detection; ultralytics 8.4.190 scale_boxes, scale_coords", Exactness: "0",
	}
}

// Validate checks the format.
func (o *ScaleCoords) Validate() error { return checkEnum("format", o.Format, uprightNames) }

// Infer keeps the shape.
func (o *ScaleCoords) Infer(dst, in []tensor.Desc) error {
	return inferCoords(dst, in, o.Format, "scale", false)
}

// Apply scales.
func (o *ScaleCoords) Apply(c *Context, dst, src []*tensor.Tensor) error {
	n := o.Format.values()
	return coordRows(c, dst, src, "scale", func(row []float32, y, x float32) error {
		if o.Larger {
			y = max(y, x)
			x = y
		}
		if o.Divide {
			if x == 0 || y == 0 {
				return inputErr("scale is %v, %v, want divisors other than 0", y, x)
			}
			for i := 0; i < n; i += 2 {
				row[i] /= x
				row[i+1] /= y
			}
			return nil
		}
		for i := 0; i < n; i += 2 {
			row[i] = float32(row[i] * x)
			row[i+1] = float32(row[i+1] * y)
		}
		return nil
	})
}
