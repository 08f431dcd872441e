package binding

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
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

// VideoConfig returns the configuration of the video processor of a model's
// folder, which AutoVideoProcessor would choose.
func VideoConfig(folder string) ([]byte, error) {
	_, data, err := video.FromModel(func(name string) ([]byte, error) {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
		if err == nil && len(b) > maxConfig {
			err = fmt.Errorf("infer_prep: video: %w: %s has more than %d bytes", errInput, f.Name(), maxConfig)
		}
		return b, err
	})
	return data, err
}

// maxConfig is the most bytes of a configuration.
const maxConfig = 1 << 20

// Run chooses frames of each video as the processor says, on all processors,
// and lends the batch of its outputs and their names. m has the rate and the
// duration of each video.
func (v *Video) Run(videos [][]Image, m []video.Metadata) (*Tensors, []string, error) {
	if len(videos) == 0 || len(videos) != len(m) {
		return nil, nil, fmt.Errorf("infer_prep: video: %w: %d videos with metadata of %d", errInput, len(videos), len(m))
	}
	runners := make([]*video.Runner, len(videos))
	defer func() {
		for _, r := range runners {
			v.keep(r)
		}
	}()
	each := make([][]*tensor.Tensor, len(videos))
	err := parallel("video", len(videos), func(i int) (err error) {
		if runners[i], err = v.runner(); err != nil {
			return err
		}
		done := func() {}
		defer func() { done() }()
		m[i].Frames = len(videos[i])
		each[i], err = runners[i].Run(m[i], func(k int) (b []byte, err error) {
			done()
			b, done, err = videos[i][k].input()
			return b, err
		})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	outputs, batch, err := v.processor.Batch(each, codec.Limits{})
	if err != nil {
		return nil, nil, err
	}
	t := &Tensors{}
	var names []string
	for i, x := range batch {
		t.list = append(t.list, *x)
		names = append(names, outputs[i].Name)
	}
	return t, names, nil
}

// runner returns a runner, which keep takes back.
func (v *Video) runner() (*video.Runner, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return nil, fmt.Errorf("infer_prep: the video processor %w", errClosed)
	}
	n := len(v.spare)
	if n == 0 {
		return v.processor.NewRunner(codec.Limits{}), nil
	}
	r := v.spare[n-1]
	v.spare = v.spare[:n-1]
	return r, nil
}

// keep stores a runner for later videos. It ignores nil.
func (v *Video) keep(r *video.Runner) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if r != nil && !v.closed && len(v.spare) < maxStacks {
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
