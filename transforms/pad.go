package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// PadMode defines the pixels outside an image.
type PadMode uint8

// The padding modes, with NumPy's names. For the row abcd:
const (
	PadConstant  PadMode = iota // the fill value
	PadEdge                     // aaa|abcd|ddd
	PadReflect                  // dcb|abcd|cba: the border pixel is not repeated, except in an axis of one pixel
	PadSymmetric                // cba|abcd|dcb
)

var padModeNames = []string{"constant", "edge", "reflect", "symmetric"}

func (m PadMode) String() string { return enum.String("padding mode", padModeNames, m) }

// MarshalText returns the name.
func (m PadMode) MarshalText() ([]byte, error) {
	return enum.Format("padding mode", padModeNames, m)
}

// UnmarshalText parses the name.
func (m *PadMode) UnmarshalText(t []byte) error {
	return enum.Parse(m, "padding mode", padModeNames, t)
}

// index returns the index in 0..n-1 that supplies position i. If ok is false,
// the fill value does.
func (m PadMode) index(i, n int) (int, bool) {
	if i >= 0 && i < n {
		return i, true
	}
	switch m {
	case PadConstant:
		return 0, false
	case PadEdge:
		return min(max(i, 0), n-1), true
	case PadReflect:
		if n == 1 {
			return 0, true
		}
		i = mod(i, 2*(n-1))
		return min(i, 2*(n-1)-i), true
	default:
		i = mod(i, 2*n)
		return min(i, 2*n-1-i), true
	}
}

// mod returns i modulo n, which is never negative.
func mod(i, n int) int {
	if i %= n; i < 0 {
		i += n
	}
	return i
}

// Pad adds a border to an image. It takes any dtype of fixed size, HWC or CHW,
// and keeps both. No value changes. A border may be wider than the image:
// reflections then alternate. A fill that the dtype cannot hold is an ErrInput.
//
// Reference: NumPy 2.4.6, pad. torchvision 0.29.2's pad of a Pillow image
// returns the same, and so does its pad of a tensor for the borders it allows.
type Pad struct {
	Top    int     `json:"top"`    // rows added above, 0 to 2^24
	Bottom int     `json:"bottom"` // rows added below, 0 to 2^24
	Left   int     `json:"left"`   // columns added on the left, 0 to 2^24
	Right  int     `json:"right"`  // columns added on the right, 0 to 2^24
	Mode   PadMode `json:"mode"`   // default constant
	// Fill is the value of a constant border, in the image's own range: one for
	// all channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple Pad
//sheet:pad {"top": 10, "bottom": 10, "left": 10, "right": 10, "mode": "reflect"}

// NewPad returns the op with a constant border of zeros.
func NewPad(top, bottom, left, right int) *Pad {
	return &Pad{Top: top, Bottom: bottom, Left: left, Right: right, Mode: PadConstant, Fill: []float64{0}}
}

// Info describes the op.
func (*Pad) Info() Info {
	return Info{
		Name: "pad", Version: 1, New: func() Op { return NewPad(0, 0, 0, 0) },
		Reference: "NumPy 2.4.6 pad, torchvision 0.29.2 pad", Exactness: "0",
	}
}

// Validate checks the widths, the mode and the fill.
func (o *Pad) Validate() error {
	names := []string{"top", "bottom", "left", "right"}
	for i, n := range []int{o.Top, o.Bottom, o.Left, o.Right} {
		if n < 0 || n > maxSide {
			return paramErr("%s is %d, want 0 to %d", names[i], n, maxSide)
		}
	}
	if err := checkEnum("mode", o.Mode, padModeNames); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// Infer adds the border to the size.
func (o *Pad) Infer(dst, in []tensor.Desc) error {
	if err := wantPadding(in[0], o.Mode, o.Fill); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(grown(in[0].Height(), o.Top+o.Bottom), grown(in[0].Width(), o.Left+o.Right))
	return inferred(dst[0])
}

// Apply copies the image and draws the border.
func (o *Pad) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return padTo(c, dst[0], src[0], o.Top, o.Left, o.Mode, o.Fill)
}

// grown returns size+n, or unknown if size is unknown.
func grown(size, n int) int {
	if size == tensor.Unknown {
		return size
	}
	return size + n
}

// wantPadding rejects a description that is not an image's or does not match
// the fill.
func wantPadding(d tensor.Desc, mode PadMode, fill []float64) error {
	if err := wantImage(d); err != nil {
		return err
	}
	if mode == PadConstant {
		return wantFill(d, "fill", fill)
	}
	return nil
}

// padTo draws src into dst with its corner at (top, left), which may be
// negative, and fills the rest of dst by the mode.
func padTo(c *Context, dst, src *tensor.Tensor, top, left int, mode PadMode, fill []float64) error {
	s, err := c.Dense(src)
	if err != nil {
		return err
	}
	w := window{top: -top, left: -left, mode: mode}
	if mode == PadConstant {
		w.fill = fillPixel(c, s.Desc, fill)
	}
	w.apply(dst, s)
	return nil
}

// WithFill returns a copy of the op with another fill, and its own fill, nil if
// the mode is not constant.
func (o *Pad) WithFill(fill []float64) (changed Op, own []float64) {
	if o.Mode == PadConstant {
		own = o.Fill
	}
	c := *o
	c.Fill = fill
	return &c, own
}

// Move pads a column. The fill of a mask is 0. Boxes and points support only
// mode constant, as in torchvision.
func (o *Pad) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return movePadded[Pad](d, o, o.Mode, r, o.Top, o.Left, from, to)
}
