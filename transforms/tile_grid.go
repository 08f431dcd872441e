package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// TileRule is the rule by which ResizeToTiles chooses the numbers of rows and
// columns of tiles for an image of h x w pixels.
type TileRule uint8

// The rules. All but TilesCanvas32 and TilesLargest32 compute in float64, in
// the order of their reference. Grids are tried in the order of their number
// of tiles, then of their number of columns, unless the rule says otherwise;
// the first of several equally good grids is chosen.
const (
	// TilesAspect chooses the grid whose columns/rows is nearest to w/h. A
	// later grid with an equal difference replaces an earlier one if the image
	// has more than half its pixels. It is GOT-OCR2's and InternVL's.
	TilesAspect TileRule = iota
	// TilesScale chooses the grid that the image fills with the least
	// enlargement, min(columns*Height/w, rows*Height/h) at least 1. If every
	// grid is too small, it chooses the one that reduces the image least. It is
	// Cohere2 Vision's, which multiplies both numbers by the height.
	TilesScale
	// TilesCover chooses the smallest grid that keeps more than 90 % of the
	// image's area if each cell is reduced to at most Height pixels, else the
	// grid that keeps most. It is Ovis2's, which exchanges rows and columns
	// while it measures.
	TilesCover
	// TilesCanvas chooses the grid with the least scale of at least 1, else the
	// greatest scale, then the fewest tiles; the scale is min(rows*Height/h,
	// columns*Width/w). It is Mllama's, whose grids are in the order of their
	// rows, then columns.
	TilesCanvas
	// TilesCanvas32 is TilesCanvas in float32: Llama 4's.
	TilesCanvas32
	// TilesLargest32 is TilesCanvas32 with the greatest scale: Llama 4's
	// resize_to_max_canvas.
	TilesLargest32
	// TilesSize chooses from Sizes the canvas that keeps the most of the
	// image's pixels, then the one that wastes the fewest. It is LLaVA-NeXT's
	// image_grid_pinpoints.
	TilesSize
	// TilesMultiple enlarges the longer side to a multiple of the tile's, the
	// other in proportion and then to a multiple. It is Idefics3's.
	TilesMultiple
	// TilesInside chooses from the canvases that the image does not exceed the
	// one in which it has the longest shorter side; the last of equal ones. If
	// there is none, it chooses the largest grid whose columns/rows is nearest
	// to w/h and not above it for an image that is not upright, else nearest in
	// rows/columns and above it. Grids are in the order of their number of
	// tiles from MaxTiles down, then of their columns, with those of an equal
	// ratio behind the first. It is PerceptionLM's.
	TilesInside
	// TilesCeil takes as many tiles as cover the image, ceil(h/Height) and
	// ceil(w/Width). If there are more than MaxTiles of them, it is
	// TilesAspect. It is Phi-4's, with MinTiles 1.
	TilesCeil
)

var tileRuleNames = []string{"aspect", "scale", "cover", "canvas", "canvas32", "largest32", "size", "multiple", "inside", "ceil"}

func (r TileRule) String() string { return enum.String("tile rule", tileRuleNames, r) }

// MarshalText returns the name.
func (r TileRule) MarshalText() ([]byte, error) {
	return enum.Format("tile rule", tileRuleNames, r)
}

// UnmarshalText parses the name.
func (r *TileRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "tile rule", tileRuleNames, t)
}

// counted reports whether the rule tries grids of MinTiles to MaxTiles.
func (r TileRule) counted() bool { return r != TilesSize && r != TilesMultiple }

// fromOne reports whether the rule tries grids from one tile on.
func (r TileRule) fromOne() bool { return r.counted() && r > TilesScale }

// tiling is a choice of tiles.
type tiling struct {
	height, width int // of the canvas, in pixels
	rows, columns int
	choice        int // the grid's number in the order of the rule, from 1; 0 if the rule has no list
}

// maxTiles bounds the number of tiles, because the rules try every grid.
const maxTiles = 1024

// tiles chooses the grid for an image of h x w pixels.
func (o *ResizeToTiles) tiles(h, w int) tiling {
	var t tiling
	switch o.Rule {
	case TilesCeil:
		t = tiling{rows: (h-1)/o.Height + 1, columns: (w-1)/o.Width + 1}
		if int64(t.rows)*int64(t.columns) > int64(o.MaxTiles) {
			t = o.aspectGrid(h, w)
		}
	case TilesAspect:
		t = o.aspectGrid(h, w)
	case TilesScale:
		t = o.scaleGrid(h, w)
	case TilesCover:
		t = o.coverGrid(h, w)
	case TilesCanvas, TilesCanvas32, TilesLargest32:
		t = o.canvasGrid(h, w)
	case TilesInside:
		t = o.insideGrid(h, w)
	case TilesSize:
		return o.sizeGrid(h, w)
	default:
		return o.multipleGrid(h, w)
	}
	t.height, t.width = t.rows*o.Height, t.columns*o.Width
	return t
}

// grids calls f for the grids of MinTiles to MaxTiles, in the order of their
// number of tiles, then of the first number.
func (o *ResizeToTiles) grids(f func(first, second, choice int)) {
	choice := 0
	for n := o.MinTiles; n <= o.MaxTiles; n++ {
		b := n
		for a := 1; a <= n; a++ {
			for a*b > n { // faster than n/a
				b--
			}
			if a*b != n || o.MaxLine > 0 && max(a, b) > o.MaxLine {
				continue
			}
			choice++
			f(a, b, choice)
		}
	}
}

func (o *ResizeToTiles) aspectGrid(h, w int) tiling {
	t := tiling{rows: 1, columns: 1}
	ratio, area := float64(w)/float64(h), float64(float64(w)*float64(h))
	best := math.Inf(1)
	o.grids(func(columns, rows, choice int) {
		d := math.Abs(ratio - float64(columns)/float64(rows))
		half := float64(float64(float64(0.5*float64(o.Height))*float64(o.Width)) * float64(columns))
		if d < best || d == best && area > float64(half*float64(rows)) {
			best, t = d, tiling{rows: rows, columns: columns, choice: choice}
		}
	})
	return t
}

func (o *ResizeToTiles) scaleGrid(h, w int) tiling {
	var t tiling
	best := math.Inf(-1)
	o.grids(func(columns, rows, choice int) {
		s := min(float64(columns*o.Height)/float64(w), float64(rows*o.Height)/float64(h))
		better := s > best
		if s >= 1 {
			better = best < 1 || s < best
		} else if best >= 1 {
			better = false
		}
		if better {
			best, t = s, tiling{rows: rows, columns: columns, choice: choice}
		}
	})
	return t
}

func (o *ResizeToTiles) insideGrid(h, w int) tiling {
	fh, fw := float64(h), float64(w)
	ratio := fw / fh
	// fitted is the side that counts, scaled into the canvas as the reference
	// does.
	fitted := func(columns, rows int) float64 {
		s := min(float64(columns*o.Width)/fw, float64(rows*o.Height)/fh)
		switch {
		case ratio > 1:
			return math.Floor(float64(s*fw) / ratio)
		case ratio == 1:
			return float64(s * fh)
		}
		return math.Floor(float64(float64(s*fh) * ratio))
	}
	var t, near tiling
	best, least := math.Inf(-1), math.Inf(1)
	for n := o.MaxTiles; n >= 1; n-- {
		for x := 1; x <= n; x++ {
			if n%x != 0 {
				continue
			}
			columns, rows := x, n/x
			times := gcd(columns, rows)
			if float64(n)/float64(times*times)*float64((times+1)*(times+1)) <= float64(o.MaxTiles) {
				continue // an earlier grid has the same ratio
			}
			columns, rows = columns/times, rows/times
			k := float64(columns) / float64(rows)
			d := math.Abs(k - ratio)
			if ratio < 1 {
				d = math.Abs(1/k - 1/ratio)
			}
			if (ratio >= 1) == (k <= ratio) && d < least {
				least, near = d, tiling{rows: rows * times, columns: columns * times}
			}
			for m := times; m >= 1; m-- {
				if m*columns*o.Width < w || m*rows*o.Height < h {
					continue
				}
				if f := fitted(m*columns, m*rows); f >= best {
					best, t = f, tiling{rows: m * rows, columns: m * columns}
				}
			}
		}
	}
	if t.rows == 0 {
		return near
	}
	return t
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// coverThreshold is get_min_tile_covering_grid's covering_threshold.
const coverThreshold = 0.9

func (o *ResizeToTiles) coverGrid(h, w int) tiling {
	var enough, most tiling
	bestEnough, bestMost := math.Inf(-1), math.Inf(-1)
	o.grids(func(first, second, choice int) {
		r := o.covered(h, w, first, second)
		t := tiling{rows: second, columns: first, choice: choice}
		if r > coverThreshold && (enough.rows == 0 || first*second == enough.rows*enough.columns && r > bestEnough) {
			bestEnough, enough = r, t
		}
		if r > bestMost {
			bestMost, most = r, t
		}
	})
	if enough.rows > 0 {
		return enough
	}
	return most
}

// covered returns the part of the image's area that cells keep if each is
// reduced to at most Height pixels.
func (o *ResizeToTiles) covered(h, w, rows, columns int) float64 {
	side, sum := float64(o.Height), 0.0
	ch, cw := h/rows, w/columns
	for r := range rows {
		for c := range columns {
			y, x := ch, cw
			if r == rows-1 {
				y = h - r*ch
			}
			if c == columns-1 {
				x = w - c*cw
			}
			long, short := float64(max(x, y)), float64(min(x, y))
			if long > side {
				short = float64(float64(short/long) * side)
				long = side
			}
			sum += float64(long * short)
		}
	}
	return sum / (float64(w) * float64(h))
}

func (o *ResizeToTiles) canvasGrid(h, w int) tiling {
	var t tiling
	best, choice := math.Inf(-1), 0
	for rows := 1; rows <= o.MaxTiles; rows++ {
		for columns := 1; rows*columns <= o.MaxTiles; columns++ {
			choice++
			s := min(float64(rows*o.Height)/float64(h), float64(columns*o.Width)/float64(w))
			if o.Rule != TilesCanvas {
				s = float64(min(float32(rows*o.Height)/float32(h), float32(columns*o.Width)/float32(w)))
			}
			better := s > best
			if o.Rule != TilesLargest32 && best >= 1 {
				better = s >= 1 && s < best
			}
			if better || s == best && rows*columns < t.rows*t.columns {
				best, t = s, tiling{rows: rows, columns: columns, choice: choice}
			}
		}
	}
	return t
}

func (o *ResizeToTiles) sizeGrid(h, w int) tiling {
	var t tiling
	most, least := int64(0), int64(math.MaxInt64)
	fh, fw, area := float64(h), float64(w), int64(w)*int64(h)
	for i, s := range o.Sizes {
		scale := float64(s[1]) / fw
		if v := float64(s[0]) / fh; v < scale { // min also looks for NaN
			scale = v
		}
		sw, sh := int64(float64(fw*scale)), int64(float64(fh*scale))
		kept := min(sw*sh, area)
		wasted := int64(s[0])*int64(s[1]) - kept
		if kept > most || kept == most && wasted < least {
			most, least = kept, wasted
			t = tiling{height: s[0], width: s[1], choice: i + 1}
		}
	}
	t.rows, t.columns = (t.height-1)/o.Height+1, (t.width-1)/o.Width+1
	return t
}

func (o *ResizeToTiles) multipleGrid(h, w int) tiling {
	fh, fw := float64(o.Height), float64(o.Width)
	aspect := float64(w) / float64(h)
	var rows, columns float64
	if w >= h {
		columns = math.Ceil(float64(w) / fw)
		rows = math.Ceil(math.Trunc(float64(columns*fw)/aspect) / fh)
	} else {
		rows = math.Ceil(float64(h) / fh)
		columns = math.Ceil(math.Trunc(float64(float64(rows*fh)*aspect)) / fw)
	}
	t := tiling{rows: int(rows), columns: int(columns)}
	t.height, t.width = t.rows*o.Height, t.columns*o.Width
	return t
}

// TileFit is the rule by which ResizeToTiles places an image in the canvas.
type TileFit uint8

// The fits. All but TileStretch keep the aspect ratio and pad the rest of the
// canvas.
const (
	// TileStretch scales the image to the canvas.
	TileStretch TileFit = iota
	// TileCeil scales the image to one side of the canvas; the other side is
	// ceil(side * scale). It is LLaVA-NeXT's.
	TileCeil
	// TileFloor scales the image to one side of the canvas; the other side is
	// floor(side * scale), at least 1.
	TileFloor
	// TileFloorSmall is TileFloor within max(side, the tile's side) of both
	// axes: an image is not enlarged beyond a tile. It is Mllama's and Llama
	// 4's.
	TileFloorSmall
)

var tileFitNames = []string{"stretch", "ceil", "floor", "floor_small"}

func (f TileFit) String() string { return enum.String("tile fit", tileFitNames, f) }

// MarshalText returns the name.
func (f TileFit) MarshalText() ([]byte, error) { return enum.Format("tile fit", tileFitNames, f) }

// UnmarshalText parses the name.
func (f *TileFit) UnmarshalText(t []byte) error {
	return enum.Parse(f, "tile fit", tileFitNames, t)
}

// fitted returns the size of an image of h x w pixels in the canvas.
func (o *ResizeToTiles) fitted(t tiling, h, w int) (int, int) {
	th, tw := t.height, t.width
	if o.Fit == TileStretch {
		return th, tw
	}
	round := math.Floor
	if o.Fit == TileCeil {
		round = math.Ceil
	}
	if o.Fit == TileFloorSmall {
		th, tw = min(max(h, o.Height), th), min(max(w, o.Width), tw)
	}
	sh, sw := float64(th)/float64(h), float64(tw)/float64(w)
	if sw < sh {
		return min(max(int(round(float64(float64(h)*sw))), 1), th), tw
	}
	return th, min(max(int(round(float64(float64(w)*sh))), 1), tw)
}

// wantTiles describes a tensor of tiles, whose first axis counts them.
func wantTiles(d tensor.Desc) error {
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	if d.DType.Size() == 0 || d.Layout != tensor.NoLayout || d.Shape.Rank() == 0 {
		return inputErr("%v, want a first axis, no layout and a dtype of fixed size", d)
	}
	return nil
}
