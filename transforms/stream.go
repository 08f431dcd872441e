//go:build !small

package transforms

import (
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/tensor"
)

// Streamer is an op that can compute parts of its outputs from parts of its
// input, such as a microphone's blocks. An op that needs its whole input is no
// Streamer.
type Streamer interface {
	Op
	// NewStream returns the computation for one input of description in, whose
	// parts follow each other along an axis; its size there is ignored. It
	// returns nil if the op's parameters need the whole input. The op must not
	// change while the OpStream is in use.
	NewStream(in tensor.Desc, axis int) OpStream
}

// Sampled is an op of samples that states their rate.
type Sampled interface {
	Op
	// InputRate returns the number of samples of the input a second, 0 if the
	// op states none. An op of bytes that is Sampled decodes samples.
	InputRate() int
}

// InputRate returns the rate of the file.
func (o *DecodeSound) InputRate() int { return o.SamplingRate }

// InputRate returns 0: the samples may have any rate.
func (o *DecodePCM) InputRate() int { return 0 }

// InputRate returns the rate before resampling.
func (o *ResampleSinc) InputRate() int { return o.FromRate }

// InputRate returns the rate before resampling.
func (o *ResamplePoly) InputRate() int { return o.FromRate }

// InputRate returns the rate that the mels are made for, 0 without mels.
func (o *Spectrogram) InputRate() int {
	if o.Mels == 0 {
		return 0
	}
	return o.SamplingRate
}

// InputRate returns the rate that the filters are made for.
func (o *Fbank) InputRate() int { return o.SamplingRate }

// OpStream computes the outputs of an op part by part. The parts of an output,
// joined along its axis, have the bytes that the op computes from the whole
// input. One goroutine at a time uses it.
type OpStream interface {
	// Axes returns, for each output, the axis along which its parts follow each
	// other.
	Axes() []int
	// Next takes the next part of the input, which may have a size of 0 along
	// the axis, and returns the next parts of the outputs, which may have, too.
	// last says that no part follows; Next is not called again after it, nor
	// after an error. The caller owns the results, which may share memory with
	// part.
	Next(c *Context, part *tensor.Tensor, last bool) ([]*tensor.Tensor, error)
}

// whole runs an op on a tensor and returns new outputs.
func whole(c *Context, op Op, in *tensor.Tensor) ([]*tensor.Tensor, error) {
	descs := make([]tensor.Desc, len(InfoOf(op).Out))
	if err := op.Infer(descs, []tensor.Desc{in.Desc}); err != nil {
		return nil, err
	}
	return applyNew(c, op, descs, in)
}

// applyNew runs an op for new outputs of the descriptions.
func applyNew(c *Context, op Op, descs []tensor.Desc, in *tensor.Tensor) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(descs))
	for i, d := range descs {
		var err error
		if out[i], err = tensor.New(d); err != nil {
			return nil, err
		}
	}
	c.Begin()
	return out, op.Apply(c, out, []*tensor.Tensor{in})
}

// JoinParts returns a tensor of parts that follow each other along an axis.
// Their other sizes are equal. It copies them unless there is only one.
func JoinParts(axis int, parts ...*tensor.Tensor) (*tensor.Tensor, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	d, n := parts[0].Desc, 0
	for _, p := range parts {
		n += p.Shape.At(axis)
	}
	d.Shape = d.Shape.With(axis, n)
	t, err := tensor.New(d)
	if err != nil {
		return nil, err
	}
	outer, size := 1, d.DType.Size() // blocks, and the bytes of an element of the axis
	for i := range d.Shape.Rank() {
		switch {
		case i < axis:
			outer *= d.Shape.At(i)
		case i > axis:
			size *= d.Shape.At(i)
		}
	}
	at := 0
	for _, p := range parts {
		if !p.Dense() {
			p = p.Clone()
		}
		k := p.Shape.At(axis) * size
		for i := range outer {
			copy(t.Data[i*n*size+at:][:k], p.Data[i*k:])
		}
		at += k
	}
	return t, nil
}

// partwise is the OpStream of an op whose output elements depend on the input
// elements of the same place alone.
type partwise struct {
	op   Op
	axis []int
}

func (s partwise) Axes() []int { return s.axis }

func (s partwise) Next(c *Context, part *tensor.Tensor, _ bool) ([]*tensor.Tensor, error) {
	return whole(c, s.op, part)
}

// NewStream converts each part.
func (o *PCMToFloat) NewStream(_ tensor.Desc, axis int) OpStream { return partwise{o, []int{axis}} }

// NewStream mixes each part of samples.
func (o *MixMono) NewStream(_ tensor.Desc, axis int) OpStream {
	if axis != 1 {
		return nil
	}
	return partwise{o, []int{0}}
}

// NewStream scales each part, unless Range needs the peak of all of them.
func (o *ScaleFeatures) NewStream(_ tensor.Desc, axis int) OpStream {
	if o.Range > 0 {
		return nil
	}
	return partwise{o, []int{axis}}
}

// NewStream converts each part.
func (o *ToType) NewStream(_ tensor.Desc, axis int) OpStream { return partwise{o, []int{axis}} }

// held is the end of an input that an OpStream still needs.
type held struct {
	axis  int
	first int // number of the first element that is held
	t     *tensor.Tensor
}

// end returns the number of elements that came so far.
func (h *held) end() int {
	if h.t == nil {
		return 0
	}
	return h.first + h.t.Shape.At(h.axis)
}

// add appends a part.
func (h *held) add(part *tensor.Tensor) (err error) {
	switch {
	case h.t == nil:
		h.t = part.Clone()
	case part.Shape.At(h.axis) > 0:
		h.t, err = JoinParts(h.axis, h.t, part)
	}
	return err
}

// from returns elements lo to hi.
func (h *held) from(lo, hi int) (*tensor.Tensor, error) {
	return h.t.Slice(h.axis, lo-h.first, hi-h.first)
}

// drop forgets the elements before n. It keeps the memory of few elements, as
// the next part is then copied behind them.
func (h *held) drop(n int) error {
	n = min(n, h.end())
	if n <= h.first {
		return nil
	}
	t, err := h.from(n, h.end())
	if err != nil {
		return err
	}
	h.t, h.first = t.Clone(), n
	return nil
}

// spectrogramStream computes frames as soon as their samples came.
type spectrogramStream struct {
	op    *Spectrogram
	inner Spectrogram // op, for samples that have their reflected ones
	in    held        // samples, with the reflected ones in front
	total int         // samples, without them
	next  int         // frame
	ready bool        // the samples in front are there
}

// NewStream computes each frame when its last sample came. The first frames
// wait for Pad + 1 samples.
func (o *Spectrogram) NewStream(tensor.Desc, int) OpStream {
	s := &spectrogramStream{op: o, inner: *o}
	s.inner.Pad = 0
	return s
}

func (s *spectrogramStream) Axes() []int {
	if s.op.FramesFirst {
		return []int{0}
	}
	return []int{1}
}

func (s *spectrogramStream) Next(c *Context, part *tensor.Tensor, last bool) ([]*tensor.Tensor, error) {
	s.total += part.Shape.At(0)
	if err := s.in.add(part); err != nil {
		return nil, err
	}
	if last {
		// The reference's rule for sounds of few samples, and its limits.
		var out [1]tensor.Desc
		if err := s.op.Infer(out[:], []tensor.Desc{{DType: tensor.Float32, Shape: tensor.Dims(s.total)}}); err != nil {
			return nil, err
		}
		if s.total <= s.op.Pad { // the samples are reflected several times
			return whole(c, s.op, s.in.t)
		}
	}
	if !s.ready && (s.total > s.op.Pad || last) {
		front, err := reflected(s.in.t, s.op.Pad, 1, 1)
		if err != nil {
			return nil, err
		}
		if s.in.t, err = JoinParts(0, front, s.in.t); err != nil {
			return nil, err
		}
		s.ready = true
	}
	frames := 0
	if s.ready {
		if last {
			back, err := reflected(s.in.t, s.op.Pad, s.in.t.Shape.At(0)-2, -1)
			if err == nil {
				err = s.in.add(back)
			}
			if err != nil {
				return nil, err
			}
		}
		start := s.next * s.op.HopLength
		config := s.inner.config()
		if n := s.in.end() - start; n > 0 {
			frames, _ = config.Frames(n)
		}
	}
	if frames == 0 {
		return s.none()
	}
	start := s.next * s.op.HopLength
	samples, err := s.in.from(start, s.in.end())
	if err != nil {
		return nil, err
	}
	out, err := whole(c, &s.inner, samples)
	if err != nil {
		return nil, err
	}
	s.next += frames
	return out, s.in.drop(min(s.next*s.op.HopLength, s.in.end()-s.op.Pad-1))
}

// fbankStream computes frames as soon as their samples came.
type fbankStream struct {
	op   *Fbank
	in   held
	next int // frame
}

// NewStream computes each frame when its last sample came. Without SnipEdges
// the sound is mirrored at its ends, so that the whole sound is needed.
func (o *Fbank) NewStream(tensor.Desc, int) OpStream {
	if !o.SnipEdges {
		return nil
	}
	return &fbankStream{op: o}
}

func (s *fbankStream) Axes() []int { return []int{0} }

func (s *fbankStream) Next(c *Context, part *tensor.Tensor, last bool) ([]*tensor.Tensor, error) {
	if err := s.in.add(part); err != nil {
		return nil, err
	}
	n := s.in.end()
	if last { // the reference's rule for sounds of few samples, and its limits
		var out [1]tensor.Desc
		if err := s.op.Infer(out[:], []tensor.Desc{{DType: tensor.Float32, Shape: tensor.Dims(n)}}); err != nil {
			return nil, err
		}
	}
	config := s.op.config()
	start := s.next * config.Hop
	if n-start < config.Frame {
		t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(0, config.Rows())})
		return []*tensor.Tensor{t}, err
	}
	samples, err := s.in.from(start, n)
	if err != nil {
		return nil, err
	}
	out, err := whole(c, s.op, samples)
	if err != nil {
		return nil, err
	}
	s.next += out[0].Shape.At(0)
	return out, s.in.drop(s.next * config.Hop)
}

// preemphasisStream holds the last sample of each channel.
type preemphasisStream struct {
	op   *Preemphasis
	axis int
	last *tensor.Tensor // nil before the first sample
}

// NewStream computes each part with the last sample of the one before.
func (o *Preemphasis) NewStream(in tensor.Desc, axis int) OpStream {
	if axis != in.Shape.Rank()-1 { // parts are channels
		return partwise{o, []int{axis}}
	}
	return &preemphasisStream{op: o, axis: axis}
}

func (s *preemphasisStream) Axes() []int { return []int{s.axis} }

func (s *preemphasisStream) Next(c *Context, part *tensor.Tensor, _ bool) ([]*tensor.Tensor, error) {
	skip := 0
	if s.last != nil {
		var err error
		if part, err = JoinParts(s.axis, s.last, part); err != nil {
			return nil, err
		}
		skip = 1
	}
	out, err := whole(c, s.op, part)
	if err != nil {
		return nil, err
	}
	n := part.Shape.At(s.axis)
	if out[0], err = out[0].Slice(s.axis, skip, n); err != nil || n == 0 {
		return out, err
	}
	end, err := part.Slice(s.axis, n-1, n)
	if err != nil {
		return nil, err
	}
	s.last = end.Clone()
	return out, nil
}

// none returns no frames.
func (s *spectrogramStream) none() ([]*tensor.Tensor, error) {
	config := s.op.config()
	shape := tensor.Dims(config.Rows(), 0)
	if s.op.FramesFirst {
		shape = tensor.Dims(0, config.Rows())
	}
	t, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: shape})
	return []*tensor.Tensor{t}, err
}

// reflected returns n samples: those from first on by a step, in reverse order
// of their distance for a step of 1, which is the front of the samples.
func reflected(t *tensor.Tensor, n, first, step int) (*tensor.Tensor, error) {
	r, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(n)})
	if err != nil {
		return nil, err
	}
	in, out := tensor.View[float32](t), tensor.View[float32](r)
	for i := range out {
		out[i] = in[first+i*step]
	}
	if step > 0 {
		slices.Reverse(out)
	}
	return r, nil
}

// sliceStream is the OpStream of a Slice that takes elements in their order,
// from a start that is not negative.
type sliceStream struct {
	op   *Slice
	r    axisSlice
	in   held
	next int // the first element that may be taken
}

// NewStream takes each element when it is known to be in the range. Ranges from
// a negative start or with a negative step, and lists of indices, need the
// whole axis.
func (o *Slice) NewStream(_ tensor.Desc, axis int) OpStream {
	if axis >= len(o.Slices) {
		return partwise{o, []int{axis}}
	}
	r, _ := parseAxis(o.Slices[axis])
	if r.indices != "" || r.step < 0 || r.start < 0 {
		return nil
	}
	return &sliceStream{op: o, r: r, in: held{axis: axis}, next: r.start}
}

func (s *sliceStream) Axes() []int { return []int{s.in.axis} }

func (s *sliceStream) Next(c *Context, part *tensor.Tensor, _ bool) ([]*tensor.Tensor, error) {
	if err := s.in.add(part); err != nil {
		return nil, err
	}
	stop := s.in.end()
	if s.r.hasStop {
		if s.r.stop < 0 {
			stop += s.r.stop // those may be the last elements
		} else {
			stop = min(stop, s.r.stop)
		}
	}
	first := min(max(s.next, s.in.first), s.in.end())
	take, err := s.in.from(first, max(first, stop))
	if err != nil {
		return nil, err
	}
	cut := slices.Clone(s.op.Slices)
	cut[s.in.axis] = "::" + strconv.Itoa(s.r.step)
	out, err := whole(c, &Slice{Slices: cut}, take)
	if err != nil {
		return nil, err
	}
	if s.next < stop {
		s.next += (stop - s.next + s.r.step - 1) / s.r.step * s.r.step
	}
	return out, s.in.drop(s.next)
}

// fitStream is the OpStream of a FitSequence that fills the end.
type fitStream struct {
	op    *FitSequence
	total int // rows that came
	begun bool
}

// NewStream passes rows on and fills at the end. Modes that copy rows, and
// AtStart, need the whole sequence.
func (o *FitSequence) NewStream(_ tensor.Desc, axis int) OpStream {
	if axis != 0 || o.Mode != FitFill || o.AtStart {
		return nil
	}
	return &fitStream{op: o}
}

func (s *fitStream) Axes() []int { return []int{0, 0} }

func (s *fitStream) Next(c *Context, part *tensor.Tensor, last bool) ([]*tensor.Tensor, error) {
	before, _ := s.op.rows(s.total)
	s.total += part.Shape.At(0)
	d := part.Desc
	d.Shape = d.Shape.With(0, s.total)
	if err := s.op.Infer(make([]tensor.Desc, 2), []tensor.Desc{d}); err != nil {
		return nil, err
	}
	kept, all := s.op.rows(s.total)
	part, err := part.Slice(0, 0, kept-before)
	if err != nil {
		return nil, err
	}
	pad := FitSequence{Multiple: 1, Fill: s.op.Fill}
	if !s.begun {
		pad.Left, s.begun = s.op.Left, true
	}
	if last {
		pad.Right = all - kept + s.op.Right
	}
	return whole(c, &pad, part)
}

// resampleStream computes outputs in groups: step outputs for every from
// samples.
type resampleStream struct {
	op     Op
	state  func(c *Context) *rateChanger
	length func(n int) int
	in     held
	groups int // that were returned
}

// NewStream computes outputs when the samples that they read came.
func (o *ResampleSinc) NewStream(in tensor.Desc, axis int) OpStream {
	return newResampleStream(o, axis, o.FromRate == o.ToRate, func(c *Context) *rateChanger { return &o.state(c).rateChanger }, o.length)
}

// NewStream computes outputs when the samples that they read came.
func (o *ResamplePoly) NewStream(in tensor.Desc, axis int) OpStream {
	return newResampleStream(o, axis, o.FromRate == o.ToRate, func(c *Context) *rateChanger { return &o.state(c).rateChanger }, o.length)
}

func newResampleStream(op Op, axis int, equal bool, state func(c *Context) *rateChanger, length func(n int) int) OpStream {
	if equal {
		return partwise{op, []int{axis}}
	}
	return &resampleStream{op: op, state: state, length: length, in: held{axis: axis}}
}

func (s *resampleStream) Axes() []int { return []int{s.in.axis} }

// leastSamples is the number of samples that a part is collected to: fewer cost
// more than their sum.
const leastSamples = 1024

func (s *resampleStream) Next(c *Context, part *tensor.Tensor, last bool) ([]*tensor.Tensor, error) {
	if err := s.in.add(part); err != nil {
		return nil, err
	}
	r := s.state(c)
	n := s.in.end()
	d := part.Desc
	d.Shape = d.Shape.With(s.in.axis, n)
	var all [1]tensor.Desc
	if err := s.op.Infer(all[:], []tensor.Desc{d}); err != nil {
		return nil, err
	}
	// Group q reads samples from q*from - front on, up to its last tap.
	reach := 0
	for _, p := range r.phases {
		reach = max(reach, p.first+len(p.taps)-r.front)
	}
	groups := s.groups
	if n >= reach {
		groups = max(groups, (n-reach)/r.from+1)
	}
	first := s.in.first / r.from // group of the first sample that is held
	count := (groups - s.groups) * r.step
	switch {
	case last:
		count = s.length(n) - s.groups*r.step
	case (groups-s.groups)*r.from < leastSamples:
		groups, count = s.groups, 0
	}
	skip := (s.groups - first) * r.step
	if count == 0 {
		skip = 0
	}
	d.Shape = d.Shape.With(s.in.axis, skip+count)
	out, err := tensor.New(d)
	if err != nil {
		return nil, err
	}
	if count > 0 {
		c.Begin()
		if err := r.apply(c, out, s.in.t); err != nil {
			return nil, err
		}
	}
	if out, err = out.Slice(s.in.axis, skip, skip+count); err != nil {
		return nil, err
	}
	s.groups = groups
	return []*tensor.Tensor{out}, s.in.drop(max(0, s.groups-(r.front+r.from-1)/r.from) * r.from)
}
