package tokens

import (
	"fmt"
	"strconv"

	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"GraniteDocling"}, build: graniteDocling}, "GraniteDocling")
}

// graniteDocling takes image_seq_len tokens for each tile and, beside several,
// for the whole image, with a tag before each. fine_route takes four times as
// many.
func graniteDocling(k *keys) rule {
	const fake, maxLine = "<fake_token_around_image>", 16
	token := k.token("image_token", "<image>")
	length := k.int(k.file, "image_seq_len", 64, 0, maxLength)
	if k.bool(k.layer("fine_route"), "fine_route", false) {
		length *= 4
	}
	tile := k.size(k.layer("size"), "size", size{height: 512, width: 512}, true)
	split := k.bool(k.layer("crop_to_patches"), "crop_to_patches", true)
	least, most := k.int(k.layer("min_patches"), "min_patches", 1, 0, maxTiles), k.int(k.layer("max_patches"), "max_patches", 32, 0, maxTiles)
	dense := k.int(k.layer("dense_max_patches"), "dense_max_patches", 0, 0, maxTiles)
	limit := func(key string) float64 { return k.float(k.layer(key), key, 0, -1e6, 1e6) }
	scale, wider, atMost := limit("dense_max_scale"), limit("dense_min_aspect"), limit("dense_max_aspect")
	if tile.height == 0 {
		k.bad(k.layer("size"), "size", "height and width")
		return rule{}
	}
	k.call.Inert("do_resize")
	s, ok := k.tokens[newlines]
	lines, err := strconv.Atoi(s)
	switch {
	case !ok:
		k.fail(newlines, `missing: the number of tokens that the tokenizer makes of "\n\n", such as "1"`)
	case err != nil || lines < 1 || lines > 2:
		k.fail(newlines, fmt.Sprintf("%.20q, want \"1\" or \"2\"", s))
	}

	arranged := func(h, w, most int) (rows, columns int, err error) {
		if least > most {
			return 1, 1, nil
		}
		r := transforms.NewResizeToTiles(tile.height, tile.width, max(least, 1), most)
		r.MaxLine = maxLine
		return grid(r, h, w)
	}
	// budget returns the most tiles of a page: dense_max_patches for a wide
	// page that max_patches tiles would reduce too much.
	budget := func(h, w int) (int, error) {
		aspect := float64(w) / float64(h)
		if dense == 0 || scale <= 0 && wider <= 0 || wider > 0 && aspect <= wider || atMost > 0 && aspect > atMost {
			return most, nil
		}
		if scale > 0 {
			_, columns, err := arranged(h, w, most)
			if err != nil || float64(times(columns, tile.width))/float64(w) >= scale {
				return most, err
			}
		}
		return dense, nil
	}
	plan := func(h, w int) (rows, columns int, err error) {
		if !split || most <= 1 {
			return 1, 1, nil
		}
		n, err := budget(h, w)
		if err != nil || n <= 1 {
			return 1, 1, err
		}
		return arranged(h, w, n)
	}
	count := func(h, w int) (int, error) {
		rows, columns, err := plan(h, w)
		if n := rows * columns; n > 1 {
			return min(times(n, length+2), maxCount/2) + rows - 1 + lines + length + 3, err
		}
		return length + 3, err
	}
	return rule{marked: true, count: count, text: func(t *text, sizes [][2]int, index int) error {
		rows, columns, err := plan(sizes[index][0], sizes[index][1])
		if err != nil {
			return err
		}
		if t.tiles(rows, columns, fake, token, length); t.err != nil {
			return nil
		}
		if rows*columns > 1 {
			t.plain("\n")
			t.mark(fake)
			t.mark("<global-img>")
			t.image(token, length)
			t.mark(fake)
			t.marks += lines - 1
		}
		return nil
	}}
}
