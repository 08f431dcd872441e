package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	qwen := smart{least: 56 * 56, most: 28 * 28 * 1280, merge: 2, token: "<|image_pad|>", counts: true}
	define(qwen.class("Qwen2VL"), "Qwen2VL", "Qwen2_5_VL", "Qwen3VL", "ColQwen2", "Exaone4_5_")
	omni := qwen
	omni.token = "" // the tokenizer has it
	define(omni.class("Qwen2VL"), "Qwen2_5Omni", "Qwen3OmniMoe")
	video := qwen
	video.merge = 1
	define(video.class("VideoLlama3"), "VideoLlama3")
	ernie := omni
	ernie.most, ernie.newBounds = 28*28*6177, true
	define(ernie.class("Ernie4_5_VLMoe", "Ernie4_5_VL_Moe"), "Ernie4_5_VLMoe")
	paddle := omni
	paddle.least, paddle.most, paddle.rule, paddle.counts = 384*384, 1536*1536, transforms.SmartPaddleOCRVL, false
	define(paddle.class("PaddleOCRVL"), "PaddleOCRVL")
	glm := qwen
	glm.least, glm.most, glm.rule, glm.newBounds, glm.token = 112*112, 28*28*15000, transforms.SmartGLM4V, true, "<|image|>"
	define(glm.class("Glm4v"), "Glm4v")
	define(glm.class("Glm46V"), "Glm46V")
}

// smart describes the classes that scale an image to an area, as Qwen2-VL's
// does, and take a token for each square of merge_size x merge_size patches.
// The fields are the image processor's defaults.
type smart struct {
	least, most int
	merge       int
	rule        transforms.SmartRule
	newBounds   bool   // the file's min_pixels and max_pixels have no effect
	token       string // default of image_token; "" is none
	counts      bool   // has _get_num_multimodal_tokens
}

func (s smart) class(images ...string) class { return class{images: images, build: s.build} }

// area reads the smallest and the largest area from o.
func (s smart) area(k *keys, o *importer.Object, least, most int) (int, int) {
	if o.Peek("size") != nil {
		d := k.size(o, "size", size{}, false)
		if least, most = d.shortest, d.longest; min(least, most) == 0 && s.bounds(k, o) == [2]int{} {
			k.bad(o, "size", "shortest_edge and longest_edge, in pixels")
			least, most = 1, 1
		}
	}
	b := s.bounds(k, o)
	if b[0] > 0 {
		least = b[0]
	}
	if b[1] > 0 {
		most = b[1]
	}
	if min(least, most) < 1 {
		k.bad(o, "size", "shortest_edge and longest_edge, in pixels")
		return 1, 1
	}
	return least, most
}

// bounds reads min_pixels and max_pixels of o; 0 is none.
func (s smart) bounds(k *keys, o *importer.Object) (b [2]int) {
	for i, key := range []string{"min_pixels", "max_pixels"} {
		if o.Peek(key) != nil && !s.newBounds {
			b[i] = k.int(o, key, 0, 1, maxArea)
		}
	}
	return b
}

func (s smart) build(k *keys) rule {
	token := k.token("image_token", s.token)
	least, most := s.area(k, k.image, s.least, s.most)
	fileMerge := k.side(k.image, "merge_size", s.merge)
	frames := 1
	const maxFrames = 32 // the most that SmartResize takes
	if s.rule == transforms.SmartGLM4V {
		frames = k.int(k.layer("temporal_patch_size"), "temporal_patch_size", 2, 1, maxFrames)
	}
	patch, merge := k.side(k.layer("patch_size"), "patch_size", 14), k.side(k.layer("merge_size"), "merge_size", s.merge)
	if patch > importer.MaxSide/merge {
		k.bad(k.image, "patch_size", "a number whose product with merge_size is at most 16777216")
		return rule{}
	}

	// The number of the older classes heeds the call's min_pixels and
	// max_pixels, not its size. The text heeds both.
	k.call.Inert("size")
	least2, most2 := least, most
	if k.call.Has("size") {
		least2, most2 = s.area(k, k.call, least, most)
	}
	if s.newBounds && s.rule == transforms.SmartGLM4V {
		least, most = least2, most2
	}
	if !s.newBounds || s.rule != transforms.SmartGLM4V {
		for i, key := range []string{"min_pixels", "max_pixels"} {
			if !k.call.Has(key) {
				continue
			}
			k.call.Inert(key)
			n := k.int(k.call, key, 1, 1, maxArea)
			*[]*int{&least, &most}[i] = n
			if !s.newBounds {
				*[]*int{&least2, &most2}[i] = n
			}
		}
	}
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	patches := func(h, w, least, most int) (int, error) {
		r := transforms.NewSmartResize(patch*merge, int64(least), int64(most))
		r.Rule, r.Frames = s.rule, frames
		h, w, err := scaled(r, h, w)
		return (h / patch) * (w / patch), err
	}
	r := rule{text: func(t *text, sizes [][2]int, index int) error {
		h, w := sizes[index][0], sizes[index][1]
		n := (h / patch) * (w / patch)
		if resize {
			var err error
			if n, err = patches(h, w, least2, most2); err != nil {
				return err
			}
		} else if h%(patch*merge) != 0 || w%(patch*merge) != 0 {
			return fmt.Errorf("an image of %d x %d (height x width) without do_resize, want multiples of %d", h, w, patch*merge)
		}
		t.image(token, n/(fileMerge*fileMerge))
		return nil
	}}
	if s.counts {
		r.count = func(h, w int) (int, error) {
			n, err := patches(h, w, least, most)
			return n / (merge * merge), err
		}
	}
	return r
}
