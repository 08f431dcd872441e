//go:build !small

package datagraph

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Stream runs a graph of one sound whose samples arrive in parts, such as those
// of a microphone. The parts of an output, joined along its axis, have the
// bytes of a run on the whole sound, whatever the sizes of the parts.
//
// Steps that can (transforms.Streamer) compute each part when its samples are
// there, and keep the few samples that the next part needs. The first other
// step of each output, and the steps after it, run at the end: the Stream keeps
// what they read, up to Limits.Bytes of the Plan.
//
// One goroutine at a time may use a Stream.
type Stream struct {
	plan     *Plan // without passes
	input    tensor.Desc
	steps    []streamStep
	outputs  []streamOutput
	tail     *Plan       // runs at the end; nil for none
	kept     []keptValue // its inputs
	limit    int64
	bytes    int64 // of kept
	finished bool
	failed   error
}

// streamStep is a step that runs on each part.
type streamStep struct {
	number int // in the graph
	op     transforms.OpStream
	ctx    *transforms.Context
	in     int // value
	out    []int
}

// streamOutput is an output, or a side output.
type streamOutput struct {
	axis  int // -1 if it is computed at the end
	value int // without an axis, an output of tail
}

// keptValue is a value that tail reads.
type keptValue struct {
	value, axis int
	parts       []*tensor.Tensor
}

// ErrStream reports a graph that cannot run on parts of a sound.
var ErrStream = errors.New("no stream")

// NewStream returns a Stream of samples with a rate in Hz, of 1 to 1024
// channels. The graph has one input: samples, float32 or int16, as (samples) or
// (channels, samples); or bytes that decode_sound or decode_pcm read, in whose
// place the Stream takes float32 (channels, samples). A graph with random steps
// or other inputs is an ErrStream. A rate other than the one that decode_sound,
// the first resampling or a spectrogram of mels states, and channels that the
// input does not have, are transforms.ErrInput.
func (p *Plan) NewStream(rate, channels int) (*Stream, error) {
	plain := p.Unfused()
	g := plain.graph
	if plain.drawn || len(g.Inputs) != 1 {
		return nil, errfmt.Errorf("datagraph: %w: want a graph with one input and without random steps", ErrStream)
	}
	s := &Stream{plan: plain, limit: p.options.Limits.Bytes}
	axes := make([]int, len(plain.values)) // of each value; -1 if it is not computed in parts
	for i := range axes {
		axes[i] = -1
	}
	steps := plain.steps
	s.input = plain.values[0].desc
	source := 0 // the value of the samples
	if s.input.DType == tensor.Bytes {
		ok := false
		if len(steps) > 0 {
			_, ok = steps[0].op.(transforms.Sampled)
		}
		for _, st := range steps[min(1, len(steps)):] {
			ok = ok && !slices.Contains(st.in, 0)
		}
		if !ok || slices.Contains(plain.outputs, 0) {
			return nil, errfmt.Errorf("datagraph: %w: want a graph of samples, or one that begins with decode_sound or decode_pcm", ErrStream)
		}
		source = steps[0].out[0]
		s.input = plain.values[source].desc
	}
	if err := checkRate(steps, rate); err != nil {
		return nil, err
	}
	d := &s.input
	rank := d.Shape.Rank()
	if d.Layout != tensor.NoLayout || d.DType != tensor.Float32 && d.DType != tensor.Int16 || rank < 1 || rank > 2 || d.Shape.At(rank-1) != tensor.Unknown {
		return nil, errfmt.Errorf("datagraph: %w: the graph's input is %v, want samples: float32 or int16, (samples) or (channels, samples)", ErrStream, s.input)
	}
	want := 1
	if rank == 2 {
		want = d.Shape.At(0)
	}
	if channels < 1 || channels > 1024 || want != tensor.Unknown && channels != want {
		return nil, errfmt.Errorf("datagraph: stream: %w: %d channels, want %s", transforms.ErrInput, channels, channelsText(want))
	}
	if rank == 2 {
		d.Shape = d.Shape.With(0, channels)
	}
	axes[source] = rank - 1
	descs := map[int]tensor.Desc{source: *d}
	scratch := transforms.NewContext(p.options.Limits)
	var tail []int // steps
	for i, st := range steps {
		if source > 0 && i == 0 {
			continue
		}
		o, ok := st.op.(transforms.Streamer)
		if ok && len(st.in) == 1 && axes[st.in[0]] >= 0 {
			in, known := descs[st.in[0]]
			if !known {
				in = plain.values[st.in[0]].desc
			}
			if next := o.NewStream(in, axes[st.in[0]]); next != nil {
				s.steps = append(s.steps, streamStep{number: st.first, op: next, ctx: scratch.Sibling(), in: st.in[0], out: st.out})
				for j, axis := range next.Axes() {
					axes[st.out[j]] = axis
				}
				continue
			}
		}
		tail = append(tail, i)
	}
	return s, s.end(steps, tail, axes, descs)
}

func channelsText(n int) string {
	if n == tensor.Unknown {
		return "1 to 1024"
	}
	return strconv.Itoa(n)
}

// checkRate returns an error unless the rate is the one that the first step
// with a sampling rate states.
func checkRate(steps []planStep, rate int) error {
	for _, st := range steps {
		want := 0
		if o, ok := st.op.(transforms.Sampled); ok {
			want = o.InputRate()
		}
		if want > 0 && want != rate {
			return errfmt.Errorf("datagraph: stream: %w: a sampling rate of %d Hz, want %d Hz", transforms.ErrInput, rate, want)
		}
		if want > 0 {
			return nil
		}
	}
	if rate < 1 {
		return errfmt.Errorf("datagraph: stream: %w: a sampling rate of %d Hz, want 1 or more", transforms.ErrInput, rate)
	}
	return nil
}

// end compiles the graph of the steps of tail, and finds the outputs.
func (s *Stream) end(steps []planStep, tail, axes []int, descs map[int]tensor.Desc) error {
	name := func(v int) string { return "v" + strconv.Itoa(v) }
	g := &Graph{}
	made := map[int]bool{}
	take := func(v int) {
		if made[v] {
			return
		}
		made[v] = true
		d, ok := descs[v]
		if !ok {
			d = s.plan.values[v].desc
		}
		g.Inputs = append(g.Inputs, Column{Name: name(v), Desc: d})
		s.kept = append(s.kept, keptValue{value: v, axis: axes[v]})
	}
	for _, i := range tail {
		var in, out []string
		for _, v := range steps[i].in {
			take(v)
			in = append(in, name(v))
		}
		for _, v := range steps[i].out {
			made[v] = true
			out = append(out, name(v))
		}
		g.Then(steps[i].op, in, out)
	}
	for _, v := range s.plan.outputs {
		o := streamOutput{axis: axes[v], value: v}
		if o.axis < 0 {
			if o.value = slices.Index(g.Outputs, name(v)); o.value < 0 {
				o.value = len(g.Outputs)
				g.Outputs = append(g.Outputs, name(v))
			}
		}
		s.outputs = append(s.outputs, o)
	}
	if len(g.Outputs) == 0 {
		s.kept = nil
		return nil
	}
	var err error
	s.tail, err = Compile(g, s.plan.options)
	return err
}

// Input describes the parts that Push takes. Its last size is unknown.
func (s *Stream) Input() tensor.Desc { return s.input }

// Axis returns the axis along which the parts of output i, in the order of
// Plan.Outputs, follow each other. It returns -1 for an output that is computed
// as a whole, by Finish.
func (s *Stream) Axis(i int) int { return s.outputs[i].axis }

// Push takes the next samples and returns the next part of each output, in the
// order of Plan.Outputs. A part may be empty; it is nil for an output without
// an axis. The caller owns the parts. Push does not keep samples. After an
// error, every call returns that error.
func (s *Stream) Push(samples *tensor.Tensor) ([]*tensor.Tensor, error) {
	if !s.input.Matches(samples.Desc) {
		return nil, errfmt.Errorf("datagraph: stream: %w: samples are %v, want %v", transforms.ErrInput, samples.Desc, s.input)
	}
	return s.do(samples, false)
}

// PushPCM is Push for interleaved samples of an encoding, as
// transforms.DecodePCM takes them; those of a microphone are usually s16le.
// Bytes that are no whole sample of every channel are transforms.ErrInput. A
// graph of int16 takes s16le only.
func (s *Stream) PushPCM(e sound.Encoding, data []byte) ([]*tensor.Tensor, error) {
	channels := 1
	if s.input.Shape.Rank() == 2 {
		channels = s.input.Shape.At(0)
	}
	if s.input.DType == tensor.Int16 && e != sound.S16LE {
		return nil, errfmt.Errorf("datagraph: stream: %w: samples are %v, want s16le", transforms.ErrInput, e)
	}
	block := e.Size() * channels
	if len(data)%block != 0 {
		return nil, errfmt.Errorf("datagraph: stream: %w: %d bytes, want a multiple of %d: %d channels of %v", transforms.ErrInput, len(data), block, channels, e)
	}
	n := len(data) / block
	d := s.input
	d.Shape = d.Shape.With(d.Shape.Rank()-1, n)
	t, err := tensor.New(d)
	if err != nil {
		return nil, err
	}
	if d.DType == tensor.Int16 {
		out := tensor.View[int16](t)
		for i := range n {
			for c := range channels {
				out[c*n+i] = int16(binary.LittleEndian.Uint16(data[2*(i*channels+c):]))
			}
		}
	} else if n > 0 {
		planes := make([][]float32, channels)
		out := tensor.View[float32](t)
		for c := range planes {
			planes[c] = out[c*n:][:n]
		}
		e.Convert(planes, data)
	}
	return s.Push(t)
}

// Finish ends the sound and returns the last part of each output, or all of an
// output without an axis. The Stream cannot be used again.
func (s *Stream) Finish() ([]*tensor.Tensor, error) {
	d := s.input
	d.Shape = d.Shape.With(d.Shape.Rank()-1, 0)
	none, err := tensor.New(d)
	if err != nil {
		return nil, err
	}
	return s.do(none, true)
}

func (s *Stream) do(samples *tensor.Tensor, last bool) ([]*tensor.Tensor, error) {
	switch {
	case s.failed != nil:
		return nil, s.failed
	case s.finished:
		return nil, errfmt.Errorf("datagraph: stream: %w: the sound was ended", transforms.ErrInput)
	}
	out, err := s.next(samples, last)
	s.failed, s.finished = err, last
	return out, err
}

func (s *Stream) next(samples *tensor.Tensor, last bool) ([]*tensor.Tensor, error) {
	source := 0
	if s.plan.values[0].desc.DType == tensor.Bytes {
		source = s.plan.steps[0].out[0]
	}
	parts := map[int]*tensor.Tensor{source: samples}
	for _, st := range s.steps {
		out, err := st.op.Next(st.ctx, parts[st.in], last)
		if err != nil {
			return nil, s.plan.graph.stepErr(st.number, err)
		}
		for i, v := range st.out {
			parts[v] = out[i]
		}
	}
	for i := range s.kept {
		k := &s.kept[i]
		p := parts[k.value]
		if p.Shape.At(k.axis) > 0 || len(k.parts) == 0 {
			k.parts = append(k.parts, p.Clone())
			s.bytes += p.Desc.Size()
		}
		if len(k.parts) > 1 && k.parts[0].Shape.At(k.axis) == 0 {
			k.parts = k.parts[1:]
		}
	}
	if s.limit > 0 && s.bytes > s.limit/2 { // they are joined
		return nil, errfmt.Errorf("datagraph: stream: %w: steps that need the whole sound keep %d bytes, twice at the end; the limit is %d", codec.ErrBytes, s.bytes, s.limit)
	}
	var ended []*tensor.Tensor
	if last && s.tail != nil {
		inputs := make([]*tensor.Tensor, len(s.kept))
		for i, k := range s.kept {
			var err error
			if inputs[i], err = transforms.JoinParts(k.axis, k.parts...); err != nil {
				return nil, err
			}
		}
		s.kept = nil
		out, err := s.tail.NewRunner().Run(inputs...)
		if err != nil {
			return nil, err
		}
		ended = out
	}
	l := make([]*tensor.Tensor, len(s.outputs))
	for i, o := range s.outputs {
		if o.axis >= 0 {
			l[i] = parts[o.value].Clone()
		} else if last {
			l[i] = ended[o.value]
		}
	}
	return l, nil
}
