package tokens

import (
	"strconv"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Aria"}, options: `{"max_image_size": 980, "split_image": false}`, build: aria}, "Aria")
}

// aria takes the number of tokens that size_conversion has for max_image_size,
// for each tile. Each image of a call has as many as the one with most tiles.
func aria(k *keys) rule {
	token := k.token("image_token", "")
	side := k.side(k.layer("max_image_size"), "max_image_size", 980)
	if side != 490 && side != 980 {
		k.bad(k.layer("max_image_size"), "max_image_size", "490 or 980")
		return rule{}
	}
	split := k.bool(k.layer("split_image"), "split_image", false)
	k.call.Inert("min_image_size")
	var canvases [][]int
	for _, l := range [][2]int{
		{1, 2}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {1, 7}, {1, 8}, {2, 4}, {2, 3}, {2, 2}, {2, 1}, {3, 1}, {3, 2}, {4, 1}, {4, 2}, {5, 1}, {6, 1}, {7, 1}, {8, 1},
	} {
		canvases = append(canvases, []int{490 * l[0], 490 * l[1]})
	}
	if o := k.layer("split_resolutions"); o.Peek("split_resolutions") != nil {
		canvases = k.pairs(o, "split_resolutions", canvases)
	}
	length := map[int]int{490: 128, 980: 256}[side]
	if k.file.Peek("size_conversion") != nil {
		d, ok := k.file.Peek("size_conversion").(*importer.Object)
		if ok {
			length, ok = importer.Int(d.Peek(strconv.Itoa(side)), 0, maxLength)
		}
		if !ok {
			k.bad(k.file, "size_conversion", "an object with a number of tokens for "+strconv.Itoa(side))
		}
	}
	tiles := func(h, w int) (int, error) {
		if !split {
			return 1, nil
		}
		r := transforms.NewResizeToTiles(1, 1, 0, 0)
		r.Rule, r.Sizes = transforms.TilesSize, canvases
		h, w, err := scaled(r, h, w)
		return ((h + side - 1) / side) * ((w + side - 1) / side), err
	}
	return rule{
		count: func(h, w int) (int, error) {
			n, err := tiles(h, w)
			return times(length, n), err
		},
		text: func(t *text, sizes [][2]int, _ int) error {
			tiled := 0
			for _, s := range sizes {
				n, err := tiles(s[0], s[1])
				if err != nil {
					return err
				}
				tiled = max(tiled, n)
			}
			t.image(token, times(length, tiled))
			return nil
		},
	}
}

// pairs reads a list of heights and widths from o.
func (k *keys) pairs(o *importer.Object, key string, def [][]int) [][]int {
	l, _ := o.Peek(key).([]any)
	var pairs [][]int
	for _, e := range l {
		if s, ok := importer.Ints(e, 2, 1, importer.MaxSide); ok {
			pairs = append(pairs, s)
		}
	}
	if len(pairs) < 1 || len(pairs) != len(l) || len(l) > maxTiles {
		k.bad(o, key, "a list of 1 to 1024 pairs [height, width]")
		return def
	}
	return pairs
}
