package video

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/importer"
)

// uniform is default_sample_indices_fn.
type uniform struct{ rates }

// byDefault returns the reader of a class with these defaults.
func byDefault(num int, fps float64) func(*importer.Object) sampler {
	return func(o *importer.Object) sampler { return uniform{exclusive(o, num, fps)} }
}

func (s uniform) indices(m Metadata) ([]int, error) {
	k := s.num
	if k == 0 && s.fps > 0 {
		if m.FPS == 0 {
			return nil, lacks("fps", "the class samples by fps")
		}
		k = max(1, trunc(float64(float64(m.Frames)/m.FPS)*s.fps))
	}
	switch {
	case k > m.Frames:
		return nil, exceeds(float64(k), m.Frames)
	case k == 0:
		return all(m.Frames), nil
	}
	l := make([]int, k)
	for i := range l {
		l[i] = int(int64(i) * int64(m.Frames) / int64(k))
	}
	return l, nil
}

// peVideo is PeVideo's rule: with num_frames the last frame is one of the
// chosen.
type peVideo struct{ rates }

func readPeVideo(o *importer.Object) sampler { return peVideo{readRates(o, 0, 0)} }

func (s peVideo) indices(m Metadata) ([]int, error) {
	switch {
	case s.num == 0:
		return uniform(s).indices(m)
	case s.num == 1:
		return nil, fmt.Errorf("%w: num_frames 1, by which less one PeVideo divides: want at least 2", ErrSample)
	}
	if err := bounded(float64(s.num)); err != nil {
		return nil, err
	}
	l := make([]int, s.num)
	for i := range l {
		l[i] = trunc(float64(i) * float64(m.Frames-1) / float64(s.num-1))
	}
	return l, nil
}

// evenly is the rule of Qwen3-VL and of classes that copy it: the rounded
// numbers of numpy.linspace. num_frames of a file fails unless fps is null.
type evenly struct {
	rates
	least, most int // min_frames and max_frames
}

func readEvenly(o *importer.Object) sampler {
	return evenly{exclusive(o, 0, 2), count(o, "min_frames", 4), count(o, "max_frames", 768)}
}

func (s evenly) indices(m Metadata) ([]int, error) {
	k := s.num
	if k == 0 && s.fps > 0 {
		fps := m.FPS
		if fps == 0 {
			fps = 24 // the reference warns
		}
		k = trunc(float64(float64(m.Frames)/fps) * s.fps)
		k = min(max(k, s.least), s.most, m.Frames)
	}
	if k == 0 {
		k = min(max(m.Frames, s.least), s.most)
	}
	l, err := linspace(0, float64(m.Frames-1), k)
	return each(l, math.RoundToEven), err
}
