package video

import (
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/importer"
)

func init() {
	smart := func(o *importer.Object) sampler { return sglangSmart{readSmart(o, 4, 768)} }
	defineEngine("sglang/qwen_vl", smart)
	defineEngine("sglang/mimo_v2", smart)
	defineEngine("sglang/ernie45_vl", func(*importer.Object) sampler {
		return sglangSmart{sglangErnie}
	})
	defineEngine("sglang/nano_nemotron_vl", func(*importer.Object) sampler { return sglangNemotron{} })
	defineEngine("sglang/glm4v", func(o *importer.Object) sampler { return sglangGlm{given(o, "fps", 2), count(o, "max_frames", 2048)} })
	defineEngine("sglang/minimax_m3_vl", func(o *importer.Object) sampler { return sglangMiniMax{given(o, "fps", 1), whole(o, "max_frames", 0)} })
	defineEngine("sglang/cosmos3_edge", readSGLangCosmos)
	defineEngine("sglang/gemma4", func(o *importer.Object) sampler { return sglangGemma{count(o, "num_frames", 32)} })
}

// sglangErnie has the constants of ERNIE 4.5-VL, which has no settings.
var sglangErnie = smart{rates: rates{fps: 2}, least: 16, most: 180}

// sglangSmart takes the frames of numpy.linspace, each once.
type sglangSmart struct{ smart }

func (s sglangSmart) indices(m Metadata) ([]int, error) {
	k, err := s.frames(m.Frames, m.FPS)
	if err != nil {
		return nil, err
	}
	l, err := floors(0, m.Frames-1, k)
	return unique(l), err
}

// sglangNemotron takes 2 frames a second, at most 128.
type sglangNemotron struct{}

func (sglangNemotron) indices(m Metadata) ([]int, error) {
	const fps, most = 2, 128
	k := 0
	if m.FPS > 0 {
		k = trunc(math.Floor(float64(float64(m.Frames)/m.FPS) * min(fps, m.FPS)))
	}
	if k = max(1, min(most, k, m.Frames)); k == m.Frames {
		return all(k), nil
	}
	return floors(0, m.Frames-1, k)
}

// sglangGlm is the rule of GLM for max_frames: a clock, and even steps if it
// has another number of ticks.
type sglangGlm struct {
	fps  float64
	most int
}

func (s sglangGlm) indices(m Metadata) ([]int, error) {
	if m.FPS == 0 {
		return nil, lacks("fps", "the sampler needs it")
	}
	d := float64(m.Frames) / m.FPS
	k := max(1, min(trunc(d*s.fps), s.most))
	if err := bounded(float64(k)); err != nil {
		return nil, err
	}
	l, err := spreadClock(clock(m.Frames, 1/m.FPS, 1/s.fps, float64(trunc(d))), k, m.Frames)
	return even(l), err
}

// sglangMiniMax is the rule of MiniMax M3: frames that are at least 1/fps
// seconds apart, and the last one.
type sglangMiniMax struct {
	fps  float64
	most int // max_frames, 0 for none
}

func (s sglangMiniMax) indices(m Metadata) ([]int, error) {
	if m.FPS == 0 {
		return nil, lacks("fps", "the sampler needs it")
	}
	const eps = 1e-4
	l, before, last := []int{0}, 0.0, m.Frames-1
	for {
		t := before + 1/s.fps - eps
		i := max(trunc(math.Ceil(t*m.FPS)), l[len(l)-1]+1)
		if i > last {
			break
		}
		l = append(l, i)
		before = float64(i) / m.FPS
	}
	if l[len(l)-1] != last && float64(last)/m.FPS-before > eps {
		l = append(l, last)
	}
	if s.most == 0 || len(l) <= s.most {
		return l, nil
	}
	end := l[len(l)-1]
	if s.most == 1 {
		return []int{end}, nil
	}
	step := float64(len(l)) / float64(s.most-1)
	chosen := make([]int, s.most)
	for i := range s.most - 1 {
		chosen[i] = l[trunc(float64(i)*step)]
	}
	chosen[s.most-1] = end
	return chosen, nil
}

// sglangCosmos is the rule of Cosmos 3 Edge.
type sglangCosmos struct{ evenly }

func readSGLangCosmos(o *importer.Object) sampler {
	s := sglangCosmos{evenly{rates{fps: given(o, "fps", 2)}, count(o, "min_frames", 4), count(o, "max_frames", 768)}}
	for _, key := range []string{"num_frames", "nframes"} {
		if !o.Has(key) {
			continue
		}
		if s.num > 0 || o.Has("fps") {
			o.Bad(key, "only one of num_frames, nframes and fps")
		}
		s.num = count(o, key, 0)
	}
	if s.most < s.least {
		o.Bad("max_frames", fmt.Sprintf("at least min_frames, %d", s.least))
	}
	return s
}

func (s sglangCosmos) indices(m Metadata) ([]int, error) {
	k := s.num
	if k == 0 {
		fps := m.FPS
		if fps == 0 {
			fps = 24
		}
		k = trunc(float64(float64(m.Frames)/fps) * s.fps)
	}
	k = min(max(s.least, min(s.most, k)), m.Frames)
	l, err := linspace(0, float64(m.Frames-1), k)
	return each(l, math.RoundToEven), err
}

// sglangGemma is the rule of Gemma 4.
type sglangGemma struct{ num int }

func (s sglangGemma) indices(m Metadata) ([]int, error) {
	if m.Frames <= s.num {
		return all(m.Frames), nil
	}
	return arange(0, m.Frames, float64(m.Frames)/float64(s.num))
}
