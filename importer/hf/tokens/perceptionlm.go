package tokens

import "github.com/infer-prep/infer-prep/transforms"

func init() {
	define(class{images: []string{"PerceptionLM"}, build: perceptionLM}, "PerceptionLM")
}

// perceptionLM takes a token for each square of pooling_ratio x pooling_ratio
// patches of the tiles, of which the whole image is one more.
func perceptionLM(k *keys) rule {
	token := k.token("image_token", "")
	patch, pool := patchSize(k), k.side(k.file, "pooling_ratio", 2)
	side := k.side(k.layer("tile_size"), "tile_size", 448)
	kind := k.string(k.layer("vision_input_type"), "vision_input_type", "thumb+tile")
	most := k.int(k.image, "max_num_tiles", 36, 1, maxTiles)
	shownMost := k.int(k.layer("max_num_tiles"), "max_num_tiles", most, 1, maxTiles)
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	k.call.Inert("size")
	features := func(h, w int) int { return times(h/patch/pool, w/patch/pool) }
	tiles := func(h, w, most int) (int, error) {
		if kind != "thumb+tile" {
			return 1, nil
		}
		r := transforms.NewResizeToTiles(side, side, 1, most)
		r.Rule = transforms.TilesInside
		rows, columns, err := grid(r, h, w)
		return rows*columns + 1, err
	}
	return rule{
		count: func(h, w int) (int, error) {
			n, err := tiles(h, w, most)
			return times(features(side, side), n), err
		},
		text: func(t *text, sizes [][2]int, index int) error {
			h, w := sizes[index][0], sizes[index][1]
			if !resize {
				t.image(token, features(h, w))
				return nil
			}
			n, err := tiles(h, w, shownMost)
			t.image(token, times(features(side, side), n))
			return err
		},
	}
}
