package hf

import (
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		d := settings{
			convertRGB: true, resize: true, centerCrop: true, rescale: true, normalize: true, pad: true, notSquare: true, size: shortest(224), crop: square(224),
			resample: transforms.Bicubic, mean: clipMean, std: clipStd,
		}
		classes["LlavaNext"] = class{
			defaults: d,
			build: func(b *builder, o *importer.Object) {
				llavaNext(b, o, [][]int{{336, 672}, {672, 336}, {672, 672}, {1008, 336}, {336, 1008}})
			},
		}
		d.centerCrop, d.size, d.crop = false, square(384), size{}
		var sizes [][]int
		for h := 1; h <= 6; h++ {
			for w := 1; w <= 6; w++ {
				sizes = append(sizes, []int{384 * h, 384 * w})
			}
		}
		classes["LlavaOnevision"] = class{
			defaults: d,
			build: func(b *builder, o *importer.Object) {
				llavaNext(b, o, sizes)
				b.constant("batch_num_images", 1)
			},
		}
	})
}

// pinpoints reads a list of heights and widths.
func pinpoints(o *importer.Object, key string, def [][]int) [][]int {
	v, ok := o.Get(key)
	if !ok {
		return def
	}
	list, _ := v.([]any)
	var sizes [][]int
	for _, e := range list {
		if s, ok := importer.Ints(e, 2, 1, importer.MaxSide); ok {
			sizes = append(sizes, s)
		}
	}
	if len(sizes) < 1 || len(sizes) != len(list) || len(list) > maxTiles {
		o.Bad(key, "a list of 1 to 1024 pairs [height, width]")
		return def
	}
	return sizes
}

// llavaNext adds the steps of LLaVA-NeXT. The first tile is the whole image.
// The others are cut from the canvas of image_grid_pinpoints that suits the
// image best. The output image_sizes is int64 (2), the image's height and
// width. The class ignores pad_size, and do_pad for one image.
func llavaNext(b *builder, o *importer.Object, sizes [][]int) {
	noOCR(o)
	o.Inert("aspect_ratio_setting") // of older files
	sizes = pinpoints(o, "image_grid_pinpoints", sizes)
	side := [2]int{b.size.height, b.size.width}
	if side[0] == 0 {
		side = [2]int{b.size.shortest, b.size.shortest}
	}
	if side[0] == 0 {
		o.Bad("size", "shortest_edge, or height and width")
		return
	}
	patch := b.crop.height
	if patch == 0 {
		patch = side[0]
	}
	b.alwaysResizes(o)
	r := transforms.NewResizeToTiles(patch, patch, 0, 0)
	r.Rule, r.Sizes, r.Fit, r.Position = transforms.TilesSize, sizes, transforms.TileCeil, transforms.Center

	b.decode()
	b.output("image_sizes", transforms.NewImageSize(), datagraph.Image)
	whole := true // every canvas is whole tiles
	for _, s := range sizes {
		whole = whole && s[0]%patch == 0 && s[1]%patch == 0
	}
	// A tile that has its size already stays as it is.
	fits := side == [2]int{patch, patch}
	var each func(*builder)
	if !whole || b.resize && !fits || b.centerCrop && b.crop != square(patch) {
		each = func(c *builder) {
			if c.resize {
				c.resizeTo(c.size)
			}
			c.crops(o)
		}
	}
	b.thumbnails(o, side[0], side[1], each)
	b.tiles(o, r, unused, unused+"_choice", each)
	b.joins(true, true)
	if b.pad {
		b.padsBatch(b.Outputs[0])
	}
}
