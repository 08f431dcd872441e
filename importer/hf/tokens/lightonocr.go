package tokens

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Pixtral"}, build: lightOnOCR}, "LightOnOcr")
}

// lightOnOCR takes a token for each square of spatial_merge_size x
// spatial_merge_size patches. The image processor's patch_size, which need not
// be the processor's, says to what the image is scaled.
func lightOnOCR(k *keys) rule {
	token := k.token("image_token", "")
	patch, merge := k.side(k.file, "patch_size", 14), k.side(k.file, "spatial_merge_size", 2)
	if patch > importer.MaxSide/merge {
		k.bad(k.file, "patch_size", "a number whose product with spatial_merge_size is at most 16777216")
		return rule{}
	}
	patch *= merge
	s := k.size(k.layer("size"), "size", size{longest: 1024}, true)
	if s.longest == 0 || s.longest > importer.MaxSide {
		k.bad(k.layer("size"), "size", "longest_edge of 1 to 16777216")
	}
	multiple := k.size(k.layer("patch_size"), "patch_size", size{height: 16, width: 16}, true)
	if multiple.height == 0 || multiple.height != multiple.width {
		k.bad(k.layer("patch_size"), "patch_size", "a number, or equal height and width")
		return rule{}
	}
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	r := &transforms.Resize{Fit: transforms.FitInside, Height: s.longest, Width: s.longest, Multiple: multiple.height, SizeRule: transforms.SizeShrinkUp}
	number := func(h, w int) (int, error) {
		h, w, err := scaled(r, h, w)
		return (h / patch) * (w / patch), err
	}
	return rule{
		count: func(h, w int) (int, error) { return number(misread(h, w)) },
		text: func(t *text, sizes [][2]int, index int) (err error) {
			h, w := sizes[index][0], sizes[index][1]
			n := (h / patch) * (w / patch)
			if resize {
				n, err = number(h, w)
			}
			t.image(token, n)
			return err
		},
	}
}
