package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ObjectCrop is Crop for images with boxes: it moves boxes as Crop does, and
// keeps those that Keep selects by their place before the crop. The others
// become zeros: ValidBoxes and SelectRows remove them. Masks, points and
// further images move as with Crop. RandomIoUCrop and RandomObjectCrop draw it.
//
// Relative boxes are always clamped, and the centre may be on the window's left
// or top edge: see ProjectBoxes.
//
// Reference: torchvision 0.29.2, crop and RandomIoUCrop; MXNet 1.9.1,
// mx.image.DetRandomCropAug.
type ObjectCrop struct {
	Top      int     `json:"top"`      // first row of the window, -2^24 to 2^24
	Left     int     `json:"left"`     // first column of the window, -2^24 to 2^24
	Height   int     `json:"height"`   // height of the window in pixels, 1 to 2^24
	Width    int     `json:"width"`    // width of the window in pixels, 1 to 2^24
	Keep     Keep    `json:"keep"`     // which boxes to keep: all, center or covered; default center
	Coverage float64 `json:"coverage"` // for covered: 0 to 1; else 0
}

//msgp:tuple ObjectCrop

// NewObjectCrop returns the op for height x width pixels that start at row top
// and column left. It keeps the boxes whose centre is inside.
func NewObjectCrop(top, left, height, width int) *ObjectCrop {
	return &ObjectCrop{Top: top, Left: left, Height: height, Width: width, Keep: KeepCenter}
}

func (o *ObjectCrop) crop() Crop { return Crop{o.Top, o.Left, o.Height, o.Width} }

// Info describes the op.
func (*ObjectCrop) Info() Info {
	return Info{
		Name: "object_crop", Version: 1, New: func() Op { return NewObjectCrop(0, 0, 224, 224) },
		Reference: "torchvision 0.29.2 crop", Exactness: "0",
	}
}

// Validate checks the window and the rule.
func (o *ObjectCrop) Validate() error {
	if err := o.Keep.check(o.Coverage, keepNames[:KeepOverlap]); err != nil {
		return err
	}
	return checkPlace(o.Top, o.Left, o.Height, o.Width)
}

// Infer sets the output size.
func (o *ObjectCrop) Infer(dst, in []tensor.Desc) error {
	c := o.crop()
	return c.Infer(dst, in)
}

// Apply copies the window.
func (o *ObjectCrop) Apply(c *Context, dst, src []*tensor.Tensor) error {
	w := o.crop()
	return w.Apply(c, dst, src)
}

// Frame returns the window.
func (o *ObjectCrop) Frame(h, w int) Frame {
	c := o.crop()
	return c.Frame(h, w)
}

// Move cuts the window out of a column.
func (o *ObjectCrop) Move(d *Draw, r Role, from, to tensor.Desc) error {
	if r.Format == CoordRelative {
		return emitOp(d, o.project(from.Height(), from.Width()))
	}
	if r.Kind == RoleBoxes {
		return emitOp(d, CropCoords{
			Format: r.Format, Top: o.Top, Left: o.Left, Height: o.Height, Width: o.Width,
			Clamping: r.Clamping, Keep: o.Keep, Coverage: o.Coverage,
		})
	}
	c := NewOp[Crop](d)
	*c = o.crop()
	return c.Move(d, r, from, to)
}

// project returns the op that moves relative boxes of an image of h x w pixels.
func (o *ObjectCrop) project(h, w int) ProjectBoxes {
	p := windowProjection(o.Top, o.Left, o.Height, o.Width, h, w)
	p.Keep, p.Coverage = o.Keep, o.Coverage
	return p
}
