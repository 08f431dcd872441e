package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"VideoLlava"}, build: videoLlava}, "VideoLlava")
}

// videoLlava takes a token for each patch of pixel_values_images. Its image
// processor reads an image of one or three rows as channels first.
func videoLlava(k *keys) rule {
	token := k.token("image_token", k.string(k.file, "image_token", "<image>"))
	patch, more := k.side(k.file, "patch_size", 14), k.int(k.file, "num_additional_image_tokens", 1, -maxLength, maxLength)
	if k.string(k.file, "vision_feature_select_strategy", "default") == "default" {
		more--
	}
	k.call.Inert("return_legacy_image_output")
	s, crop := size{shortest: 224}, size{height: 224, width: 224}
	if o := k.layer("size"); o.Peek("size") != nil {
		s = k.size(o, "size", s, false)
	}
	if o := k.layer("crop_size"); o.Peek("crop_size") != nil {
		crop = k.size(o, "crop_size", crop, true)
	}
	center, resize := k.bool(k.layer("do_center_crop"), "do_center_crop", true), k.bool(k.layer("do_resize"), "do_resize", true)
	if resize && s.shortest == 0 && s.height == 0 {
		k.bad(k.layer("size"), "size", "shortest_edge, or height and width")
	}
	if center && crop.height == 0 {
		k.bad(k.layer("crop_size"), "crop_size", "height and width, for do_center_crop")
	}
	pixels := func(h, w int) (int, int, error) {
		var err error
		switch {
		case center:
			h, w = crop.height, crop.width
		case resize && s.shortest > 0:
			h, w = misread(h, w)
			h, w, err = scaled(&transforms.Resize{Fit: transforms.FitShortest, Edge: s.shortest, SizeRule: transforms.SizeTruncate}, h, w)
		case resize:
			h, w = s.height, s.width
		}
		return h, w, err
	}
	return rule{text: func(t *text, sizes [][2]int, index int) error {
		h, w, err := pixels(sizes[index][0], sizes[index][1])
		if err != nil {
			return err
		}
		for _, s := range sizes[:index] { // which the class stacks
			if fh, fw, err := pixels(s[0], s[1]); err == nil && (fh != h || fw != w) {
				return fmt.Errorf("images of %d x %d and of %d x %d (height x width) after the resize, want equal ones in a call", fh, fw, h, w)
			}
		}
		t.image(token, (h/patch)*(w/patch)+more)
		return nil
	}}
}
