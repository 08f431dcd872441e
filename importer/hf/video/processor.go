package video

import (
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/tensor"
)

// Processor is a video processor with its settings. It is immutable, and safe
// for concurrent use.
type Processor struct {
	// Sampling chooses the frames.
	Sampling *Sampling
	// Outputs are the names of the outputs, as in the reference. The first is
	// pixel_values_videos, or pixel_values.
	Outputs []string

	// graph turns one encoded frame, as Image.open(f).convert("RGB") reads it,
	// into its values.
	graph *datagraph.Graph
}

// Import reads a video_preprocessor_config.json, a preprocessor_config.json or
// a processor_config.json. Errors wrap those of package importer: a class whose
// pixels are not reproduced is an importer.ErrUnsupported.
func Import(data []byte) (*Processor, error) {
	file, o, c, err := parse(data)
	if err != nil {
		return nil, err
	}
	if c.refused != "" {
		return nil, fmt.Errorf("importer: hf/video: %w", &importer.Error{Kind: importer.ErrUnsupported, Path: "video_processor_type", Text: c.name + suffix + ": " + c.refused})
	}
	p := &Processor{Sampling: readSampling(o, c)}
	p.graph, err = c.frames.graph(c, o, data)
	if err = errors.Join(file.Err("hf/video"), err); err != nil {
		return nil, err
	}
	p.Outputs = p.graph.Outputs
	return p, nil
}

// Runner processes one video after the other. It keeps its memory between
// videos. It must not be used by several goroutines at once.
type Runner struct {
	processor *Processor
	runner    *datagraph.Runner
	limits    codec.Limits
	values    []byte
}

// NewRunner returns a Runner. limits.Bytes bounds, separately, the memory of
// one frame and the values of all frames of a video; the zero value means
// codec.DefaultLimits.
func (p *Processor) NewRunner(limits codec.Limits) (*Runner, error) {
	limits = limits.WithDefaults()
	plan, err := datagraph.Compile(p.graph, datagraph.CompileOptions{Limits: limits})
	if err != nil {
		return nil, fmt.Errorf("video: %s: %w", p.Sampling.class, err)
	}
	return &Runner{processor: p, runner: plan.NewRunner(), limits: limits}, nil
}

// Run processes a video. Frame returns the encoded image of frame i, 0 to
// m.Frames-1; Run asks only for the chosen frames, in their order, and reads
// the bytes before it asks for the next. All chosen frames have the same size.
//
// The results are in the order of Processor.Outputs, and valid until the next
// Run. The first has the axes T, C, H, W; it is float32, or uint8 if both
// do_rescale and do_normalize are off. The reference returns it for one video
// with an axis of 1 in front. An error of Frame is wrapped.
func (r *Runner) Run(m Metadata, frame func(i int) ([]byte, error)) ([]*tensor.Tensor, error) {
	chosen, err := r.processor.Sampling.Indices(m)
	if err != nil {
		return nil, err
	}
	var first codec.Info
	var out tensor.Desc
	var size int
	for t, i := range chosen {
		if t > 0 && i == chosen[t-1] {
			copy(r.values[t*size:(t+1)*size], r.values[(t-1)*size:])
			continue
		}
		data, err := frame(i)
		if err != nil {
			return nil, r.fail(i, err)
		}
		info, err := codec.DecodeConfig(data, &codec.Options{Limits: r.limits})
		if err != nil {
			return nil, r.fail(i, err)
		}
		if t == 0 {
			first = info
		}
		if info.OutWidth != first.OutWidth || info.OutHeight != first.OutHeight {
			return nil, r.fail(i, fmt.Errorf("%w: %dx%d pixels, and frame %d has %dx%d: want one size", ErrFrames, info.OutWidth, info.OutHeight, chosen[0], first.OutWidth, first.OutHeight))
		}
		values, err := r.runner.Run(tensor.FromBytes(data))
		if err != nil {
			return nil, r.fail(i, err)
		}
		v := values[0]
		if t == 0 {
			if out, err = r.room(v.Desc, len(chosen)); err != nil {
				return nil, r.fail(i, err)
			}
			size = int(v.Desc.Size())
		}
		if !v.Dense() {
			v = v.Clone()
		}
		copy(r.values[t*size:(t+1)*size], v.Data)
	}
	t, err := tensor.Wrap(out, r.values[:len(chosen)*size])
	return []*tensor.Tensor{t}, err
}

// room makes memory for the values of n frames.
func (r *Runner) room(d tensor.Desc, n int) (tensor.Desc, error) {
	size := d.Size()
	if limit := r.limits.Bytes; size > 0 && limit >= 0 && int64(n) > limit/size {
		return d, fmt.Errorf("%w: %d frames of %d bytes of values, want at most %d bytes", codec.ErrLimit, n, size, limit)
	}
	if need := n * int(size); cap(r.values) < need {
		r.values = make([]byte, need)
	} else {
		r.values = r.values[:need]
	}
	d.Layout = tensor.NoLayout
	d.Shape = tensor.Dims(append([]int{n}, d.Shape.Slice()...)...)
	return d, nil
}

func (r *Runner) fail(i int, err error) error {
	return fmt.Errorf("video: %s: frame %d: %w", r.processor.Sampling.class, i, err)
}
