package video

import (
	"math"

	"github.com/infer-prep/infer-prep/importer"
)

// glmFPS is the default of the GLM classes, whose num_frames has no influence.
const glmFPS = 2

// readFPS reads a fps that must not be null. num_frames is ignored.
func readFPS(o *importer.Object) float64 {
	o.Inert("num_frames")
	f := rate(o, "fps", glmFPS)
	if f == 0 {
		o.Bad("fps", "a number, which the class needs")
	}
	return f
}

// length returns the duration, computed from fps if it is unknown.
func (m Metadata) length() (float64, error) {
	switch {
	case m.FPS == 0:
		return 0, lacks("fps", "the class needs it")
	case m.Duration > 0:
		return m.Duration, nil
	}
	return math.RoundToEven(float64(m.Frames-1)/m.FPS) + 1, nil
}

// glm4v is the rule of GLM-4.1V.
type glm4v struct {
	fps, most float64 // most is max_duration, in seconds
}

func readGlm4v(o *importer.Object) sampler {
	return glm4v{readFPS(o), float64(count(o, "max_duration", 300))}
}

func (s glm4v) indices(m Metadata) ([]int, error) {
	d, err := m.length()
	if err != nil {
		return nil, err
	}
	var l []int
	if d <= s.most {
		n := max(math.Floor(d*s.fps), 1)
		if err := bounded(n); err != nil {
			return nil, err
		}
		for i := range int(n) {
			l = append(l, min(m.Frames-1, trunc(math.Ceil(float64(float64(i)*m.FPS)/s.fps))))
		}
		return even(l), nil
	}
	k := trunc(s.most * s.fps)
	if k >= m.Frames {
		return even(all(m.Frames)), nil
	}
	seconds, err := linspace(0, d, k)
	for _, t := range seconds {
		l = append(l, min(m.Frames-1, trunc(math.Ceil(t*m.FPS))))
	}
	return even(l), err
}

// glmClock is the rule of later GLM classes: it takes the first frame at or
// behind each tick of a clock, and even steps if these are not the wanted
// number.
type glmClock struct {
	fps  float64
	most int // max_frames
	// temporal is that of GLM-4.6V, whose fps depends on the duration; else 0.
	temporal int
	// ratio reports that frames of a video that is too short are those of
	// Glmga, i·n/k.
	ratio bool
	// longest is max_duration of GLM-5, 0 for none.
	longest float64
}

func readGlm46V(o *importer.Object) sampler {
	o.Inert("fps", "num_frames", "max_duration")
	return glmClock{most: 640, temporal: count(o, "temporal_patch_size", 2)}
}

func readGlmga(o *importer.Object) sampler {
	o.Inert("max_duration")
	return glmClock{fps: readFPS(o), most: count(o, "max_frames", 640), ratio: true}
}

func readGlm5Next(o *importer.Object) sampler {
	longest := o.Int("max_duration", 0, -importer.MaxSide, importer.MaxSide)
	return glmClock{fps: readFPS(o), most: count(o, "max_frames", 2048), longest: float64(max(longest, 0))}
}

func (s glmClock) indices(m Metadata) ([]int, error) {
	d, err := m.length()
	if err != nil {
		return nil, err
	}
	var k int
	var tick, end float64
	switch {
	case s.temporal > 0:
		var fps float64
		fps, k = glm46VRate(d, s.temporal)
		tick, end = 1/(float64(s.temporal)*fps), float64(trunc(d))
	case s.ratio:
		k = trunc(d * s.fps)
		tick = 1 / s.fps
		end = d - tick
	default:
		capped := d
		if s.longest > 0 {
			capped = min(d, s.longest)
		}
		k = trunc(capped * s.fps)
		tick, end = 1/s.fps, float64(trunc(d))
	}
	k = min(k, s.most)
	if err := bounded(float64(k)); err != nil {
		return nil, err
	}
	l, err := s.ticks(m, k, tick, end)
	if err != nil {
		return nil, err
	}
	l, err = spreadClock(l, k, m.Frames)
	return even(l), err
}

// ticks returns the frames at the ticks before end, or k frames of a video that
// has less.
func (s glmClock) ticks(m Metadata, k int, tick, end float64) (l []int, err error) {
	if m.Frames < k {
		if !s.ratio {
			return floors(0, m.Frames-1, k)
		}
		return ratios(m.Frames, k)
	}
	return clock(m.Frames, 1/m.FPS, tick, end), nil
}

// clock returns the frames at the ticks before end, given the seconds of a
// frame.
func clock(frames int, perFrame, tick, end float64) (l []int) {
	now := 0.0
	for i := range frames {
		if float64(float64(i)*perFrame) < now {
			continue
		}
		now += tick
		l = append(l, i)
		if now >= end {
			break
		}
	}
	return l
}

// spreadClock returns l, or k frames in even steps if it has another number.
func spreadClock(l []int, k, frames int) ([]int, error) {
	switch n := len(l); {
	case n < k && n == 0, n > k:
		return floors(0, frames-1, k)
	case n < k:
		return floors(l[0], l[n-1], k)
	}
	return l, nil
}

// glm46VRate returns GLM-4.6V's frames a second for a video of d seconds, and
// the number of frames, at most 640.
func glm46VRate(d float64, temporal int) (fps float64, k int) {
	const longest, most = 2400, 640
	fps = 0.5
	e := min(d, longest)
	switch {
	case e <= 30:
		fps = 3
	case e <= 300:
		fps = 1
	}
	return fps, min(trunc(float64(e*fps)*float64(temporal)), most)
}

// ratios returns i·n/k for i below k.
func ratios(n, k int) ([]int, error) {
	if err := bounded(float64(k)); err != nil {
		return nil, err
	}
	l := make([]int, k)
	for i := range l {
		l[i] = trunc(math.Floor(float64(i) * float64(n) / float64(k)))
	}
	return l, nil
}
