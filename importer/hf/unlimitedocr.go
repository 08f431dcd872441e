package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["UnlimitedOcr"] = class{
			batch: batchRules{localValues: datagraph.BatchConcat},
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, size: square(1024), resample: transforms.Bicubic, mean: halves, std: halves,
			},
			torchOnly: true,
			build:     unlimitedOCR,
		}
	})
}

// unlimitedOCR adds the steps of Unlimited-OCR. They are those of DeepSeek-OCR
// 2 with two differences. The output patches_grid, int64 (2), is the numbers of
// columns and rows of tiles, 1 and 1 for an image without tiles. With
// crop_to_patches false and a size of at most maximum_pad_value, pixel_values
// is the whole image, stretched to a square. The class ignores do_resize.
func unlimitedOCR(b *builder, o *importer.Object) {
	side, split := o.Side("tile_size", 640), o.Bool("crop_to_patches", true)
	least, most := o.Int("min_patches", 2, 1, maxTiles), o.Int("max_patches", 32, 1, maxTiles)
	fill, stretched := backgroundColor(o), o.Int("maximum_pad_value", 640, 0, importer.MaxSide)
	edge := max(b.size.height, b.size.width)
	if edge == 0 {
		o.Bad("size", "height and width")
		return
	}
	if least > most {
		o.Bad("min_patches", "at most max_patches")
		return
	}
	b.alwaysResizes(o)
	const grid = "patches_grid"
	b.decode()
	b.localTiles(o, split, side, least, most, grid)
	if split {
		b.Then(transforms.NewKeepRows(side), []string{grid, datagraph.Image}, []string{grid})
		b.Then(&transforms.PadEnd{Shape: transforms.IndexList{2}, Fill: 1}, []string{grid}, []string{grid})
		b.Then(transforms.NewSlice("::-1"), []string{grid}, []string{grid})
	} else {
		b.Then(transforms.NewResizeToTiles(1, 1, 1, 1), []string{datagraph.Image}, []string{unused, grid, unused + "_choice", unused + "_size"})
	}
	if !split && edge <= stretched {
		r := &transforms.Resize{Height: edge, Width: edge}
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
		b.planes(o)
	} else {
		b.wholeInSquare(o, edge, fill)
	}
	if split {
		b.Outputs = append(b.Outputs, localValues)
	}
	b.Outputs = append(b.Outputs, localCount, grid)
}
