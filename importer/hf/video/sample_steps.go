package video

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/importer"
)

// stepped is the rule of Qwen2-VL and VideoLLaMA 3: steps of torch.arange, a
// number of frames that temporal_patch_size divides.
type stepped struct {
	rates
	temporal, least, most int
}

func readStepped(temporal, most int) func(*importer.Object) sampler {
	return func(o *importer.Object) sampler {
		return stepped{
			exclusive(o, 0, 0), count(o, "temporal_patch_size", temporal), count(o, "min_frames", 4), count(o, "max_frames", most),
		}
	}
}

func (s stepped) indices(m Metadata) ([]int, error) {
	n, t := float64(m.Frames), float64(s.temporal)
	var k float64
	switch {
	case s.num > 0:
		k = math.RoundToEven(float64(s.num)/t) * t
	case s.fps == 0:
		return nil, fmt.Errorf("%w: neither num_frames nor fps is set, and the class needs one of them", ErrSample)
	case m.FPS == 0:
		return nil, lacks("fps", "the class samples by fps")
	default:
		most := math.Floor(min(float64(s.most), n)/t) * t
		k = float64(n/m.FPS) * s.fps
		k = min(max(k, float64(s.least)), most, n)
		k = math.Floor(k/t) * t
	}
	switch {
	case k > n:
		return nil, exceeds(k, m.Frames)
	case k == 0:
		return nil, fmt.Errorf("%w: %d frames are less than temporal_patch_size %d", ErrSample, m.Frames, s.temporal)
	}
	return arange(0, m.Frames, n/k)
}

// ernie is the rule of ERNIE 4.5-VL: the number of frames may have a fraction.
type ernie struct {
	rates
	least, most int
}

func readErnie(o *importer.Object) sampler {
	s := ernie{exclusive(o, 0, 0), count(o, "min_frames", 16), count(o, "max_frames", 180)}
	if s.num > 0 && (s.num < s.least || s.num > s.most) {
		o.Bad("num_frames", fmt.Sprintf("a number from min_frames, %d, to max_frames, %d", s.least, s.most))
	}
	return s
}

func (s ernie) indices(m Metadata) ([]int, error) {
	n := float64(m.Frames)
	k := float64(s.num)
	if s.num == 0 {
		if k = n; s.fps > 0 {
			if m.FPS == 0 {
				return nil, lacks("fps", "the class samples by fps")
			}
			k = float64(n/m.FPS) * s.fps
		}
		k = min(max(k, float64(s.least)), float64(s.most), n)
	}
	if k > n {
		return nil, exceeds(k, m.Frames)
	}
	return arange(0, m.Frames, n/k)
}

// internVL is the rule of InternVL. num_frames has priority over fps.
type internVL struct {
	rates
	middle bool    // initial_shift is true: half a step
	shift  float64 // else
}

func readInternVL(o *importer.Object) sampler {
	s := internVL{rates: readRates(o, 0, 0), middle: true}
	v, ok := o.Get("initial_shift")
	f, number := importer.Float(v)
	switch b, boolean := v.(bool); {
	case !ok:
	case boolean:
		s.middle = b
	case number && f >= 0 && f <= MaxFrames:
		s.middle, s.shift = false, f
	default:
		o.Bad("initial_shift", "true, false, or the first frame's number, at most 1048576")
	}
	return s
}

func (s internVL) indices(m Metadata) ([]int, error) {
	n, k := float64(m.Frames), s.num
	if k == 0 && s.fps > 0 {
		if m.FPS == 0 {
			return nil, lacks("fps", "the class samples by fps")
		}
		if k = trunc(float64(n/m.FPS) * s.fps); k == 0 {
			return nil, fmt.Errorf("%w: %d frames at fps %v have no frame at fps %v", ErrSample, m.Frames, m.FPS, s.fps)
		}
	}
	switch {
	case k == 0:
		return nil, fmt.Errorf("%w: neither num_frames nor fps is set, and the class needs one of them", ErrSample)
	case k > m.Frames:
		return nil, exceeds(float64(k), m.Frames)
	}
	start := s.shift
	if s.middle {
		start = float64(n/float64(k)) / 2
	}
	return arange(start, m.Frames, n/float64(k))
}

// molmo2 is the rule of Molmo2.
type molmo2 struct {
	rates
	mostFPS float64 // max_fps
}

func readMolmo2(o *importer.Object) sampler {
	return molmo2{exclusive(o, 64, 0), rate(o, "max_fps", 2)}
}

func (s molmo2) indices(m Metadata) ([]int, error) {
	fps, d := m.FPS, m.Duration
	if fps == 0 {
		if fps = s.fps; fps == 0 {
			fps = s.mostFPS
		}
		if fps == 0 && d == 0 {
			return nil, lacks("fps", "the file has neither fps nor max_fps, which would replace it")
		}
	}
	if d == 0 {
		d = float64(m.Frames) / fps
	}
	k := s.num
	switch {
	case s.fps > 0:
		k = trunc(d * s.fps)
	case k == 0:
		return nil, fmt.Errorf("%w: neither num_frames nor fps is set, and the class needs one of them", ErrSample)
	case s.mostFPS > 0 && fps > s.mostFPS:
		k = min(k, trunc(d*s.mostFPS))
	}
	k = max(min(k, m.Frames), 1)
	return arange(0, m.Frames, float64(m.Frames)/float64(k))
}

// museGlimmer is the rule of MuseGlimmer: the frames of torch.linspace, whose
// step is a float32, and which counts from both ends.
type museGlimmer struct {
	rates
	temporal int
}

func readMuseGlimmer(o *importer.Object) sampler {
	s := museGlimmer{readRates(o, 96, 2), count(o, "temporal_patch_size", 2)}
	if s.num == 0 {
		o.Bad("num_frames", "a number, which the class needs")
	}
	if s.fps == 0 {
		o.Bad("fps", "a number, which the class needs")
	}
	return s
}

func (s museGlimmer) indices(m Metadata) ([]int, error) {
	fps := m.FPS
	if fps == 0 {
		fps = 24 // the reference warns
	}
	k := min(trunc(float64(float64(m.Frames)*s.fps)/fps), s.num, m.Frames)
	k = max(s.temporal, k/s.temporal*s.temporal)
	k = min(k, m.Frames)
	l := make([]int, k)
	for i, v := range torchLinspace(0, m.Frames-1, k) {
		l[i] = int(v)
	}
	return l, nil
}
