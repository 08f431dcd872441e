package tokens

import (
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"NeoMME"}, build: neoMME}, "NeoMME")
}

// neoMME takes an image token, and for each row of patches as many tokens and a
// row token.
func neoMME(k *keys) rule {
	token, row := k.token("image_token", ""), k.token("row_token", "")
	patch := k.side(k.layer("patch_size"), "patch_size", 32)
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	r := transforms.NewSmartResize(1, 1, maxArea)
	r.Rule = transforms.SmartNeoMME
	bounded := false
	if o := k.layer("max_side"); o.Peek("max_side") != nil {
		r.MaxEdge, bounded = k.side(o, "max_side", 1), true
	}
	switch d := k.layer("size").Peek("size").(type) {
	case nil:
	case *importer.Object:
		least, ok := importer.Int(d.Peek("min_pixels"), 1, maxArea)
		most, ok2 := importer.Int(d.Peek("max_pixels"), 1, maxArea)
		if !ok || !ok2 {
			k.bad(k.layer("size"), "size", "null, or min_pixels and max_pixels of at least 1")
			return rule{}
		}
		r.MinPixels, r.MaxPixels, bounded = int64(least), int64(most), true
	default:
		k.bad(k.layer("size"), "size", "null, or min_pixels and max_pixels")
	}
	return rule{text: func(t *text, sizes [][2]int, index int) (err error) {
		h, w := sizes[index][0], sizes[index][1]
		if resize && bounded {
			if h, w, err = scaled(r, h, w); err != nil {
				return err
			}
		}
		t.image(token, 1)
		for range (h-1)/patch + 1 {
			t.image(token, (w-1)/patch+1)
			if t.mark(row); t.err != nil {
				return nil
			}
		}
		return nil
	}}
}
