package tokens

import (
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Gemma4"}, build: gemma4}, "Gemma4", "EmbeddingGemma2")
	define(class{images: []string{"Gemma4Unified"}, build: gemma4}, "Gemma4Unified")
}

// gemma4 takes the soft tokens of the scaled image. The images of a call are
// stacked.
func gemma4(k *keys) rule {
	token, start, end := k.token("image_token", ""), k.token("boi_token", ""), k.token("eoi_token", "")
	g := newGemma4(k, k.layer, 280)
	k.call.Inert("size")
	return rule{count: g.scaled, text: func(t *text, sizes [][2]int, index int) error {
		n, err := g.soft(sizes[0], sizes[index])
		t.mark(start)
		t.image(token, n)
		t.mark(end)
		return err
	}}
}

// softTokens are the settings of an image, or of a frame, of Gemma 4.
type softTokens struct {
	patch, pool, most int
	resize, unified   bool
}

// newGemma4 reads the keys of the objects that layer returns. most is the
// default of max_soft_tokens.
func newGemma4(k *keys, layer func(key string) *importer.Object, most int) softTokens {
	const maxPool = 64
	g := softTokens{unified: k.class == "Gemma4UnifiedProcessor"}
	g.patch, g.pool = k.side(layer("patch_size"), "patch_size", 16), k.int(layer("pooling_kernel_size"), "pooling_kernel_size", 3, 1, maxPool)
	g.most = k.int(layer("max_soft_tokens"), "max_soft_tokens", most, 70, 1120)
	if !slices.Contains([]int{70, 140, 280, 560, 1120}, g.most) {
		k.bad(layer("max_soft_tokens"), "max_soft_tokens", "70, 140, 280, 560 or 1120")
	}
	g.resize = k.bool(layer("do_resize"), "do_resize", true)
	return g
}

// scaled counts the squares of pooling_kernel_size x pooling_kernel_size
// patches of the scaled image.
func (g softTokens) scaled(h, w int) (int, error) {
	r := transforms.NewResizeToPatches(g.patch, g.most*g.pool*g.pool)
	r.Rule, r.Merge = transforms.PatchGemma4, g.pool
	h, w, err := scaled(r, h, w)
	return (h / g.patch) * (w / g.patch) / (g.pool * g.pool), err
}

// soft counts them for the image of a size, which do_resize false does not
// scale. An image that does not stack with the first one is an error.
func (g softTokens) soft(first, size [2]int) (int, error) {
	if g.resize {
		return g.scaled(size[0], size[1])
	}
	n, stack, err := g.whole(size)
	if err != nil || first == size {
		return n, err
	}
	_, stack0, err := g.whole(first)
	if err == nil && stack0 != stack {
		err = fmt.Errorf("images of %d x %d and of %d x %d (height x width) without do_resize, want equal numbers of patches", first[0], first[1], size[0], size[1])
	}
	return n, err
}

// whole counts the squares of an image that is not scaled. stack has the number
// of rows of its values and the side of the square in a row, in patches.
func (g softTokens) whole(size [2]int) (n int, stack [2]int, err error) {
	if size[0]%g.patch != 0 || size[1]%g.patch != 0 {
		return 0, stack, fmt.Errorf("an image of %d x %d (height x width) without do_resize, want multiples of %d", size[0], size[1], g.patch)
	}
	patches, square := (size[0]/g.patch)*(size[1]/g.patch), g.pool*g.pool
	n = patches / square
	if !g.unified {
		return n, [2]int{max(patches, g.most*square), 1}, nil
	}
	side := 0 // which the class infers
	if n > 0 {
		side = int(math.Sqrt(float64(patches / n)))
	}
	if n == 0 || side*side*n != patches {
		return 0, stack, fmt.Errorf("an image of %d x %d (height x width) without do_resize has %d patches, want a multiple of pooling_kernel_size², %d", size[0], size[1], patches, square)
	}
	return n, [2]int{max(n, g.most), side}, nil
}
