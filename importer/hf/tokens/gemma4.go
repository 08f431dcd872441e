package tokens

import (
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Gemma4"}, build: func(k *keys) rule { return gemma4(k, false) }}, "Gemma4", "EmbeddingGemma2")
	define(class{images: []string{"Gemma4Unified"}, build: func(k *keys) rule { return gemma4(k, true) }}, "Gemma4Unified")
}

// gemma4 takes a token for each square of pooling_kernel_size x
// pooling_kernel_size patches of the scaled image. Without do_resize, Gemma 4
// unified requires whole squares.
func gemma4(k *keys, unified bool) rule {
	const maxPool = 64
	token, start, end := k.token("image_token", ""), k.token("boi_token", ""), k.token("eoi_token", "")
	patch, pool := k.side(k.layer("patch_size"), "patch_size", 16), k.int(k.layer("pooling_kernel_size"), "pooling_kernel_size", 3, 1, maxPool)
	most := k.int(k.layer("max_soft_tokens"), "max_soft_tokens", 280, 70, 1120)
	if !slices.Contains([]int{70, 140, 280, 560, 1120}, most) {
		k.bad(k.layer("max_soft_tokens"), "max_soft_tokens", "70, 140, 280, 560 or 1120")
	}
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	k.call.Inert("size")
	multiple := patch
	if unified {
		multiple *= pool
	}
	r := transforms.NewResizeToPatches(patch, most*pool*pool)
	r.Rule, r.Merge = transforms.PatchGemma4, pool
	soft := func(h, w int) (int, error) {
		h, w, err := scaled(r, h, w)
		return (h / patch) * (w / patch) / (pool * pool), err
	}
	return rule{count: soft, text: func(t *text, sizes [][2]int, index int) (err error) {
		h, w := sizes[index][0], sizes[index][1]
		n := (h / patch) * (w / patch) / (pool * pool)
		switch {
		case resize:
			n, err = soft(h, w)
		case h%multiple != 0 || w%multiple != 0:
			err = fmt.Errorf("an image of %d x %d (height x width) without do_resize, want multiples of %d", h, w, multiple)
		}
		t.mark(start)
		t.image(token, n)
		t.mark(end)
		return err
	}}
}
