package transforms

import (
	"math"
	"sync"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// TileCut is the rule by which MapTiles cuts an image.
type TileCut uint8

// The cuts. Tiles are in raster order.
const (
	// CutNone cuts nothing: the whole image is the only tile.
	CutNone TileCut = iota
	// CutSize cuts tiles of Height x Width pixels. The last ones of a row and
	// of a column have what is left.
	CutSize
	// CutGrid cuts Height rows and Width columns. With n pixels along an axis
	// of k tiles, every tile but the last has floor(n/k).
	CutGrid
	// CutAspect cuts the longer axis into tiles if the image is long: Gemma 3's
	// pan and scan. Let a = long/short. There is no tile if a < MinAspect.
	// Their number is floor(a + 0.5), at most floor(long/MinSide), then at
	// least 2, then at most MaxTiles. Each has ceil(long/number) pixels but
	// the last. There is no tile if one would have a side below MinSide.
	CutAspect
)

var tileCutNames = []string{"none", "size", "grid", "aspect"}

func (c TileCut) String() string { return enum.String("tile cut", tileCutNames, c) }

// MarshalText returns the name.
func (c TileCut) MarshalText() ([]byte, error) { return enum.Format("tile cut", tileCutNames, c) }

// UnmarshalText parses the name.
func (c *TileCut) UnmarshalText(t []byte) error { return enum.Parse(c, "tile cut", tileCutNames, t) }

// WholeTile says whether the whole image is a tile too.
type WholeTile uint8

// The places of the whole image.
const (
	WholeNone  WholeTile = iota // the whole image is no tile
	WholeFirst                  // the whole image is the first tile
	WholeLast                   // the whole image is the last tile
)

var wholeTileNames = []string{"none", "first", "last"}

func (w WholeTile) String() string { return enum.String("whole tile", wholeTileNames, w) }

// MarshalText returns the name.
func (w WholeTile) MarshalText() ([]byte, error) {
	return enum.Format("whole tile", wholeTileNames, w)
}

// UnmarshalText parses the name.
func (w *WholeTile) UnmarshalText(t []byte) error {
	return enum.Parse(w, "whole tile", wholeTileNames, t)
}

// MapTiles cuts an image into tiles, runs Ops on each of them, and stacks the
// results, which are images of one dtype, layout and number of channels. It
// takes any dtype of fixed size, HWC or CHW. Without Pad, results of different
// sizes are an ErrInput. With Pad, Fill is added at their bottom and right, up
// to PadHeight x PadWidth, or up to the highest and the widest result if both
// are 0. A tile without pixels is an ErrInput unless Empty is set. So are more
// than 4096 tiles.
//
// Outputs: image, without a layout, with the tiles along the first axis; mask,
// (tiles, height, width): 1 for a pixel of a tile, 0 for padding; count, an
// int64 scalar: the number of tiles without the whole image.
//
// Reference: transformers 5.23.0. divide_to_patches (size), split_images of
// Idefics2 (grid), pan_and_scan of Gemma 3 (aspect).
type MapTiles struct {
	Cut       TileCut      `json:"cut"`        // default size
	Height    int          `json:"height"`     // for size: pixels of a tile, 1 to 2^24; for grid: rows, 1 to 1024; else 0
	Width     int          `json:"width"`      // for size: pixels of a tile, 1 to 2^24; for grid: columns, 1 to 1024; else 0
	MinSide   int          `json:"min_side"`   // for aspect: 1 to 2^24; else 0
	MaxTiles  int          `json:"max_tiles"`  // for aspect: 1 to 1024; else 0
	MinAspect float64      `json:"min_aspect"` // for aspect: 0 to 1e6; else 0
	Whole     WholeTile    `json:"whole"`      // default none
	Ops       OpList       `json:"ops"`        // 1 to 64 ops, which must not be random
	Pad       bool         `json:"pad"`        // pad results of different sizes; default false
	PadHeight int          `json:"pad_height"` // in pixels, 0 to 2^24, for Pad; default 0
	PadWidth  int          `json:"pad_width"`  // in pixels, 0 to 2^24, for Pad; default 0
	Fill      []float64    `json:"fill"`       // value of the padding: one for all channels or one per channel; default 0
	MaskDType tensor.DType `json:"mask_dtype"` // any except bytes; default int64
	// Empty makes one pixel of zeros of a tile without pixels, as Pillow's
	// resize of an empty image gives zeros. Default false.
	Empty bool `json:"empty"`
}

//msgp:tuple MapTiles
//sheet:map_tiles {"height": 42, "width": 56}

// NewMapTiles returns the op that cuts tiles of height x width pixels and does
// not pad.
func NewMapTiles(height, width int, ops ...Op) *MapTiles {
	return &MapTiles{Cut: CutSize, Height: height, Width: width, Ops: ops, Fill: []float64{0}, MaskDType: tensor.Int64}
}

// maxMapped bounds the number of tiles of one image.
const maxMapped = 4096

func (o *MapTiles) lists() []OpList { return []OpList{o.Ops} }

// Info describes the op.
func (*MapTiles) Info() Info {
	return Info{
		Name: "map_tiles", Version: 1, New: func() Op { return NewMapTiles(336, 336, NewHWC2CHW()) },
		Out:       []string{"image", "mask", "count"},
		Reference: "transformers 5.23.0 divide_to_patches, split_images, pan_and_scan", Exactness: "0, if that of its ops is",
	}
}

// Validate checks the ops, and that parameters of other cuts are 0.
func (o *MapTiles) Validate() error {
	if err := checkEnum("cut", o.Cut, tileCutNames); err != nil {
		return err
	}
	if err := checkEnum("whole", o.Whole, wholeTileNames); err != nil {
		return err
	}
	side, aspect := 0, 0
	switch o.Cut {
	case CutSize:
		side = maxSide
	case CutGrid:
		side = maxTiles
	case CutAspect:
		aspect = 1
	}
	for _, p := range []struct {
		name    string
		n, most int
	}{
		{"height", o.Height, side}, {"width", o.Width, side}, {"min_side", o.MinSide, aspect * maxSide}, {"max_tiles", o.MaxTiles, aspect * maxTiles},
	} {
		if least := min(p.most, 1); p.n < least || p.n > p.most {
			return paramErr("%s is %d, want %d to %d with cut %v", p.name, p.n, least, p.most, o.Cut)
		}
	}
	if most := float64(1e6 * float64(aspect)); !(o.MinAspect >= 0 && o.MinAspect <= most) {
		return paramErr("min_aspect is %v, want 0 to %v with cut %v", o.MinAspect, most, o.Cut)
	}
	if o.Cut == CutNone && o.Whole != WholeNone {
		return paramErr("whole is %v with cut none, want none", o.Whole)
	}
	for _, p := range []struct {
		name string
		n    int
	}{{"pad_height", o.PadHeight}, {"pad_width", o.PadWidth}} {
		if p.n < 0 || p.n > maxSide || p.n > 0 && !o.Pad || (p.n == 0) != (o.PadHeight == 0) {
			return paramErr("%s is %d, want 1 to %d for both sides with pad, or 0", p.name, p.n, maxSide)
		}
	}
	if err := checkElement("mask_dtype", o.MaskDType); err != nil {
		return err
	}
	if err := checkValues("fill", o.Fill); err != nil {
		return err
	}
	return o.Ops.checkFixed("ops")
}

// cutting is the geometry of the tiles of one image: rows and columns of them,
// and the height and width of all but the last ones.
type cutting struct {
	h, w, rows, columns, tileH, tileW int
	grid                              bool // the last tiles take the rest
	whole                             WholeTile
}

func (o *MapTiles) cut(h, w int) (cutting, error) {
	c := cutting{h: h, w: w, rows: 1, columns: 1, tileH: h, tileW: w, whole: o.Whole}
	switch o.Cut {
	case CutSize:
		c.tileH, c.tileW = o.Height, o.Width
		c.rows, c.columns = (h-1)/o.Height+1, (w-1)/o.Width+1
	case CutGrid:
		c.rows, c.columns, c.tileH, c.tileW, c.grid = o.Height, o.Width, h/o.Height, w/o.Width, true
	case CutAspect:
		long, short := max(h, w), min(h, w)
		a := float64(long) / float64(short)
		n := min(max(min(int(math.Floor(a+0.5)), long/o.MinSide), 2), o.MaxTiles)
		side := (long-1)/n + 1
		switch {
		case a < o.MinAspect || min(side, short) < o.MinSide:
			c.rows, c.columns = 0, 0
		case w >= h:
			c.columns, c.tileW = n, side
		default:
			c.rows, c.tileH = n, side
		}
	}
	if int64(c.rows)*int64(c.columns) > maxMapped {
		return c, inputErr("an image of %d x %d (height x width) has %d x %d tiles, want at most %d", h, w, c.rows, c.columns, maxMapped)
	}
	if c.count() == 0 {
		return c, inputErr("an image of %d x %d (height x width) has no tiles", h, w)
	}
	return c, nil
}

// count returns the number of tiles.
func (c *cutting) count() int {
	n := c.rows * c.columns
	if c.whole != WholeNone {
		n++
	}
	return n
}

// at returns the place of tile i.
func (c *cutting) at(i int) (top, left, height, width int) {
	if c.whole == WholeFirst {
		i--
	}
	if i < 0 || i == c.rows*c.columns {
		return 0, 0, c.h, c.w
	}
	row, column := i/c.columns, i%c.columns
	top, left = row*c.tileH, column*c.tileW
	height, width = min(c.tileH, c.h-top), min(c.tileW, c.w-left)
	if c.grid && row == c.rows-1 {
		height = c.h - top
	}
	if c.grid && column == c.columns-1 {
		width = c.w - left
	}
	return top, left, height, width
}

// descPairs holds an input and an output for Infer of an inner op, which would
// otherwise be allocated for each.
var descPairs = sync.Pool{New: func() any { return new([2]tensor.Desc) }}

// result describes what op i of Ops makes of d.
func (l OpList) result(i int, d tensor.Desc) (tensor.Desc, error) {
	p := descPairs.Get().(*[2]tensor.Desc)
	defer descPairs.Put(p)
	p[0] = d
	if err := l[i].Infer(p[1:], p[:1]); err != nil {
		return d, errfmt.Errorf("op %d, %s: %w", i, InfoOf(l[i]).Name, err)
	}
	return p[1], nil
}

// results is infer without allocations.
func (l OpList) results(d tensor.Desc) (_ tensor.Desc, err error) {
	for i := range l {
		if d, err = l.result(i, d); err != nil {
			break
		}
	}
	return d, err
}

// results describes what all ops make of d, which must be an image.
func (o *MapTiles) results(d tensor.Desc) (tensor.Desc, error) {
	d, err := o.Ops.results(d)
	if err != nil {
		return d, err
	}
	return d, wantImage(d)
}

// Infer describes the stacked results.
func (o *MapTiles) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantImage(d); err != nil {
		return err
	}
	all, n := tensor.Desc{}, tensor.Unknown
	if h, w := d.Height(), d.Width(); h == tensor.Unknown || w == tensor.Unknown {
		r, err := o.results(d.WithSize(tensor.Unknown, tensor.Unknown))
		if err != nil {
			return err
		}
		if all = r; o.Pad {
			all = r.WithSize(tensor.Unknown, tensor.Unknown)
		}
		if o.Cut == CutNone {
			n = 1
		}
	} else {
		c, err := o.cut(h, w)
		if err != nil {
			return err
		}
		n = c.count()
		for i := range n {
			_, _, th, tw := c.at(i)
			if th < 1 || tw < 1 {
				if !o.Empty {
					return inputErr("tile %d of %v has no pixels", i, d)
				}
				th, tw = 1, 1
			}
			r, err := o.results(d.WithSize(th, tw))
			if err != nil {
				return errfmt.Errorf("tile %d: %w", i, err)
			}
			switch {
			case i == 0:
				all = r
			case r.DType != all.DType || r.Layout != all.Layout || r.Channels() != all.Channels() || r != all && !o.Pad:
				return inputErr("tile %d becomes %v, others %v", i, r, all)
			default:
				all = all.WithSize(max(all.Height(), r.Height()), max(all.Width(), r.Width()))
			}
		}
	}
	if err := wantFill(all, "fill", o.Fill); err != nil {
		return err
	}
	if o.PadHeight > 0 {
		if all.Height() > o.PadHeight || all.Width() > o.PadWidth {
			return inputErr("a tile becomes %v, larger than %dx%d (height x width)", all, o.PadHeight, o.PadWidth)
		}
		all = all.WithSize(o.PadHeight, o.PadWidth)
	}
	dst[0] = tiled(all, n)
	dst[1] = tensor.Desc{DType: o.MaskDType, Shape: tensor.Dims(n, all.Height(), all.Width())}
	dst[2] = tensor.Desc{DType: tensor.Int64}
	if err := inferred(dst[0]); err != nil {
		return err
	}
	return inferred(dst[1])
}

// mapState holds the contexts and the headers of the inner ops.
type mapState struct {
	ops      []*Context
	dst, src [1]*tensor.Tensor
	part     tensor.Tensor // one tile of the output
}

// Reported returns 2, the index of the count.
func (o *MapTiles) Reported() int { return 2 }

// Report writes the count.
func (o *MapTiles) Report(dst []*tensor.Tensor, in []tensor.Desc) {
	cuts, _ := o.cut(in[0].Height(), in[0].Width()) // Infer accepted it
	tensor.View[int64](dst[2])[0] = int64(cuts.rows * cuts.columns)
}

// Apply runs the ops on each tile.
func (o *MapTiles) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	state, ok := c.State.(*mapState)
	if !ok || len(state.ops) != len(o.Ops) {
		state = &mapState{ops: make([]*Context, len(o.Ops))}
		for i := range state.ops {
			state.ops[i] = c.Sibling()
		}
		c.State = state
	}
	cuts, err := o.cut(s.Height(), s.Width())
	if err != nil {
		return err
	}
	o.Report(dst, []tensor.Desc{s.Desc})
	clear(dst[1].Data)
	pixels, size := len(dst[0].Data)/cuts.count(), len(dst[1].Data)/cuts.count()
	for i := range cuts.count() {
		bufs, tensors := c.scratch.usedB, c.scratch.usedT
		r, err := o.tile(c, state, s, &cuts, i)
		if err != nil {
			return errfmt.Errorf("tile %d: %w", i, err)
		}
		to := &state.part
		*to = tensor.Tensor{}
		shape := dst[0].Shape
		to.Desc = tensor.Desc{DType: r.DType, Layout: r.Layout, Shape: tensor.Dims(shape.At(1), shape.At(2), shape.At(3))}
		to.Data = dst[0].Data[i*pixels:][:pixels]
		w := window{mode: PadConstant, fill: fillPixel(c, r.Desc, o.Fill)}
		w.apply(to, r)
		mask, n, row := dst[1].Data[i*size:][:size], o.MaskDType.Size(), to.Width()
		for x := range r.Width() {
			putNumber(mask[x*n:][:n], o.MaskDType, 1)
		}
		for y := 1; y < r.Height(); y++ {
			copy(mask[y*row*n:], mask[:r.Width()*n])
		}
		c.scratch.usedB, c.scratch.usedT = bufs, tensors
	}
	return nil
}

// tile returns the result of tile i, in scratch memory.
func (o *MapTiles) tile(c *Context, state *mapState, s *tensor.Tensor, cuts *cutting, i int) (*tensor.Tensor, error) {
	top, left, h, w := cuts.at(i)
	empty := h < 1 || w < 1
	if empty {
		h, w = 1, 1
	}
	t, err := c.Temp(s.Desc.WithSize(h, w))
	if err != nil {
		return nil, err
	}
	cut := window{top: top, left: left, mode: PadEdge} // nothing is outside
	if empty {
		clear(t.Data)
	} else {
		cut.apply(t, s)
	}
	for k, op := range o.Ops {
		d, err := o.Ops.result(k, t.Desc)
		if err != nil {
			return nil, err
		}
		to, err := c.Temp(d)
		if err != nil {
			return nil, err
		}
		state.dst[0], state.src[0] = to, t
		if err := op.Apply(state.ops[k], state.dst[:], state.src[:]); err != nil {
			return nil, errfmt.Errorf("op %d, %s: %w", k, InfoOf(op).Name, err)
		}
		t = to
	}
	return t, nil
}
