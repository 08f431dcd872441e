package video

import (
	"errors"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Output describes an output of a Processor.
type Output struct {
	// Name is that of the reference: pixel_values_videos, video_grid_thw.
	Name string
	// Joined reports that a batch has the rows of all videos one after the
	// other, as patches are. Other outputs are stacked.
	Joined bool
}

// layout places the values of frames in the first output.
type layout interface {
	outputs() []Output
	// graph returns the graph of a frame. The number of chosen frames and the
	// frame's height and width are 0 to check the settings.
	graph(frames, height, width int) (*datagraph.Graph, error)
	// plan describes the first output, given the graph's. The places are at
	// least the frames; the last frame is repeated there.
	plan(frames int, d tensor.Desc) (out tensor.Desc, places int, err error)
	// place writes the values of a frame to place t.
	place(dst []byte, frame *tensor.Tensor, t int)
	// more returns the other outputs.
	more(v filled) ([]*tensor.Tensor, error)
}

// filled is a video whose frames are in place.
type filled struct {
	frames, places int
	height, width  int              // of a frame, as decoded
	values         []byte           // of the first output
	last           []*tensor.Tensor // the graph's outputs for the last frame
	limit          int64            // bytes of an output
}

// numbers returns an int64 tensor of that shape.
func numbers(values []int, axes ...int) *tensor.Tensor {
	b := make([]byte, 8*len(values))
	for i, n := range values {
		tensor.Cast[int64](b)[i] = int64(n)
	}
	return dense(tensor.Int64, b, axes...)
}

// dense returns a tensor of data, whose length fits.
func dense(d tensor.DType, data []byte, axes ...int) *tensor.Tensor {
	t, err := tensor.Wrap(tensor.Desc{DType: d, Shape: tensor.Dims(axes...)}, data)
	if err != nil {
		panic(err) // a mistake of a layout
	}
	return t
}

// Processor is a video processor with its settings. It is immutable, and safe
// for concurrent use.
type Processor struct {
	sampling *Sampling
	layout   layout
	last     bool
}

// Import reads a video_preprocessor_config.json, a preprocessor_config.json or
// a processor_config.json. Errors wrap those of package importer.
func Import(data []byte) (*Processor, error) {
	file, o, c, err := parse(data)
	if err != nil {
		return nil, err
	}
	format, _ := o.Get("input_data_format") // the layout checks it
	p := &Processor{sampling: readSampling(o, c), last: format == "channels_last"}
	p.layout, err = c.layout(c, o, data)
	if err = errors.Join(file.Err("hf/video"), err); err != nil {
		return nil, err
	}
	if _, err := p.layout.graph(0, 0, 0); err != nil {
		return nil, err
	}
	return p, nil
}

// Sampling returns how the frames are chosen.
func (p *Processor) Sampling() *Sampling { return p.sampling }

// ChannelsLast reports whether input_data_format is channels_last. The
// reference then takes the last axis of an array for its channels, and else
// infers the axis.
func (p *Processor) ChannelsLast() bool { return p.last }

// Outputs describes the outputs, in the order of Runner.Run. The first is
// pixel_values_videos or pixel_values.
func (p *Processor) Outputs() []Output { return p.layout.outputs() }

// Runner processes one video after the other. It keeps its memory between
// videos. It must not be used by several goroutines at once.
type Runner struct {
	processor *Processor
	runner    *datagraph.Runner
	graph     *datagraph.Graph // of runner
	limits    codec.Limits
	values    []byte
}

// NewRunner returns a Runner. limits.Bytes bounds, separately, the memory of
// one frame and the values of all frames of a video; the zero value means
// codec.DefaultLimits.
func (p *Processor) NewRunner(limits codec.Limits) *Runner {
	return &Runner{processor: p, limits: limits.WithDefaults()}
}

// Run processes a video. Frame returns the encoded image of frame i, 0 to
// m.Frames-1; Run asks only for the chosen frames, in their order, and reads
// the bytes before it asks for the next; MiniCPM's stack_frames above 1 has the
// order of its images. A frame is read as Pillow's
// Image.open(f).convert("RGB") does. All chosen frames have the same size.
//
// The results are in the order of Processor.Outputs, and valid until the next
// Run. The first is float32, or uint8 if both do_rescale and do_normalize are
// off. It has the axes T, C, H, W, or is a matrix with a row for each patch. An
// output that is not Joined has an axis of 1 in front in the reference. An
// error of Frame is wrapped.
func (r *Runner) Run(m Metadata, frame func(i int) ([]byte, error)) ([]*tensor.Tensor, error) {
	chosen, err := r.processor.sampling.Indices(m)
	if err != nil {
		return nil, err
	}
	l := r.processor.layout
	if c, ok := l.(composer); ok {
		return c.compose(r, m, chosen, frame)
	}
	var first codec.Info
	var one, out tensor.Desc
	var v *tensor.Tensor
	var last []*tensor.Tensor
	places := 0
	for t, i := range chosen {
		if t == 0 || i != chosen[t-1] {
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
				if err := r.compile(len(chosen), info); err != nil {
					return nil, r.fail(i, err)
				}
			}
			if info.OutWidth != first.OutWidth || info.OutHeight != first.OutHeight {
				return nil, r.fail(i, fmt.Errorf("%w: %dx%d pixels, and frame %d has %dx%d: want one size", ErrFrames, info.OutWidth, info.OutHeight, chosen[0], first.OutWidth, first.OutHeight))
			}
			if last, err = r.runner.Run(tensor.FromBytes(data)); err != nil {
				return nil, r.fail(i, err)
			}
			if v = last[0]; !v.Dense() {
				v = v.Clone()
			}
		}
		if t == 0 {
			one = v.Desc
			if out, places, err = l.plan(len(chosen), one); err == nil {
				err = r.room(one.Size(), places)
			}
			if err != nil {
				return nil, r.fail(i, err)
			}
			r.values = r.values[:out.Size()] // a layout may leave values out
		}
		l.place(r.values, v, t)
	}
	for t := len(chosen); t < places; t++ {
		l.place(r.values, v, t)
	}
	t, err := tensor.Wrap(out, r.values)
	var more []*tensor.Tensor
	if err == nil {
		more, err = l.more(filled{len(chosen), places, first.OutHeight, first.OutWidth, r.values, last, r.most()})
	}
	if err != nil {
		return nil, fmt.Errorf("video: %s: %w", r.processor.sampling.class, err)
	}
	return append([]*tensor.Tensor{t}, more...), nil
}

// compile prepares the graph of frames of that size.
func (r *Runner) compile(frames int, i codec.Info) error {
	g, err := r.processor.layout.graph(frames, i.OutHeight, i.OutWidth)
	if err != nil || g == r.graph {
		return err
	}
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: r.limits})
	if err == nil {
		r.graph, r.runner = g, plan.NewRunner()
	}
	return err
}

// room makes memory for the values of n frames of that size.
func (r *Runner) room(size int64, n int) error {
	limit := r.most()
	if int64(n) > limit/max(size, 1) {
		return fmt.Errorf("%w: %d frames of %d bytes of values, want at most %d bytes", codec.ErrLimit, n, size, limit)
	}
	need := n * int(size)
	if cap(r.values) < need {
		r.values = make([]byte, need)
	}
	r.values = r.values[:need]
	return nil
}

// most returns the most bytes of the values of all frames.
func (r *Runner) most() int64 {
	if r.limits.Bytes < 0 {
		return math.MaxInt
	}
	return r.limits.Bytes
}

func (r *Runner) fail(i int, err error) error {
	return fmt.Errorf("video: %s: frame %d: %w", r.processor.sampling.class, i, err)
}
