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
	side, split := o.Side("tile_size", 768), o.Bool("crop_to_patches", true)
	least, most := o.Int("min_patches", 2, 1, maxTiles), o.Int("max_patches", 6, 1, maxTiles)
	fill := backgroundColor(o)
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
	b.decode()
	b.localTiles(o, split, side, least, most, unused)
	b.wholeInSquare(o, edge, fill)
	if split {
		b.Outputs = append(b.Outputs, localValues)
	}
	b.Outputs = append(b.Outputs, localCount)
}

// The outputs of localTiles.
const (
	localValues = "pixel_values_local"
	localCount  = "num_local_patches"
)

// backgroundColor returns the color that fills a square; default gray.
func backgroundColor(o *importer.Object) []float64 {
	v, ok := o.Get("background_color")
	if !ok {
		return []float64{127, 127, 127}
	}
	l, ok := importer.Ints(v, 3, 0, 255)
	if !ok {
		o.Bad("background_color", "three whole numbers of 0 to 255")
		return nil
	}
	return []float64{float64(l[0]), float64(l[1]), float64(l[2])}
}

// localTiles adds the columns pixel_values_local, the tiles of an image with a
// side above side, and num_local_patches, their number; without split only
// num_local_patches, which is 0. The column grid has the numbers of rows and
// columns of the tiles, of small images too.
func (b *builder) localTiles(o *importer.Object, split bool, side, least, most int, grid string) {
	if !split {
		b.Then(transforms.NewConstant(0), []string{datagraph.Image}, []string{localCount})
		return
	}
	const tiles = "tiles"
	r := transforms.NewResizeToTiles(side, side, least, most)
	r.Interpolation, r.Backend = b.kernel()
	b.Then(r, []string{datagraph.Image}, []string{tiles, grid, unused + "_choice", unused + "_size"})
	b.branch(tiles, tiles, func(c *builder) { c.planes(o) })
	b.Then(transforms.NewSplitTiles(side, side), []string{tiles}, []string{tiles})
	b.Then(transforms.NewKeepRows(side), []string{tiles, datagraph.Image}, []string{localValues})
	b.Then(transforms.NewRowCount(), []string{localValues}, []string{localCount})
}

// wholeInSquare scales the whole image into a square of edge pixels with fill
// around it, and adds the steps of the values.
func (b *builder) wholeInSquare(o *importer.Object, edge int, fill []float64) {
	r := &transforms.Resize{Fit: transforms.FitLongest, Edge: edge, SizeRule: transforms.SizeScale}
	r.Interpolation, r.Backend = b.kernel()
	b.Add(r)
	b.Add(transforms.NewPadToSquare(fill))
	b.planes(o)
}
