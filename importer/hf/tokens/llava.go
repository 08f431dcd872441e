package tokens

import (
	"errors"
	"strings"

	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"CLIP", "Llava", "Siglip"}, build: llava}, "Llava")
}

// llava takes a token for each patch of pixel_values. The number takes
// crop_size for its size, whether do_center_crop is set or not.
func llava(k *keys) rule {
	token := k.token("image_token", k.string(k.file, "image_token", "<image>"))
	patch, more := patchSize(k), additional(k)
	if k.string(k.file, "vision_feature_select_strategy", "") == "default" {
		more--
	}
	siglip := strings.HasPrefix(k.string(k.image, "image_processor_type", ""), "SiglipImageProcessor")
	def, crop, center := size{shortest: 224}, size{height: 224, width: 224}, true
	if siglip {
		def, crop, center = crop, size{}, false
	}
	s := k.size(k.layer("size"), "size", def, siglip)
	if k.layer("crop_size").Peek("crop_size") != nil {
		crop = k.size(k.layer("crop_size"), "crop_size", crop, true)
	}
	center, resize := k.bool(k.layer("do_center_crop"), "do_center_crop", center), k.bool(k.layer("do_resize"), "do_resize", true)
	if resize && !center && s.longest > 0 || resize && s == (size{}) {
		k.bad(k.layer("size"), "size", "shortest_edge, or height and width")
	}
	if center && crop.height == 0 {
		k.bad(k.layer("crop_size"), "crop_size", "height and width, for do_center_crop")
	}
	pad := k.bool(k.layer("do_pad"), "do_pad", false)
	if name := k.string(k.image, "image_processor_type", ""); pad && !strings.HasPrefix(name, "LlavaImageProcessor") {
		k.bad(k.layer("do_pad"), "do_pad", "false: only LlavaImageProcessor's padding to a square is supported")
	}
	features := func(h, w int) int { return (h/patch)*(w/patch) + more }
	return rule{
		count: func(int, int) (int, error) {
			if crop.height == 0 {
				return 0, errors.New("the image processor has no crop_size")
			}
			return features(crop.height, crop.width), nil
		},
		text: func(t *text, sizes [][2]int, index int) (err error) {
			h, w := sizes[index][0], sizes[index][1]
			if pad {
				h, w = max(h, w), max(h, w)
			}
			switch {
			case center:
				h, w = crop.height, crop.width
			case resize && s.height > 0:
				h, w = s.height, s.width
			case resize:
				h, w, err = scaled(&transforms.Resize{Fit: transforms.FitShortest, Edge: s.shortest, SizeRule: transforms.SizeTruncate}, h, w)
			}
			t.image(token, features(h, w))
			return err
		},
	}
}
