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
