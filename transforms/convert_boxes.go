package transforms

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/tensor"
)

// ConvertBoxes changes the format of boxes. It takes a float32 tensor without
// layout, whose last axis has the values of a box, and changes only their
// number. Further values do not change. There may be no boxes.
//
// In float32, with centre c, length n, first edge a and second edge b:
//
//   - from cxcywh: a = c - n/2, b = c + n/2
//   - from xyxy: c = (a + b)/2, n = b - a
//   - from ltwh: b = n + a, c = a + n/2
//
// Chained changes two roundings: from cxcywh to xyxy b = n + a, and from xyxy
// to cxcywh c = (2*a + n)/2. Boxes without an angle may then be int32 or int64
// too. A half is rounded down from ltwh and xyxy. From cxcywh, both edges are
// computed in float32 and truncated, and a length is their difference.
//
// A rotated box is converted to ltwhr and from it, in float32. With the angle r
// in radians, the first corner 1 and the centre c:
//
//   - x2 = x1 + w*cos r, y2 = y1 - w*sin r
//   - x3 = x2 + h*sin r, y3 = y2 + h*cos r; x4 and y4 so from corner 1
//   - c is the middle between corners 1 and 3
//   - r = atan2(y1-y2, x2-x1), w and h are the distances from corner 2
//
// Sine, cosine and arctangent are rounded to the nearest float32. Those of
// torch and MKL are not always: docs/exactness.md has the differences. Angles
// beyond 10^7 degrees are an ErrInput of Apply.
//
// Reference: torch 2.15.0 in center_to_corners_format of transformers 5.23.0
// and in the conversions of ultralytics 8.4.190 (xywh2xyxy, xyxy2xywh and
// others); with Chained, convert_bounding_box_format of torchvision 0.29.2.
type ConvertBoxes struct {
	From CoordFormat `json:"from"` // of the input, a format of boxes; default cxcywh
	To   CoordFormat `json:"to"`   // of the output: another one, also rotated or also not; default xyxy
	// Chained computes by the first edge, as torchvision does. True for
	// rotated boxes. Default false.
	Chained bool `json:"chained"`
}

//msgp:tuple ConvertBoxes

// NewConvertBoxes returns the op that converts from one format to another.
func NewConvertBoxes(from, to CoordFormat) *ConvertBoxes { return &ConvertBoxes{From: from, To: to} }

// Info describes the op.
func (*ConvertBoxes) Info() Info {
	boxes := []string{"boxes"}
	return Info{
		Name: "convert_boxes", Version: 1, New: func() Op { return NewConvertBoxes(CoordCXCYWH, CoordXYXY) },
		In: boxes, Out: boxes, InPlace: true,
		Reference: "transformers 5.23.0 center_to_corners_format; ultralytics 8.4.190 utils.ops; torchvision 0.29.2 convert_bounding_box_format", Exactness: rotatedExactness,
	}
}

// Validate checks that the formats are two different ones of boxes.
func (o *ConvertBoxes) Validate() error {
	for i, f := range []CoordFormat{o.From, o.To} {
		name := []string{"from", "to"}[i]
		if err := checkEnum(name, f, pixelFormats); err != nil {
			return err
		}
		if f == CoordXY {
			return paramErr("%s is xy, a point, want a format of boxes", name)
		}
	}
	if o.From.rotated() != o.To.rotated() {
		return paramErr("from is %v and to %v, want both with or both without an angle", o.From, o.To)
	}
	if o.From.rotated() && !o.Chained {
		return paramErr("chained is false with format %v, a rotated box, want true", o.From)
	}
	if o.From == o.To {
		return paramErr("from and to are both %v, want two formats", o.From)
	}
	return nil
}

// Infer keeps the shape.
func (o *ConvertBoxes) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if o.Chained && !o.From.rotated() && (d.DType == tensor.Int32 || d.DType == tensor.Int64) {
		d.DType = tensor.Float32
	}
	if err := wantCoords(d, o.From); err != nil {
		return err
	}
	dst[0] = in[0]
	last := in[0].Shape.Rank() - 1
	if n := in[0].Shape.At(last); n != tensor.Unknown {
		dst[0].Shape = in[0].Shape.With(last, n-o.From.values()+o.To.values())
	}
	return inferred(dst[0])
}

// Apply converts the boxes.
func (o *ConvertBoxes) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if o.From.rotated() {
		return o.rotated(tensor.View[float32](dst[0]), tensor.View[float32](s), s.Shape.At(s.Shape.Rank()-1))
	}
	copy(dst[0].Data, s.Data)
	width := s.Shape.At(s.Shape.Rank() - 1)
	switch s.DType {
	case tensor.Int32:
		convertInts(tensor.View[int32](dst[0]), width, o.From, o.To)
		return nil
	case tensor.Int64:
		convertInts(tensor.View[int64](dst[0]), width, o.From, o.To)
		return nil
	}
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

// rotated converts rows of n values each.
func (o *ConvertBoxes) rotated(dst, src []float32, n int) error {
	from, to := o.From.values(), o.To.values()
	for ; len(src) > 0; src, dst = src[n:], dst[n-from+to:] {
		if err := checkTurn(src, o.From); err != nil {
			return err
		}
		convertRotated(dst, src[:n], o.From, o.To)
		copy(dst[to:n-from+to], src[from:n])
	}
	return nil
}

// convertInts converts rows of whole numbers in place.
func convertInts[T int32 | int64](rows []T, width int, from, to CoordFormat) {
	for ; len(rows) > 0; rows = rows[width:] {
		for i := range 2 { // x, then y
			p, q := rows[i], rows[i+2]
			switch {
			case from == CoordCXCYWH:
				a := float32(p) - float32(float32(q)/2)
				p, q = wholePart[T](a), wholePart[T](float32(q)+a)
				if to == CoordLTWH {
					q -= p
				}
			case from == CoordXYXY:
				if q -= p; to == CoordCXCYWH {
					p = (2*p + q) >> 1
				}
			case to == CoordXYXY:
				q += p
			default:
				p += q >> 1
			}
			rows[i], rows[i+2] = p, q
		}
	}
}

// wholePart returns the whole part of v or, as on x86-64, the least T if T does
// not hold it.
func wholePart[T int32 | int64](v float32) T {
	least := T(-1) << (8*unsafe.Sizeof(T(0)) - 1)
	if v >= float32(least) && v < -float32(least) {
		return T(v)
	}
	return least
}
