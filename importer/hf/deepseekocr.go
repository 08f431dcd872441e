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
	k := readOCR(o, 768, 6)
	edge := k.side
	if k.split {
		edge = b.size.height
	}
	if !k.check(o, edge) {
		return
	}
	b.alwaysResizes(o)
	b.decode()
	b.localTiles(o, k, unused)
	b.wholeInSquare(o, edge, k.fill)
}

// ocrKeys holds the keys that DeepSeek-OCR 2 and Unlimited-OCR share.
type ocrKeys struct {
	split       bool
	side        int // of a tile, in pixels
	least, most int // tiles
	fill        []float64
}

// readOCR reads the keys. side and most are the class's defaults.
func readOCR(o *importer.Object, side, most int) ocrKeys {
	return ocrKeys{
		side: o.Side("tile_size", side), split: o.Bool("crop_to_patches", true),
		least: o.Int("min_patches", 2, 1, maxTiles), most: o.Int("max_patches", most, 1, maxTiles),
		fill: backgroundColor(o),
	}
}

// check reports whether the keys and the whole image's edge fit together, and
// adds an error to o if they do not.
func (k ocrKeys) check(o *importer.Object, edge int) bool {
	switch {
	case edge == 0:
		o.Bad("size", "height and width")
	case k.least > k.most:
		o.Bad("min_patches", "at most max_patches")
	default:
		return true
	}
	return false
}

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

// localTiles adds the outputs pixel_values_local and num_local_patches: the
// tiles of an image with a side above k.side, and their number. Without k.split
// it adds only num_local_patches, which is 0. The column grid holds the numbers
// of rows and columns of the tiles, also for an image without tiles.
func (b *builder) localTiles(o *importer.Object, k ocrKeys, grid string) {
	const local, count, tiles = "pixel_values_local", "num_local_patches", "tiles"
	if k.split {
		r := transforms.NewResizeToTiles(k.side, k.side, k.least, k.most)
		r.Interpolation, r.Backend = b.kernel()
		b.Then(r, []string{datagraph.Image}, []string{tiles, grid, unused + "_choice", unused + "_size"})
		b.branch(tiles, tiles, func(c *builder) { c.planes(o) })
		b.Then(transforms.NewSplitTiles(k.side, k.side), []string{tiles}, []string{tiles})
		b.Then(transforms.NewKeepRows(k.side), []string{tiles, datagraph.Image}, []string{local})
		b.Then(transforms.NewRowCount(), []string{local}, []string{count})
		b.Outputs = append(b.Outputs, local)
	} else {
		b.Then(transforms.NewConstant(0), []string{datagraph.Image}, []string{count})
	}
	b.Outputs = append(b.Outputs, count)
}

// wholeInSquare scales the whole image so that its longer side has edge pixels,
// and pads the other side with fill. It adds the steps of the values.
func (b *builder) wholeInSquare(o *importer.Object, edge int, fill []float64) {
	r := &transforms.Resize{Fit: transforms.FitLongest, Edge: edge, SizeRule: transforms.SizeScale}
	r.Interpolation, r.Backend = b.kernel()
	b.Add(r)
	b.Add(transforms.NewPadToSquare(fill))
	b.planes(o)
}
