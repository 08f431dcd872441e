package tokens

import (
	"math"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Llama4"}, build: llama4}, "Llama4")
}

// llama4 takes the tokens of a tile for each tile, with separators, and for the
// whole image. The class ignores the tokens that its arguments name.
func llama4(k *keys) rule {
	const token = "<|patch|>"
	patch := k.side(k.file, "patch_size", 14)
	ratio := k.float(k.file, "pixel_shuffle_ratio", 0.5, 1e-3, 1e3)
	less := int(math.RoundToEven(1 / float64(ratio*ratio)))
	s := k.size(k.layer("size"), "size", size{height: 336, width: 336}, true)
	if s.height == 0 || s.height != s.width || s.height > importer.MaxSide {
		k.bad(k.layer("size"), "size", "equal height and width")
		return rule{}
	}
	if less == 0 {
		k.bad(k.file, "pixel_shuffle_ratio", "a number below 1.41")
		return rule{}
	}
	r := transforms.NewResizeToTiles(s.height, s.width, 1, k.int(k.layer("max_patches"), "max_patches", 16, 1, maxTiles))
	r.Rule, r.Fit = transforms.TilesCanvas32, transforms.TileFloorSmall
	if k.bool(k.layer("resize_to_max_canvas"), "resize_to_max_canvas", false) {
		r.Rule, r.Fit = transforms.TilesLargest32, transforms.TileFloor
	}
	length := times(s.height/patch, s.width/patch) / less
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		rows, columns, err := grid(r, sizes[index][0], sizes[index][1])
		t.mark("<|image_start|>")
		if rows*columns > 1 {
			for range rows {
				for j := range columns {
					t.image(token, length)
					if j < columns-1 {
						t.mark("<|tile_x_separator|>")
					}
				}
				t.mark("<|tile_y_separator|>")
			}
		}
		t.mark("<|image|>")
		t.image(token, length)
		t.mark("<|image_end|>")
		return err
	}}
}
