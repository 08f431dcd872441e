package tokens

import (
	"strconv"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Emu3"}, build: emu3}, "Emu3")
}

// emu3 takes a token for each square of 8 x 8 pixels of the scaled image, one
// more for each row, and the size in squares before them. The number counts the
// image tokens.
func emu3(k *keys) rule {
	const square = 8
	token, start, end := k.token("image_token", ""), k.token("boi_token", ""), k.token("eoi_token", "")
	wrapper, eof := k.token("image_wrapper_token", ""), k.token("eof_token", "")
	area := func(o *importer.Object, key string, def int) int64 { return int64(k.int(o, key, def, 1, maxArea)) }
	// The class reads these of the file alone.
	r := transforms.NewSmartResize(k.side(k.image, "spatial_factor", 8), area(k.image, "min_pixels", 512*512), area(k.image, "max_pixels", 1024*1024))
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	squares := func(h, w int) (rows, columns int, err error) {
		h, w, err = scaled(r, h, w)
		return h / square, w / square, err
	}
	return rule{
		count: func(h, w int) (int, error) {
			rows, columns, err := squares(h, w)
			return rows * (columns + 1), err
		},
		text: func(t *text, sizes [][2]int, index int) (err error) {
			h, w := misread(sizes[index][0], sizes[index][1])
			rows, columns := h/square, w/square
			if resize {
				rows, columns, err = squares(h, w)
			}
			t.mark(start)
			t.plain(strconv.Itoa(rows) + "*" + strconv.Itoa(columns))
			t.mark(wrapper)
			t.image(token, rows*(columns+1))
			t.mark(eof)
			t.mark(end)
			return err
		},
	}
}
