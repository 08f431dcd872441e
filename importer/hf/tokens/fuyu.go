package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Fuyu"}, build: fuyu}, "Fuyu")
}

// fuyu takes a token for each patch of the image that was reduced to size, and
// a token behind each row. The number leaves out the last token, <s>.
func fuyu(k *keys) rule {
	s := k.size(k.layer("size"), "size", size{height: 1080, width: 1920}, true)
	patch := k.size(k.image, "patch_size", size{height: 30, width: 30}, true)
	if s.height == 0 {
		k.bad(k.layer("size"), "size", "height and width")
	}
	if patch.height == 0 {
		k.bad(k.image, "patch_size", "height and width")
		return rule{}
	}
	for _, key := range []string{"do_resize", "do_pad"} {
		if !k.bool(k.layer(key), key, true) {
			k.bad(k.layer(key), key, "true: other images are not supported")
		}
	}
	r := &transforms.Resize{Fit: transforms.FitInside, Height: s.height, Width: s.width, SizeRule: transforms.SizeShrink}
	patches := func(h, w int) (rows, columns int, err error) {
		if h, w, err = scaled(r, h, w); err != nil {
			return 0, 0, err
		}
		rows, columns = (h+patch.height-1)/patch.height, (w+patch.width-1)/patch.width
		if rows*patch.height > s.height || columns*patch.width > s.width {
			err = fmt.Errorf("an image of %d x %d (height x width) after the resize has incomplete patches in %d x %d", h, w, s.height, s.width)
		}
		return rows, columns, err
	}
	return rule{
		marked: true,
		count: func(h, w int) (int, error) {
			rows, columns, err := patches(h, w)
			return rows * (columns + 1), err
		},
		text: func(t *text, sizes [][2]int, index int) error {
			rows, columns, err := patches(sizes[index][0], sizes[index][1])
			for range rows {
				t.image("|SPEAKER|", columns)
				t.mark("|NEWLINE|")
			}
			t.mark("<s>")
			return err
		},
	}
}
