package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// Letterbox scales an image to fit Height x Width, keeps its aspect ratio, and
// pads the rest. It takes a uint8 or float32 image, HWC or CHW, and keeps
// dtype, layout and channels. A fill is an ErrInput if the dtype cannot hold it
// or if its number of values does not match the channels.
//
// With r = min(Height/h, Width/w) in float64, the scaled sides are round(h*r)
// and round(w*r), half to even, at least 1. The padding of an axis is split
// into two halves d: the first is round(d-0.1), the second round(d+0.1).
//
//   - Auto pads only to the next multiple of Stride.
//   - ScaleFill stretches to Height x Width without padding.
//   - NoScaleUp does not enlarge small images.
//   - TopLeft pads only at the bottom and at the right.
//
// As in the reference, Auto takes precedence over ScaleFill, and ScaleFill
// stretches even with NoScaleUp.
//
// Outputs: image; scale, float32 (2): the ratios of height and width as the
// reference reports them (r, r, unless stretched); pad, int32 (4): top, bottom,
// left, right.
//
// Reference: LetterBox of ultralytics 8.4.190 with cv2.resize of OpenCV
// 5.0.0.93. Other interpolations and backends are those of Resize, antialiased
// if the backend supports it.
type Letterbox struct {
	Height        int           `json:"height"`        // output height in pixels, 1 to 2^24; default 640
	Width         int           `json:"width"`         // output width in pixels, 1 to 2^24; default 640
	Auto          bool          `json:"auto"`          // pad only to the next multiple of Stride; default false
	ScaleFill     bool          `json:"scale_fill"`    // stretch instead of padding; default false
	NoScaleUp     bool          `json:"no_scale_up"`   // do not enlarge small images; default false
	TopLeft       bool          `json:"top_left"`      // place the image in the top left corner instead of the centre; default false
	Stride        int           `json:"stride"`        // in pixels, 1 to 2^24, for Auto; default 32
	Fill          []float64     `json:"fill"`          // value of the padding, in the image's own range: one for all channels or one per channel; default 114
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bilinear
	Backend       Backend       `json:"backend"`       // see Resize; default opencv
}

//msgp:tuple Letterbox
//sheet:letterbox {"height": 112, "width": 112}

// NewLetterbox returns the op for an output of height x width: bilinear,
// OpenCV, centred, padded with 114.
func NewLetterbox(height, width int) *Letterbox {
	return &Letterbox{Height: height, Width: width, Stride: 32, Fill: []float64{114}, Interpolation: Bilinear, Backend: OpenCV}
}

// Info describes the op.
func (*Letterbox) Info() Info {
	return Info{
		Name: "letterbox", Version: 1, New: func() Op { return NewLetterbox(640, 640) },
		Out:       []string{"image", "scale", "pad"},
		Reference: "ultralytics 8.4.190 LetterBox with OpenCV 5.0.0.93", Exactness: "0 for bilinear OpenCV; others as resize",
	}
}

// Validate checks that the sides and the stride are 1 to 2^24, that Fill is not
// empty, and that the backend supports the interpolation.
func (o *Letterbox) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkSide("stride", o.Stride); err != nil {
		return err
	}
	if err := checkValues("fill", o.Fill); err != nil {
		return err
	}
	return sampling{o.Interpolation, o.Backend, true}.validate()
}

// boxed is the geometry of the output for an image of one size.
type boxed struct {
	h, w                     int // of the scaled image
	top, bottom, left, right int
	scaleH, scaleW           float64
}

func (o *Letterbox) fit(h, w int) (boxed, error) {
	if h < 1 || w < 1 {
		return boxed{}, inputErr("an image of %d x %d (height x width), want sides of at least 1", h, w)
	}
	th, tw := float64(o.Height), float64(o.Width)
	r := min(th/float64(h), tw/float64(w))
	if o.NoScaleUp {
		r = min(r, 1)
	}
	nh := max(math.RoundToEven(float64(float64(h)*r)), 1)
	nw := max(math.RoundToEven(float64(float64(w)*r)), 1)
	dh, dw := th-nh, tw-nw
	b := boxed{h: int(nh), w: int(nw), scaleH: r, scaleW: r}
	switch {
	case o.Auto:
		dh, dw = pythonMod(dh, float64(o.Stride)), pythonMod(dw, float64(o.Stride))
	case o.ScaleFill:
		dh, dw = 0, 0
		b.h, b.w, b.scaleH, b.scaleW = o.Height, o.Width, th/float64(h), tw/float64(w)
	}
	if o.TopLeft {
		b.bottom, b.right = int(math.RoundToEven(dh+0.1)), int(math.RoundToEven(dw+0.1))
	} else {
		dh, dw = float64(dh/2), float64(dw/2)
		b.top, b.bottom = int(math.RoundToEven(dh-0.1)), int(math.RoundToEven(dh+0.1))
		b.left, b.right = int(math.RoundToEven(dw-0.1)), int(math.RoundToEven(dw+0.1))
	}
	return b, nil
}

// pythonMod returns a modulo n with the sign of n, for integers.
func pythonMod(a, n float64) float64 {
	m := math.Mod(a, n)
	if m < 0 {
		m += n
	}
	return m
}

// Infer sets the padded size. It depends on the input's size only with Auto.
func (o *Letterbox) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := (sampling{o.Interpolation, o.Backend, true}).want(d); err != nil {
		return err
	}
	if err := wantFill(d, "fill", o.Fill); err != nil {
		return err
	}
	h, w := tensor.Unknown, tensor.Unknown
	switch {
	case d.Height() != tensor.Unknown && d.Width() != tensor.Unknown:
		b, err := o.fit(d.Height(), d.Width())
		if err != nil {
			return err
		}
		h, w = b.h+b.top+b.bottom, b.w+b.left+b.right
	case !o.Auto:
		h, w = o.Height, o.Width
	}
	dst[0] = d.WithSize(h, w)
	dst[1] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)}
	dst[2] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(4)}
	return nil
}

// Apply scales and pads.
func (o *Letterbox) Apply(c *Context, dst, src []*tensor.Tensor) error {
	r := resamplerOf(c)
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	b, err := o.fit(s.Height(), s.Width())
	if err != nil {
		return err
	}
	scaled, err := c.Temp(s.Desc.WithSize(b.h, b.w))
	if err != nil {
		return err
	}
	if err := r.resample(c, sampling{o.Interpolation, o.Backend, true}, scaled, s); err != nil {
		return err
	}
	if err := padTo(c, dst[0], scaled, b.top, b.left, PadConstant, o.Fill); err != nil {
		return err
	}
	b.report(dst[1], dst[2])
	return nil
}

// report writes the outputs scale and pad.
func (b *boxed) report(scale, pad *tensor.Tensor) {
	s, p := tensor.View[float32](scale), tensor.View[int32](pad)
	s[0], s[1] = float32(b.scaleH), float32(b.scaleW)
	p[0], p[1], p[2], p[3] = int32(b.top), int32(b.bottom), int32(b.left), int32(b.right)
}

// Sampling returns the op's parameters.
func (o *Letterbox) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, true
}

// Scale returns the sizes and the padding, and writes scale and pad.
func (o *Letterbox) Scale(h, w int, side []*tensor.Tensor) (Scale, error) {
	b, err := o.fit(h, w)
	if err != nil {
		return Scale{}, err
	}
	if side != nil {
		b.report(side[0], side[1])
	}
	s := Scale{
		Cut: Frame{Height: h, Width: w}, Height: b.h, Width: b.w,
		Place: Frame{Top: -b.top, Left: -b.left, Height: b.top + b.h + b.bottom, Width: b.left + b.w + b.right, Fill: o.Fill},
	}
	s.rules(sampling{o.Interpolation, o.Backend, true})
	return s, nil
}

// Move scales and pads a column, a mask with nearest and 0. Boxes are clamped
// if there is padding.
func (o *Letterbox) Move(d *Draw, r Role, from, to tensor.Desc) error {
	b, err := o.fit(from.Height(), from.Width())
	if err != nil {
		return err
	}
	scaled := from.WithSize(b.h, b.w)
	if r.Kind == RoleImage {
		if !sameSize(from, scaled) {
			if err := emitOp(d, Resize{Fit: FitExact, Height: b.h, Width: b.w, Interpolation: o.Interpolation, Backend: o.Backend}); err != nil {
				return err
			}
		}
		if sameSize(scaled, to) {
			return nil
		}
		return emitOp(d, Pad{Top: b.top, Bottom: b.bottom, Left: b.left, Right: b.right, Fill: o.Fill})
	}
	if err := moveResized(d, r, sampling{o.Interpolation, o.Backend, true}, from, scaled); err != nil {
		return err
	}
	if sameSize(scaled, to) {
		return nil
	}
	return moveWindow(d, r, -b.top, -b.left, scaled, to)
}
