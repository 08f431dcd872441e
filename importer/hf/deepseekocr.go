package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["DeepseekOcr2"] = class{
			batch: batchRules{"pixel_values_local": datagraph.BatchConcat},
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, size: square(1024), resample: transforms.Bicubic, mean: halves, std: halves,
			},
			build: deepseekOCR2,
		}
	})
}

// deepseekOCR2 adds the steps of DeepSeek-OCR 2. pixel_values is the whole
// image in a square of background_color. The output pixel_values_local is
// (tiles, 3, tile_size, tile_size): the tiles of an image with a side above
// tile_size, and no rows for others, where transformers has no such key. The
// output num_local_patches is an int64 scalar. The class ignores do_resize.
func deepseekOCR2(b *builder, o *importer.Object) {
	noOCR(o)
	side := o.Side("tile_size", 768)
	least, most := o.Int("min_patches", 2, 1, maxTiles), o.Int("max_patches", 6, 1, maxTiles)
	split := o.Bool("crop_to_patches", true)
	fill := []float64{127, 127, 127}
	if v, ok := o.Get("background_color"); ok {
		l, ok := importer.Ints(v, 3, 0, 255)
		if !ok {
			o.Bad("background_color", "three whole numbers of 0 to 255")
			return
		}
		fill = []float64{float64(l[0]), float64(l[1]), float64(l[2])}
	}
	edge := side
	if split {
		edge = b.size.height
	}
	if edge == 0 {
		o.Bad("size", "height and width")
		return
	}
	if least > most {
		o.Bad("min_patches", "at most max_patches")
		return
	}
	b.alwaysResizes(o)
	const local, count, tiles = "pixel_values_local", "num_local_patches", "tiles"
	b.decode()
	if split {
		r := transforms.NewResizeToTiles(side, side, least, most)
		r.Interpolation, r.Backend = b.kernel()
		b.Then(r, []string{datagraph.Image}, []string{tiles, unused, unused + "_choice", unused + "_size"})
		b.branch(tiles, tiles, func(c *builder) { c.planes(o) })
		b.Then(transforms.NewSplitTiles(side, side), []string{tiles}, []string{tiles})
		b.Then(transforms.NewKeepRows(side), []string{tiles, datagraph.Image}, []string{local})
		b.Then(transforms.NewRowCount(), []string{local}, []string{count})
	} else {
		b.Then(transforms.NewConstant(0), []string{datagraph.Image}, []string{count})
	}
	r := &transforms.Resize{Fit: transforms.FitLongest, Edge: edge, SizeRule: transforms.SizeScale}
	r.Interpolation, r.Backend = b.kernel()
	b.Add(r)
	b.Add(transforms.NewPadToSquare(fill))
	b.planes(o)
	if split {
		b.Outputs = append(b.Outputs, local)
	}
	b.Outputs = append(b.Outputs, count)
}
