package hf

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["Inkling2"] = class{
			batch:     tilesJoined,
			defaults:  settings{convertRGB: true, rescale: true, normalize: true, size: square(40), mean: halves, std: halves, ownResample: true},
			torchOnly: true, build: inkling2,
		}
	})
}

// inkling2 never resizes: it pads the image with -1 at the bottom and right to
// whole cells of size, which are rescaled and normalised with it. The output
// pixel_values is float32 (cells, height, width, 3), image_grid_thw int64 (3).
// With do_convert_rgb, transformers composites transparent images on a
// checkerboard, unless the caller converts them to RGB first; the graph refuses
// them.
func inkling2(b *builder, o *importer.Object) {
	noOCR(o)
	b.wantsNoResize(o)
	cell := b.size.height
	if cell == 0 || b.size.width != cell {
		o.Bad("size", "equal height and width")
		return
	}
	d := transforms.NewDecode()
	if b.convertRGB {
		d.Refuse = codec.RefuseAlpha
	}
	b.Add(d)
	b.floats()
	p := transforms.NewPadToMultiple(cell)
	p.Position, p.Fill = transforms.TopLeft, []float64{-1}
	b.Add(p)
	b.values(o, 0)
	const grid = "image_grid_thw"
	q := &transforms.Patchify{Patch: cell, Temporal: 1, Merge: 1, Layout: tensor.CHW}
	// Only the grid of the patches is used.
	b.Then(q, []string{datagraph.Image}, []string{"patches", grid})
	b.Add(transforms.NewSplitTiles(cell, cell))
	b.Outputs = append(b.Outputs, grid)
}
