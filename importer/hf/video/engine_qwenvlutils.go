package video

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/importer"
)

func init() { defineEngine("qwen-vl-utils", readQwenVLUtils) }

// qwenVLUtils is the rule of qwen-vl-utils: the rounded numbers of
// torch.linspace between two times.
type qwenVLUtils struct {
	smart
	start, end *float64 // seconds
}

func readQwenVLUtils(o *importer.Object) sampler {
	o.Inert("type", "video", "min_pixels", "max_pixels", "total_pixels", "resized_height", "resized_width")
	s := qwenVLUtils{smart: readSmart(o, 4, 768)}
	for key, p := range map[string]**float64{"video_start": &s.start, "video_end": &s.end} {
		v, _ := o.Get(key)
		if v == nil {
			continue
		}
		f, ok := importer.Float(v)
		if !ok || math.Abs(f) > 1e9 {
			o.Bad(key, "seconds, at most 1e9, or null")
			continue
		}
		*p = &f
	}
	return s
}

func (s qwenVLUtils) indices(m Metadata) ([]int, error) {
	if m.FPS == 0 {
		return nil, lacks("fps", "the sampler needs it")
	}
	first, last := 0, m.Frames-1
	longest := float64(m.Frames) / m.FPS
	if s.start != nil {
		first = trunc(math.Ceil(max(0, min(*s.start, longest)) * m.FPS))
	}
	if s.end != nil {
		last = min(last, trunc(math.Floor(max(0, min(*s.end, longest))*m.FPS)))
	}
	if (s.start != nil || s.end != nil) && first >= last {
		return nil, fmt.Errorf("%w: video_start is frame %d and video_end frame %d, want a later one", ErrSample, first, last)
	}
	k, err := s.frames(last-first+1, m.FPS)
	if err != nil {
		return nil, err
	}
	l := make([]int, k)
	for i, v := range torchLinspace(first, last, k) {
		l[i] = int(math.RoundToEven(float64(v)))
	}
	return l, nil
}

// QwenVLUtilsSize returns the size to which qwen-vl-utils scales frames, as
// fetch_video does. element is what NewSampling takes, with min_pixels,
// max_pixels, total_pixels, or resized_height and resized_width. patch is the
// image_patch_size of 1 to 2048: 14 for Qwen2-VL and Qwen2.5-VL, 16 for
// Qwen3-VL. frames is the number of chosen frames, of 1 to MaxFrames, and their
// sides are 1 to 2^24 pixels. MODEL_SEQ_LEN is its default, 128000. Errors wrap
// ErrFrames, or those of package importer.
//
// The frames are then scaled by torchvision's bicubic resize: op resize with
// backend torch.
func QwenVLUtilsSize(element []byte, patch, frames, height, width int) (newHeight, newWidth int, err error) {
	const maxPatch = 2048
	if patch < 1 || patch > maxPatch || frames < 1 || frames > MaxFrames || min(height, width) < 1 || max(height, width) > importer.MaxSide {
		return 0, 0, fmt.Errorf("video: qwen-vl-utils: %w: %d frames of %dx%d pixels with patches of %d", ErrFrames, frames, width, height, patch)
	}
	if len(element) == 0 {
		element = []byte("{}")
	}
	o, err := importer.Parse(element)
	if err != nil {
		return 0, 0, err
	}
	f := float64(2 * patch)
	const merge, sequence = 2, 128000
	area := func(key string, def float64) float64 {
		v, ok := o.Get(key)
		if !ok {
			return def
		}
		a, ok := importer.Float(v)
		if !ok || a < 1 || a > 1<<40 {
			o.Bad(key, "pixels, 1 to 2^40")
			return def
		}
		return a
	}
	least := area("min_pixels", 128*f*f)
	total := area("total_pixels", float64(sequence*f*f)*0.9)
	most := max(min(768*f*f, float64(total/float64(frames))*merge), float64(trunc64(least*1.05)))
	most = min(most, area("max_pixels", most))
	readQwenVLUtils(o) // which has the other keys
	h, w := float64(height), float64(width)
	if o.Has("resized_height") && o.Has("resized_width") {
		h, w = float64(o.Side("resized_height", 0)), float64(o.Side("resized_width", 0))
		least, most = 4*f*f, 16384*f*f
	}
	if err := o.Err("video: qwen-vl-utils"); err != nil {
		return 0, 0, err
	}
	if most < least || max(h, w)/min(h, w) > 200 {
		return 0, 0, fmt.Errorf("video: qwen-vl-utils: %w: %vx%v pixels become %v to %v: want a ratio of at most 200, and max_pixels of at least min_pixels", ErrFrames, w, h, least, most)
	}
	H, W := max(f, math.RoundToEven(h/f)*f), max(f, math.RoundToEven(w/f)*f)
	switch area := H * W; {
	case area > most:
		beta := math.Sqrt(h * w / most)
		H, W = math.Floor(h/beta/f)*f, math.Floor(w/beta/f)*f
	case area < least:
		beta := math.Sqrt(least / (h * w))
		H, W = math.Ceil(h*beta/f)*f, math.Ceil(w*beta/f)*f
	}
	if min(H, W) < 1 || max(H, W) > importer.MaxSide {
		return 0, 0, fmt.Errorf("video: qwen-vl-utils: %w: %vx%v pixels become %vx%v: want sides of 1 to %d", ErrFrames, w, h, W, H, importer.MaxSide)
	}
	return int(H), int(W), nil
}
