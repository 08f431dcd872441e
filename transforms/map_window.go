package transforms

import (
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// MapWindow runs ops on a window of an image and puts the result back in its
// place. A result of another size is resized to the window's, by Resize with
// backend opencv and bilinear. It takes a uint8 or float32 image, HWC or CHW,
// and keeps the description. The ops must keep dtype, layout and channels.
// BoundingBoxAugment draws it. Boxes stay as they are. If an op moves pixels,
// no mask or point can move with the image.
//
// Reference: MindSpore 2.10.0's BoundingBoxAugment.
type MapWindow struct {
	Top    int    `json:"top"`    // first row of the window, 0 to 2^24
	Left   int    `json:"left"`   // first column of the window, 0 to 2^24
	Height int    `json:"height"` // height of the window in pixels, 1 to 2^24
	Width  int    `json:"width"`  // width of the window in pixels, 1 to 2^24
	Ops    OpList `json:"ops"`    // 1 to 64 ops, which must not be random
}

//msgp:tuple MapWindow

// NewMapWindow returns the op for height x width pixels that start at row top
// and column left.
func NewMapWindow(top, left, height, width int, ops ...Op) *MapWindow {
	return &MapWindow{top, left, height, width, ops}
}

func (o *MapWindow) lists() []OpList { return []OpList{o.Ops} }

// Info describes the op.
func (*MapWindow) Info() Info {
	return Info{
		Name: "map_window", Version: 1, New: func() Op { return NewMapWindow(0, 0, 16, 16, NewInvert()) },
		Reference: "MindSpore 2.10.0 vision.BoundingBoxAugment", Exactness: "0, if that of its ops is",
	}
}

// Validate checks the window and the ops.
func (o *MapWindow) Validate() error {
	if o.Top < 0 || o.Left < 0 {
		return paramErr("the window starts at row %d, column %d, want 0 or more", o.Top, o.Left)
	}
	if err := checkPlace(o.Top, o.Left, o.Height, o.Width); err != nil {
		return err
	}
	return o.Ops.checkFixed("ops")
}

// back resizes a result to the window.
func (o *MapWindow) back() Resize {
	r := Resize{Fit: FitExact, Height: o.Height, Width: o.Width}
	r.Interpolation, r.Backend = Bilinear, OpenCV
	return r
}

// Infer keeps the description.
func (o *MapWindow) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantImage(d); err != nil {
		return err
	}
	if d.DType != tensor.Uint8 && d.DType != tensor.Float32 {
		return inputErr("%v, want uint8 or float32", d)
	}
	if h, w := d.Height(), d.Width(); h != tensor.Unknown && o.Top+o.Height > h || w != tensor.Unknown && o.Left+o.Width > w {
		return inputErr("the window is %d x %d (height x width) at row %d, column %d, want one within %v", o.Height, o.Width, o.Top, o.Left, d)
	}
	r, err := o.Ops.results(d.WithSize(o.Height, o.Width))
	if err != nil {
		return err
	}
	if r.DType != d.DType || r.Layout != d.Layout || r.Shape.Rank() != d.Shape.Rank() || r.Channels() != d.Channels() {
		return inputErr("the ops make %v of a window of %v, want its dtype, layout and channels", r, d)
	}
	dst[0] = d
	return nil
}

// Apply runs the ops.
func (o *MapWindow) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	state := chainStateOf(c)
	t, err := c.Temp(s.Desc.WithSize(o.Height, o.Width))
	if err != nil {
		return err
	}
	cut := window{top: o.Top, left: o.Left, mode: PadEdge} // nothing is outside
	cut.apply(t, s)
	inside := t.Desc
	if t, err = state.runAll(c, o.Ops, t); err != nil {
		return err
	}
	if t.Desc != inside {
		state.back = o.back()
		if t, err = state.run(c, &state.back, t, inside); err != nil {
			return errfmt.Errorf("resize of the result: %w", err)
		}
	}
	copy(dst[0].Data, s.Data)
	to, from := gridOf(s.Desc), gridOf(inside)
	for p := range to.planes {
		for y := range o.Height {
			copy(to.row(dst[0].Data, p, o.Top+y)[o.Left*to.pixel:], from.row(t.Data, p, y))
		}
	}
	return nil
}

// Move leaves a column as it is: the window stays in its place. Ops that move
// pixels inside it are an ErrInput, except for boxes.
func (o *MapWindow) Move(_ *Draw, r Role, _, _ tensor.Desc) error {
	if r.Kind != RoleBoxes && o.Ops.moves() {
		return cannotMove(o, r, "its ops move pixels inside the window")
	}
	return nil
}
