package tokens

import (
	"fmt"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	qwen := smart{least: 56 * 56, most: 28 * 28 * 1280, patch: 14, merge: 2, token: "<|image_pad|>", counts: true}
	define(qwen.class("Qwen2VL"), "Qwen2VL", "Qwen2_5_VL", "Qwen3VL", "ColQwen2", "Exaone4_5_", "HyperCLOVAXVisionV2", "Lfm3Vl")
	dots := qwen
	dots.fixed = "<|imgpad|>"
	define(dots.class("Qwen2VL"), "Dots3Note")
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
	paddle.single = true
	define(paddle.class("PaddleOCRVL"), "PaddleOCRVL")
	glm := qwen
	glm.least, glm.most, glm.rule, glm.newBounds, glm.token = 112*112, 28*28*15000, transforms.SmartGLM4V, true, "<|image|>"
	glm.frames = 2
	define(glm.class("Glm4v"), "Glm4v")
	define(glm.class("Glm46V"), "Glm46V")
	edge := glm
	edge.least, edge.most, edge.patch, edge.frames, edge.token = 256*256, 4096*4096, 16, 1, "<|image_pad|>"
	define(edge.class("Cosmos3Edge"), "Cosmos3Edge")
	compass := qwen
	compass.fixed = "<|IMAGE_PAD|>"
	define(compass.class("CohereCompass"), "CohereCompass")
	mini := qwen
	mini.least, mini.most, mini.fixed = 4*28*28, 451584, "]<]image[>["
	mini.start, mini.end = "]<]start of image[>[", "]<]end of image[>["
	define(mini.class("MiniMaxM3VL"), "MiniMaxM3VL")
	glmImage := omni
	glmImage.rule, glmImage.counts = transforms.SmartGLMImage, false
	define(glmImage.class("GlmImage"), "GlmImage")
	hun := omni
	hun.least, hun.most, hun.patch, hun.lines = 512*512, 2048*2048, 16, true
	define(hun.class("HunYuanVL"), "HunYuanVL")
}

// smart describes the classes that scale an image to an area, as Qwen2-VL's
// does, and take a token for each square of merge_size x merge_size patches.
// The fields are the image processor's defaults.
type smart struct {
	least, most int
	patch       int
	merge       int
	frames      int // default of temporal_patch_size, for GLM-4V's rule
	rule        transforms.SmartRule
	newBounds   bool   // the file's min_pixels and max_pixels have no effect
	token       string // default of image_token; "" is none
	fixed       string // the image token, whatever the tokenizer has
	start, end  string // tokens around; "" is none
	single      bool   // an image that is not scaled needs whole patches, no squares of them
	lines       bool   // a token more for each row, and two more with cat_extra_token
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
	token, extra := s.fixed, 0
	if token == "" {
		token = k.token("image_token", s.token)
	}
	if s.lines && k.bool(k.file, "cat_extra_token", true) {
		extra = 2
	}
	least, most := s.area(k, k.image, s.least, s.most)
	fileMerge := k.side(k.image, "merge_size", s.merge)
	frames := 1
	const maxFrames = 32 // the most that SmartResize takes
	if s.rule == transforms.SmartGLM4V {
		frames = k.int(k.layer("temporal_patch_size"), "temporal_patch_size", s.frames, 1, maxFrames)
	}
	patch, merge := k.side(k.layer("patch_size"), "patch_size", s.patch), k.side(k.layer("merge_size"), "merge_size", s.merge)
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
			k.call.Inert(key)
			if !k.call.Has(key) {
				continue
			}
			n := k.int(k.call, key, 1, 1, maxArea)
			*[]*int{&least, &most}[i] = n
			if !s.newBounds {
				*[]*int{&least2, &most2}[i] = n
			}
		}
	}
	resize := k.bool(k.layer("do_resize"), "do_resize", true)
	multiple := patch * merge
	if s.single {
		multiple = patch
	}
	grid := func(h, w, least, most int) (rows, columns int, err error) {
		r := transforms.NewSmartResize(patch*merge, int64(least), int64(most))
		r.Rule, r.Frames = s.rule, frames
		h, w, err = scaled(r, h, w)
		return h / patch, w / patch, err
	}
	number := func(rows, columns, merge int) int {
		if s.lines {
			return (rows/merge)*(columns/merge+1) + extra
		}
		return rows * columns / (merge * merge)
	}
	r := rule{text: func(t *text, sizes [][2]int, index int) (err error) {
		h, w := sizes[index][0], sizes[index][1]
		rows, columns := h/patch, w/patch
		if resize {
			if rows, columns, err = grid(h, w, least2, most2); err != nil {
				return err
			}
		} else if h%multiple != 0 || w%multiple != 0 {
			return fmt.Errorf("an image of %d x %d (height x width) without do_resize, want multiples of %d", h, w, multiple)
		}
		if s.start != "" {
			t.mark(s.start)
		}
		t.image(token, number(rows, columns, fileMerge))
		if s.end != "" {
			t.mark(s.end)
		}
		return nil
	}}
	if s.counts {
		r.count = func(h, w int) (int, error) {
			rows, columns, err := grid(h, w, least, most)
			return number(rows, columns, merge), err
		}
	}
	return r
}
