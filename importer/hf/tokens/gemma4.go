package tokens

import (
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Gemma4"}, build: gemma4}, "Gemma4")
}

// gemma4 takes the soft tokens of the scaled image.
func gemma4(k *keys) rule {
	token, start, end := k.token("image_token", ""), k.token("boi_token", ""), k.token("eoi_token", "")
	number, shown := gemma4Soft(k, k.layer, 280)
	k.call.Inert("size")
	return rule{count: number, text: func(t *text, sizes [][2]int, index int) error {
		n, err := shown(sizes[index][0], sizes[index][1])
		t.mark(start)
		t.image(token, n)
		t.mark(end)
		return err
	}}
}

// gemma4Soft reads the keys of the objects that layer returns. number counts
// the squares of pooling_kernel_size x pooling_kernel_size patches of the
// scaled image, shown those of the image, which do_resize false does not scale.
// most is the default of max_soft_tokens.
func gemma4Soft(k *keys, layer func(key string) *importer.Object, most int) (number, shown counter) {
	const maxPool = 64
	patch, pool := k.side(layer("patch_size"), "patch_size", 16), k.int(layer("pooling_kernel_size"), "pooling_kernel_size", 3, 1, maxPool)
	most = k.int(layer("max_soft_tokens"), "max_soft_tokens", most, 70, 1120)
	if !slices.Contains([]int{70, 140, 280, 560, 1120}, most) {
		k.bad(layer("max_soft_tokens"), "max_soft_tokens", "70, 140, 280, 560 or 1120")
	}
	resize := k.bool(layer("do_resize"), "do_resize", true)
	r := transforms.NewResizeToPatches(patch, most*pool*pool)
	r.Rule, r.Merge = transforms.PatchGemma4, pool
	squares := func(h, w int) int { return (h / patch) * (w / patch) / (pool * pool) }
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
