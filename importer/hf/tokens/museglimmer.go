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
	k.call.Inert("size")
	number, shown := museTokens(k, k.layer, k.image, "max_image_tokens", 4096)
	return rule{count: number, text: func(t *text, sizes [][2]int, index int) error {
		n, err := shown(sizes[index][0], sizes[index][1])
		t.mark(start)
		t.image(token, n)
		t.mark(end)
		return err
	}}
}

// museTokens reads the keys of the objects that layer returns, and merge_size
// of file. number counts the squares of the scaled image, shown those of the
// image, which do_resize false does not scale. The key of the most tokens has a
// name and a default.
func museTokens(k *keys, layer func(key string) *importer.Object, file *importer.Object, key string, most int) (number, shown counter) {
	patch, merge := k.side(layer("patch_size"), "patch_size", 14), k.side(layer("merge_size"), "merge_size", 2)
	fileMerge := k.side(file, "merge_size", 2)
	most = k.side(layer(key), key, most)
	resize := k.bool(layer("do_resize"), "do_resize", true)
	if patch > importer.MaxSide/merge {
		k.bad(file, "patch_size", "a number whose product with merge_size is at most 16777216")
		return nil, nil
	}
	r := transforms.NewResizeToPatches(patch*merge, most)
	r.Rule = transforms.PatchMuseGlimmer
	squares := func(h, w int) int { return (h / patch) * (w / patch) / times(fileMerge, fileMerge) }
	number = func(h, w int) (int, error) {
		h, w, err := scaled(r, h, w)
		return squares(h, w), err
	}
	return number, func(h, w int) (int, error) {
		if resize {
			return number(h, w)
		}
		if h%patch != 0 || w%patch != 0 {
			return 0, fmt.Errorf("an image of %d x %d (height x width) without do_resize, want multiples of %d", h, w, patch)
		}
		return squares(h, w), nil
	}
}
