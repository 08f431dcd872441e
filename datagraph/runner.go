package datagraph

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Runner runs a Plan repeatedly. It keeps its memory between runs, which grows
// to the needs of the largest sample: in steady state a run allocates nothing.
// A Runner must not be used by several goroutines at once.
type Runner struct {
	plan    *Plan
	buffers [][]byte
	steps   []runStep
	values  []*tensor.Tensor
	own     []tensor.Tensor // the targets of values, except for the inputs
	outputs []*tensor.Tensor
	scratch *transforms.Context // the steps' contexts are its siblings
	unfused *Runner             // runs plan.unfused in the same memory; nil until needed
	last    *Runner             // made the last outputs: this one, unfused, or a variant's
	// lastOutputs maps the outputs of a random graph to those of last.
	lastOutputs []int

	// At identifies the sample that random ops draw for. Set it before each
	// run. It has no effect on a graph without random ops.
	At rng.Point
	// Weights replace those of the graph's feedback policies, by name. A policy
	// that it does not name has the weights of its op.
	Weights map[string][]float64

	into []into // of RunInto, by output

	known []tensor.Desc // of each value, by inferAll
	// admit begins a run in a Pool: it estimates the run, and waits for its
	// memory. nil without a Pool, so that the linker drops the estimate.
	admit     func() error
	inputs    []*tensor.Tensor // of admit; an argument would be allocated
	estimated Costs            // by admit
	admitted  bool             // the inputs of the next run

	drawing *drawing // the state of random ops; nil before the first run

	// OnStep, if not nil, is called after every step of the graph with the
	// step's number and its outputs, which are valid until it returns. An error
	// ends the run. The plan then runs without passes.
	OnStep func(step int, out []*tensor.Tensor) error
}

type runStep struct {
	ctx      *transforms.Context
	shaped   transforms.DataShaped // the op, if its outputs depend on data
	in, out  []tensor.Desc
	src, dst []*tensor.Tensor
}

// NewRunner returns a Runner. Most of its memory is allocated by the first run.
func (p *Plan) NewRunner() *Runner {
	c := transforms.NewContext(p.options.Limits)
	c.SetIndex(p.options.Index)
	return p.newRunner(c)
}

func (p *Plan) newRunner(scratch *transforms.Context) *Runner {
	r := &Runner{
		plan: p, scratch: scratch, buffers: make([][]byte, p.buffers), values: make([]*tensor.Tensor, len(p.values)),
		own: make([]tensor.Tensor, len(p.values)), outputs: make([]*tensor.Tensor, len(p.outputs)),
	}
	for i := range r.own {
		r.values[i] = &r.own[i]
	}
	for _, s := range p.steps {
		st := runStep{
			ctx: scratch.Sibling(), in: make([]tensor.Desc, len(s.in)), out: make([]tensor.Desc, len(s.out)),
			src: make([]*tensor.Tensor, len(s.in)), dst: make([]*tensor.Tensor, len(s.out)),
		}
		st.shaped, _ = s.op.(transforms.DataShaped)
		for j, v := range s.out {
			st.dst[j] = r.values[v]
		}
		r.steps = append(r.steps, st)
	}
	return r
}

// Run computes the graph's outputs, then its side outputs, in the order of
// Plan.Outputs. The inputs, in the order of Graph.Inputs, may be strided views;
// Run does not write to them. The outputs belong to the Runner and are valid
// until its next Run; clone them to keep them longer.
//
// An error in a step is a *StepError, which wraps the error of the op or
// decoder. After an error the Runner can be used again.
func (r *Runner) Run(inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	if r.admit == nil {
		r.scratch.BeginRun()
	} else if !r.admitted {
		r.inputs = append(r.inputs[:0], inputs...)
		if err := r.admit(); err != nil {
			return nil, err
		}
	}
	r.admitted = false
	return r.runInputs(inputs)
}

// runInputs is Run without BeginRun.
func (r *Runner) runInputs(inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	if r.plan.drawn {
		return r.runDrawn(inputs)
	}
	if r.plan.unfused == nil {
		return r.run(inputs)
	}
	if r.OnStep != nil {
		out, err := r.fallback().run(inputs)
		r.last = r.unfused
		return out, err
	}
	out, err := r.run(inputs)
	if err == nil || isDecoders(err) {
		return out, err
	}
	// Run the steps without passes. They report the error, or succeed: a fused
	// op may have declined, or used memory that the separate steps would share.
	plain := r.fallback()
	if out, err = plain.run(inputs); errors.Is(err, codec.ErrLimit) {
		plain.forget()
		out, err = plain.run(inputs)
	}
	r.last = plain
	return out, err
}

// Take transfers output i of the last Run to the caller, with its memory. The
// Runner uses spare instead, which may be nil or the memory of a tensor that is
// no longer needed. Each output can be taken once.
//
// own is false if the output is an input, or an earlier output that no random
// op changed. The tensor then lives only as long as that input or output, and
// spare is unused.
func (r *Runner) Take(i int, spare []byte) (t tensor.Tensor, own bool) {
	l := r.last
	shared := false // with an earlier output
	if r.plan.drawn {
		j := r.lastOutputs[i]
		shared = slices.Index(r.lastOutputs, j) < i
		i = j
	}
	v := l.plan.outputs[i]
	if shared || v < l.plan.inputs {
		return *l.values[v], false
	}
	t = *l.values[v]
	l.buffers[l.plan.values[v].buffer] = spare[:0:cap(spare)]
	return t, true
}

// RunInto is Run with memory of the caller for outputs: output i fills the
// first bytes of dst[i], unless that is nil. It is computed there, without a
// copy, if the plan and the alignment of dst[i] permit that; the Runner keeps
// none of the memory after the call. A shorter dst leaves out the last outputs.
// The tensors are in dst or, if they were copied or left out, the Runner's.
//
// An output larger than its dst[i] is an error that wraps
// transforms.ErrInput. After an error the contents of dst are undefined.
func (r *Runner) RunInto(dst [][]byte, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	if len(dst) > len(r.plan.outputs) {
		return nil, errfmt.Errorf("datagraph: run: memory for %d outputs, the graph has %d: %w", len(dst), len(r.plan.outputs), transforms.ErrInput)
	}
	for len(r.into) < len(dst) {
		r.into = append(r.into, into{})
	}
	for i := range dst {
		r.lend(i, dst[i])
	}
	out, err := r.Run(inputs...)
	for i := len(dst) - 1; i >= 0; i-- {
		r.reclaim(i, dst[i])
	}
	if err != nil {
		return nil, err
	}
	for i, d := range dst {
		t, n := out[i], out[i].Desc.Size()
		if t.DType == tensor.Bytes {
			n = int64(len(t.Data))
		}
		if d == nil || n == 0 || (len(t.Data) > 0 && &t.Data[0] == unsafe.SliceData(d)) {
			continue
		}
		if n > int64(len(d)) {
			return nil, errfmt.Errorf("datagraph: run: output %q has %d bytes, its memory has %d: %w", r.plan.Outputs()[i].Name, n, len(d), transforms.ErrInput)
		}
		if !t.Dense() {
			t = t.Clone()
		}
		copy(d, t.Data)
	}
	return out, nil
}

// into is the state of one output during RunInto.
type into struct {
	lent bool
	own  []byte // the memory that the caller's replaces
}

// wordSize is the alignment of memory that kernels may view as any dtype.
const wordSize = 8

// leastLent is the least memory in bytes that is lent. Smaller outputs are
// copied: other small tensors, which may be larger, have the same buffer.
const leastLent = 1 << 10

// lend replaces the memory of output i by d until reclaim. It does not if other
// tensors needed more of that memory than d has.
func (r *Runner) lend(i int, d []byte) {
	v := r.plan.outputs[i]
	r.into[i] = into{}
	if len(d) < leastLent || r.plan.drawn || v < r.plan.inputs || uintptr(unsafe.Pointer(unsafe.SliceData(d)))%wordSize != 0 {
		return
	}
	if b := &r.buffers[r.plan.values[v].buffer]; cap(*b) <= len(d) {
		r.into[i] = into{true, *b}
		*b = d[:0:len(d)]
	}
}

// reclaim takes d out of the Runner's memory.
func (r *Runner) reclaim(i int, d []byte) {
	if !r.into[i].lent {
		return
	}
	// A tensor larger than d has got new memory, which the Runner keeps.
	if b := &r.buffers[r.plan.values[r.plan.outputs[i]].buffer]; cap(*b) == 0 || unsafe.SliceData(*b) == unsafe.SliceData(d) {
		*b = r.into[i].own
	}
	r.into[i] = into{}
}

// isDecoders reports whether a decoder refused its input. It would do so
// without passes as well.
func isDecoders(err error) bool {
	_, ok := errors.AsType[*codec.Error](err)
	return ok
}

// fallback returns a Runner of the plan without passes in the same memory.
func (r *Runner) fallback() *Runner {
	if r.unfused == nil {
		u := r.plan.unfused.newRunner(r.scratch)
		for len(r.buffers) < len(u.buffers) {
			r.buffers = append(r.buffers, nil)
		}
		r.unfused = u
	}
	r.unfused.buffers = r.buffers
	r.unfused.OnStep = r.OnStep
	return r.unfused
}

// forget releases the memory of earlier runs.
func (r *Runner) forget() { clear(r.buffers) }

func (r *Runner) run(inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	if err := r.bind(inputs); err != nil {
		return nil, err
	}
	for i := range r.plan.steps {
		if err := r.step(i); err != nil {
			return nil, r.plan.graph.stepErr(r.plan.steps[i].first, err)
		}
	}
	for i, v := range r.plan.outputs {
		r.outputs[i] = r.values[v]
	}
	r.last = r
	return r.outputs, nil
}

func (r *Runner) bind(inputs []*tensor.Tensor) error {
	g := r.plan.graph
	if len(inputs) != len(g.Inputs) {
		return errfmt.Errorf("datagraph: run: %d inputs, want %d", len(inputs), len(g.Inputs))
	}
	for i, t := range inputs {
		if t == nil || !g.Inputs[i].Desc.Matches(t.Desc) {
			d := tensor.Desc{}
			if t != nil {
				d = t.Desc
			}
			return errfmt.Errorf("datagraph: run: input %q is %v, want %v: %w", g.Inputs[i].Name, d, g.Inputs[i].Desc, transforms.ErrInput)
		}
		r.values[i] = t
	}
	return nil
}

// infer computes the descriptions of step i's outputs for the actual inputs.
func (r *Runner) infer(i int) error {
	s, st := &r.plan.steps[i], &r.steps[i]
	for j, v := range s.in {
		st.src[j] = r.values[v]
		st.in[j] = r.values[v].Desc
	}
	if err := s.op.Infer(st.out, st.in); err != nil {
		return err
	}
	if st.shaped != nil {
		st.ctx.Begin()
		return st.shaped.InferData(st.ctx, st.out, st.src)
	}
	return nil
}

func (r *Runner) step(i int) error {
	if err := r.infer(i); err != nil {
		return err
	}
	s, st := &r.plan.steps[i], &r.steps[i]
	for j, v := range s.out {
		if err := r.place(v, st.out[j]); err != nil {
			return err
		}
	}
	st.ctx.Begin()
	if err := s.op.Apply(st.ctx, st.dst, st.src); err != nil {
		return err
	}
	if r.OnStep != nil {
		return r.OnStep(i, st.dst)
	}
	return nil
}

// place assigns memory to value v: its buffer, enlarged if necessary.
func (r *Runner) place(v int, d tensor.Desc) error {
	if err := d.Validate(); err != nil {
		return err
	}
	b := r.plan.values[v].buffer
	n := d.Size()
	if n > int64(cap(r.buffers[b])) {
		total := n
		for i, o := range r.buffers {
			if i != b {
				total += int64(cap(o))
			}
		}
		if limit := r.plan.options.Limits.Bytes; limit > 0 && (n > limit || total > limit) {
			return errfmt.Errorf("%w: the tensors need %d bytes, the limit is %d", codec.ErrBytes, total, limit)
		}
	}
	t := r.values[v]
	t.Data = r.buffers[b][:0]
	if err := t.Reset(d); err != nil {
		return err
	}
	r.buffers[b] = t.Data
	return nil
}

// Infer returns the descriptions of the outputs of every step of the graph for
// these inputs. It reads headers and runs nothing. Sizes that depend on other
// data than the inputs are tensor.Unknown.
func (r *Runner) Infer(inputs ...*tensor.Tensor) ([][]tensor.Desc, error) {
	plain := r
	if r.plan.unfused != nil {
		plain = r.fallback()
	}
	r.scratch.BeginRun()
	if err := plain.inferAll(inputs); err != nil {
		return nil, err
	}
	return plain.descs(nil), nil
}

// inferAll computes r.known, the description of every value of a plan without
// passes.
func (r *Runner) inferAll(inputs []*tensor.Tensor) error {
	if err := r.bind(inputs); err != nil {
		return err
	}
	r.known = slices.Grow(r.known[:0], len(r.plan.values))[:len(r.plan.values)]
	for i, t := range inputs {
		r.known[i] = t.Desc
	}
	return r.inferSteps(false, func(i int, d transforms.DataShaped) error {
		st := &r.steps[i]
		for j, v := range r.plan.steps[i].in {
			if v >= r.plan.inputs {
				return nil
			}
			st.src[j] = r.values[v]
		}
		st.ctx.Begin()
		return d.InferData(st.ctx, st.out, st.src)
	})
}

// inferSteps computes r.known from the descriptions of the inputs. It calls
// shape for ops whose outputs depend on data. With planned, r.known holds the
// plan's descriptions, and steps whose inputs have them keep their outputs.
func (r *Runner) inferSteps(planned bool, shape func(i int, d transforms.DataShaped) error) error {
	for i := range r.plan.steps {
		s, st := &r.plan.steps[i], &r.steps[i]
		same := planned && st.shaped == nil && s.along == nil
		for j, v := range s.in {
			st.in[j] = r.known[v]
			same = same && st.in[j] == r.plan.values[v].desc
		}
		if same {
			continue
		}
		err := s.op.Infer(st.out, st.in)
		if st.shaped != nil && err == nil {
			err = shape(i, st.shaped)
		}
		if err != nil {
			return r.plan.graph.stepErr(i, err)
		}
		for j, v := range s.out {
			r.known[v] = st.out[j]
		}
		for _, m := range s.moves() {
			d, err := moved(m.role, r.known[m.in], st.out[0])
			if err != nil {
				return r.plan.graph.stepErr(i, err)
			}
			r.known[m.out] = d
		}
	}
	return nil
}

// Sizes describes the outputs, then the side outputs, for an image of a height
// and a width in pixels, as decoded. It reads no data. A size that depends on
// more than that is tensor.Unknown. It is safe for concurrent use.
func (p *Plan) Sizes(height, width int) ([]Column, error) {
	r, err := p.sized(height, width)
	if err != nil {
		return nil, err
	}
	defer r.plan.sizer.Store(r)
	l := p.Outputs()
	for i, v := range r.plan.outputs {
		l[i].Desc = r.known[v]
	}
	return l, nil
}

// sized returns a Runner that knows the description of every value for an image
// of that size. The caller stores it as the sizer of its plan.
func (p *Plan) sized(height, width int) (*Runner, error) {
	if height < 1 || width < 1 {
		return nil, errfmt.Errorf("datagraph: sizes: %d x %d pixels, want 1 or more a side: %w", height, width, transforms.ErrInput)
	}
	if len(p.graph.Inputs) > 0 && p.graph.Inputs[0].Name == Sound {
		return nil, errfmt.Errorf("datagraph: sizes: the graph takes sounds, which have no height and width: %w", transforms.ErrInput)
	}
	u := p.Unfused()
	r := u.sizer.Swap(nil) // another call may have it
	if r == nil {
		r = u.NewRunner()
	}
	r.known = r.known[:0]
	for _, v := range r.plan.values {
		d := v.desc
		if len(r.known) < r.plan.inputs && d.IsImage() {
			d = d.WithSize(height, width)
		}
		r.known = append(r.known, d)
	}
	err := r.inferSteps(true, func(i int, op transforms.DataShaped) error {
		if decodes(op) {
			r.steps[i].out[0] = r.steps[i].out[0].WithSize(height, width)
			return r.steps[i].out[0].Validate()
		}
		return nil
	})
	if err != nil {
		u.sizer.Store(r)
		return nil, err
	}
	return r, nil
}

// descs appends the known descriptions of every step's outputs, and of the
// columns that it moves, to all[:0]. It reuses the memory of all.
func (r *Runner) descs(all [][]tensor.Desc) [][]tensor.Desc {
	n := len(r.plan.steps)
	all = slices.Grow(all[:0], n)[:n]
	for i := range all {
		s := &r.plan.steps[i]
		all[i] = all[i][:0]
		for _, v := range s.out {
			all[i] = append(all[i], r.known[v])
		}
		for _, m := range s.moves() {
			all[i] = append(all[i], r.known[m.out])
		}
	}
	return all
}
