package video

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/importer"
)

// vllm is a loader of vLLM: its rule and what its decoder reads.
type vllm struct {
	rule interface {
		// choose returns the frames that the decoder is asked for. d is the
		// duration, and 0 for d and m.FPS means unknown.
		choose(m Metadata, d float64) ([]int, error)
	}
	torchcodec bool
	// estimates reports that an unknown duration is that of transformers' GLM
	// classes.
	estimates bool
	// asked reports that repeated frames are kept, even reports that the last
	// of an odd number is repeated.
	asked, even bool
}

func init() {
	// sole reports that a loader reads by OpenCV only.
	define := func(name string, sole bool, read func(o *importer.Object, l *vllm)) {
		defineEngine("vllm/"+name, func(o *importer.Object) sampler {
			l := &vllm{}
			if o.Has("backend") && !sole {
				switch b := o.String("backend"); b {
				case "opencv":
				case "torchcodec":
					l.torchcodec = true
				default:
					o.Bad("backend", "opencv or torchcodec: others need a GPU")
				}
			}
			o.Inert("num_ffmpeg_threads", "seek_mode")
			read(o, l)
			o.Inert("num_frames", "fps", "max_duration")
			if o.Has("frame_recovery") && o.Bool("frame_recovery", false) {
				o.Bad("frame_recovery", "false: it reads other frames for damaged ones")
			}
			return l
		})
	}
	uniform := func(o *importer.Object, l *vllm) { l.rule = vllmUniform{limits(o, -1)} }
	define("opencv", false, uniform)
	define("nemotron_vl", false, uniform)
	define("opencv_dynamic", false, func(o *importer.Object, l *vllm) {
		s := glm4v{given(o, "fps", 2), 300}
		if o.Has("max_duration") {
			s.most = given(o, "max_duration", 300)
		}
		l.rule, l.estimates = vllmDynamic(s), true
	})
	define("qwen2_vl", false, func(o *importer.Object, l *vllm) {
		l.rule = vllmQwen2{stepped{
			rates{fps: min(given(o, "fps", 2), 30)}, count(o, "temporal_patch_size", 2), count(o, "min_frames", 4), min(count(o, "max_frames", 768), 768),
		}}
	})
	define("qwen3_vl", false, func(o *importer.Object, l *vllm) {
		l.rule = vllmQwen3{evenly{rates{fps: min(given(o, "fps", 2), 30)}, count(o, "min_frames", 4), min(count(o, "max_frames", 768), 768)}}
	})
	define("embedding_gemma2", false, func(o *importer.Object, l *vllm) {
		l.asked, l.rule = true, vllmGemma{readVLLMGemma(o)}
	})
	define("glm46v", false, func(o *importer.Object, l *vllm) {
		l.rule, l.estimates = vllmGlm46V{count(o, "temporal_patch_size", 2)}, true
	})
	define("glm5next", false, func(o *importer.Object, l *vllm) {
		s := vllmGlm5{fps: limits(o, -1).fps, most: count(o, "max_frames", 2048), temporal: count(o, "temporal_patch_size", 2)}
		if s.fps == 0 {
			s.fps = 2
		}
		l.rule, l.estimates = s, true
	})
	define("glmga", false, func(o *importer.Object, l *vllm) {
		l.rule, l.estimates, l.even = vllmGlmga{min(given(o, "fps", 2), 30), min(count(o, "max_frames", 640), 640)}, true, true
	})
	define("molmo2", true, func(o *importer.Object, l *vllm) { l.rule = readVLLMMolmo2(o) })
	define("openpangu", true, func(o *importer.Object, l *vllm) { l.rule = vllmPangu{limits(o, 2)} })
	define("clef_omni", false, func(o *importer.Object, l *vllm) { l.rule, l.even = vllmClef{given(o, "fps", 2)}, true })
}

func (l *vllm) indices(m Metadata) ([]int, error) {
	d := m.Duration
	if !l.torchcodec {
		if d = 0; m.FPS > 0 {
			d = float64(m.Frames) / m.FPS
		}
	}
	if d == 0 && l.estimates && m.FPS > 0 {
		d = math.RoundToEven(float64(m.Frames-1)/m.FPS) + 1
	}
	c, err := l.rule.choose(m, d)
	if err != nil {
		return nil, err
	}
	if !l.torchcodec && !l.asked {
		c = unique(c)
	}
	if l.even && len(c)%2 == 1 {
		c = append(c, c[len(c)-1])
	}
	return c, nil
}

// given reads a fps or another number above 0 that must not be null.
func given(o *importer.Object, key string, def float64) float64 {
	f := rate(o, key, def)
	if f == 0 {
		o.Bad(key, "a number above 0 and at most 1e9")
	}
	return f
}

// limits reads num_frames, whose default is 32, and fps. -1 means no limit,
// which becomes 0.
func limits(o *importer.Object, fps float64) rates {
	r := rates{num: o.Int("num_frames", 32, -1, importer.MaxSide), fps: max(fps, 0)}
	if v, ok := o.Get("fps"); ok {
		if f, number := importer.Float(v); number && f == -1 {
			r.fps = 0
		} else {
			r.fps = given(o, "fps", fps)
		}
	}
	return r
}

// vllmUniform takes num_frames frames, or less for fps.
type vllmUniform struct{ rates }

func (s vllmUniform) choose(m Metadata, d float64) ([]int, error) {
	k := m.Frames
	if s.num > 0 {
		k = min(k, s.num)
	}
	if s.fps > 0 {
		k = min(k, trunc(math.Floor(d*s.fps)))
	}
	if k = max(k, 1); k == m.Frames {
		return all(k), nil
	}
	return floors(0, m.Frames-1, k)
}

// vllmDynamic is the rule of GLM-4.1V without its even number of frames.
type vllmDynamic glm4v

func (s vllmDynamic) choose(m Metadata, d float64) ([]int, error) {
	var l []int
	if d <= s.most {
		n := math.Floor(d * s.fps)
		if err := bounded(n); err != nil {
			return nil, err
		}
		for i := range int(n) {
			l = append(l, min(m.Frames-1, trunc(math.Ceil(float64(float64(i)*m.FPS)/s.fps))))
		}
		return unique(l), nil
	}
	k := trunc(s.most * s.fps)
	if k >= m.Frames {
		return all(m.Frames), nil
	}
	seconds, err := linspace(0, d, k)
	for _, t := range seconds {
		l = append(l, min(m.Frames-1, trunc(math.Ceil(t*m.FPS))))
	}
	return unique(l), err
}

// vllmQwen2 is the rule of Qwen2-VL; a number behind the last frame becomes the
// last.
type vllmQwen2 struct{ stepped }

func (s vllmQwen2) choose(m Metadata, _ float64) ([]int, error) {
	l, err := s.indices(m)
	for i := range l {
		l[i] = min(l[i], m.Frames-1)
	}
	return l, err
}

// vllmQwen3 is the rule of Qwen3-VL.
type vllmQwen3 struct{ evenly }

func (s vllmQwen3) choose(m Metadata, _ float64) ([]int, error) { return s.indices(m) }

// vllmGemma is the rule of EmbeddingGemma 2.
type vllmGemma struct{ embeddingGemma2 }

func readVLLMGemma(o *importer.Object) embeddingGemma2 {
	const mostFPS, mostFrames = 60, 128
	s := embeddingGemma2{limits(o, -1).fps, whole(o, "max_frames", 32), "uniform"}
	if s.fps == 0 {
		s.fps = 1
	}
	if s.fps > mostFPS {
		o.Bad("fps", "at most 60")
	}
	if s.most > mostFrames {
		o.Bad("max_frames", "at most 128")
	}
	s.overflowOf(o)
	return s
}

func (s vllmGemma) choose(m Metadata, d float64) ([]int, error) {
	m.Duration = d
	return s.indices(m)
}

// vllmGlm46V is the rule of GLM-4.6V.
type vllmGlm46V struct{ temporal int }

func (s vllmGlm46V) choose(m Metadata, d float64) ([]int, error) {
	fps, k := glm46VRate(d, s.temporal)
	if err := bounded(float64(k)); err != nil {
		return nil, err
	}
	perFrame := 0.0
	if m.FPS > 0 {
		perFrame = 1 / m.FPS
	}
	l, err := floors(0, m.Frames-1, k)
	if m.Frames >= k {
		l = clock(m.Frames, perFrame, 1/(float64(s.temporal)*fps), float64(trunc(d)))
	}
	if err == nil {
		l, err = spreadClock(l, k, m.Frames)
	}
	return even(l), err
}

// vllmGlm5 is the rule of GLM-5.3 Flash. Its clock ticks temporal_patch_size
// times as often as frames are wanted.
type vllmGlm5 struct {
	fps            float64
	most, temporal int
}

func (s vllmGlm5) choose(m Metadata, d float64) ([]int, error) {
	if m.FPS == 0 {
		return nil, lacks("fps", "the sampler needs it")
	}
	k := min(trunc(d*s.fps), s.most)
	l, err := ratios(m.Frames, k)
	if m.Frames >= k {
		l = clock(m.Frames, 1/m.FPS, 1/(float64(s.temporal)*s.fps), float64(trunc(d)))
	}
	if err == nil {
		l, err = spreadClock(l, k, m.Frames)
	}
	return even(l), err
}

// vllmGlmga is the rule of Glmga.
type vllmGlmga struct {
	fps  float64
	most int
}

func (s vllmGlmga) choose(m Metadata, d float64) ([]int, error) {
	if m.FPS == 0 {
		return nil, lacks("fps", "the sampler needs it")
	}
	k := min(trunc(d*s.fps), s.most, m.Frames)
	tick := 1 / s.fps
	l, err := spreadClock(clock(m.Frames, 1/m.FPS, tick, d-tick), k, m.Frames)
	return unique(l), err
}

// vllmMolmo2 has the rules of Molmo 2 of one frame_sample_mode; without one it
// takes all frames.
type vllmMolmo2 struct {
	rates           // fps is sampling_fps
	mode    string  // frame_sample_mode
	mostFPS float64 // max_fps; 0 for null
}

func readVLLMMolmo2(o *importer.Object) vllmMolmo2 {
	s := vllmMolmo2{rates: rates{limits(o, -1).num, float64(o.Int("sampling_fps", 2, 1, importer.MaxSide))}, mostFPS: rate(o, "max_fps", 2)}
	if v, _ := o.Get("frame_sample_mode"); v != nil {
		if s.mode = o.String("frame_sample_mode"); s.mode != "fps" && s.mode != "uniform_last_frame" {
			o.Bad("frame_sample_mode", "fps, uniform_last_frame or null")
		}
	}
	return s
}

func (s vllmMolmo2) choose(m Metadata, d float64) ([]int, error) {
	n := m.Frames
	switch {
	case s.mode == "", s.mode == "uniform_last_frame" && s.mostFPS > 0 && n <= 2:
		return all(n), nil
	case s.mode == "fps":
		return s.steps(m)
	case s.num < 1:
		return nil, fmt.Errorf("%w: num_frames %d, want at least 1 for uniform_last_frame", ErrSample, s.num)
	case s.mostFPS == 0 || d > float64(s.num-1)/s.mostFPS:
		return floors(0, n-1, min(s.num, n))
	case m.FPS == 0:
		return nil, lacks("fps", "the sampler needs it")
	}
	step := m.FPS / s.mostFPS
	count := math.Ceil(float64(n-1) / step)
	if count > float64(s.num) {
		return nil, fmt.Errorf("%w: %v frames, want at most num_frames, %d", ErrSample, count, s.num)
	}
	var l []int
	for i := range int(count) {
		l = append(l, trunc(math.RoundToEven(float64(i)*step)))
	}
	if l[len(l)-1] != n-1 {
		l = append(l, n-1)
	}
	if len(l) > s.num {
		return nil, fmt.Errorf("%w: %d frames, want at most num_frames, %d", ErrSample, len(l), s.num)
	}
	return l, nil
}

// steps takes frames in whole steps: of the multiples of sampling_fps up to 8
// that divide the video's fps, that with the most frames.
func (s vllmMolmo2) steps(m Metadata) ([]int, error) {
	const most = 8
	whole, least := trunc(m.FPS), int(s.fps)
	if whole < 1 || whole%least != 0 {
		return nil, fmt.Errorf("%w: sampling_fps %d, want a divisor of the video's fps, %d", ErrSample, least, whole)
	}
	step, sampled := 0, 0
	for fps := least; fps <= min(whole, most); fps += least {
		if whole%fps != 0 {
			continue
		}
		by := max(trunc(m.FPS/float64(fps)), 1)
		if k := m.Frames / by; sampled == 0 || k <= s.num && k > sampled {
			step, sampled = by, k
		}
	}
	var l []int
	if step == 0 {
		part := float64(m.Frames) / float64(s.num)
		if err := bounded(float64(s.num)); err != nil {
			return nil, err
		}
		for i := range max(s.num, 0) {
			l = append(l, trunc(float64(i)*part))
		}
		return l, nil
	}
	for i := 0; i < m.Frames; i += step {
		l = append(l, i)
	}
	if s.num < 0 { // Python's l[:-1]
		return l[:len(l)-1], nil
	}
	return l[:min(len(l), s.num)], nil
}

// vllmPangu is the rule of openPangu: even times, whose frames are rounded.
type vllmPangu struct{ rates }

func (s vllmPangu) choose(m Metadata, _ float64) ([]int, error) {
	d, k := 0.0, s.num
	if m.FPS > 0 {
		d = float64(m.Frames-1) / m.FPS
	}
	if s.fps > 0 {
		if most := trunc(d*s.fps) + 1; k >= most {
			k = most
			d = min(d, float64(k-1)/s.fps)
		}
	}
	if k < 1 {
		return nil, fmt.Errorf("%w: num_frames %d, want at least 1", ErrSample, k)
	}
	seconds, err := linspace(0, d, k)
	var l []int
	for _, t := range seconds {
		l = append(l, min(m.Frames-1, trunc(math.RoundToEven(t*m.FPS))))
	}
	return l, err
}

// vllmClef is the rule of Clef-Omni: the first frame at or behind each multiple
// of 1/fps seconds.
type vllmClef struct{ fps float64 }

func (s vllmClef) choose(m Metadata, _ float64) ([]int, error) {
	if m.FPS == 0 {
		return nil, lacks("fps", "the sampler needs it")
	}
	const most = 768
	step := m.FPS / s.fps
	var l []int
	for k := 0; ; k++ {
		i := trunc(math.Ceil(float64(float64(k)*step) - 1e-6))
		if i >= m.Frames {
			return l, nil
		}
		if len(l) == most {
			return nil, fmt.Errorf("%w: more than %d frames, want a smaller fps", ErrSample, most)
		}
		l = append(l, i)
	}
}
