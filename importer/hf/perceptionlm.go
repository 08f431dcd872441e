package hf

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(func(classes map[string]class) {
		classes["PerceptionLM"] = class{
			defaults: settings{
				convertRGB: true, resize: true, rescale: true, normalize: true, size: square(448), resample: transforms.Bicubic, mean: halves, std: halves,
				anySize: true,
			},
			torchOnly: true,
			build:     perceptionLM,
		}
	})
}

// perceptionLM adds the steps of PerceptionLM: the whole image as the first
// tile, and up to max_num_tiles tiles of tile_size pixels. With another
// vision_input_type than "thumb+tile" the whole image is the only tile. The
// class ignores the value of size.
func perceptionLM(b *builder, o *importer.Object) {
	noOCR(o)
	side, most := o.Side("tile_size", 448), o.Int("max_num_tiles", 36, 1, maxTiles)
	kind := "thumb+tile"
	if o.Has("vision_input_type") {
		kind = o.String("vision_input_type")
	}
	b.centerCrop = false
	b.decode()
	switch {
	case !b.resize:
		b.planes(o)
		b.wholeTile()
	case kind != "thumb+tile":
		b.resizeTo(square(side))
		b.planes(o)
		b.wholeTile()
	default:
		r := transforms.NewResizeToTiles(side, side, 1, most)
		r.Rule = transforms.TilesInside
		b.thumbnails(o, side, side, nil)
		b.tiles(o, r, unused, unused+"_choice", nil)
		b.joins(true, true)
	}
}
