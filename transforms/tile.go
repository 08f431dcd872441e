package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// TileEdge is the rule for the pixels at the bottom and at the right that tiles
// do not cover exactly.
type TileEdge uint8

// The rules.
const (
	// TileShift moves the last tile inwards, so that it ends with the image.
	TileShift TileEdge = iota
	// TilePad fills the part of the last tile that is outside of the image.
	TilePad
	// TileDrop has no tile for the pixels that remain.
	TileDrop
)

var tileEdgeNames = []string{"shift", "pad", "drop"}

func (e TileEdge) String() string { return enum.String("tile edge", tileEdgeNames, e) }

// MarshalText returns the name.
func (e TileEdge) MarshalText() ([]byte, error) { return enum.Format("tile edge", tileEdgeNames, e) }

// UnmarshalText parses the name.
func (e *TileEdge) UnmarshalText(t []byte) error {
	return enum.Parse(e, "tile edge", tileEdgeNames, t)
}

// Tile cuts an image into windows of Height x Width, row by row, which share
// pixels with their neighbours. It takes any dtype of fixed size, HWC or CHW.
// No value changes. The first window starts at the top left corner, and the
// next ones at steps of Height - OverlapHeight and Width - OverlapWidth. Edge
// says how the last ones end. An image that is smaller than a window is an
// ErrInput unless Edge is pad. SplitTiles is the op for images that tiles must
// cover exactly.
//
// The output has no layout. Its first axis counts the windows, and the others
// are those of an image.
//
// Reference: for shift, the windows of MONAI 1.6.1's dense_patch_slices, for
// images that are not smaller than a window; for drop, torch 2.15.0's unfold;
// for pad, the same after torch's pad.
type Tile struct {
	Height        int      `json:"height"`         // of a window in pixels, 1 to 2^24
	Width         int      `json:"width"`          // of a window in pixels, 1 to 2^24
	OverlapHeight int      `json:"overlap_height"` // rows that neighbours share, 0 to less than Height; default 0
	OverlapWidth  int      `json:"overlap_width"`  // columns that neighbours share, 0 to less than Width; default 0
	Edge          TileEdge `json:"edge"`           // shift, pad or drop; default shift
	// Fill is the value of the padding, in the image's own range: one for all
	// channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple Tile
//sheet:tile {"height": 42, "width": 56, "overlap_height": 0, "overlap_width": 0}

// NewTile returns the op for windows that share overlap rows and columns: the
// last ones move inwards.
func NewTile(height, width, overlap int) *Tile {
	return &Tile{Height: height, Width: width, OverlapHeight: overlap, OverlapWidth: overlap, Fill: []float64{0}}
}

// Info describes the op.
func (*Tile) Info() Info {
	return Info{
		Name: "tile", Version: 1, New: func() Op { return NewTile(512, 512, 64) },
		Reference: "MONAI 1.6.1 dense_patch_slices; torch 2.15.0 pad and unfold", Exactness: "0",
	}
}

// Validate checks the sizes, the edge and the fill.
func (o *Tile) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if o.OverlapHeight < 0 || o.OverlapHeight >= o.Height {
		return paramErr("overlap_height is %d, want 0 to %d", o.OverlapHeight, o.Height-1)
	}
	if o.OverlapWidth < 0 || o.OverlapWidth >= o.Width {
		return paramErr("overlap_width is %d, want 0 to %d", o.OverlapWidth, o.Width-1)
	}
	if err := checkEnum("edge", o.Edge, tileEdgeNames); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// tileCount returns the number of windows of n pixels along a side.
func (o *Tile) tileCount(side, n, overlap int) int {
	step := n - overlap
	if o.Edge == TileDrop {
		return (side-n)/step + 1
	}
	return (max(side-n, 0)+step-1)/step + 1
}

// Infer describes the windows.
func (o *Tile) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantPadding(d, PadConstant, o.Fill); err != nil {
		return err
	}
	h, w := d.Height(), d.Width()
	if o.Edge != TilePad && (h != tensor.Unknown && h < o.Height || w != tensor.Unknown && w < o.Width) {
		return inputErr("%v, want at least %d x %d (height x width)", d, o.Height, o.Width)
	}
	count := int64(tensor.Unknown)
	if h != tensor.Unknown && w != tensor.Unknown {
		rows, columns := int64(o.tileCount(h, o.Height, o.OverlapHeight)), int64(o.tileCount(w, o.Width, o.OverlapWidth))
		if rows > maxPixels/columns || int64(int(rows*columns)) != rows*columns {
			return inputErr("%v would have %d x %d windows, which are too many to count", d, rows, columns)
		}
		count = rows * columns
	}
	dst[0] = tiled(d.WithSize(o.Height, o.Width), int(count))
	return inferred(dst[0])
}

// Apply copies the windows.
func (o *Tile) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	fill := fillPixel(c, s.Desc, o.Fill)
	at := func(i, side, n, overlap int) int {
		at := i * (n - overlap)
		if o.Edge == TileShift {
			at = min(at, side-n)
		}
		return at
	}
	part := s.WithSize(o.Height, o.Width)
	rest := dst[0].Data
	for r := range o.tileCount(s.Height(), o.Height, o.OverlapHeight) {
		top := at(r, s.Height(), o.Height, o.OverlapHeight)
		for k := range o.tileCount(s.Width(), o.Width, o.OverlapWidth) {
			left := at(k, s.Width(), o.Width, o.OverlapWidth)
			rest = window{top, left, PadConstant, fill}.cut(rest, part, s)
		}
	}
	return nil
}
