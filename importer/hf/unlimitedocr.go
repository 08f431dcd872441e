package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["UnlimitedOcr"] = class{
			batch: batchRules{"pixel_values_local": datagraph.BatchConcat},
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, size: square(1024), resample: transforms.Bicubic, mean: halves, std: halves,
			},
			torchOnly: true,
			build:     unlimitedOCR,
		}
	})
}

// unlimitedOCR adds the steps of Unlimited-OCR. They differ from those of
// DeepSeek-OCR 2 in two points. The output patches_grid, int64 (2), holds the
// numbers of columns and rows of tiles; both are 1 for an image without tiles.
// With crop_to_patches false and a size of at most maximum_pad_value,
// pixel_values is the whole image, stretched to a square. The class ignores
// do_resize.
func unlimitedOCR(b *builder, o *importer.Object) {
	k := readOCR(o, 640, 32)
	stretched := o.Int("maximum_pad_value", 640, 0, importer.MaxSide)
	edge := max(b.size.height, b.size.width)
	if !k.check(o, edge) {
		return
	}
	b.alwaysResizes(o)
	const grid = "patches_grid"
	b.decode()
	b.localTiles(o, k, grid)
	if k.split {
		b.Then(transforms.NewKeepRows(k.side), []string{grid, datagraph.Image}, []string{grid})
		b.Then(&transforms.PadEnd{Shape: transforms.IndexList{2}, Fill: 1}, []string{grid}, []string{grid})
		b.Then(transforms.NewSlice("::-1"), []string{grid}, []string{grid})
	} else {
		b.Then(transforms.NewResizeToTiles(1, 1, 1, 1), []string{datagraph.Image}, []string{unused, grid, unused + "_choice", unused + "_size"})
	}
	b.Outputs = append(b.Outputs, grid)
	if !k.split && edge <= stretched {
		r := &transforms.Resize{Height: edge, Width: edge}
		r.Interpolation, r.Backend = b.kernel()
		b.Add(r)
		b.planes(o)
	} else {
		b.wholeInSquare(o, edge, k.fill)
	}
}
