//go:build !(js && wasm)

package webgpu

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gogpu/wgpu"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Session runs a graph. It is not safe for concurrent use.
type Session struct {
	d         *Device
	low       *lowered
	limits    codec.Limits
	placement device.Placement // of the last run
	mem       *memory
	hosts     map[part]*hostPart
	tables    map[*table]*buffer // of asTable steps; kept between runs
	scales    []*scaling         // of asScaled steps
	columns   map[string]*value
	out       []*tensor.Tensor // the results read back, a tensor for each output
	back      map[string]*tensor.Tensor
	closed    bool
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
	buf  *buffer
}

// Open opens a session. A model is ErrModel.
func (d *Device) Open(p *datagraph.Plan, o device.Options) (device.Session, error) {
	return d.NewSession(p, o)
}

// NewSession opens a session, like Open, and returns this package's own type.
// Its results can stay on the device.
func (d *Device) NewSession(p *datagraph.Plan, o device.Options) (*Session, error) {
	if o.Model != nil {
		return nil, fmt.Errorf("webgpu: %w", ErrModel)
	}
	l, err := lower(p.Graph())
	if err != nil {
		return nil, err
	}
	s := &Session{
		d: d, low: l, limits: p.Limits(), placement: l.placement(), mem: &memory{d: d, budget: p.Limits().Bytes},
		hosts: map[part]*hostPart{}, tables: map[*table]*buffer{}, scales: make([]*scaling, len(l.steps)),
		back: map[string]*tensor.Tensor{},
	}
	// Every step is exact, wherever it runs, so only a Least above Exact fails.
	if least := s.placement.Least(); least < o.Least {
		return nil, fmt.Errorf("webgpu: %w: %v, want %v", device.ErrClass, least, o.Least)
	}
	for i, st := range l.steps {
		if st.way == onHost && (i == 0 || l.steps[i-1].way != onHost) {
			if _, err := s.host(part{i, l.hostRun(i)}); err != nil {
				return nil, err
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("webgpu: device: %w", ErrClosed)
	}
	d.memory[s.mem] = true
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
func (s *Session) host(p part) (*hostPart, error) {
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
	var se *datagraph.StepError
	if errors.As(err, &se) {
		return &datagraph.StepError{Step: se.Step + by, Op: se.Op, Err: se.Err}
	}
	return err
}

// Placement returns where the steps of the last run ran, or before the first
// run, where they will run.
func (s *Session) Placement() device.Placement { return slices.Clone(s.placement) }

// Infer always returns ErrModel.
func (s *Session) Infer(context.Context, ...*tensor.Tensor) ([]tensor.Named, error) {
	return nil, fmt.Errorf("webgpu: %w", ErrModel)
}

// Preprocess runs the graph and reads the results back: its outputs, then its
// side outputs. They are valid until the next call. Errors of steps are
// *datagraph.StepError, as in datagraph's Runner. Others are *Error, ErrLost or
// the context's error, which is checked between steps.
func (s *Session) Preprocess(ctx context.Context, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	var names []string
	err := s.locked(func() error {
		if err := s.run(ctx, inputs); err != nil {
			return err
		}
		names = slices.Concat(s.low.graph.Outputs, s.low.graph.SideOutputs)
		return s.toHost(names)
	})
	if err != nil {
		return nil, err
	}
	s.out = s.out[:0]
	for _, n := range names {
		s.out = append(s.out, s.columns[n].host)
	}
	return s.out, nil
}

// Buffer is a result on the device: its elements in row-major order,
// little-endian, from the start of GPU on. GPU may be longer than the result.
type Buffer struct {
	Name string
	Desc tensor.Desc
	GPU  *wgpu.Buffer // usable as storage and as the source of copies
}

// PreprocessOnDevice runs the graph like Preprocess, but leaves the results on
// the device. The computation is done when it returns. The buffers may be used
// on Device.GPU's queue until the next call. Results that the host computed are
// uploaded; one of dtype bytes is an error.
func (s *Session) PreprocessOnDevice(ctx context.Context, inputs ...*tensor.Tensor) ([]Buffer, error) {
	var l []Buffer
	err := s.locked(func() error {
		if err := s.run(ctx, inputs); err != nil {
			return err
		}
		for _, n := range slices.Concat(s.low.graph.Outputs, s.low.graph.SideOutputs) {
			v := s.columns[n]
			if v.gpu == nil {
				if v.desc.DType == tensor.Bytes {
					return fmt.Errorf("webgpu: output %q is a byte string, which stays on the host", n)
				}
				var err error
				if v.gpu, err = s.upload(v.host); err != nil {
					return err
				}
			}
			i, err := s.image(v)
			if err != nil {
				return err
			}
			l = append(l, Buffer{n, v.desc, i.buf.gpu})
		}
		return s.mem.wait()
	})
	return l, err
}

// Close releases the session's memory.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.closed {
		return nil
	}
	delete(s.d.memory, s.mem)
	err := guard("closing a session", s.mem.close)
	if s.d.lost != nil {
		return nil // the call that lost the device reported it
	}
	return err
}

// locked runs f with exclusive use of the GPU.
func (s *Session) locked(f func() error) error {
	if s.closed {
		return fmt.Errorf("webgpu: session: %w", ErrClosed)
	}
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.d.closed {
		return fmt.Errorf("webgpu: device: %w", ErrClosed)
	}
	if s.d.lost != nil {
		return s.d.lost
	}
	err := guard("running", f)
	if errors.Is(err, ErrLost) {
		s.d.lost = err
	}
	var t *tooLarge
	if errors.As(err, &t) {
		err = fmt.Errorf("webgpu: %w: %s", codec.ErrLimit, t.why)
	}
	return err
}

// run computes all columns, each on the device or on the host.
func (s *Session) run(ctx context.Context, inputs []*tensor.Tensor) error {
	g := s.low.graph
	if len(inputs) != len(g.Inputs) {
		return fmt.Errorf("webgpu: %d inputs, want %d", len(inputs), len(g.Inputs))
	}
	if err := s.mem.reset(); err != nil {
		return err
	}
	for _, b := range s.tables {
		b.users = 1
	}
	for _, c := range s.scales {
		c.keep()
	}
	s.placement = s.low.placement()
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
		var t *tooLarge
		if errors.As(err, &t) && s.d.strict {
			return &datagraph.StepError{Step: i, Op: s.placement[i].Op, Err: fmt.Errorf("%w: %s", device.ErrFellBack, t.why)}
		}
		if errors.As(err, &t) {
			// Later steps may need this step's result on the device.
			for j := range s.placement[i:] {
				p := &s.placement[i+j]
				if p.Where != "cpu" {
					p.Where, p.Why = "cpu", t.why
				}
			}
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
func (s *Session) runHost(p part) error {
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
func (s *Session) bind(column string, v *value) {
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
	s.mem.put(old.gpu.buf)
}

// runStep runs a step on the device.
func (s *Session) runStep(i int) error {
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
	if n := out[0].Size(); n > s.mem.largest() {
		return tooLargef("%v takes %d bytes, the most of one buffer is %d", out[0], n, s.mem.largest())
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
func (s *Session) upload(t *tensor.Tensor) (*image, error) {
	t, err := dense(t)
	if err != nil {
		return nil, err
	}
	b, err := s.mem.upload(t.Data, storage)
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
func (s *Session) image(v *value) (*image, error) {
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
	b, err := s.mem.get(v.desc.Size(), storage)
	if err != nil {
		return nil, err
	}
	in := v.gpu.desc
	err = s.mem.run(lookup, b, v.gpu.buf, entries, params{
		total: v.desc.Len(), size: v.desc.DType.Size(), chw: v.desc.Layout == tensor.CHW, w: v.desc.Width(), h: v.desc.Height(), ch: v.desc.Channels(),
		schw: in.Layout == tensor.CHW,
	})
	if err != nil {
		return nil, err
	}
	// Keep the uint8 image: other steps may start from it.
	return &image{v.desc, b}, nil
}

// entries returns a table's buffer on the device, where it stays.
func (s *Session) entries(t *table) (*buffer, error) {
	if b := s.tables[t]; b != nil {
		return b, nil
	}
	b, err := s.mem.upload(t.entries, storage)
	if err == nil {
		s.tables[t] = b
	}
	return b, err
}

// toHost copies the columns' values to host memory.
func (s *Session) toHost(names []string) error {
	var l []fetch
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
		l = append(l, fetch{i.buf, t.Data})
	}
	if len(l) == 0 {
		return nil
	}
	return s.mem.read(l)
}
