package gpu

import (
	"context"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Runner runs a graph on a Memory. It is not safe for concurrent use.
type Runner struct {
	// Band limits the bytes of a host image that are uploaded at a time. 0
	// means 64 MiB.
	Band int64
	// FellBack is called when a step is too large for the memory, before the
	// host runs it and all later steps. An error of FellBack ends the run.
	FellBack func(step int, why string) error

	low     *lowered
	limits  codec.Limits
	mem     Memory
	hosts   map[part]*hostPart
	tables  map[*table]Buffer // of asTable steps; kept between runs
	scales  []*scaling        // of asScaled steps
	columns map[string]*value
	back    map[string]*tensor.Tensor // the results read back
}

// part denotes n steps from first on.
type part struct{ first, n int }

// hostPart runs a part on the host.
type hostPart struct {
	inputs, outputs []string
	runner          *datagraph.Runner
}

// value is a column during a run: in host memory, on the device, or both.
type value struct {
	desc  tensor.Desc
	host  *tensor.Tensor
	gpu   *image
	table *table // the table not yet applied to gpu, or nil
}

// image is a dense image on the device.
type image struct {
	desc tensor.Desc
	buf  Buffer
}

// New returns a runner of a plan's graph.
func New(p *datagraph.Plan, m Memory) (*Runner, error) {
	l, err := lower(p.Graph())
	if err != nil {
		return nil, err
	}
	s := &Runner{
		low: l, limits: p.Limits(), mem: m, hosts: map[part]*hostPart{}, tables: map[*table]Buffer{}, scales: make([]*scaling, len(l.steps)),
		back: map[string]*tensor.Tensor{},
	}
	for i, st := range l.steps {
		if st.way == onHost && (i == 0 || l.steps[i-1].way != onHost) {
			if _, err := s.host(part{i, l.hostRun(i)}); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// hostRun returns the number of consecutive host steps from i on.
func (l *lowered) hostRun(i int) int {
	n := 0
	for i+n < len(l.steps) && l.steps[i+n].way == onHost {
		n++
	}
	return n
}

// host returns the runner of a part, which it compiles on first use.
func (s *Runner) host(p part) (*hostPart, error) {
	if h := s.hosts[p]; h != nil {
		return h, nil
	}
	g := s.low.part(p.first, p.n)
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: s.limits})
	if err != nil {
		return nil, shifted(err, p.first)
	}
	h := &hostPart{outputs: g.Outputs, runner: plan.NewRunner()}
	for _, c := range g.Inputs {
		h.inputs = append(h.inputs, c.Name)
	}
	s.hosts[p] = h
	return h, nil
}

// shifted converts a StepError's step number to that of the whole graph.
func shifted(err error, by int) error {
	if se, ok := errors.AsType[*datagraph.StepError](err); ok {
		return &datagraph.StepError{Step: se.Step + by, Op: se.Op, Err: se.Err}
	}
	return err
}

// Run computes all columns, each on the device or on the host.
func (s *Runner) Run(ctx context.Context, inputs []*tensor.Tensor) error {
	g := s.low.graph
	if len(inputs) != len(g.Inputs) {
		return fmt.Errorf("webgpu: %d inputs, want %d", len(inputs), len(g.Inputs))
	}
	if err := s.mem.Reset(); err != nil {
		return err
	}
	for _, b := range s.tables {
		s.mem.Keep(b)
	}
	for _, c := range s.scales {
		s.keep(c)
	}
	s.columns = map[string]*value{}
	for i, t := range inputs {
		if t == nil {
			return fmt.Errorf("webgpu: input %q is nil, want %v: %w", g.Inputs[i].Name, g.Inputs[i].Desc, transforms.ErrInput)
		}
		if !g.Inputs[i].Desc.Matches(t.Desc) {
			return fmt.Errorf("webgpu: input %q is %v, want %v: %w", g.Inputs[i].Name, t.Desc, g.Inputs[i].Desc, transforms.ErrInput)
		}
		s.columns[g.Inputs[i].Name] = &value{desc: t.Desc, host: t}
	}
	for i := 0; i < len(s.low.steps); {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.low.steps[i].way == onHost {
			n := s.low.hostRun(i)
			if err := s.runHost(part{i, n}); err != nil {
				return err
			}
			i += n
			continue
		}
		err := s.runStep(i)
		if t, ok := errors.AsType[*TooLarge](err); ok {
			if s.FellBack != nil {
				if err := s.FellBack(i, t.Why); err != nil {
					return err
				}
			}
			// Later steps may need this step's result on the device.
			return s.runHost(part{i, len(s.low.steps) - i})
		}
		if err != nil {
			return err
		}
		i++
	}
	return nil
}

// runHost runs a part on the host.
func (s *Runner) runHost(p part) error {
	h, err := s.host(p)
	if err != nil {
		return err
	}
	if err := s.toHost(h.inputs); err != nil {
		return err
	}
	var in []*tensor.Tensor
	for _, n := range h.inputs {
		in = append(in, s.columns[n].host)
	}
	out, err := h.runner.Run(in...)
	if err != nil {
		return shifted(err, p.first)
	}
	for i, n := range h.outputs {
		s.bind(n, &value{desc: out[i].Desc, host: out[i]})
	}
	return nil
}

// bind gives a column a new value. It frees the old value's memory if no column
// uses it.
func (s *Runner) bind(column string, v *value) {
	old := s.columns[column]
	s.columns[column] = v
	if old == nil || old.gpu == nil {
		return
	}
	for _, o := range s.columns {
		if o.gpu == old.gpu {
			return
		}
	}
	s.mem.Put(old.gpu.buf)
}

// runStep runs a step on the device.
func (s *Runner) runStep(i int) error {
	st := s.low.graph.Steps[i]
	v := s.columns[st.In[0]]
	out := make([]tensor.Desc, len(st.Out))
	err := st.Op.Infer(out, []tensor.Desc{v.desc})
	for j := range out {
		if err == nil {
			err = out[j].Validate()
		}
	}
	if err != nil {
		return &datagraph.StepError{Step: i, Op: transforms.InfoOf(st.Op).Name, Err: err}
	}
	if n := out[0].Size(); n > s.mem.Largest() {
		return TooLargef("%v takes %d bytes, the most of one buffer is %d", out[0], n, s.mem.Largest())
	}
	r := &value{desc: out[0]}
	switch s.low.steps[i].way {
	case asTable:
		if v.gpu == nil {
			if v.gpu, err = s.upload(v.host); err != nil {
				return err
			}
		}
		r.gpu, r.table = v.gpu, s.low.steps[i].table
	case asPick:
		r.gpu, err = s.pickStep(st.Op, v, out[0])
	case asScaled:
		var side []*tensor.Tensor
		for _, d := range out[1:] {
			t, err := tensor.New(d)
			if err != nil {
				return err
			}
			side = append(side, t)
		}
		r.gpu, err = s.scaleStep(i, st.Op.(transforms.Scaled), v, out[0], side)
		for j, t := range side {
			if err == nil {
				s.bind(st.Out[j+1], &value{desc: t.Desc, host: t})
			}
		}
	}
	if err != nil {
		return err
	}
	s.bind(st.Out[0], r)
	return nil
}

// upload copies an image or another dense tensor to the device.
func (s *Runner) upload(t *tensor.Tensor) (*image, error) {
	t, err := dense(t)
	if err != nil {
		return nil, err
	}
	b, err := s.mem.Upload(t.Data)
	if err != nil {
		return nil, err
	}
	return &image{t.Desc, b}, nil
}

func dense(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.Dense() {
		return t, nil
	}
	d, err := tensor.New(t.Desc)
	if err != nil {
		return nil, err
	}
	return d, t.CopyTo(d)
}

// image returns a value's image on the device, with its table applied.
func (s *Runner) image(v *value) (*image, error) {
	if v.gpu == nil {
		var err error
		if v.gpu, err = s.upload(v.host); err != nil {
			return nil, err
		}
	}
	if v.table == nil {
		return v.gpu, nil
	}
	entries, err := s.entries(v.table)
	if err != nil {
		return nil, err
	}
	b, err := s.mem.Get(v.desc.Size())
	if err != nil {
		return nil, err
	}
	in := v.gpu.desc
	err = s.mem.Run(Lookup, b, v.gpu.buf, entries, Params{
		Total: v.desc.Len(), Size: v.desc.DType.Size(), CHW: v.desc.Layout == tensor.CHW, W: v.desc.Width(), H: v.desc.Height(), Ch: v.desc.Channels(),
		SCHW: in.Layout == tensor.CHW,
	})
	if err != nil {
		return nil, err
	}
	// Keep the uint8 image: other steps may start from it.
	return &image{v.desc, b}, nil
}

// entries returns a table's buffer on the device, where it stays.
func (s *Runner) entries(t *table) (Buffer, error) {
	if b := s.tables[t]; b != nil {
		return b, nil
	}
	b, err := s.mem.Upload(t.entries)
	if err == nil {
		s.tables[t] = b
	}
	return b, err
}

// toHost copies the columns' values to host memory.
func (s *Runner) toHost(names []string) error {
	var l []Fetch
	done := map[*value]bool{}
	for _, n := range names {
		v := s.columns[n]
		if v.host != nil || done[v] {
			continue
		}
		done[v] = true
		i, err := s.image(v)
		if err != nil {
			return err
		}
		t := s.back[n]
		if t == nil {
			t = &tensor.Tensor{}
			s.back[n] = t
		}
		if err := t.Reset(v.desc); err != nil {
			return err
		}
		v.host = t
		l = append(l, Fetch{i.buf, t.Data})
	}
	if len(l) == 0 {
		return nil
	}
	return s.mem.Read(l)
}

// Host returns columns in host memory, valid until the next run.
func (s *Runner) Host(names []string) ([]*tensor.Tensor, error) {
	if err := s.toHost(names); err != nil {
		return nil, err
	}
	var l []*tensor.Tensor
	for _, n := range names {
		l = append(l, s.columns[n].host)
	}
	return l, nil
}

// Device returns a column in device memory, valid until the next run. Columns
// that the host computed are uploaded.
func (s *Runner) Device(name string) (tensor.Desc, Buffer, error) {
	v := s.columns[name]
	if v.gpu == nil {
		if v.desc.DType == tensor.Bytes {
			return v.desc, nil, fmt.Errorf("webgpu: output %q is a byte string, which stays on the host", name)
		}
		var err error
		if v.gpu, err = s.upload(v.host); err != nil {
			return v.desc, nil, err
		}
	}
	i, err := s.image(v)
	if err != nil {
		return v.desc, nil, err
	}
	return v.desc, i.buf, nil
}
