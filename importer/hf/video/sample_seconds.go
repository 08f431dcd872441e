package video

import (
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/importer"
)

// smolVLM is the rule of SmolVLM: even steps, of long videos without a second
// at either end. Both num_frames and fps apply.
type smolVLM struct{ rates }

// readSmolVLM reads the settings, which those of video_sampling replace.
func readSmolVLM(o *importer.Object) sampler {
	s := smolVLM{readRates(o, 0, 0)}
	if v := o.Object("video_sampling"); v != nil {
		s.num, s.fps = count(v, "max_frames", 0), rate(v, "fps", 0)
		for _, key := range []string{"max_frames", "fps"} {
			if !v.Has(key) {
				v.Bad(key, "a number, as in all of video_sampling")
			}
		}
		v.Inert("video_size")
	} else if o.Has("video_sampling") {
		o.Bad("video_sampling", "an object with max_frames and fps")
	}
	return s
}

func (s smolVLM) indices(m Metadata) ([]int, error) {
	switch {
	case m.FPS == 0:
		return nil, lacks("fps", "the class needs it")
	case s.num == 0 || s.fps == 0:
		return nil, fmt.Errorf("%w: num_frames or fps is not set, and the class needs both", ErrSample)
	case m.Duration == 0:
		return nil, lacks("duration", "the class needs it")
	}
	k := max(min(trunc(math.RoundToEven(s.fps*m.Duration)), s.num), 1)
	a, b := 0, m.Frames-1
	if m.Duration-2 > float64(s.num)*s.fps {
		a, b = trunc(m.FPS), trunc(float64(m.Frames)-m.FPS)
	}
	if b = min(b, m.Frames-1); a >= b {
		a, b = 0, m.Frames-1
	}
	l, err := floors(a, b, k)
	slices.Sort(l)
	return slices.Compact(l), err
}

// embeddingGemma2 is the rule of EmbeddingGemma 2. Without fps or duration of
// the video it takes all frames, up to max_frames.
type embeddingGemma2 struct {
	fps      float64
	most     int // max_frames
	overflow string
}

func readEmbeddingGemma2(o *importer.Object) sampler {
	if o.Has("num_frames") && !o.Null("num_frames") {
		o.Bad("num_frames", "null: the class samples by fps and max_frames")
	}
	o.Inert("num_frames")
	s := embeddingGemma2{rate(o, "fps", 1), whole(o, "max_frames", 32), "uniform"}
	s.overflowOf(o)
	return s
}

// overflowOf reads overflow_strategy.
func (s *embeddingGemma2) overflowOf(o *importer.Object) {
	if o.Has("overflow_strategy") {
		s.overflow = o.String("overflow_strategy")
	}
	switch s.overflow {
	case "", "uniform", "truncate":
	default:
		o.Bad("overflow_strategy", "uniform, truncate or null")
	}
	if s.overflow != "" && s.most == 0 {
		o.Bad("max_frames", "a number, for overflow_strategy")
	}
}

func (s embeddingGemma2) indices(m Metadata) ([]int, error) {
	l := all(m.Frames)
	if s.fps > 0 && m.FPS > 0 && m.Duration > 0 {
		step := m.FPS / s.fps
		k := max(1, trunc(m.Duration*s.fps))
		if err := bounded(float64(k)); err != nil {
			return nil, err
		}
		l = make([]int, k)
		for i := range l {
			l[i] = min(m.Frames-1, trunc(float64(i)*step))
		}
	}
	switch {
	case s.overflow == "" || len(l) <= s.most:
		return l, nil
	case s.overflow == "truncate":
		return l[:s.most], nil
	}
	return spread(l, s.most)
}

// spread returns k of the frames in even steps.
func spread(l []int, k int) ([]int, error) {
	at, err := floors(0, len(l)-1, k)
	for i, j := range at {
		at[i] = l[j]
	}
	return at, err
}

// miniCPM is the rule of MiniCPM-V 4.6: a frame each second, of long videos ten
// frames each second of which max_num_frames are taken. The frames that stacks
// need come behind them.
type miniCPM struct{ most, stack int }

func readMiniCPM(o *importer.Object) sampler {
	o.Inert("fps", "num_frames")
	s := miniCPM{count(o, "max_num_frames", 128), 1}
	if v, ok := o.Get("stack_frames"); ok {
		n, whole := importer.Int(v, 0, 1024)
		if !whole && v != nil {
			o.Bad("stack_frames", "null or a number of 0 to 1024")
		}
		s.stack = n
	}
	return s
}

func (s miniCPM) indices(m Metadata) ([]int, error) {
	switch {
	case m.FPS == 0:
		return nil, lacks("fps", "the class needs it")
	case m.Duration == 0:
		return nil, lacks("duration", "the class needs it")
	}
	d, last := m.Duration, m.Frames-1
	seconds := math.Ceil(d)
	if err := bounded(max(d/0.1, seconds*float64(max(s.stack, 1)))); err != nil {
		return nil, err
	}
	var l []int
	if d > float64(s.most) {
		for i := range trunc(d / 0.1) {
			l = append(l, min(trunc(float64(float64(i)/10)*m.FPS), last))
		}
	} else {
		for i := range int(seconds) {
			l = append(l, trunc(float64(i)*m.FPS))
		}
	}
	var err error
	if d > float64(s.most) && len(l) > s.most {
		if l, err = spread(l, s.most); err != nil {
			return nil, err
		}
	}
	if s.stack < 2 {
		return l, nil
	}
	var sub []int
	for i := range int(seconds) {
		for j := 1; j < s.stack; j++ {
			if t := float64(i) + float64(float64(j)/float64(s.stack)); t < d {
				sub = append(sub, min(trunc(t*m.FPS), last))
			}
		}
	}
	if k := int64(s.most) * int64(s.stack-1); int64(len(sub)) > k {
		if sub, err = spread(sub, int(k)); err != nil {
			return nil, err
		}
	}
	return append(l, sub...), nil
}
