package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ResizedCrop cuts a box out of an image and scales it. It does not read pixels
// outside the box. A box that exceeds the image is an ErrInput. Dtypes,
// layouts, arithmetic and differences are those of Resize with the fit exact.
//
// Reference: torchvision 0.29.2's resized_crop, which crops and then resizes.
type ResizedCrop struct {
	Top           int           `json:"top"`           // first row of the box, 0 to 2^24
	Left          int           `json:"left"`          // first column of the box, 0 to 2^24
	Height        int           `json:"height"`        // height of the box in pixels, 1 to 2^24
	Width         int           `json:"width"`         // width of the box in pixels, 1 to 2^24
	OutHeight     int           `json:"out_height"`    // output height in pixels, 1 to 2^24
	OutWidth      int           `json:"out_width"`     // output width in pixels, 1 to 2^24
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bilinear
	Backend       Backend       `json:"backend"`       // see Resize; default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
}

//msgp:tuple ResizedCrop
//sheet:resized_crop {"top": 20, "left": 10, "height": 50, "width": 70, "out_height": 84, "out_width": 84}

// NewResizedCrop returns the op for a box of height x width at (top, left) and
// an output of outHeight x outWidth: bilinear, Pillow, antialiased.
func NewResizedCrop(top, left, height, width, outHeight, outWidth int) *ResizedCrop {
	return &ResizedCrop{
		Top: top, Left: left, Height: height, Width: width, OutHeight: outHeight, OutWidth: outWidth,
		Interpolation: Bilinear, Backend: Pillow,
	}
}

// Info describes the op.
func (*ResizedCrop) Info() Info {
	return Info{
		Name: "resized_crop", Version: 1, New: func() Op { return NewResizedCrop(0, 0, 224, 224, 224, 224) },
		Reference: resampleReference, Exactness: resampleExactness,
	}
}

// Validate checks the position and the sizes, and that the backend supports the
// interpolation.
func (o *ResizedCrop) Validate() error {
	if o.Top < 0 || o.Left < 0 || o.Top > maxSide || o.Left > maxSide {
		return paramErr("top %d, left %d, want 0 to %d", o.Top, o.Left, maxSide)
	}
	for _, p := range []struct {
		name string
		n    int
	}{{"height", o.Height}, {"width", o.Width}, {"out_height", o.OutHeight}, {"out_width", o.OutWidth}} {
		if err := checkSide(p.name, p.n); err != nil {
			return err
		}
	}
	return o.sampling().validate()
}

func (o *ResizedCrop) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}
}

// Infer sets the output size. A box that exceeds the image is an ErrInput.
func (o *ResizedCrop) Infer(dst, in []tensor.Desc) error {
	if err := o.sampling().want(in[0]); err != nil {
		return err
	}
	h, w := in[0].Height(), in[0].Width()
	if h != tensor.Unknown && o.Top+o.Height > h || w != tensor.Unknown && o.Left+o.Width > w {
		return inputErr("%v, want at least %d x %d (height x width) for the box", in[0], o.Top+o.Height, o.Left+o.Width)
	}
	dst[0] = in[0].WithSize(o.OutHeight, o.OutWidth)
	return nil
}

// Apply cuts and scales.
func (o *ResizedCrop) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return o.sampling().apply(c, dst[0], resamplerOf(c).window(src[0], o.Top, o.Left, o.Height, o.Width))
}

// Sampling returns the op's parameters.
func (o *ResizedCrop) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, !o.NoAntialias
}

// Scale returns the box and the size.
func (o *ResizedCrop) Scale(_, _ int, _ []*tensor.Tensor) (Scale, error) {
	s := Scale{
		Cut:    Frame{Top: o.Top, Left: o.Left, Height: o.Height, Width: o.Width},
		Height: o.OutHeight, Width: o.OutWidth, Place: Frame{Height: o.OutHeight, Width: o.OutWidth},
	}
	s.rules(o.sampling())
	return s, nil
}

// Move cuts and scales a column, a mask with nearest. As in torchvision, boxes
// are clamped to the box that is cut out.
func (o *ResizedCrop) Move(d *Draw, r Role, from, to tensor.Desc) error {
	if r.Kind <= RoleMask {
		c := copyOp[ResizedCrop](d, o)
		if r.Kind == RoleMask {
			c.Interpolation, c.Backend = nearestOf(o.sampling())
			c.NoAntialias = false
		}
		return d.Emit(c)
	}
	cut := from.WithSize(o.Height, o.Width)
	if err := moveCut(d, r, o.Top, o.Left, from, cut); err != nil {
		return err
	}
	return moveResized(d, r, o.sampling(), cut, to)
}
