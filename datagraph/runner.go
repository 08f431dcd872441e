package datagraph

import (
	"errors"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Runner runs a Plan again and again in memory of its own, which grows to what
// the largest sample needed and then stays: in steady state a run allocates
// nothing. A Runner is used by one goroutine at a time.
type Runner struct {
	plan    *Plan
	buffers [][]byte
	steps   []runStep
	values  []*tensor.Tensor
	own     []tensor.Tensor // what values point to, but for the inputs
	outputs []*tensor.Tensor
	scratch *transforms.Context // whose siblings are the steps'
	unfused *Runner             // of plan.unfused, in the same memory; nil until it is needed
	last    *Runner             // that gave the outputs: this one, unfused, or a variant's
	// lastOutputs are last's, for every output of a random graph.
	lastOutputs []int

	// At is the sample that random ops are drawn for. It may be set before every
	// run, and has no meaning for a graph without random ops.
	At rng.Point

	drawing *drawing // of a graph with random ops; nil before the first run

	// OnStep, if it is not nil, is called after every step of the graph with the
	// step's number and its outputs, which are valid until it returns. An error
	// ends the run. The plan is then run without passes.
	OnStep func(step int, out []*tensor.Tensor) error
}

type runStep struct {
	ctx      *transforms.Context
	in, out  []tensor.Desc
	src, dst []*tensor.Tensor
}

// NewRunner makes a Runner. It allocates almost nothing before the first run.
func (p *Plan) NewRunner() *Runner { return p.newRunner(transforms.NewContext(p.options.Limits)) }

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
		for j, v := range s.out {
			st.dst[j] = r.values[v]
		}
		r.steps = append(r.steps, st)
	}
	return r
}

// Run computes the graph's outputs, then its side outputs, in the order of
// Plan.Outputs. The inputs, in the order of Graph.Inputs, may be strided views;
// they are not written. The outputs are the Runner's own memory: they are valid
// until its next Run, and must be cloned to be kept longer.
//
// Errors are a *StepError that names the step, and wrap the op's or decoder's
// own error. After an error the Runner can be used again.
func (r *Runner) Run(inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	if r.plan.random {
		return r.runRandom(inputs)
	}
	if r.plan.unfused == nil {
		return r.run(inputs)
	}
	if r.OnStep != nil {
		out, err := r.plain().run(inputs)
		r.last = r.unfused
		return out, err
	}
	out, err := r.run(inputs)
	if err == nil || isDecoders(err) {
		return out, err
	}
	// Steps without passes say what is wrong, or find nothing wrong: a fused op
	// may have declined, or the memory may have gone to a step that shares less.
	plain := r.plain()
	if out, err = plain.run(inputs); errors.Is(err, codec.ErrLimit) {
		plain.forget()
		out, err = plain.run(inputs)
	}
	r.last = plain
	return out, err
}

// Take gives output i of the last Run away, with its memory: it stays valid, and
// the Runner uses spare instead, which may be nil or the memory of another tensor
// that nobody needs any more. Not own if the output is one of the inputs, or one
// with an output before it, which no random op changed: then it is as valid as that
// one, and spare is not used. An output is taken once.
func (r *Runner) Take(i int, spare []byte) (t tensor.Tensor, own bool) {
	l := r.last
	one := false // with an output before
	if r.plan.random {
		j := r.lastOutputs[i]
		one = slices.Index(r.lastOutputs, j) < i
		i = j
	}
	v := l.plan.outputs[i]
	if one || v < l.plan.inputs {
		return *l.values[v], false
	}
	t = *l.values[v]
	l.buffers[l.plan.values[v].buffer] = spare[:0:cap(spare)]
	return t, true
}

// isDecoders reports whether a decoder refused its input, as it would without passes.
func isDecoders(err error) bool {
	var ce *codec.Error
	return errors.As(err, &ce)
}

// plain is a Runner of the plan without passes in the same memory.
func (r *Runner) plain() *Runner {
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

// forget lets go of the memory of earlier runs.
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
		return fmt.Errorf("datagraph: %d inputs, want %d", len(inputs), len(g.Inputs))
	}
	for i, t := range inputs {
		if t == nil || !g.Inputs[i].Desc.Matches(t.Desc) {
			d := tensor.Desc{}
			if t != nil {
				d = t.Desc
			}
			return fmt.Errorf("datagraph: input %q is %v, want %v: %w", g.Inputs[i].Name, d, g.Inputs[i].Desc, transforms.ErrInput)
		}
		r.values[i] = t
	}
	return nil
}

// infer fills in the descriptions of step i's outputs for the actual inputs.
func (r *Runner) infer(i int) error {
	s, st := &r.plan.steps[i], &r.steps[i]
	for j, v := range s.in {
		st.src[j] = r.values[v]
		st.in[j] = r.values[v].Desc
	}
	if err := s.op.Infer(st.out, st.in); err != nil {
		return err
	}
	if d, ok := s.op.(transforms.DataShaped); ok {
		st.ctx.Begin()
		return d.InferData(st.ctx, st.out, st.src)
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

// place gives value v its memory: its buffer, grown if it must be.
func (r *Runner) place(v int, d tensor.Desc) error {
	if err := d.Check(); err != nil {
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
			return fmt.Errorf("%w: the tensors need %d bytes, the limit is %d", codec.ErrLimit, total, limit)
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

// Infer gives the descriptions of the outputs of every step of the graph for
// these inputs, reading headers but running nothing. Only ops that read graph
// inputs can look at data; what depends on other data stays Unknown.
func (r *Runner) Infer(inputs ...*tensor.Tensor) ([][]tensor.Desc, error) {
	if r.plan.unfused != nil {
		return r.plain().Infer(inputs...)
	}
	if err := r.bind(inputs); err != nil {
		return nil, err
	}
	all := make([][]tensor.Desc, len(r.plan.steps))
	known := make([]tensor.Desc, len(r.plan.values))
	for i, t := range inputs {
		known[i] = t.Desc
	}
	for i, s := range r.plan.steps {
		st := &r.steps[i]
		data := true
		for j, v := range s.in {
			st.in[j], st.src[j] = known[v], r.values[v]
			data = data && v < r.plan.inputs
		}
		out := make([]tensor.Desc, len(s.out))
		err := s.op.Infer(out, st.in)
		if d, ok := s.op.(transforms.DataShaped); ok && err == nil && data {
			st.ctx.Begin()
			err = d.InferData(st.ctx, out, st.src)
		}
		if err != nil {
			return nil, r.plan.graph.stepErr(i, err)
		}
		for j, v := range s.out {
			known[v] = out[j]
		}
		all[i] = out
	}
	return all, nil
}
