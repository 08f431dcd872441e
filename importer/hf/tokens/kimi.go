package tokens

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"Kimi_K25"}, build: kimi}, "Kimi_K25")
}

// kimi takes a token for each square of merge_size x merge_size patches of the
// scaled and padded image.
func kimi(k *keys) rule {
	token := k.token("image_token", "<|media_pad|>")
	fileMerge := k.side(k.image, "merge_size", 2)
	patches, merge := kimiPatches(k, k.layer, 16384)
	return rule{
		count: func(h, w int) (int, error) {
			n, err := patches(h, w)
			return n / (merge * merge), err
		},
		text: func(t *text, sizes [][2]int, index int) error {
			n, err := patches(sizes[index][0], sizes[index][1])
			t.image(token, n/(fileMerge*fileMerge))
			return err
		},
	}
}

// kimiPatches reads the keys of the objects that layer returns. The result
// counts the patches of the scaled and padded image. most is the default of
// max_patches.
func kimiPatches(k *keys, layer func(key string) *importer.Object, most int) (patches counter, merge int) {
	patch, merge := k.side(layer("patch_size"), "patch_size", 14), k.side(layer("merge_size"), "merge_size", 2)
	most = k.side(layer("max_patches"), "max_patches", most)
	side, o := 512, layer("size")
	if o.Has("size") {
		d, ok := o.Peek("size").(*importer.Object)
		if ok {
			side, ok = importer.Int(d.Peek("max_height"), 1, importer.MaxSide)
		}
		if ok {
			_, ok = importer.Int(d.Peek("max_width"), side, side)
		}
		if !ok {
			k.bad(o, "size", "max_height and max_width, which must be equal")
		}
	}
	if patch > importer.MaxSide/merge {
		k.bad(layer("patch_size"), "patch_size", "a number whose product with merge_size is at most 16777216")
		return nil, 1
	}
	if !k.bool(layer("do_resize"), "do_resize", true) {
		k.bad(layer("do_resize"), "do_resize", "true: images that are not scaled are not supported")
	}
	r := transforms.NewResizeToPatches(patch, most)
	r.Rule, r.MaxSide = transforms.PatchKimi, side
	return func(h, w int) (int, error) {
		h, w, err := scaled(r, h, w)
		f := patch * merge
		h, w = (h+f-1)/f*f, (w+f-1)/f*f
		return (h / patch) * (w / patch), err
	}, merge
}
