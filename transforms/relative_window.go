package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// RelativeWindow takes a window of an image whose place and size are fractions
// of the image's height and width. Pixels outside the image have the value
// Fill. It takes any dtype of fixed size, HWC or CHW, and keeps both. No value
// changes.
//
// All arithmetic is float32. For a side of n pixels, a window of at most 1
// starts at pixel start*n and has size*n pixels; both are truncated. A larger
// window adds -start*n pixels before the image and (size+start-1)*n after it,
// truncated too. A window without a pixel is an ErrInput.
//
// Relative boxes that move with the image move by the fractions and are
// clamped; Keep selects them. See ProjectBoxes. Boxes in pixels move as with
// ObjectCrop, for which overlap is covered.
//
// Reference: MXNet 1.9.1 ImageDetRecordIter, its crops and paddings.
type RelativeWindow struct {
	Top      float64   `json:"top"`      // start of the rows, -Height to 0 for a Height of more than 1, else 0 to 1
	Left     float64   `json:"left"`     // start of the columns, -Width to 0 for a Width of more than 1, else 0 to 1
	Height   float64   `json:"height"`   // more than 0, at most 1000
	Width    float64   `json:"width"`    // more than 0, at most 1000
	Fill     []float64 `json:"fill"`     // value outside the image, in the image's own range: one for all channels or one per channel; default 0
	Keep     Keep      `json:"keep"`     // which boxes to keep: all, center, covered or overlap; default all
	Coverage float64   `json:"coverage"` // for covered and overlap: 0 to 1; else 0
}

//msgp:tuple RelativeWindow

// NewRelativeWindow returns the op for a window of height x width that starts
// at top and left. It keeps all boxes and fills with 0.
func NewRelativeWindow(top, left, height, width float64) *RelativeWindow {
	return &RelativeWindow{Top: top, Left: left, Height: height, Width: width, Fill: []float64{0}}
}

// Info describes the op.
func (*RelativeWindow) Info() Info {
	return Info{
		Name: "relative_window", Version: 1, New: func() Op { return NewRelativeWindow(0, 0, 0.5, 0.5) },
		Reference: "MXNet 1.9.1 ImageDetRecordIter", Exactness: "0",
	}
}

// Validate checks the window, the fill and the rule.
func (o *RelativeWindow) Validate() error {
	for i, size := range []float64{o.Height, o.Width} {
		if !(float32(size) > 0 && size <= 1000) {
			return paramErr("%s is %v, want more than 0, at most 1000", []string{"height", "width"}[i], size)
		}
		least, most := 0., 1.
		if size > 1 {
			least, most = -size, 0
		}
		if err := checkBounds([]string{"top", "left"}[i], []float64{o.Top, o.Left}[i], least, most); err != nil {
			return err
		}
	}
	if err := checkValues("fill", o.Fill); err != nil {
		return err
	}
	return o.Keep.check(o.Coverage, keepNames)
}

// relativeSpan returns the first pixel and the number of pixels of a window of
// a side of n pixels.
func relativeSpan(start, size float64, n int) (first, count int) {
	if n == tensor.Unknown {
		return 0, n
	}
	s, z, f := float32(start), float32(size), float32(n)
	if z <= 1 {
		return truncated(float32(s * f)), truncated(float32(z * f))
	}
	before := truncated(float32(-s * f))
	return -before, n + before + truncated(float32((z+s-1)*f))
}

// frame returns the window in an image of h x w pixels.
func (o *RelativeWindow) frame(h, w int) (top, left, height, width int) {
	top, height = relativeSpan(o.Top, o.Height, h)
	left, width = relativeSpan(o.Left, o.Width, w)
	return top, left, height, width
}

// Infer sets the output size.
func (o *RelativeWindow) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], PadConstant, o.Fill); err != nil {
		return err
	}
	_, _, h, w := o.frame(in[0].Height(), in[0].Width())
	for _, n := range [2]int{h, w} {
		if n != tensor.Unknown && (n < 1 || n > maxSide) {
			return inputErr("%v would become %d x %d (height x width), want sides of 1 to %d", in[0], h, w, maxSide)
		}
	}
	dst[0] = in[0].WithSize(h, w)
	return inferred(dst[0])
}

// Apply copies the window.
func (o *RelativeWindow) Apply(c *Context, dst, src []*tensor.Tensor) error {
	top, left, _, _ := o.frame(src[0].Height(), src[0].Width())
	return padTo(c, dst[0], src[0], -top, -left, PadConstant, o.Fill)
}

// Frame returns the window.
func (o *RelativeWindow) Frame(h, w int) Frame {
	f := Frame{Fill: o.Fill}
	f.Top, f.Left, f.Height, f.Width = o.frame(h, w)
	return f
}

// Move takes the window of a column. The fill of a mask is 0.
func (o *RelativeWindow) Move(d *Draw, r Role, from, to tensor.Desc) error {
	top, left, height, width := o.frame(from.Height(), from.Width())
	switch {
	case r.Format == CoordRelative:
		return emitOp(d, o.project())
	case r.Kind == RoleImage:
		return emitOp(d, *o)
	case r.Kind == RoleBoxes:
		c := ObjectCrop{Top: top, Left: left, Height: height, Width: width, Keep: min(o.Keep, KeepCovered), Coverage: o.Coverage}
		return c.Move(d, r, from, to)
	}
	return moveWindow(d, r, top, left, from, to)
}

// project returns the op that moves relative boxes.
func (o *RelativeWindow) project() ProjectBoxes {
	return ProjectBoxes{
		ScaleX: 1, ScaleY: 1, OffsetX: -o.Left, OffsetY: -o.Top, SizeX: o.Width, SizeY: o.Height, Clamp: true, Keep: o.Keep, Coverage: o.Coverage,
	}
}

// uniform32 draws a float32 between two bounds, in either order.
func (d *Draw) uniform32(a, b float32) float32 {
	u := float32(float32(d.Uint32()>>8) / (1 << 24))
	return float32(u*(b-a)) + a
}

// sqrt32 returns the square root, correctly rounded.
func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }
