package transforms

import "github.com/infer-prep/infer-prep/tensor"

// BoundingBoxAugment runs its ops on the pixels of each box with a given
// probability, and puts the results back in their places, resized if their
// sizes changed; see MapWindow. It takes a uint8 or float32 image, HWC or CHW,
// and keeps the description. The boxes do not move.
//
// Inputs: image; boxes, float32 (n, 4 or more) in pixels, which Format
// describes, and which only the draw reads. Output: image. The left and the top
// edge of a box, its width and its height are truncated to whole pixels. A box
// that is not inside the image, or has no pixel, is an ErrInput.
//
// One number of [0, 1) is drawn for each box, then those of the ops, for each
// box anew.
//
// Reference: MindSpore 2.10.0's BoundingBoxAugment, with boxes ltwh.
type BoundingBoxAugment struct {
	Ops         OpList      `json:"ops"`         // 1 to 64 ops, which may be random
	Probability float64     `json:"probability"` // 0 to 1; default 0.3
	Format      CoordFormat `json:"format"`      // of the boxes: xyxy, cxcywh or ltwh; default xyxy
}

//msgp:tuple BoundingBoxAugment

// NewBoundingBoxAugment returns the op with MindSpore's probability of 0.3.
func NewBoundingBoxAugment(format CoordFormat, ops ...Op) *BoundingBoxAugment {
	return &BoundingBoxAugment{Ops: ops, Probability: 0.3, Format: format}
}

func (o *BoundingBoxAugment) lists() []OpList { return []OpList{o.Ops} }

// Info describes the op.
func (*BoundingBoxAugment) Info() Info {
	return Info{
		Name: "bounding_box_augment", Version: 1, New: func() Op { return NewBoundingBoxAugment(CoordXYXY, NewHorizontalFlip()) },
		In: imageBoxes, Reference: "MindSpore 2.10.0 vision.BoundingBoxAugment (distribution of the choices)", Exactness: randomExactness,
	}
}

// Validate checks the ops, the probability and the format.
func (o *BoundingBoxAugment) Validate() error {
	if err := o.Ops.check("ops"); err != nil {
		return err
	}
	if err := checkProbability(o.Probability); err != nil {
		return err
	}
	return checkBoxFormat("format", o.Format)
}

// Infer keeps the description of the image.
func (o *BoundingBoxAugment) Infer(dst, in []tensor.Desc) error {
	if err := inferObjects(dst, in, o.Format); err != nil {
		return err
	}
	if _, err := o.Ops.infer(dst[0]); err != nil {
		return err
	}
	dst[0] = in[0]
	return nil
}

// Apply returns ErrNotDrawn.
func (o *BoundingBoxAugment) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a MapWindow for each box that is chosen.
func (o *BoundingBoxAugment) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	boxes, n := tensor.View[float32](d.Src[1]), d.In[1].Shape.At(1)
	img := d.In[0]
	for i := 0; len(boxes) > 0; i, boxes = i+1, boxes[n:] {
		if !d.Coin(o.Probability) {
			continue
		}
		b := [4]float32(boxes)
		if o.Format != CoordLTWH {
			b = xyxyOf(boxes, o.Format)
			fromXYXY(b[:], CoordLTWH)
		}
		if !(b[0] >= 0 && b[1] >= 0 && b[2] >= 1 && b[3] >= 1 && b[2] <= maxSide && b[3] <= maxSide) ||
			int(b[0])+int(b[2]) > w || int(b[1])+int(b[3]) > h {
			return inputErr("box %d is %v x %v (height x width) at row %v, column %v, want at least a pixel inside %d x %d", i, b[3], b[2], b[1], b[0], h, w)
		}
		op := NewOp[MapWindow](d)
		ops, err := d.collect(op.Ops[:0], img.WithSize(int(b[3]), int(b[2])), func() error { return o.Ops.emit(d) })
		if err != nil {
			return err
		}
		*op = MapWindow{Top: int(b[1]), Left: int(b[0]), Height: int(b[3]), Width: int(b[2]), Ops: ops}
		if len(ops) == 0 {
			continue // nothing was drawn
		}
		if err := d.Emit(op); err != nil {
			return err
		}
	}
	return nil
}
