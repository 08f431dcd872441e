package tokens

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/transforms"
)

func init() {
	define(class{images: []string{"LlavaNext"}, options: `{"do_pad": true}`, build: llavaNext}, "LlavaNext", "LlavaNextVideo", "Granite4Vision")
	define(class{images: []string{"LlavaOnevision"}, build: llavaOnevision}, "LlavaOnevision")
}

// anyres holds what LLaVA-NeXT and LLaVA-OneVision share: the whole image as
// one tile, and the canvas of image_grid_pinpoints without its padding, each
// row with a token more.
type anyres struct {
	token         string
	canvases      [][]int
	number, shown [2]int // height and width of a tile for the number and the text
	less          int    // 1 if the strategy is "default"
}

// newAnyres reads the keys. The tile of the number has both sides of the
// shorter, that of the text is the size of pixel_values.
func newAnyres(k *keys, def size, crop size, center bool, canvases [][]int) anyres {
	a := anyres{token: k.token("image_token", k.string(k.file, "image_token", "<image>")), canvases: canvases}
	if k.image.Has("image_grid_pinpoints") {
		a.canvases = k.pairs(k.image, "image_grid_pinpoints", canvases)
	}
	if k.string(k.file, "vision_feature_select_strategy", "") == "default" {
		a.less = 1
	}
	s := k.size(k.layer("size"), "size", def, false)
	if s.shortest > importer.MaxSide || s.shortest == 0 && s.height == 0 {
		k.bad(k.layer("size"), "size", "shortest_edge of 1 to 16777216, or height and width")
	}
	a.number = [2]int{min(s.height, s.width), min(s.height, s.width)}
	a.shown = [2]int{s.height, s.width}
	if s.shortest > 0 {
		a.number = [2]int{s.shortest, s.shortest}
		a.shown = a.number
	}
	crop = k.size(k.layer("crop_size"), "crop_size", crop, true)
	if k.bool(k.layer("do_center_crop"), "do_center_crop", center) {
		if crop.height == 0 {
			k.bad(k.layer("crop_size"), "crop_size", "height and width, for do_center_crop")
		}
		a.shown = [2]int{crop.height, crop.width}
	}
	return a
}

// canvas returns the rows and columns of patches of the best canvas without its
// padding. A tile of the size s has rows x columns patches.
func (a anyres) canvas(h, w int, s [2]int, rows, columns int) (int, int, error) {
	r := transforms.NewResizeToTiles(1, 1, 0, 0)
	r.Rule, r.Sizes = transforms.TilesSize, a.canvases
	height, width, err := scaled(r, h, w)
	if err != nil {
		return 0, 0, err
	}
	if s[0] == 0 || s[1] == 0 {
		return 0, 0, errors.New("tiles without pixels")
	}
	height, width = rows*(height/s[0]), columns*(width/s[1])
	if height == 0 {
		return 0, 0, errors.New("the best of image_grid_pinpoints has no row of patches")
	}
	fh, fw := float64(height), float64(width)
	if float64(w)/float64(h) > fw/fh {
		height -= (height - rounded(float64(float64(h)*(fw/float64(w))))) >> 1 * 2
	} else {
		width -= (width - rounded(float64(float64(w)*(fh/float64(h))))) >> 1 * 2
	}
	return height, width, nil
}

// patchSize reads the size of a patch from the processor's file.
func patchSize(k *keys) int {
	if k.file.Peek("patch_size") == nil {
		k.fail("patch_size", "missing: the class has no default, and processor_config.json has it")
		return 1
	}
	return k.side(k.file, "patch_size", 1)
}

func llavaNext(k *keys) rule {
	a := newAnyres(k, size{shortest: 224}, size{height: 224, width: 224}, true, [][]int{{336, 672}, {672, 336}, {672, 672}, {1008, 336}, {336, 1008}})
	patch, more := patchSize(k), additional(k)
	// Granite 4 Vision reduces both sides by a fraction.
	x, y := 1, 1
	if s := k.string(k.file, "downsample_rate", ""); s != "" && k.class == "Granite4VisionProcessor" {
		first, second, _ := strings.Cut(s+"/1", "/")
		second, _, _ = strings.Cut(second, "/")
		var err, err2 error
		x, err = strconv.Atoi(first)
		y, err2 = strconv.Atoi(second)
		if err != nil || err2 != nil || min(x, y) < 1 || max(x, y) > maxTiles {
			k.bad(k.file, "downsample_rate", `a fraction of numbers of 1 to 1024, such as "4/8"`)
			return rule{}
		}
	}
	features := func(h, w int, s [2]int) (int, error) {
		rows, columns := s[0]/patch*x/y, s[1]/patch*x/y
		height, width, err := a.canvas(h, w, s, rows, columns)
		return height*width + height + rows*columns + more - a.less, err
	}
	return rule{
		count: func(h, w int) (int, error) { return features(h, w, a.number) },
		text: func(t *text, sizes [][2]int, index int) error {
			n, err := features(sizes[index][0], sizes[index][1], a.shown)
			t.image(a.token, n)
			return err
		},
	}
}

// additional reads num_additional_image_tokens, such as one for a class token.
func additional(k *keys) int {
	return k.int(k.file, "num_additional_image_tokens", 0, -maxLength, maxLength)
}

// llavaOnevision reduces a large canvas to the patches of anyres_max_N tiles.
// Each of several images has one tile.
func llavaOnevision(k *keys) rule {
	var canvases [][]int
	for h := 1; h <= 6; h++ {
		for w := 1; w <= 6; w++ {
			canvases = append(canvases, []int{384 * h, 384 * w})
		}
	}
	a := newAnyres(k, size{height: 384, width: 384}, size{}, false, canvases)
	if k.file.Peek("num_image_tokens") == nil {
		k.fail("num_image_tokens", "missing: the class has no default, and processor_config.json has it")
		return rule{}
	}
	length := k.int(k.file, "num_image_tokens", 0, 1, maxLength)
	aspect := k.string(k.file, "vision_aspect_ratio", "anyres_max_9")
	// The reference strips the characters of "anyres_max_", not the word.
	tiles, err := strconv.Atoi(strings.Trim(aspect, "_aemnrsxy"))
	if err != nil || tiles < 1 || tiles > maxLength {
		k.bad(k.file, "vision_aspect_ratio", `"anyres_max_" and a number, such as "anyres_max_9"`)
		return rule{}
	}
	side := int(math.Sqrt(float64(length)))
	features := func(h, w int, s [2]int) (int, error) {
		height, width, err := a.canvas(h, w, s, side, side)
		if err != nil {
			return 0, err
		}
		n, rows := height*width, height
		if r := math.Sqrt(float64(n) / float64(tiles*side*side)); r > 1.1 {
			rows = floored(float64(height), r)
			n = rows * floored(float64(width), r)
		}
		return n + rows + length - a.less, nil
	}
	return rule{
		count: func(h, w int) (int, error) { return features(h, w, a.number) },
		text: func(t *text, sizes [][2]int, index int) error {
			if len(sizes) > 1 {
				t.image(a.token, length+1-a.less)
				return nil
			}
			n, err := features(sizes[index][0], sizes[index][1], a.shown)
			t.image(a.token, n)
			return err
		},
	}
}
