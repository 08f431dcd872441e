package binding

import (
	"fmt"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
)

// Video runs a video processor on frames. It is safe for concurrent use.
type Video struct {
	processor *video.Processor

	mu     sync.Mutex
	spare  []*video.Runner
	closed bool
}

// OpenVideo opens a video_preprocessor_config.json.
func OpenVideo(config []byte) (*Video, error) {
	p, err := video.Import(config)
	if err != nil {
		return nil, err
	}
	return &Video{processor: p}, nil
}

// VideoOutput describes an output of a Video.
type VideoOutput struct {
	Name   string `json:"name"`
	Joined bool   `json:"joined"` // the rows of a batch's videos follow one another
}

// Outputs describes the outputs.
func (v *Video) Outputs() (l []VideoOutput) {
	for _, o := range v.processor.Outputs() {
		l = append(l, VideoOutput{o.Name, o.Joined})
	}
	return l
}

// Run chooses frames of a video as the processor says, and lends its outputs.
func (v *Video) Run(frames []Image, fps, duration float64) (*Tensors, error) {
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return nil, fmt.Errorf("infer_prep: the video processor %w", errClosed)
	}
	var r *video.Runner
	if n := len(v.spare); n > 0 {
		r, v.spare = v.spare[n-1], v.spare[:n-1]
	} else {
		r = v.processor.NewRunner(codec.Limits{})
	}
	v.mu.Unlock()
	done := func() {}
	out, err := r.Run(video.Metadata{Frames: len(frames), FPS: fps, Duration: duration}, func(i int) (b []byte, err error) {
		done()
		b, done, err = frames[i].input()
		return b, err
	})
	done()
	if err != nil {
		v.keep(r)
		return nil, err
	}
	t := &Tensors{release: func() { v.keep(r) }}
	for _, x := range out {
		t.list = append(t.list, *x)
	}
	return t, nil
}

// keep keeps a runner for later videos.
func (v *Video) keep(r *video.Runner) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.closed && len(v.spare) < maxStacks {
		v.spare = append(v.spare, r)
	}
}

// Close releases the memory, but not that of tensors that are lent.
func (v *Video) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed, v.spare = true, nil
	return nil
}
