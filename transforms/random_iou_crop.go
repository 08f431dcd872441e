package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// RandomIoUCrop cuts a random window out of an image such that it overlaps at
// least one box as much as a random choice of Options demands. It takes any
// dtype of fixed size, HWC or CHW, and keeps both. No value changes. Boxes that
// move with the image become zeros if their centre is not inside the window:
// ValidBoxes and SelectRows remove them.
//
// Inputs: image; boxes, float32 (n, 4 or more) in pixels, which Format
// describes, and which only the draw reads. Output: image.
//
// A window is tried up to Trials times for a chosen option. Two numbers of [0,
// 1), scaled to Scale, are the factors of the width and of the height; their
// products with the sides are truncated. The window is discarded if it has no
// pixels, or if width/height is not within Ratio. Two more numbers times the
// pixels that are left, truncated, are the first column and the first row.
// The window is discarded unless the centre of at least one box is inside it,
// not on its edge, and the largest intersection over union of such a box and
// the window is at least the option. All arithmetic is float32. If no window is
// found, another option is chosen. An option of 1 or more leaves the image as
// it is. So do 1000 options without a window; the reference goes on for ever.
//
// Source: Liu et al., SSD: Single Shot MultiBox Detector, 2016. Reference:
// torchvision 0.29.2's RandomIoUCrop.
type RandomIoUCrop struct {
	Format  CoordFormat `json:"format"`  // of the boxes: xyxy, cxcywh or ltwh; default xyxy
	Scale   Range       `json:"scale"`   // of the window's sides relative to the image's, 0 to 1; default 0.3 to 1
	Ratio   Range       `json:"ratio"`   // of width/height of the window, 0 to 1e6; default 0.5 to 2
	Options []float64   `json:"options"` // 1 to 64 numbers of 0 to 1e6; default 0, 0.1, 0.3, 0.5, 0.7, 0.9, 1
	Trials  int         `json:"trials"`  // windows to try for an option, 1 to 1000; default 40
}

//msgp:tuple RandomIoUCrop

// NewRandomIoUCrop returns the op with torchvision's defaults for boxes of a
// format.
func NewRandomIoUCrop(format CoordFormat) *RandomIoUCrop {
	return &RandomIoUCrop{
		Format: format, Scale: Range{0.3, 1}, Ratio: Range{0.5, 2},
		Options: []float64{0, 0.1, 0.3, 0.5, 0.7, 0.9, 1}, Trials: 40,
	}
}

// maxDrawnOptions bounds the number of options of one sample.
const maxDrawnOptions = 1000

// Info describes the op.
func (*RandomIoUCrop) Info() Info {
	return Info{
		Name: "random_iou_crop", Version: 1, New: func() Op { return NewRandomIoUCrop(CoordXYXY) },
		In: imageBoxes, Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the format, the ranges, the options and the trials.
func (o *RandomIoUCrop) Validate() error {
	if err := checkBoxFormat("format", o.Format); err != nil {
		return err
	}
	if err := o.Scale.check("scale", 0, 1); err != nil {
		return err
	}
	if err := o.Ratio.check("ratio", 0, 1e6); err != nil {
		return err
	}
	if n := len(o.Options); n < 1 || n > 64 {
		return paramErr("options has %d numbers, want 1 to 64", n)
	}
	for i, v := range o.Options {
		if !(v >= 0 && v <= 1e6) {
			return paramErr("options[%d] is %v, want 0 to 1e6", i, v)
		}
	}
	return checkTrials(o.Trials)
}

// Infer leaves the size unknown.
func (o *RandomIoUCrop) Infer(dst, in []tensor.Desc) error { return inferObjects(dst, in, o.Format) }

// inferObjects is Infer of a random op on an image and its boxes.
func inferObjects(dst, in []tensor.Desc, f CoordFormat) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	if err := wantCoords(in[1], f); err != nil {
		return err
	}
	if in[1].Shape.Rank() != 2 {
		return inputErr("%v, want one box for each row: two axes", in[1])
	}
	dst[0] = in[0].WithSize(tensor.Unknown, tensor.Unknown)
	return nil
}

func checkTrials(n int) error {
	if n < 1 || n > 1000 {
		return paramErr("trials is %d, want 1 to 1000", n)
	}
	return nil
}

// checkBoxFormat rejects all but the formats of boxes without an angle.
func checkBoxFormat(name string, f CoordFormat) error {
	if err := checkEnum(name, f, uprightNames); err != nil {
		return err
	}
	if f == CoordXY {
		return paramErr("%s is xy, a point, want xyxy, cxcywh or ltwh", name)
	}
	return nil
}

// Apply returns ErrNotDrawn.
func (o *RandomIoUCrop) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits an ObjectCrop or nothing.
func (o *RandomIoUCrop) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	boxes, n := tensor.View[float32](d.Src[1]), d.In[1].Shape.At(1)
	random := func() float32 { return float32(float32(d.Uint32()>>8) / (1 << 24)) }
	least, span := float32(o.Scale.Min), float32(o.Scale.Max-o.Scale.Min)
	for range maxDrawnOptions {
		option := o.Options[d.IntN(len(o.Options))]
		if option >= 1 {
			return nil
		}
		for range o.Trials {
			cw := truncated(float32(float32(w) * (least + float32(span*random()))))
			ch := truncated(float32(float32(h) * (least + float32(span*random()))))
			if ch == 0 || cw == 0 {
				continue
			}
			if r := float64(cw) / float64(ch); r < o.Ratio.Min || r > o.Ratio.Max {
				continue
			}
			left := truncated(float32(float32(w-cw) * random()))
			top := truncated(float32(float32(h-ch) * random()))
			if !o.covers(boxes, n, top, left, ch, cw, float32(option)) {
				continue
			}
			return emitOp(d, ObjectCrop{Top: top, Left: left, Height: ch, Width: cw, Keep: KeepCenter})
		}
	}
	return nil
}

// covers reports whether the centre of a box is inside the window, and the
// largest intersection over union of such a box is at least option.
func (o *RandomIoUCrop) covers(boxes []float32, n, top, left, height, width int, option float32) bool {
	k := CropCoords{Top: top, Left: left, Height: height, Width: width, Keep: KeepCenter}
	found, best := false, float32(math.Inf(-1))
	for ; len(boxes) > 0; boxes = boxes[n:] {
		b := xyxyOf(boxes, o.Format)
		if !k.keeps(b) {
			continue
		}
		found = true
		in := boxArea(k.clip(b))
		// Not boxArea: a box of negative sides has a union as well.
		union := float32((b[2]-b[0])*(b[3]-b[1])) + float32(float32(width)*float32(height)) - in
		best = max(best, in/union)
	}
	return found && !(best < option)
}
