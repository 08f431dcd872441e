package tokens

import (
	"fmt"
	"math"
)

func init() {
	define(class{images: []string{"Inkling"}, build: inkling}, "Inkling")
	define(class{images: []string{"Inkling2"}, build: inkling2}, "Inkling2")
}

// inkling takes a token for each cell of size x size pixels, after a scaling by
// rescale_image_frac. A width of whole cells has a column more.
func inkling(k *keys) rule {
	token := k.token("image_token", "<|unused_200054|>")
	cell := k.size(k.layer("size"), "size", size{height: 40, width: 40}, false)
	if cell.height == 0 || cell.height != cell.width {
		k.bad(k.layer("size"), "size", "equal height and width")
		return rule{}
	}
	if o := k.layer("do_resize"); o.Peek("do_resize") != nil && !k.bool(o, "do_resize", true) {
		k.bad(o, "do_resize", "true or null: the class refuses false")
	}
	const fraction, most = "rescale_image_frac", "rescale_image_max_upscaled_long_edge"
	factor, limit := 0.0, 2048
	if o := k.layer(fraction); o.Peek(fraction) != nil {
		factor = k.float(o, fraction, 1, 1.0/(1<<24), 1<<24)
	}
	if o := k.layer(most); o.Has(most) && o.Peek(most) == nil {
		limit = 0
	} else {
		limit = k.side(o, most, limit)
	}
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		h, w := sizes[index][0], sizes[index][1]
		if factor > 0 {
			long := float64(max(h, w))
			target := float64(long * factor)
			if limit > 0 {
				target = min(target, max(float64(limit), long))
			}
			ratio := target / long
			fh, fw := math.Floor(float64(float64(h)*ratio)+0.5), math.Floor(float64(float64(w)*ratio)+0.5)
			if min(fh, fw) < 1 || float64(fh*fw) >= maxCount {
				return fmt.Errorf("an image of %d x %d (height x width) is resized to %.0f x %.0f, want at least one pixel and less than %d", h, w, fh, fw, maxCount)
			}
			h, w = int(fh), int(fw)
		}
		t.image(token, times((h-1)/cell.height+1, w/cell.width+1))
		return nil
	}}
}

// inkling2 takes a token for each cell of size pixels, incomplete ones
// included.
func inkling2(k *keys) rule {
	token := k.token("image_token", "<|unused_200054|>")
	cell := k.size(k.layer("size"), "size", size{height: 40, width: 40}, true)
	if cell.height == 0 {
		k.bad(k.layer("size"), "size", "height and width")
		return rule{}
	}
	k.call.Inert("do_resize")
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		t.image(token, times((sizes[index][0]-1)/cell.height+1, (sizes[index][1]-1)/cell.width+1))
		return nil
	}}
}
