package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomCrop pads an image and cuts a window of Height x Width out of it at a
// random position. It takes any dtype of fixed size, HWC or CHW, and keeps
// both. No value changes. Without PadIfNeeded, a padded image that is smaller
// than the window is an ErrInput.
//
// Reference: torchvision 0.29.2's RandomCrop. PadIfNeeded adds the missing
// pixels on both sides, so twice as many as needed. If the window fits in more
// than one way, the first row is drawn uniformly, then the first column.
type RandomCrop struct {
	Height      int     `json:"height"`        // output height in pixels, 1 to 2^24
	Width       int     `json:"width"`         // output width in pixels, 1 to 2^24
	Top         int     `json:"top"`           // rows added above, 0 to 2^24; default 0
	Bottom      int     `json:"bottom"`        // rows added below, 0 to 2^24; default 0
	Left        int     `json:"left"`          // columns added on the left, 0 to 2^24; default 0
	Right       int     `json:"right"`         // columns added on the right, 0 to 2^24; default 0
	PadIfNeeded bool    `json:"pad_if_needed"` // pad an image that is too small; default false
	Mode        PadMode `json:"mode"`          // of the border; default constant
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple RandomCrop
//sheet:random_crop {"height": 50, "width": 70}

// NewRandomCrop returns the op for a window of height x width and a border of
// zeros that is border pixels wide on all sides.
func NewRandomCrop(height, width, border int) *RandomCrop {
	return &RandomCrop{
		Height: height, Width: width, Top: border, Bottom: border, Left: border, Right: border,
		Mode: PadConstant, Fill: []float64{0},
	}
}

func (o *RandomCrop) pad() Pad { return Pad{o.Top, o.Bottom, o.Left, o.Right, o.Mode, o.Fill} }

// Info describes the op.
func (*RandomCrop) Info() Info {
	return Info{
		Name: "random_crop", Version: 1, New: func() Op { return NewRandomCrop(32, 32, 4) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the size and the border.
func (o *RandomCrop) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	p := o.pad()
	return p.Validate()
}

// Infer sets the output size.
func (o *RandomCrop) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	if _, err := o.padding(in[0]); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// padding returns the border of an image. If the size is known, it includes
// what PadIfNeeded adds.
func (o *RandomCrop) padding(d tensor.Desc) (Pad, error) {
	p := o.pad()
	for _, a := range []struct {
		have, want    int
		before, after *int
	}{{d.Height(), o.Height, &p.Top, &p.Bottom}, {d.Width(), o.Width, &p.Left, &p.Right}} {
		missing := a.want - (a.have + *a.before + *a.after)
		if a.have == tensor.Unknown || missing <= 0 {
			continue
		}
		if !o.PadIfNeeded {
			return p, inputErr("%v, want at least %d x %d (height x width) with the border", d, o.Height, o.Width)
		}
		*a.before += missing
		*a.after += missing
	}
	return p, nil
}

// Apply returns ErrNotDrawn.
func (o *RandomCrop) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits a Pad if there is a border, and a Crop if the window has more than
// one position.
func (o *RandomCrop) Draw(d *Draw) error {
	if _, _, err := d.size(); err != nil {
		return err
	}
	p, err := o.padding(d.In[0])
	if err != nil {
		return err
	}
	if p.Top > 0 || p.Bottom > 0 || p.Left > 0 || p.Right > 0 {
		op := NewOp[Pad](d)
		*op = p
		if err := d.Emit(op); err != nil {
			return err
		}
	}
	h, w, err := d.size()
	if err != nil {
		return err
	}
	top, left := 0, 0
	if h > o.Height {
		top = d.IntN(h - o.Height + 1)
	}
	if w > o.Width {
		left = d.IntN(w - o.Width + 1)
	}
	if h == o.Height && w == o.Width {
		return nil
	}
	return emitOp(d, Crop{top, left, o.Height, o.Width})
}
