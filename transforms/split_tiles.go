package transforms

import "github.com/infer-prep/infer-prep/tensor"

// SplitTiles cuts an image into tiles of Height x Width pixels, row by row.
// With 0 x 0 the whole image is one tile. It takes any dtype of fixed size, HWC
// or CHW. No value changes. Neighbouring tiles share Overlap pixels. An image
// that tiles do not cover exactly is an ErrInput: with S = Height - Overlap,
// its height must be Overlap plus a multiple of S, and its width likewise.
//
// The output has no layout. Its first axis counts the tiles, and the others are
// those of an image: (tiles, channels, height, width) for CHW.
//
// Reference: transformers 5.23.0, split_to_tiles, divide_to_patches and
// Molmo2's overlapping crops (torch's unfold).
type SplitTiles struct {
	Height  int `json:"height"`  // of a tile in pixels, 1 to 2^24; 0 means the image's
	Width   int `json:"width"`   // of a tile in pixels, 1 to 2^24; 0 means the image's
	Overlap int `json:"overlap"` // pixels that neighbours share, 0 to less than a side; default 0
}

//msgp:tuple SplitTiles
//sheet:split_tiles {"height": 42, "width": 56}

// NewSplitTiles returns the op without overlap.
func NewSplitTiles(height, width int) *SplitTiles { return &SplitTiles{Height: height, Width: width} }

// Info describes the op.
func (*SplitTiles) Info() Info {
	return Info{
		Name: "split_tiles", Version: 1, New: func() Op { return NewSplitTiles(448, 448) },
		Reference: "transformers 5.23.0 split_to_tiles, divide_to_patches", Exactness: "0",
	}
}

// Validate checks the sizes.
func (o *SplitTiles) Validate() error {
	if o.Height == 0 && o.Width == 0 {
		if o.Overlap != 0 {
			return paramErr("overlap is %d without tiles, want 0", o.Overlap)
		}
		return nil
	}
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if least := min(o.Height, o.Width); o.Overlap < 0 || o.Overlap >= least {
		return paramErr("overlap is %d, want 0 to %d", o.Overlap, least-1)
	}
	return nil
}

// tileCount returns the number of tiles of n pixels along a side.
func (o *SplitTiles) tileCount(side, n int) (int, bool) {
	step := n - o.Overlap
	return (side - o.Overlap) / step, side >= n && (side-o.Overlap)%step == 0
}

// Infer describes the tiles.
func (o *SplitTiles) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantImage(d); err != nil {
		return err
	}
	if o.Height == 0 {
		dst[0] = tiled(d, 1)
		return inferred(dst[0])
	}
	count := int64(1)
	for i, side := range [2]int{d.Height(), d.Width()} {
		tile := [2]int{o.Height, o.Width}[i]
		if side == tensor.Unknown {
			count = tensor.Unknown
			continue
		}
		n, ok := o.tileCount(side, tile)
		if !ok {
			return inputErr("%v is not covered exactly by tiles of %dx%d (height x width) with an overlap of %d", d, o.Height, o.Width, o.Overlap)
		}
		if count != tensor.Unknown {
			if count > maxPixels/int64(n) {
				return inputErr("%v would have more than 2^48 tiles", d)
			}
			count *= int64(n)
		}
	}
	if int64(int(count)) != count {
		return inputErr("%v: %d tiles are too many to count", d, count)
	}
	dst[0] = tiled(d.WithSize(o.Height, o.Width), int(count))
	return inferred(dst[0])
}

// Blocks returns where the pixels of a CHW image go, unless tiles overlap.
func (o *SplitTiles) Blocks(d tensor.Desc) (Blocks, bool) {
	h, w := o.Height, o.Width
	if h == 0 {
		h, w = d.Height(), d.Width()
	}
	return Blocks{Height: h, Width: w, Merge: 1, Size: d.Channels() * h * w, Plane: h * w, Copies: 1}, o.Overlap == 0 && d.Layout == tensor.CHW
}

// tiled describes n tensors of d one after the other.
func tiled(d tensor.Desc, n int) tensor.Desc {
	s := tensor.Dims(n, d.Shape.At(0), d.Shape.At(1), d.Shape.At(2))
	return tensor.Desc{DType: d.DType, Shape: s}
}

// Apply copies the tiles.
func (o *SplitTiles) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if o.Height == 0 {
		copy(dst[0].Data, s.Data)
		return nil
	}
	rows, _ := o.tileCount(s.Height(), o.Height)
	columns, _ := o.tileCount(s.Width(), o.Width)
	tile, rest := s.WithSize(o.Height, o.Width), dst[0].Data
	for r := range rows {
		for k := range columns {
			at := window{top: r * (o.Height - o.Overlap), left: k * (o.Width - o.Overlap), mode: PadEdge} // nothing is outside
			rest = at.cut(rest, tile, s)
		}
	}
	return nil
}
