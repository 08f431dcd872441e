package video

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// The versions of the programs whose samplers NewSampling has.
const (
	QwenVLUtilsVersion = "0.0.14"
	VLLMVersion        = "0.33.0"
	SGLangVersion      = "0.5.23"
)

// engines are the samplers of other programs, by their names.
var engines = map[string]func(o *importer.Object) sampler{}

// defineEngine adds a sampler. The files of the programs call it from init
// functions.
func defineEngine(name string, read func(o *importer.Object) sampler) {
	if _, ok := engines[name]; ok {
		panic("video: sampler " + name + " is defined twice")
	}
	engines[name] = read
}

// Samplers lists the samplers of NewSampling, sorted by name.
func Samplers() []string {
	l := []string{}
	for name := range engines {
		l = append(l, name)
	}
	slices.Sort(l)
	return l
}

// NewSampling returns how another program chooses frames of a video. settings
// is a JSON object, or empty:
//
//   - qwen-vl-utils: an element of a message with fps or nframes, min_frames,
//     max_frames, video_start and video_end. Its readers are decord's and
//     TorchCodec's; torchvision's is the same without start and end.
//   - vllm/NAME: the video's entry of media_io_kwargs. NAME is a loader of
//     VIDEO_LOADER_REGISTRY, which a model's processor selects: opencv, the
//     default, opencv_dynamic, qwen2_vl, qwen3_vl, glm46v and others. backend
//     is opencv, the default, which reads each frame once and takes the
//     duration from the number of frames and fps, or torchcodec.
//   - sglang/NAME: the video's entry of mm_process_config. NAME is the module
//     of the model's processor: qwen_vl, glm4v and others. sglang/glm4v applies
//     if max_frames is set, or the model's processor samples nothing.
//
// Samplers lists the names. Sampling.Class returns the name. The results are
// those of the versions QwenVLUtilsVersion, VLLMVersion and SGLangVersion.
// Errors wrap those of package importer.
func NewSampling(name string, settings []byte) (*Sampling, error) {
	read, ok := engines[name]
	if !ok {
		return nil, fmt.Errorf("video: unknown sampler %q%s: want one of %s", name, registry.DidYouMean(name, Samplers()), strings.Join(Samplers(), ", "))
	}
	if len(settings) == 0 {
		settings = []byte("{}")
	}
	o, err := importer.Parse(settings)
	if err != nil {
		return nil, err
	}
	s := &Sampling{class: name, sampler: read(o)}
	if err := o.Err("video: " + name); err != nil {
		return nil, err
	}
	return s, nil
}

// WithSampling returns a Processor that takes the frames of s, as if the
// video's frames were already chosen and do_sample_frames was false.
func (p *Processor) WithSampling(s *Sampling) *Processor {
	return &Processor{sampling: s, layout: p.layout}
}

// smart is smart_nframes of qwen-vl-utils, which SGLang copies: an even number
// of frames.
type smart struct {
	rates
	least, most int // min_frames and max_frames; most is at most the frames if it is the default
	given       bool
}

// readSmart reads the settings. The defaults of least and most are given.
func readSmart(o *importer.Object, least, most int) smart {
	s := smart{rates{fps: 2}, count(o, "min_frames", least), count(o, "max_frames", most), o.Has("max_frames")}
	if o.Has("nframes") {
		s.num = count(o, "nframes", 0)
		if o.Has("fps") {
			o.Bad("nframes", "only one of nframes and fps")
		}
	}
	if s.fps = rate(o, "fps", 2); s.fps == 0 {
		o.Bad("fps", "a number above 0 and at most 1e9")
	}
	return s
}

// frames returns the number of frames of a video of n.
func (s smart) frames(n int, fps float64) (int, error) {
	total := float64(n)
	k := math.RoundToEven(float64(s.num)/2) * 2
	if s.num == 0 {
		if fps == 0 {
			return 0, lacks("fps", "the sampler needs it")
		}
		least, most := math.Ceil(float64(s.least)/2)*2, s.most
		if !s.given {
			most = min(most, n)
		}
		k = float64(total/fps) * s.fps
		k = min(max(k, least), math.Floor(float64(most)/2)*2, total)
		k = math.Floor(k/2) * 2
	}
	if k < 2 || k > total {
		return 0, fmt.Errorf("%w: %v frames of %d, want 2 to that number", ErrSample, k, n)
	}
	return int(k), nil
}

// unique sorts frames and drops repeated ones.
func unique(l []int) []int {
	slices.Sort(l)
	return slices.Compact(l)
}
