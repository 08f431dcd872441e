package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomCrop cuts a window of Height x Width out of an image at a random place,
// after a border was added. It takes any dtype of fixed size and both layouts, and
// keeps them; no value is changed. Without PadIfNeeded, an image that is smaller than the
// window with its border is an ErrInput.
//
// Reference: torchvision 0.29.2's RandomCrop. With PadIfNeeded all that is missing is
// added on both sides, so that twice as much is. If there is room, the first row is
// drawn, all as likely, and then likewise the first column.
type RandomCrop struct {
	Height      int     `json:"height"`        // of the output, in pixels, 1 to 2^24
	Width       int     `json:"width"`         // likewise
	Top         int     `json:"top"`           // rows to add above, 0 to 2^24, usually 0
	Bottom      int     `json:"bottom"`        // rows to add below, likewise
	Left        int     `json:"left"`          // columns to add, likewise
	Right       int     `json:"right"`         // likewise
	PadIfNeeded bool    `json:"pad_if_needed"` // usually false
	Mode        PadMode `json:"mode"`          // of the border, usually constant
	// Fill is the value of constant borders, in the image's own range: one for
	// all channels or one for each. Usually 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple RandomCrop

func init() {
	Register(Info{
		Name: "random_crop", Version: 1, New: func() Op { return NewRandomCrop(32, 32, 4) },
		Reference: randomReference, Exactness: randomExactness,
	})
}

// NewRandomCrop cuts out height x width after a border of zeros, so many pixels
// wide, was added on all sides.
func NewRandomCrop(height, width, border int) *RandomCrop {
	return &RandomCrop{
		Height: height, Width: width, Top: border, Bottom: border, Left: border, Right: border,
		Mode: PadConstant, Fill: []float64{0},
	}
}

func (o *RandomCrop) pad() Pad { return Pad{o.Top, o.Bottom, o.Left, o.Right, o.Mode, o.Fill} }

// Validate checks the size and the border.
func (o *RandomCrop) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	p := o.pad()
	return p.Validate()
}

// Infer gives the image Height x Width.
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

// padding is the border of an image, with what PadIfNeeded adds where the size is known.
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

// Apply is not for random ops.
func (o *RandomCrop) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits a Pad, if there is a border, and a Crop, if there is room.
func (o *RandomCrop) Draw(d *Draw) error {
	if _, _, err := d.size(); err != nil {
		return err
	}
	p, err := o.padding(d.In[0])
	if err != nil {
		return err
	}
	if p.Top > 0 || p.Bottom > 0 || p.Left > 0 || p.Right > 0 {
		op := Make[Pad](d)
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
	op := Make[Crop](d)
	*op = Crop{top, left, o.Height, o.Width}
	return d.Emit(op)
}
