package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Pixtral"}, build: pixtral}, "Pixtral")
}

// pixtral takes a token for each square of spatial_merge_size x
// spatial_merge_size patches, and a token behind each row.
func pixtral(k *keys) rule {
	token := k.string(k.file, "image_token", "[IMG]")
	last := k.string(k.file, "image_end_token", "[IMG_END]")
	line := k.string(k.file, "image_break_token", "[IMG_BREAK]")
	patch, merge := k.side(k.file, "patch_size", 16), k.side(k.file, "spatial_merge_size", 1)
	k.call.Inert("patch_size") // which the class replaces
	s := k.size(k.layer("size"), "size", size{longest: 1024}, true)
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	// The number requires longest_edge. The text also takes height and width,
	// which is not supported.
	if s.longest == 0 || s.longest > importer.MaxSide {
		k.bad(k.layer("size"), "size", "longest_edge of 1 to 16777216")
	}
	if patch > importer.MaxSide/merge {
		k.bad(k.file, "patch_size", "a number whose product with spatial_merge_size is at most 16777216")
		return rule{}
	}
	patch *= merge
	r := &transforms.Resize{Fit: transforms.FitInside, Height: s.longest, Width: s.longest, Multiple: patch, SizeRule: transforms.SizeShrinkUp}
	return rule{
		marked: true,
		count: func(h, w int) (int, error) {
			h, w = misread(h, w)
			h, w, err := scaled(r, h, w)
			return (w/patch + 1) * (h / patch), err
		},
		text: func(t *text, sizes [][2]int, index int) (err error) {
			h, w := sizes[index][0], sizes[index][1]
			if resize {
				if h, w, err = scaled(r, h, w); err != nil {
					return err
				}
			}
			if h < patch {
				return fmt.Errorf("an image of %d x %d (height x width), want a height of at least %d", h, w, patch)
			}
			for i := range h / patch {
				t.image(token, w/patch)
				if i < h/patch-1 {
					t.mark(line)
				} else {
					t.mark(last)
				}
			}
			return nil
		},
	}
}
