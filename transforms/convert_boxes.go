package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ConvertBoxes changes the format of boxes. It takes a float32 tensor without
// layout, whose last axis has the four values of a box, and keeps its shape.
// Values after the fourth do not change. There may be no boxes.
//
// In float32, with centre c, length n, first edge a and second edge b:
//
//   - from cxcywh: a = c - n/2, b = c + n/2
//   - from xyxy: c = (a + b)/2, n = b - a
//   - from ltwh: b = n + a, c = a + n/2
//
// Chained changes two roundings: from cxcywh to xyxy b = n + a, and from xyxy
// to cxcywh c = (2*a + n)/2.
//
// Reference: torch 2.15.0 in center_to_corners_format of transformers 5.23.0
// and in the conversions of ultralytics 8.4.190 (xywh2xyxy, xyxy2xywh and
// others); with Chained, convert_bounding_box_format of torchvision 0.29.2.
type ConvertBoxes struct {
	From CoordFormat `json:"from"` // of the input: xyxy, cxcywh or ltwh; default cxcywh
	To   CoordFormat `json:"to"`   // of the output: another one of them; default xyxy
	// Chained computes by the first edge, as torchvision does. Default false.
	Chained bool `json:"chained"`
}

//msgp:tuple ConvertBoxes

func init() {
	boxes := []string{"boxes"}
	Register(Info{
		Name: "convert_boxes", Version: 1, New: func() Op { return NewConvertBoxes(CoordCXCYWH, CoordXYXY) },
		In: boxes, Out: boxes, InPlace: true,
		Reference: "transformers 5.23.0 center_to_corners_format; ultralytics 8.4.190 utils.ops; torchvision 0.29.2 convert_bounding_box_format", Exactness: "0",
	})
}

// NewConvertBoxes returns the op that converts from one format to another.
func NewConvertBoxes(from, to CoordFormat) *ConvertBoxes { return &ConvertBoxes{From: from, To: to} }

// Validate checks that the formats are two different ones of boxes.
func (o *ConvertBoxes) Validate() error {
	for i, f := range []CoordFormat{o.From, o.To} {
		if err := checkBoxFormat([]string{"from", "to"}[i], f); err != nil {
			return err
		}
	}
	if o.From == o.To {
		return paramErr("from and to are both %v, want two formats", o.From)
	}
	return nil
}

// Infer keeps the shape.
func (o *ConvertBoxes) Infer(dst, in []tensor.Desc) error {
	if err := wantCoords(in[0], o.From); err != nil {
		return err
	}
	dst[0] = in[0]
	return nil
}

// Apply converts the boxes.
func (o *ConvertBoxes) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	copy(dst[0].Data, s.Data)
	width := s.Shape.At(s.Shape.Rank() - 1)
	for rows := tensor.View[float32](dst[0]); len(rows) > 0; rows = rows[width:] {
		if o.Chained && o.From != CoordLTWH && o.To != CoordLTWH {
			toXYXY(rows, o.From)
			fromXYXY(rows, o.To)
			continue
		}
		for i := range 2 { // x, then y
			p, q := rows[i], rows[i+2]
			switch {
			case o.From == CoordCXCYWH && o.To == CoordXYXY:
				half := float32(0.5 * q)
				rows[i], rows[i+2] = p-half, p+half
			case o.From == CoordCXCYWH:
				rows[i] = p - float32(0.5*q)
			case o.From == CoordXYXY && o.To == CoordCXCYWH:
				rows[i], rows[i+2] = float32((p+q)/2), q-p
			case o.From == CoordXYXY:
				rows[i+2] = q - p
			case o.To == CoordXYXY:
				rows[i+2] = q + p
			default:
				rows[i] = p + float32(0.5*q)
			}
		}
	}
	return nil
}
