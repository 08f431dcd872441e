package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"MuseGlimmer"}, build: func(k *keys) rule {
		return museGlimmer(k, "<|patch|>", "<|image_start|>", "<|image_end|>")
	}}, "MuseGlimmer")
	define(class{images: []string{"MuseGlimmer"}, build: func(k *keys) rule {
		return museGlimmer(k, k.token("image_token", "<|patch|>"), k.token("image_start_token", "<|image_start|>"), k.token("image_end_token", "<|image_end|>"))
	}}, "MuseSpark")
}

// museGlimmer takes a token for each square of merge_size x merge_size patches.
// Number and text divide by the merge_size of the file.
func museGlimmer(k *keys, token, start, end string) rule {
	patch, merge := k.side(k.layer("patch_size"), "patch_size", 14), k.side(k.layer("merge_size"), "merge_size", 2)
	fileMerge := k.side(k.image, "merge_size", 2)
	most := k.side(k.layer("max_image_tokens"), "max_image_tokens", 4096)
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	k.call.Inert("size")
	if patch > importer.MaxSide/merge {
		k.bad(k.image, "patch_size", "a number whose product with merge_size is at most 16777216")
		return rule{}
	}
	r := transforms.NewResizeToPatches(patch*merge, most)
	r.Rule = transforms.PatchMuseGlimmer
	number := func(h, w int) (int, error) {
		h, w, err := scaled(r, h, w)
		return (h / patch) * (w / patch) / times(fileMerge, fileMerge), err
	}
	return rule{count: number, text: func(t *text, sizes [][2]int, index int) (err error) {
		h, w := sizes[index][0], sizes[index][1]
		n := (h / patch) * (w / patch) / times(fileMerge, fileMerge)
		switch {
		case resize:
			n, err = number(h, w)
		case h%patch != 0 || w%patch != 0:
			err = fmt.Errorf("an image of %d x %d (height x width) without do_resize, want multiples of %d", h, w, patch)
		}
		t.mark(start)
		t.image(token, n)
		t.mark(end)
		return err
	}}
}
