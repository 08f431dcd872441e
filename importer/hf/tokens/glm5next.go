package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Glm5Next"}, build: glm5Next}, "Glm5Next")
}

// glm5Next takes a token for each square of merge_size x merge_size patches.
// The number ignores patch_expand_factor and the call's temporal_patch_size,
// the text divides by the merge_size of the file.
func glm5Next(k *keys) rule {
	token := k.token("image_token", "<|image|>")
	patch, merge := k.side(k.layer("patch_size"), "patch_size", 14), k.side(k.layer("merge_size"), "merge_size", 2)
	fileMerge, expand := k.side(k.image, "merge_size", 2), k.side(k.layer("patch_expand_factor"), "patch_expand_factor", 1)
	least, most := k.int(k.layer("min_image_tokens"), "min_image_tokens", 16, 0, importer.MaxSide), k.side(k.layer("max_image_tokens"), "max_image_tokens", 8000)
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	k.call.Inert("size", "temporal_patch_size")
	if patch > importer.MaxSide/merge || patch*merge > importer.MaxSide/expand {
		k.bad(k.image, "patch_size", "a number whose product with merge_size and patch_expand_factor is at most 16777216")
		return rule{}
	}
	patches := func(h, w, expand int) (int, error) {
		r := transforms.NewResizeToPatches(patch*merge*expand, most)
		r.Rule, r.MinPatches = transforms.PatchGLM5, least
		h, w, err := scaled(r, h, w)
		return (h / patch) * (w / patch), err
	}
	return rule{
		count: func(h, w int) (int, error) {
			n, err := patches(h, w, 1)
			return n / times(merge, merge), err
		},
		text: func(t *text, sizes [][2]int, index int) (err error) {
			h, w := sizes[index][0], sizes[index][1]
			n := (h / patch) * (w / patch)
			switch multiple := patch * merge; {
			case resize:
				n, err = patches(h, w, expand)
			case h%multiple != 0 || w%multiple != 0:
				err = fmt.Errorf("an image of %d x %d (height x width) without do_resize, want multiples of %d", h, w, multiple)
			}
			t.image(token, n/times(fileMerge, fileMerge))
			return err
		},
	}
}
