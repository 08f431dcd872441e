package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ResizeToTiles scales an image to a canvas of whole tiles of Height x Width
// pixels. Rule chooses the grid of tiles by the image's size; Fit says whether
// the image is stretched or padded with Fill. It takes a uint8 or float32 image
// of any number of channels, HWC or CHW, and keeps dtype, layout and channels.
// An image whose canvas would have a side above 2^24 is an ErrInput, and so is
// a fill that the dtype cannot hold.
//
// Outputs: image, the canvas; grid, int64 (2): the numbers of rows and columns
// of tiles; choice, an int64 scalar: the number of the grid among those the
// rule tries, or of the canvas in Sizes, from 1, and 0 if the rule tries none;
// size, int64 (2): the scaled image's height and width in the canvas. The last
// tiles are incomplete if a canvas of Sizes is no multiple of the tile.
//
// Interpolation and Backend are those of Resize.
//
// Reference: transformers 5.23.0. get_optimal_tiled_canvas of GOT-OCR2
// (aspect), Cohere2 Vision (scale) and Mllama (canvas),
// get_min_tile_covering_grid of Ovis2 (cover), get_best_fit of Llama 4
// (canvas32, largest32), select_best_resolution (size),
// resize_for_vision_encoder of Idefics3 (multiple), PerceptionLM (inside); with
// Image.resize of Pillow 13.0.0.
type ResizeToTiles struct {
	Height int      `json:"height"` // of a tile in pixels, 1 to 2^24
	Width  int      `json:"width"`  // of a tile in pixels, 1 to 2^24
	Rule   TileRule `json:"rule"`   // default aspect
	// MinTiles and MaxTiles bound the number of tiles, 1 to 1024; default 1 and
	// 12. They are 0 for size and multiple; MinTiles is 1 for cover and the
	// rules of a canvas.
	MinTiles int `json:"min_tiles"`
	MaxTiles int `json:"max_tiles"`
	// MaxLine bounds the rows and the columns, 0 to 1024, for aspect; default
	// 0, no bound.
	MaxLine int `json:"max_line"`
	// Sizes lists the heights and widths of the canvases in pixels, at most
	// 1024 of them, for size; else empty.
	Sizes         [][]int       `json:"sizes"`
	Fit           TileFit       `json:"fit"`           // default stretch
	Position      Position      `json:"position"`      // of the image in the canvas; default top_left
	Fill          []float64     `json:"fill"`          // value of the padding, in the image's own range: one for all channels or one per channel; default 0
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bicubic
	Backend       Backend       `json:"backend"`       // see Resize; default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
	// MinSide is the shortest side that a scaled image may have, 0 to 2^24 in
	// pixels. A shorter one is an ErrInput. Default 0.
	MinSide int `json:"min_side"`
}

//msgp:tuple ResizeToTiles

// NewResizeToTiles returns the op that stretches an image to the grid of
// minTiles to maxTiles tiles with the nearest aspect ratio: bicubic, Pillow,
// antialiased.
func NewResizeToTiles(height, width, minTiles, maxTiles int) *ResizeToTiles {
	return &ResizeToTiles{
		Height: height, Width: width, MinTiles: minTiles, MaxTiles: maxTiles, Sizes: [][]int{},
		Position: TopLeft, Fill: []float64{0}, Interpolation: Bicubic, Backend: Pillow,
	}
}

// Info describes the op.
func (*ResizeToTiles) Info() Info {
	return Info{
		Name: "resize_to_tiles", Version: 1, New: func() Op { return NewResizeToTiles(448, 448, 1, 12) },
		Out:       []string{"image", "grid", "choice", "size"},
		Reference: "transformers 5.23.0 get_optimal_tiled_canvas and others with Pillow 13.0.0; backends as resize", Exactness: "0",
	}
}

// Validate checks the sizes, that the parameters of other rules are 0 or empty,
// the fill, and that the backend supports the interpolation.
func (o *ResizeToTiles) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkEnum("rule", o.Rule, tileRuleNames); err != nil {
		return err
	}
	lo, hi := 1, maxTiles
	if !o.Rule.counted() {
		lo, hi = 0, 0
	}
	if o.MaxTiles < lo || o.MaxTiles > hi {
		return paramErr("max_tiles is %d, want %d to %d with rule %v", o.MaxTiles, lo, hi, o.Rule)
	}
	if hi = o.MaxTiles; o.Rule.fromOne() {
		hi = 1
	}
	if o.MinTiles < lo || o.MinTiles > hi {
		return paramErr("min_tiles is %d, want %d to %d with rule %v and max_tiles %d", o.MinTiles, lo, hi, o.Rule, o.MaxTiles)
	}
	if o.MaxLine < 0 || o.MaxLine > maxTiles || o.MaxLine != 0 && o.Rule != TilesAspect {
		return paramErr("max_line is %d, want 0 to %d with rule aspect, else 0", o.MaxLine, maxTiles)
	}
	if o.Rule != TilesSize && len(o.Sizes) > 0 || o.Rule == TilesSize && (len(o.Sizes) < 1 || len(o.Sizes) > maxTiles) {
		return paramErr("sizes has %d entries, want 1 to %d with rule size, else 0", len(o.Sizes), maxTiles)
	}
	for i, s := range o.Sizes {
		if len(s) != 2 {
			return paramErr("sizes[%d] has %d numbers, want height and width", i, len(s))
		}
		if err := checkSides(s[0], s[1]); err != nil {
			return err
		}
	}
	if err := checkEnum("fit", o.Fit, tileFitNames); err != nil {
		return err
	}
	if err := checkEnum("position", o.Position, positionNames); err != nil {
		return err
	}
	if err := checkValues("fill", o.Fill); err != nil {
		return err
	}
	if o.MinSide < 0 || o.MinSide > maxSide {
		return paramErr("min_side is %d, want 0 to %d", o.MinSide, maxSide)
	}
	return o.sampling().validate()
}

func (o *ResizeToTiles) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}
}

// geometry returns the tiles and the size of the scaled image for an image of
// h x w pixels.
func (o *ResizeToTiles) geometry(h, w int) (t tiling, nh, nw int, err error) {
	if h < 1 || w < 1 {
		return t, 0, 0, inputErr("an image of %d x %d (height x width), want sides of at least 1", h, w)
	}
	t = o.tiles(h, w)
	if _, _, err = sides(h, w, float64(t.height), float64(t.width)); err != nil {
		return t, 0, 0, err
	}
	if nh, nw = o.fitted(t, h, w); min(nh, nw) < o.MinSide {
		return t, 0, 0, inputErr("an image of %d x %d (height x width) would be scaled to %d x %d, want sides of at least %d", h, w, nh, nw, o.MinSide)
	}
	return t, nh, nw, nil
}

// Infer sets the size of the canvas.
func (o *ResizeToTiles) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := o.sampling().want(d); err != nil {
		return err
	}
	if err := wantFill(d, "fill", o.Fill); err != nil {
		return err
	}
	h, w := tensor.Unknown, tensor.Unknown
	if d.Height() != tensor.Unknown && d.Width() != tensor.Unknown {
		t, _, _, err := o.geometry(d.Height(), d.Width())
		if err != nil {
			return err
		}
		h, w = t.height, t.width
	}
	dst[0] = d.WithSize(h, w)
	dst[1] = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(2)}
	dst[2] = tensor.Desc{DType: tensor.Int64}
	dst[3] = dst[1]
	return inferred(dst[0])
}

// Apply scales and pads.
func (o *ResizeToTiles) Apply(c *Context, dst, src []*tensor.Tensor) error {
	t, nh, nw, err := o.geometry(src[0].Height(), src[0].Width())
	if err != nil {
		return err
	}
	t.report(nh, nw, dst[1:])
	if nh == t.height && nw == t.width {
		return o.sampling().apply(c, dst[0], src[0])
	}
	scaled, err := c.Temp(src[0].Desc.WithSize(nh, nw))
	if err != nil {
		return err
	}
	if err := o.sampling().apply(c, scaled, src[0]); err != nil {
		return err
	}
	return padTo(c, dst[0], scaled, o.Position.before(t.height-nh), o.Position.before(t.width-nw), PadConstant, o.Fill)
}

// report writes the outputs grid, choice and size.
func (t *tiling) report(nh, nw int, side []*tensor.Tensor) {
	grid, size := tensor.View[int64](side[0]), tensor.View[int64](side[2])
	grid[0], grid[1] = int64(t.rows), int64(t.columns)
	tensor.View[int64](side[1])[0] = int64(t.choice)
	size[0], size[1] = int64(nh), int64(nw)
}

// Sampling returns the op's parameters.
func (o *ResizeToTiles) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, !o.NoAntialias
}

// Scale returns the sizes and the padding, and writes grid, choice and size.
func (o *ResizeToTiles) Scale(h, w int, side []*tensor.Tensor) (Scale, error) {
	t, nh, nw, err := o.geometry(h, w)
	if err != nil {
		return Scale{}, err
	}
	if side != nil {
		t.report(nh, nw, side)
	}
	s := Scale{
		Cut: Frame{Height: h, Width: w}, Height: nh, Width: nw,
		Place: Frame{Top: -o.Position.before(t.height - nh), Left: -o.Position.before(t.width - nw), Height: t.height, Width: t.width, Fill: o.Fill},
	}
	s.rules(o.sampling())
	return s, nil
}
