package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Step3p7"] = class{
			batch: batchRules{"pixel_values_local": datagraph.BatchConcat, "patch_newline_masks": datagraph.BatchPad},
			defaults: settings{
				convertRGB: true, rescale: true, normalize: true, size: square(728), resample: transforms.Bilinear, mean: clipMean, std: clipStd,
			},
			torchOnly: true,
			build:     step3p7,
		}
	})
}

// step3p7 adds the steps of Step-3.7. pixel_values is the whole image, scaled
// to a square of size.height. The output pixel_values_local is (windows, 3,
// patch_size, patch_size), num_local_patches an int64 scalar, and
// patch_newline_masks bool (windows): true for the last window of each row but
// the last row. An image without windows has no rows there, where transformers
// has no such keys. The class ignores do_resize and size.width.
func step3p7(b *builder, o *importer.Object) {
	noOCR(o)
	side := o.Side("patch_size", 504)
	edge := b.size.height
	if edge == 0 {
		o.Bad("size", "height and width, of which the class takes the height")
		return
	}
	r := transforms.NewWindowTiles(edge, side)
	r.MaxSide = o.Side("max_image_size", 3024)
	b.alwaysResizes(o)
	r.Interpolation, r.Backend = b.kernel()
	whole := *r
	whole.Whole = true

	const local, masks, count = "pixel_values_local", "patch_newline_masks", "num_local_patches"
	b.decode()
	b.Then(r, []string{datagraph.Image}, []string{local, masks})
	b.branch(local, local, func(c *builder) { c.planes(o) })
	b.Then(transforms.NewSplitTiles(side, side), []string{local}, []string{local})
	b.Then(transforms.NewMatchRows(), []string{local, masks}, []string{local})
	b.output(count, transforms.NewRowCount(), local)
	b.Then(&whole, []string{datagraph.Image}, []string{datagraph.Image, unused})
	s := &transforms.Resize{Height: edge, Width: edge}
	s.Interpolation, s.Backend = b.kernel()
	b.Add(s)
	b.planes(o)
	b.Outputs = append(b.Outputs, local, masks)
}
