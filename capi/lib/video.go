//go:build (cgo || wasip1) && !small

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/importer/hf/video"
	"github.com/infer-prep/infer-prep/tensor"
)

// maxConfig is the most bytes of a file of a video processor.
const maxConfig = 1 << 20

// maxJobs is the most videos that run at once: no machine has more processors.
const maxJobs = 1 << 12

// encoded describes a frame. It takes pixels, too.
var encoded = tensor.Desc{DType: tensor.Bytes}

// videoProcessor is an open video processor.
type videoProcessor struct {
	processor *video.Processor
	limits    codec.Limits
	runners   chan *video.Runner // one for each job, nil until it is needed
	config    []byte             // if keepSource
}

func (*videoProcessor) kind() int32 { return kindVideo }

func (*videoProcessor) close() {}

func videoOpen(name *byte, data unsafe.Pointer, n uint64, options *ipOptions, h *uintptr, e *ipError) int32 {
	return do(e, func() error {
		v, err := newVideo(options)
		if err != nil {
			return err
		}
		var b []byte
		if name == nil {
			b, err = bytesOf(address(data), n)
		} else {
			b, err = readVideo(goString(name))
		}
		if err != nil {
			return err
		}
		if err := v.read(b); err != nil {
			return fileError{err}
		}
		*h = put(v)
		return nil
	})
}

// readVideo reads a file, or that of a model's folder.
func readVideo(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("infer_prep: video: %w", err)
	}
	if !info.IsDir() {
		return readConfig(name)
	}
	_, data, err := video.FromModel(func(file string) ([]byte, error) { return readConfig(filepath.Join(name, file)) })
	return data, err
}

func readConfig(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err == nil && len(b) > maxConfig {
		err = fmt.Errorf("infer_prep: video: %s: %w: more than %d bytes", name, codec.ErrLimit, maxConfig)
	}
	return b, err
}

// newVideo returns a video processor whose file is still to be read.
func newVideo(options *ipOptions) (*videoProcessor, error) {
	var from source
	limits, jobs, err := from.settings(options)
	if err != nil {
		return nil, err
	}
	if from.format != "" || from.backend != "" || from.decoder != "" || len(from.ignored) > 0 {
		return nil, fmt.Errorf("infer_prep: video: %w: format, backend, decoder or ignored keys are set, which are for graphs", codec.ErrUnsupported)
	}
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	jobs = min(jobs, maxJobs)
	v := &videoProcessor{limits: limits, runners: make(chan *video.Runner, jobs)}
	for range jobs {
		v.runners <- nil
	}
	return v, nil
}

// read reads the file of a video processor.
func (v *videoProcessor) read(config []byte) (err error) {
	if v.processor, err = video.Import(config); err == nil && keepSource {
		v.config = bytes.Clone(config)
	}
	return err
}

func videoSample(h uintptr, clip *ipClip, numbers *int64, capacity uint64, count *uint64, e *ipError) int32 {
	return do(e, func() error {
		v, err := get[*videoProcessor](h)
		if err != nil {
			return err
		}
		l, err := listOf("ip_clip", clip, 1)
		if err != nil {
			return err
		}
		m, err := metadata(l.of(0))
		if err != nil {
			return err
		}
		chosen, err := v.processor.Sampling().Indices(m)
		if err != nil {
			return err
		}
		*count = uint64(len(chosen))
		if uint64(len(chosen)) > capacity {
			return fmt.Errorf("infer_prep: video: %w: %d frames, there is room for %d", errCapacity, len(chosen), capacity)
		}
		to := unsafe.Slice(numbers, len(chosen))
		for i, k := range chosen {
			to[i] = int64(k)
		}
		return nil
	})
}

func metadata(c *ipClip) (video.Metadata, error) {
	if c.count < 1 || c.count > video.MaxFrames {
		return video.Metadata{}, fmt.Errorf("infer_prep: video: %w: %d frames, want 1 to %d", errInput, c.count, video.MaxFrames)
	}
	return video.Metadata{Frames: int(c.count), FPS: c.fps, Duration: c.duration}, nil
}

// videoBatch runs a video processor on clips. It returns the batch and the
// names of its outputs.
func videoBatch(h uintptr, clips *ipClip, n int32) (names []string, batch []*tensor.Tensor, err error) {
	v, err := get[*videoProcessor](h)
	if err != nil {
		return nil, nil, err
	}
	l, err := listOf("ip_clip", clips, n)
	if err != nil {
		return nil, nil, err
	}
	if l.n == 0 {
		return nil, nil, fmt.Errorf("infer_prep: video: %w: no clips", errInput)
	}
	each := make([][]*tensor.Tensor, l.n)
	for i := range each {
		if each[i], err = v.run(l.of(i), i); err != nil {
			return nil, nil, fmt.Errorf("infer_prep: video: clip %d: %w", i, err)
		}
	}
	outputs, batch, err := v.processor.Batch(each, v.limits)
	for _, o := range outputs {
		names = append(names, o.Name)
	}
	return names, batch, err
}

// run computes the outputs of clip i of a call.
func (v *videoProcessor) run(c *ipClip, i int) ([]*tensor.Tensor, error) {
	m, err := metadata(c)
	if err != nil {
		return nil, err
	}
	if c.frames == nil {
		return nil, fmt.Errorf("%w: frames is NULL", errInput)
	}
	frame, err := framesOf(c, i)
	if err != nil {
		return nil, err
	}
	r := <-v.runners
	defer func() { v.runners <- r }()
	if r == nil {
		r = v.processor.NewRunner(v.limits)
	}
	var a args // of one frame
	defer func() { a.done() }()
	l, err := r.Run(m, func(k int) ([]byte, error) {
		a.done()
		a = args{}
		f, err := frame(k)
		if err != nil {
			return nil, err
		}
		if f.data == 0 {
			return nil, fmt.Errorf("%w: the frame is chosen, but its data is NULL", errInput)
		}
		t, err := a.input(f, encoded)
		if err != nil {
			return nil, err
		}
		return t.Data, nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]*tensor.Tensor, len(l))
	for k, t := range l {
		out[k] = t.Clone()
	}
	return out, nil
}
