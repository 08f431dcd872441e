package video

// Sampled describes the chosen frames of a video, as the VideoMetadata that
// transformers' processors return with return_metadata.
type Sampled struct {
	// Metadata is the video's, with the fps and the duration that the class
	// assumes where they are unknown.
	Metadata
	// Indices are the numbers of the chosen frames, frames_indices.
	Indices []int

	singles bool // the reference's indices are a tensor
}

// assumer is a sampler that changes metadata which is unknown.
type assumer interface{ assume(m Metadata) Metadata }

// tensorSampler marks a sampler whose indices are a tensor of torch in the
// reference. A tensor divided by a number is a float32.
type tensorSampler interface{ tensor() }

// Sample chooses frames as Indices does and describes them. Its errors are
// those of Indices.
func (s *Sampling) Sample(m Metadata) (Sampled, error) {
	l, err := s.Indices(m)
	if err != nil {
		return Sampled{}, err
	}
	if a, ok := s.sampler.(assumer); ok {
		m = a.assume(m)
	}
	_, singles := s.sampler.(tensorSampler)
	return Sampled{m, l, singles}, nil
}

// Timestamps returns the times of the chosen frames in seconds: the property
// timestamps of VideoMetadata. Classes whose reference computes them in float32
// give such values. The error, if fps is unknown, wraps ErrMetadata.
func (s Sampled) Timestamps() ([]float64, error) {
	if s.FPS == 0 {
		return nil, lacks("fps", "timestamps need it")
	}
	l := make([]float64, len(s.Indices))
	for i, n := range s.Indices {
		if l[i] = float64(n) / s.FPS; s.singles {
			l[i] = float64(float32(n) / float32(s.FPS))
		}
	}
	return l, nil
}

// SampledFPS returns the chosen frames a second: the property sampled_fps of
// VideoMetadata, which is 24 if fps is unknown.
func (s Sampled) SampledFPS() float64 {
	if s.FPS == 0 {
		return 24
	}
	return float64(len(s.Indices)) / float64(s.Frames) * s.FPS
}

// SecondsPerGrid returns second_per_grid_ts, the seconds of a row of patches in
// time, which Qwen2.5-VL's processor computes for Qwen2VLVideoProcessor. ok is
// false for other classes. Qwen2.5-Omni's processors divide temporal_patch_size
// by the fps of the call instead.
func (p *Processor) SecondsPerGrid(s Sampled) (seconds float64, ok bool) {
	l, ok := p.layout.(*patcher)
	if !ok || l.class.name != "Qwen2VL" {
		return 0, false
	}
	return float64(l.temporal) / s.SampledFPS(), true
}

func (stepped) tensor()     {}
func (ernie) tensor()       {}
func (internVL) tensor()    {}
func (molmo2) tensor()      {}
func (museGlimmer) tensor() {}

func (s evenly) assume(m Metadata) Metadata {
	if m.FPS == 0 && s.num == 0 && s.fps > 0 {
		m.FPS = 24
	}
	return m
}

func (s museGlimmer) assume(m Metadata) Metadata {
	if m.FPS == 0 {
		m.FPS = 24
	}
	return m
}

func (s molmo2) assume(m Metadata) Metadata {
	if m.FPS == 0 {
		if m.FPS = s.fps; m.FPS == 0 {
			m.FPS = s.mostFPS
		}
	}
	if m.Duration == 0 && m.FPS > 0 {
		m.Duration = float64(m.Frames) / m.FPS
	}
	return m
}
