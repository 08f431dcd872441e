package video

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

// patches describes a class that cuts frames into patches, as Qwen2-VL does.
// The first output has a row for each patch of temporal_patch_size frames, in
// squares of merge_size x merge_size patches. The output video_grid_thw, int64
// (3), has the numbers of patches in time, and of their rows and columns. The
// last frame is repeated up to a multiple of temporal_patch_size.
type patches struct {
	defaults               string // of pixelKeys, without size
	least, most            int64  // size's shortest_edge and longest_edge: areas
	patch, temporal, merge int    // defaults
	// perFrame reports that the areas are those of one frame, and that
	// min_pixels and max_pixels replace them, as in Qwen2-VL. Otherwise they
	// are those of the whole video.
	perFrame bool
	// shared reports that the largest area of a frame is divided by the number
	// of frames, as in VideoLLaMA 3.
	shared bool
	// onlyPixels reports that the areas are min_pixels and max_pixels, and size
	// has no influence, as in MiniMax M3.
	onlyPixels bool
	// noPixels reports that the class has neither min_pixels nor max_pixels.
	noPixels bool
	// ownBounds reports that the class reads the areas itself.
	ownBounds bool
	// tokens is the default of max_video_tokens of a class with
	// cap_pixels_per_frame, else 0.
	tokens int
	// expands reports that patch_expand_factor multiplies the factor of sizes.
	expands bool
	// pixels reports that a row has the order y, x, C, T, in place of
	// C, T, y, x.
	pixels bool
	// ignored are settings of the class without influence on the values.
	ignored []string
}

func init() {
	qwen3 := patches{
		defaults: halves + bicubic[:len(bicubic)-2], least: 128 * 32 * 32, most: 32 * 32 * 768, patch: 16, temporal: 2, merge: 2, tokens: 768,
	}
	glm := patches{
		defaults: clip + bicubic[:len(bicubic)-2], least: 112 * 112, most: 28 * 28 * 2 * 30000, patch: 14, temporal: 2, merge: 2,
		ignored: []string{"max_image_size"},
	}
	glmga, cosmos := glm, qwen3
	glmga.most, glmga.expands = 28*28*2*55790, true
	cosmos.least, cosmos.most, cosmos.temporal, cosmos.tokens, cosmos.pixels = 64*64, 24*1024*1024, 1, 0, true
	define(
		class{name: "Qwen2VL", sampler: readStepped(2, 768), layout: patches{
			defaults: clip + bicubic[:len(bicubic)-2], least: 128 * 28 * 28, most: 28 * 28 * 768, patch: 14, temporal: 2, merge: 2, perFrame: true, tokens: 128000,
		}.layout},
		class{name: "Qwen3VL", sampler: readEvenly, samples: true, layout: qwen3.layout},
		class{name: "CohereCompass", sampler: readEvenly, samples: true, layout: qwen3.layout},
		class{name: "Cosmos3Edge", sampler: readEvenly, samples: true, layout: cosmos.layout},
		class{name: "Glm4v", sampler: readGlm4v, samples: true, layout: glm.layout},
		class{name: "Glm46V", sampler: readGlm46V, samples: true, layout: glm.layout},
		class{name: "Glmga", sampler: readGlmga, samples: true, layout: glmga.layout},
	)
}

// exact is the largest product that a double has exactly, with all below.
const exact = 1 << 53

// maxFactor limits patch_size · merge_size · patch_expand_factor, and
// maxTemporal temporal_patch_size, so that products of areas are exact.
const (
	maxFactor   = 4096
	maxTemporal = 1024
)

// patcher is the layout of a class with its settings.
type patcher struct {
	class    class
	settings map[string]json.RawMessage
	plain    *datagraph.Graph // without a resize; nil with one

	patches // patch, temporal, merge, least and most are the file's
	factor  int
	capped  bool
}

func (p patches) layout(c class, o *importer.Object, data []byte) (layout, error) {
	l, err := p.read(c, o, data)
	if l == nil {
		return nil, err
	}
	return l, err
}

// read returns nil if the settings have problems.
func (p patches) read(c class, o *importer.Object, data []byte) (*patcher, error) {
	settings, err := pixelSettings(o, p.defaults, data)
	if err != nil {
		return nil, err
	}
	resizes := o.Bool("do_resize", true)
	if o.Bool("do_center_crop", false) {
		o.Bad("do_center_crop", "false: the class does not crop")
	}
	delete(settings, "do_center_crop")
	settings["do_center_crop"], settings["crop_size"] = json.RawMessage("false"), json.RawMessage("null")

	l := &patcher{class: c, settings: settings, patches: p}
	l.patch, l.merge = o.Int("patch_size", p.patch, 1, maxFactor), o.Int("merge_size", p.merge, 1, maxFactor)
	most := maxTemporal
	if p.pixels { // Cosmos 3 Edge takes no other than 1
		most = 1
	}
	l.temporal = o.Int("temporal_patch_size", p.temporal, 1, most)
	expand := 1
	if p.expands {
		expand = o.Int("patch_expand_factor", 1, 1, maxFactor)
	}
	if product := float64(l.patch) * float64(l.merge) * float64(expand); product > maxFactor {
		o.Bad("patch_size", fmt.Sprintf("a patch size that times merge_size is at most %d", maxFactor))
		return nil, nil
	}
	l.factor = l.patch * l.merge * expand
	if p.tokens > 0 {
		l.capped = o.Bool("cap_pixels_per_frame", false)
		l.tokens = count(o, "max_video_tokens", p.tokens)
	}
	o.Inert(p.ignored...)
	if !resizes {
		if p.perFrame && !p.noPixels {
			o.Inert("min_pixels", "max_pixels")
		}
		delete(settings, "size")
		if l.plain, err = frameGraph(c, settings); err != nil {
			return nil, err
		}
		return l, nil
	}
	if !p.ownBounds {
		l.bounds(o)
	}
	return l, nil
}

// bounds reads the areas.
func (l *patcher) bounds(o *importer.Object) {
	const want = "an area in pixels, of 1 to 2^40"
	area := func(o *importer.Object, key string, p *int64) {
		v, _ := o.Get(key)
		n, ok := v.(json.Number)
		i, err := strconv.ParseInt(string(n), 10, 64)
		if !ok || err != nil || i < 1 || i > 1<<40 {
			o.Bad(key, want)
			return
		}
		*p = i
	}
	edges := []*int64{&l.least, &l.most}
	if l.onlyPixels {
		for i, key := range []string{"min_pixels", "max_pixels"} {
			if o.Has(key) {
				area(o, key, edges[i])
			}
		}
		if o.Null("size") {
			o.Bad("size", "a size, which the class then ignores")
		}
		return
	}
	outer, given := []string{"min_pixels", "max_pixels"}, [2]bool{}
	if l.perFrame && !l.noPixels {
		for i, key := range outer {
			if v, _ := o.Get(key); v != nil {
				area(o, key, edges[i])
				given[i] = true
			}
		}
	}
	switch v, ok := o.Get("size"); {
	case !ok || v == nil && l.perFrame:
		return
	case v == nil:
		o.Bad("size", "shortest_edge and longest_edge")
		return
	}
	size := o.Object("size")
	if size == nil {
		o.Bad("size", "an object with shortest_edge and longest_edge")
		return
	}
	for i, key := range []string{"shortest_edge", "longest_edge"} {
		if given[i] {
			size.Inert(outer[i], key)
			continue
		}
		area(size, key, edges[i])
	}
}

func (l *patcher) outputs() []Output {
	return []Output{{Name: "pixel_values_videos", Joined: true}, {Name: "video_grid_thw"}}
}

// graph returns a graph that resizes to the size of the class's rule.
func (l *patcher) graph(frames, height, width int) (*datagraph.Graph, error) {
	if l.plain != nil {
		return l.plain, nil
	}
	h, w := l.factor, l.factor
	if frames > 0 {
		var err error
		if h, w, err = l.size(frames, height, width); err != nil {
			return nil, err
		}
	}
	l2 := map[string]json.RawMessage{}
	for k, v := range l.settings {
		l2[k] = v
	}
	l2["size"] = json.RawMessage(fmt.Sprintf(`{"height": %d, "width": %d}`, h, w))
	return frameGraph(l.class, l2)
}

// size returns the size of the resized frames, as smart_resize of the class
// does. Products are exact in doubles, or an error.
func (l *patcher) size(frames, height, width int) (int, int, error) {
	h, w, f, t := float64(height), float64(width), float64(l.factor), float64(frames)
	least, most := float64(l.least), float64(l.most)
	atLeast := float64(trunc64(least * 1.05))
	switch {
	case l.shared:
		if most = math.Floor(most / t); most < 1 {
			return 0, 0, fmt.Errorf("%w: %d frames share %d pixels: want at least 1 each", ErrFrames, frames, l.most)
		}
	case !l.capped:
	case l.perFrame:
		total := float64(trunc64(float64(l.tokens) * f * f * 0.9))
		most = max(min(most, math.Floor(total*float64(l.temporal)/t)), atLeast)
	default:
		most = max(min(float64(l.tokens)*f*f, math.Floor(most/t)), atLeast) * t
	}
	steps := t
	if l.perFrame {
		t, steps = 1, 1
	} else {
		if frames < l.temporal {
			return 0, 0, fmt.Errorf("%w: %d frames, want at least temporal_patch_size, %d", ErrFrames, frames, l.temporal)
		}
		steps = math.RoundToEven(t/float64(l.temporal)) * float64(l.temporal)
		if h < f || w < f {
			scale := max(f/h, f/w)
			h, w = math.Trunc(h*scale), math.Trunc(w*scale)
		}
	}
	if max(h, w)/min(h, w) > 200 {
		return 0, 0, fmt.Errorf("%w: %dx%d pixels: the ratio of the sides is more than 200", ErrFrames, width, height)
	}
	if (h+f)*(w+f)*max(steps, t) > exact || most > exact {
		return 0, 0, fmt.Errorf("%w: %d frames of %dx%d pixels: want at most 2^53 pixels", ErrFrames, frames, width, height)
	}
	H, W := math.RoundToEven(h/f)*f, math.RoundToEven(w/f)*f
	switch area := steps * H * W; {
	case area > most:
		beta := math.Sqrt(t * h * w / most)
		H, W = max(f, math.Floor(h/beta/f)*f), max(f, math.Floor(w/beta/f)*f)
	case area < least:
		beta := math.Sqrt(least / (t * h * w))
		H, W = math.Ceil(h*beta/f)*f, math.Ceil(w*beta/f)*f
	}
	if H < 1 || W < 1 || max(H, W) > importer.MaxSide {
		return 0, 0, fmt.Errorf("%w: %dx%d pixels become %vx%v: want sides of 1 to %d", ErrFrames, width, height, W, H, importer.MaxSide)
	}
	return int(H), int(W), nil
}

// trunc64 is int64(v), limited to ±2^62.
func trunc64(v float64) int64 { return int64(max(-1<<62, min(1<<62, v))) }

func (l *patcher) plan(frames int, d tensor.Desc) (tensor.Desc, int, error) {
	h, w := d.Shape.At(1), d.Shape.At(2)
	if square := l.patch * l.merge; h%square != 0 || w%square != 0 {
		return d, 0, fmt.Errorf("%w: %dx%d pixels: want multiples of patch_size times merge_size, %d", ErrFrames, w, h, square)
	}
	places := (frames + l.temporal - 1) / l.temporal * l.temporal
	rows, columns := float64(places/l.temporal)*float64(h/l.patch)*float64(w/l.patch), float64(d.Shape.At(0)*l.temporal)*float64(l.patch*l.patch)
	if max(rows, columns) > math.MaxInt32 {
		return d, 0, tooMany(rows, columns)
	}
	return tensor.Desc{DType: d.DType, Shape: tensor.Dims(int(rows), int(columns))}, places, nil
}

// tooMany returns the error of sides that do not fit an int everywhere.
func tooMany(rows, columns float64) error {
	return fmt.Errorf("%w: %v patches of %v values: want at most %d of each", ErrFrames, rows, columns, math.MaxInt32)
}

func (l *patcher) place(dst []byte, frame *tensor.Tensor, t int) {
	c, h, w := frame.Shape.At(0), frame.Shape.At(1), frame.Shape.At(2)
	p, m, size := l.patch, l.merge, frame.DType.Size()
	row := c * l.temporal * p * p // values
	slot, at := t/l.temporal, t%l.temporal
	for y := range h {
		gy, py := y/p, y%p
		for gx := range w / p {
			i := ((slot*(h/p/m)+gy/m)*(w/p/m)+gx/m)*m*m + gy%m*m + gx%m
			for k := range c {
				src := frame.Data[((k*h+y)*w+gx*p)*size:]
				if !l.pixels {
					copy(dst[(i*row+((k*l.temporal+at)*p+py)*p)*size:], src[:p*size])
					continue
				}
				for x := range p {
					to := i*row + ((py*p+x)*c+k)*l.temporal + at
					copy(dst[to*size:], src[x*size:(x+1)*size])
				}
			}
		}
	}
}

// grid returns the numbers of patches in time, and of their rows and columns.
func (l *patcher) grid(v filled) (t, h, w int) {
	return v.places / l.temporal, v.last[0].Shape.At(1) / l.patch, v.last[0].Shape.At(2) / l.patch
}

func (l *patcher) more(v filled) ([]*tensor.Tensor, error) {
	t, h, w := l.grid(v)
	return []*tensor.Tensor{numbers([]int{t, h, w}, 3)}, nil
}
