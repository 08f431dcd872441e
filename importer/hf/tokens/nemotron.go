package tokens

import (
	"math"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	const name = "NemotronH_Omni_Reasoning_V3"
	define(class{images: []string{name}, build: nemotron}, name)
}

// nemotron takes a token for each square of patches of the scaled image. The
// number of images in a call bounds the patches from below.
func nemotron(k *keys) rule {
	const maxMerge = 1 << 12 // the most that ResizeToPatches takes
	token, start, end := k.token("image_token", "<image>"), k.token("image_start_token", "<img>"), k.token("image_end_token", "</img>")
	merge := func(o *importer.Object) int {
		n := math.RoundToEven(1 / k.float(o, "downsample_ratio", 0.5, 1.0/maxMerge, 1.5))
		return max(int(n), 1)
	}
	square, fileSquare := merge(k.layer("downsample_ratio")), merge(k.image)
	patch, model := k.side(k.layer("patch_size"), "patch_size", 16), k.side(k.layer("max_model_len"), "max_model_len", 16384)
	least := k.int(k.layer("min_num_patches"), "min_num_patches", 1024, 0, importer.MaxSide)
	most, o := 0, k.layer("max_num_patches") // no limit
	if !o.Has("max_num_patches") || o.Peek("max_num_patches") != nil {
		most = k.int(o, "max_num_patches", 13312, 0, importer.MaxSide)
	}
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		n := max(times(max(model-4, 0), square, square), times(least, len(sizes)))
		if most > 0 {
			n = min(n, most)
		}
		r := transforms.NewResizeToPatches(patch, max(n, least))
		r.Rule, r.Merge, r.MinPatches = transforms.PatchNemotron, square, least
		h, w, err := scaled(r, sizes[index][0], sizes[index][1])
		t.mark(start)
		t.image(token, (h/patch)*(w/patch)/(fileSquare*fileSquare))
		t.mark(end)
		return err
	}}
}
