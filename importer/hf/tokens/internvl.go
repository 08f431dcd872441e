package tokens

import (
	"strconv"

	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	const split = `{"crop_to_patches": true}`
	define(class{images: []string{"GotOcr2"}, options: split, build: internVL}, "InternVL", "QianfanOCR")
	define(class{images: []string{"GotOcr2"}, options: split, build: ayaVision}, "AyaVision")
	define(class{images: []string{"GotOcr2"}, options: `{"crop_to_patches": false, "min_patches": 1, "max_patches": 12}`, build: gotOCR2}, "GotOcr2")
	define(class{images: []string{"Cohere2Vision"}, build: cohere2Vision}, "Cohere2Vision")
}

// maxTiles bounds the number of tiles that a configuration may ask for.
const maxTiles = 1024

// counter returns the number of tiles of an image of h x w pixels.
type counter func(h, w int) (int, error)

// gotTiles reads the keys of GOT-OCR2's image processor and of Cohere2
// Vision's. number counts the tiles as get_number_of_image_patches does, which
// ignores the call's size. shown counts those of the text. The image itself is
// one more tile beside several.
func gotTiles(k *keys, rule transforms.TileRule, side int, split bool) (number, shown counter) {
	tile := k.size(k.image, "size", size{height: side, width: side}, true)
	tile2 := k.size(k.layer("size"), "size", tile, true)
	split = k.bool(k.layer("crop_to_patches"), "crop_to_patches", split)
	least, most := k.int(k.layer("min_patches"), "min_patches", 1, 0, maxTiles), k.int(k.layer("max_patches"), "max_patches", 12, 0, maxTiles)
	if rule == transforms.TilesScale {
		least = 1
	}
	if split && (tile.height == 0 || tile2.height == 0) {
		k.bad(k.image, "size", "height and width, for crop_to_patches")
	}
	count := func(s size) counter {
		return func(h, w int) (int, error) {
			if !split || most <= 1 || least > most {
				return 1, nil
			}
			r := transforms.NewResizeToTiles(s.height, s.width, max(least, 1), most)
			r.Rule = rule
			rows, columns, err := grid(r, h, w)
			if rows*columns > 1 {
				return rows*columns + 1, err
			}
			return 1, err
		}
	}
	return count(tile), count(tile2)
}

// internVL takes image_seq_length tokens for each tile.
func internVL(k *keys) rule {
	token, start, end := k.token("context_image_token", ""), k.token("start_image_token", ""), k.token("end_image_token", "")
	length := k.int(k.file, "image_seq_length", 256, 0, maxLength)
	number, shown := gotTiles(k, transforms.TilesAspect, 384, false)
	return rule{
		marked: true,
		count: func(h, w int) (int, error) {
			n, err := number(h, w)
			return 2 + times(length, n), err
		},
		text: func(t *text, sizes [][2]int, index int) error {
			n, err := shown(sizes[index][0], sizes[index][1])
			t.mark(start)
			t.image(token, times(length, n))
			t.mark(end)
			return err
		},
	}
}

// markedTiles counts length tokens and a mark for each tile, and a mark at
// either end.
func markedTiles(number func(h, w int) (int, error), length int) func(h, w int) (int, error) {
	return func(h, w int) (int, error) {
		n, err := number(h, w)
		return min(times(n, length), maxCount/2) + n + 2, err
	}
}

// ayaVision takes a tag and the tokens of a tile for each tile, the whole image
// last. A saved patch_size is the product with downsample_factor.
func ayaVision(k *keys) rule {
	token, start, end := k.string(k.file, "img_patch_token", "<|IMG_PATCH|>"), k.string(k.file, "start_of_img_token", "<|START_OF_IMG|>"), k.string(k.file, "end_of_img_token", "<|END_OF_IMG|>")
	tile, global := k.string(k.file, "tile_token", "TILE"), k.string(k.file, "tile_global_token", "TILE_GLOBAL")
	patch, factor := k.side(k.file, "patch_size", 28), k.int(k.file, "downsample_factor", 1, 1, 1<<12)
	side := k.side(k.file, "img_size", 364) / (patch * factor)
	length := times(side, side)
	number, shown := gotTiles(k, transforms.TilesAspect, 384, false)
	return rule{
		marked: true,
		count:  markedTiles(number, length),
		text: func(t *text, sizes [][2]int, index int) error {
			n, err := shown(sizes[index][0], sizes[index][1])
			t.mark(start)
			for i := 1; i < n; i++ {
				t.mark(tile + "_" + strconv.Itoa(i))
				t.image(token, length)
			}
			t.mark(global)
			t.image(token, length)
			t.mark(end)
			return err
		},
	}
}

// gotOCR2 takes num_image_tokens tokens, an option of the call, for each tile.
func gotOCR2(k *keys) rule {
	k.call.Inert("num_image_tokens")
	length := k.int(k.call, "num_image_tokens", 256, 0, maxLength)
	_, shown := gotTiles(k, transforms.TilesAspect, 384, false)
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		n, err := shown(sizes[index][0], sizes[index][1])
		t.image("<imgpad>", times(length, n))
		return err
	}}
}

// cohere2Vision takes patch_size² tokens and a line break for each tile.
func cohere2Vision(k *keys) rule {
	token, line := k.token("image_token", ""), k.token("img_line_break_token", "")
	start, end := k.token("boi_token", ""), k.token("eoi_token", "")
	length := k.int(k.image, "patch_size", 16, 1, 1<<12)
	length *= length
	number, shown := gotTiles(k, transforms.TilesScale, 512, true)
	return rule{
		marked: true,
		count:  markedTiles(number, length),
		text: func(t *text, sizes [][2]int, index int) error {
			n, err := shown(sizes[index][0], sizes[index][1])
			t.mark(start)
			for range n {
				t.image(token, length)
				t.mark(line)
			}
			t.mark(end)
			return err
		},
	}
}
