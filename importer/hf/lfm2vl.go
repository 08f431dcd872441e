package hf

import (
	"cmp"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Lfm2Vl"] = class{
			batch: batchRules{
				output: datagraph.BatchConcat, "pixel_attention_mask": datagraph.BatchConcat, "spatial_shapes": datagraph.BatchConcat,
			},
			defaults: settings{
				resize: true, rescale: true, normalize: true, pad: true, size: square(512), resample: transforms.Bilinear, mean: halves, std: halves, anySize: true,
			},
			torchOnly: true,
			build:     lfm2VL,
		}
	})
}

// lfm2VL adds the steps of LFM2-VL. The rows of its outputs are the tiles of a
// large image with the whole image behind them, or the whole image alone. The
// outputs are pixel_values (rows, patches, encoder_patch_size² · 3), and with
// do_pad, which pads the patches of each row with zeros,
// pixel_attention_mask, int32 (rows, patches), and spatial_shapes, int64 (rows,
// 2): the lines and columns of patches. With return_row_col_info there are
// image_rows and image_cols, int64 scalars, and image_sizes, int64 (2): the
// height and width of the whole image as scaled. The class ignores do_resize
// and the value of size. A whole image of more patches than a row has is an
// error where it follows tiles; elsewhere its row is longer than its mask.
func lfm2VL(b *builder, o *importer.Object) {
	noOCR(o)
	const maxFactor, maxTokens = 1 << 12, 1 << 20 // areas stay below 2^48
	patch, down := o.Int("encoder_patch_size", 16, 1, maxFactor), o.Int("downsample_factor", 2, 1, maxFactor)
	least, most := o.Int("min_image_tokens", 64, 0, maxTokens), o.Int("max_image_tokens", 256, 1, maxTokens)
	few, many := o.Int("min_tiles", 2, 1, maxTiles), o.Int("max_tiles", 10, 1, maxTiles)
	side, split := o.Side("tile_size", 512), o.Bool("do_image_splitting", true)
	joins, info := o.Bool("use_thumbnail", true), o.Bool("return_row_col_info", false)
	tolerance := 2.0
	if v, ok := o.Get("max_pixels_tolerance"); ok {
		if tolerance, ok = importer.Float(v); !ok {
			o.Bad("max_pixels_tolerance", "a number")
		}
	}
	o.Inert("max_num_patches") // the class computes it
	factor, length := patch*down, most*down*down
	if split {
		length = max(length, (side/patch)*(side/patch))
	}
	cuts := split && many > 1
	switch {
	case split && few > many:
		o.Bad("min_tiles", "at most max_tiles")
		return
	case factor > maxFactor || length > importer.MaxSide:
		o.Bad("max_image_tokens", "a number that gives at most 16777216 patches a row, with encoder_patch_size times downsample_factor at most 4096")
		return
	case cuts && side%patch != 0:
		o.Bad("tile_size", "a multiple of encoder_patch_size, for do_image_splitting")
		return
	case cuts && tiesGrids(few, many):
		o.Bad("min_tiles", "bounds such as 2 to 10, where neighbouring ratios have no number of tiles in common: transformers chooses between such grids by the order of a Python set")
		return
	}
	b.alwaysResizes(o)

	const whole, mask, shapes, sizes = "whole", "pixel_attention_mask", "spatial_shapes", "image_sizes"
	b.decode()
	r := transforms.NewSmartResize(factor, max(int64(least)*int64(factor*factor), 1), int64(most)*int64(factor*factor))
	r.Rule = transforms.SmartLFM2VL
	r.Interpolation, r.Backend = b.kernel()
	b.Then(r, []string{datagraph.Image}, []string{whole})
	if info {
		b.Then(transforms.NewImageSize(), []string{whole}, []string{sizes})
	}
	b.branch(whole, whole, func(c *builder) { c.values(o, 0) })
	b.Then(transforms.NewPatchify(patch), []string{whole}, []string{whole, whole + shapes})
	if b.pad {
		s := transforms.NewPadSequence(length)
		s.KeepLonger = true
		b.Then(s, []string{whole}, []string{whole, whole + mask})
	}

	// The column of an output's tiles is named as that of the whole image is,
	// with tiles in place of whole.
	const tiles, grid = "tiles", "grid"
	if cuts {
		r := transforms.NewResizeToTiles(side, side, few, many)
		r.Interpolation, r.Backend = b.kernel()
		b.Then(r, []string{datagraph.Image}, []string{tiles, grid, unused + "_choice", unused + "_size"})
		b.branch(tiles, tiles, func(c *builder) { c.values(o, 0) })
		n := side / patch
		p := transforms.NewPatchify(patch)
		p.Merge = n
		b.Then(p, []string{tiles}, []string{tiles, unused})
		b.Then(transforms.NewReshape(-1, n*n, patch*patch*3), []string{tiles}, []string{tiles})
		if b.pad {
			b.Then(transforms.NewPadEnd(0, length, 0), []string{tiles}, []string{tiles})
			b.fillRows(tiles, tiles+mask, tensor.Int32, n*n, 1)
			b.Then(transforms.NewPadEnd(0, length), []string{tiles + mask}, []string{tiles + mask})
			b.fillRows(tiles, tiles+shapes, tensor.Int64, 2, float64(n))
		}
	}
	// choose adds an output of the two columns.
	choose := func(column, out string, join bool) {
		if !cuts {
			b.Then(transforms.NewExpandDims(0), []string{whole + column}, []string{out})
			return
		}
		b.Then(transforms.NewExpandDims(0), []string{whole + column}, []string{whole + column})
		c := transforms.NewTilesOrWhole(factor, patch, float64(float64(most*factor*factor)*tolerance))
		c.Join = join
		b.Then(c, []string{tiles + column, whole + column, datagraph.Image}, []string{out})
	}
	outputs := []string{}
	if info {
		for i, out := range []string{"image_rows", "image_cols"} {
			b.Then(transforms.NewConstant(1), []string{datagraph.Image}, []string{whole + out})
			if cuts {
				b.Then(transforms.NewTakeRows(i, 1), []string{grid}, []string{tiles + out})
			}
			choose(out, out, false)
			b.Then(transforms.NewReshape(), []string{out}, []string{out})
			outputs = append(outputs, out)
		}
		outputs = append(outputs, sizes)
	}
	if b.pad {
		for _, out := range []string{mask, shapes} {
			choose(out, out, joins)
		}
		outputs = append([]string{mask, shapes}, outputs...)
	}
	choose("", datagraph.Image, joins)
	b.Outputs = append(b.Outputs, outputs...)
}

// fillRows adds the column out: for each row of the column rows, n values.
func (b *builder) fillRows(rows, out string, dtype tensor.DType, n int, value float64) {
	b.Then(&transforms.TileMask{DType: dtype}, []string{rows}, []string{out})
	b.Then(transforms.NewReshape(-1, 1), []string{out}, []string{out})
	p := transforms.NewPadEnd(0, n+1)
	p.Fill = value
	b.Then(p, []string{out}, []string{out})
	b.Then(transforms.NewSlice(":", "1:"), []string{out}, []string{out})
}

// tiesGrids reports whether an image can be equally near to two ratios of
// columns/rows that have a number of tiles of few to many in common.
func tiesGrids(few, many int) bool {
	type grid struct {
		ratio float64
		tiles int
	}
	var l []grid
	for columns := 1; columns <= many; columns++ {
		for rows := 1; columns*rows <= many; rows++ {
			if columns*rows >= few {
				l = append(l, grid{float64(columns) / float64(rows), columns * rows})
			}
		}
	}
	slices.SortFunc(l, func(a, b grid) int { return cmp.Compare(a.ratio, b.ratio) })
	last, now := map[int]bool{}, map[int]bool{}
	for i, g := range l {
		if i > 0 && g.ratio != l[i-1].ratio {
			last, now = now, map[int]bool{}
		}
		if now[g.tiles] = true; last[g.tiles] {
			return true
		}
	}
	return false
}
