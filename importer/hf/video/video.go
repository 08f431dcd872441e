// Package video imports Hugging Face's video_preprocessor_config.json.
//
// The reference is transformers 5.23.0: AutoVideoProcessor.from_pretrained(d),
// called with the frames of one video, a tensor T, H, W, 3 of bytes, and with
// its metadata. The package does not decode video files: a caller has frames.
//
// A file becomes two parts. The sampler of the class chooses frames by their
// numbers: one file for each family, a struct whose fields are its settings and
// a pure method indices. Its arithmetic is that of Python's doubles, or of
// torch.arange and torch.linspace (arange.go). The frame graph is a graph for
// one image; most classes treat each frame by itself, and package hf already
// imports that graph. A Processor joins both: it samples, runs the graph on
// each chosen frame, and places the values by the layout of the class.
//
// A class registers itself with define in the file of its family. If neither
// file nor metadata say something that the reference needs, the error names it.
//
// Other programs choose frames before a video processor does: NewSampling has
// the samplers of qwen-vl-utils, vLLM and SGLang.
package video

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
)

// Metadata describes a video, as transformers' VideoMetadata does.
type Metadata struct {
	// Frames is the number of the video's frames, total_num_frames; at least 1.
	Frames int
	// FPS is the number of frames a second. 0 means unknown.
	FPS float64
	// Duration is the length in seconds. 0 means unknown.
	Duration float64
}

// Or returns m with the rate and the duration of known where m has none.
func (m Metadata) Or(known Metadata) Metadata {
	m.FPS, m.Duration = cmp.Or(m.FPS, known.FPS), cmp.Or(m.Duration, known.Duration)
	return m
}

// MaxFrames is the largest number of frames of a video.
const MaxFrames = 1 << 20

// check returns an error for values outside their ranges.
func (m Metadata) check() error {
	switch {
	case m.Frames < 1 || m.Frames > MaxFrames:
		return fmt.Errorf("%w: total_num_frames %d, want 1 to %d", ErrMetadata, m.Frames, MaxFrames)
	case !valid(m.FPS):
		return fmt.Errorf("%w: fps %v, want a number above 0 and at most 1e9, or 0 if unknown", ErrMetadata, m.FPS)
	case !valid(m.Duration):
		return fmt.Errorf("%w: duration %v, want a number above 0 and at most 1e9 seconds, or 0 if unknown", ErrMetadata, m.Duration)
	}
	return nil
}

// valid reports whether v is 0 or a positive number that every sampler can
// compute with.
func valid(v float64) bool { return v == 0 || v >= 1e-9 && v <= 1e9 }

// sampler chooses frames. It is a pure function of the metadata.
type sampler interface {
	indices(m Metadata) ([]int, error)
}

// class is one of transformers' video processors, without the suffix.
type class struct {
	name string
	// sampler reads the settings of sample_frames.
	sampler func(o *importer.Object) sampler
	// samples is the default of do_sample_frames.
	samples bool
	// partial is the reason why the class's defaults are refused.
	partial string
	// layout reads the other settings.
	layout func(c class, o *importer.Object, data []byte) (layout, error)
}

// suffix ends the names of video processors.
const suffix = "VideoProcessor"

var classes = map[string]class{}

// define adds classes. The files of the families call it from init functions.
func define(l ...class) {
	for _, c := range l {
		if _, ok := classes[c.name]; ok || c.sampler == nil || c.layout == nil {
			panic("video: class " + c.name + " is defined twice or not wholly")
		}
		classes[c.name] = c
	}
}

// Class is one of transformers' video processors.
type Class struct {
	// Name is the class's name, such as "VideoMAEVideoProcessor".
	Name string
	// Partial is the reason why Import refuses the class's own defaults; if it
	// is empty, their outputs are exact. ImportSampling is exact for all
	// classes.
	Partial string
}

// Classes lists the video processors of transformers 5.23.0, sorted by name.
func Classes() []Class {
	l := []Class{}
	for _, c := range classes {
		l = append(l, Class{c.name + suffix, c.partial})
	}
	slices.SortFunc(l, func(a, b Class) int { return strings.Compare(a.Name, b.Name) })
	return l
}

// Sampling chooses the frames of videos. It is immutable, and safe for
// concurrent use.
type Sampling struct {
	class   string
	sampler sampler // nil if do_sample_frames is false
}

// ImportSampling reads how a file's class chooses frames. It reads the settings
// of the sampling only, for any class. Errors wrap those of package importer.
func ImportSampling(data []byte) (*Sampling, error) {
	file, o, c, err := parse(data)
	if err != nil {
		return nil, err
	}
	s := readSampling(o, c)
	o.InertAll() // about pixels
	if err := file.Err("hf/video"); err != nil {
		return nil, err
	}
	return s, nil
}

// readSampling reads the settings of the sampling if do_sample_frames is true.
func readSampling(o *importer.Object, c class) *Sampling {
	s := &Sampling{class: c.name + suffix}
	if o.Bool("do_sample_frames", c.samples) {
		s.sampler = c.sampler(o)
	}
	// Only samplers read these keys.
	o.Inert("num_frames", "fps", "min_frames", "max_frames", "max_duration", "max_fps", "initial_shift", "overflow_strategy", "max_num_frames", "stack_frames")
	return s
}

// Class returns the name of the class, such as "VideoMAEVideoProcessor".
func (s *Sampling) Class() string { return s.class }

// Indices returns the numbers of the chosen frames, at least one, each of 0 to
// m.Frames-1, in the order of the model's input. A number may repeat. Errors
// wrap ErrMetadata if the metadata lacks something or is invalid, else
// ErrSample, where the reference raises an exception too.
func (s *Sampling) Indices(m Metadata) ([]int, error) {
	err := m.check()
	var l []int
	switch {
	case err != nil:
	case s.sampler == nil:
		l = make([]int, m.Frames)
		for i := range l {
			l[i] = i
		}
	default:
		l, err = s.sampler.indices(m)
	}
	if err == nil {
		err = within(l, m.Frames)
	}
	if err != nil {
		return nil, fmt.Errorf("video: %s: sample: %w", s.class, err)
	}
	return l, nil
}

// within checks that frames exist.
func within(l []int, frames int) error {
	if len(l) == 0 {
		return fmt.Errorf("%w: no frame is chosen", ErrSample)
	}
	for _, i := range l {
		if i < 0 || i >= frames {
			return fmt.Errorf("%w: the class asks for frame %d of %d, which transformers rejects with an IndexError", ErrSample, i, frames)
		}
	}
	return nil
}
