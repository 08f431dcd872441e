package transforms

import "github.com/infer-prep/infer-prep/tensor"

// MaskBoxes sets the pixels of every mask outside its box to 0. The pixel in
// column x stays if left <= x < right, and rows likewise.
//
// Inputs: masks, uint8 or bool (n, height, width); boxes, float32 (n, 4) or
// longer rows, of which the first four values are used: left, top, right,
// bottom in pixels of the masks. The output keeps dtype and shape, and there
// may be no masks.
//
// Reference: crop_mask of ultralytics 8.4.190.
type MaskBoxes struct{}

//msgp:tuple MaskBoxes

// NewMaskBoxes returns the op.
func NewMaskBoxes() *MaskBoxes { return &MaskBoxes{} }

// Info describes the op.
func (*MaskBoxes) Info() Info {
	return Info{
		Name: "mask_boxes", Version: 1, New: func() Op { return NewMaskBoxes() },
		In: []string{"masks", "boxes"}, Out: []string{"masks"}, InPlace: true,
		Reference: "ultralytics 8.4.190 crop_mask", Exactness: "0",
	}
}

// Validate returns nil: there are no parameters.
func (o *MaskBoxes) Validate() error { return nil }

// Infer keeps the shape.
func (o *MaskBoxes) Infer(dst, in []tensor.Desc) error {
	m, b := in[0], in[1]
	if err := m.Validate(); err != nil {
		return inputErr("masks: %v", err)
	}
	if m.DType != tensor.Uint8 && m.DType != tensor.Bool || m.Layout == tensor.HWC || m.Shape.Rank() != 3 {
		return inputErr("masks are %v, want uint8 or bool (n, height, width)", m)
	}
	if err := wantCoords(b, CoordXYXY); err != nil {
		return err
	}
	if b.Shape.Rank() != 2 {
		return inputErr("boxes are %v, want (n, 4)", b)
	}
	if n, k := m.Shape.At(0), b.Shape.At(0); n != tensor.Unknown && k != tensor.Unknown && n != k {
		return inputErr("%d masks and %d boxes, want one box for each mask", n, k)
	}
	dst[0] = m
	return nil
}

// Apply copies the masks and clears the pixels outside the boxes.
func (o *MaskBoxes) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	b, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	copy(dst[0].Data, s.Data)
	h, w, width := s.Shape.At(1), s.Shape.At(2), b.Shape.At(1)
	boxes, masks := tensor.View[float32](b), dst[0].Data
	if len(masks) == 0 {
		return nil
	}
	for i := range s.Shape.At(0) {
		box, mask := boxes[i*width:][:4], masks[i*h*w:][:h*w]
		left, right := inside(box[0], box[2], w)
		top, bottom := inside(box[1], box[3], h)
		clear(mask[:top*w])
		clear(mask[bottom*w:])
		for y := top; y < bottom; y++ {
			clear(mask[y*w:][:left])
			clear(mask[y*w+right:][:w-right])
		}
	}
	return nil
}

// inside returns the range of the integers i of 0..n-1 with lo <= i < hi. NaN
// contains none.
func inside(lo, hi float32, n int) (first, end int) {
	if lo != lo || hi != hi {
		return 0, 0
	}
	ceil := func(v float32) int {
		switch {
		case v <= 0:
			return 0
		case v >= float32(n):
			return n
		}
		i := int(v)
		if float32(i) < v {
			i++
		}
		return min(i, n)
	}
	first, end = ceil(lo), ceil(hi)
	return first, max(first, end)
}
