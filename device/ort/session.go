//go:build ((linux && !android) || windows || (darwin && !ios)) && (amd64 || arm64) && !noclib

package ort

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/tensor"
)

// Session runs a graph and a model; see [device.Session].
type Session struct {
	d         *ortDevice
	low       *lowered
	placement device.Placement
	columns   []datagraph.Column // the graph's outputs, then its side outputs
	names     []string           // of the graph's outputs alone
	host      *datagraph.Runner
	hostCols  []datagraph.Column // the columns that host returns
	pre       *graph             // the graph's part that ORT runs, nil if none
	model     *graph             // nil without a model
	feeds     []feed             // of the model, in the order of its inputs
	out       []*tensor.Tensor   // the result of Preprocess
	own       []tensor.Tensor    // memory of pre's results, by column
	results   []tensor.Named
	taps      []tensor.Named // only with form exact
	tapsSize  [2]int         // the height and width that taps belong to
	closed    bool
}

// feed is the column that an input of the model takes.
type feed struct {
	column int // index in columns
	batch  bool
}

// Open opens a session.
func (d *ortDevice) Open(p *datagraph.Plan, o device.Options) (device.Session, error) {
	if d.env == 0 {
		return nil, fmt.Errorf("%s: the device is closed", d.Name())
	}
	s, err := d.open(p, o)
	if err != nil {
		return nil, err // a nil *Session would be a non-nil interface
	}
	return s, nil
}

func (d *ortDevice) open(p *datagraph.Plan, o device.Options) (_ *Session, err error) {
	low, err := d.lower(p)
	if err != nil {
		return nil, err
	}
	if err := low.placement.Accept(o.Least); err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name(), err)
	}
	s := &Session{d: d, low: low, placement: slices.Clone(low.placement), columns: p.Outputs(), names: p.Graph().Outputs}
	defer func() {
		if err != nil {
			s.free()
			err = fmt.Errorf("%s: %w", d.Name(), err)
		}
	}()
	hostPlan := p
	if low.Exported != nil {
		if hostPlan, err = datagraph.Compile(low.Host, datagraph.CompileOptions{Limits: p.Limits()}); err != nil {
			return nil, err
		}
		if s.pre, err = d.load(low.Model, max(1, d.c.threads), d.c.fallback != fallbackAll); err != nil {
			return nil, fmt.Errorf("the graph's part: %w", err)
		}
		if err = d.fellBack(s.pre, "the graph's part", d.c.fallback == fallbackAll); err != nil {
			return nil, err
		}
		ran := s.pre.ran()
		for i := low.First; i < len(s.placement); i++ {
			s.placement[i].Why = strings.TrimPrefix(s.placement[i].Why+"; "+ran, "; ")
		}
	}
	s.host, s.hostCols = hostPlan.NewRunner(), hostPlan.Outputs()
	if o.Model != nil {
		// Without a report of the assignment, the rule cannot be checked, so
		// ORT must not move any node.
		strict := d.c.fallback == fallbackNone || d.c.fallback == fallbackModel && !d.a.has(slotSessionGetAssignment)
		if s.model, err = d.load(o.Model, d.c.threads, strict); err != nil {
			return nil, fmt.Errorf("the model: %w", err)
		}
		if err = d.fellBack(s.model, "the model", d.c.fallback == fallbackAll); err != nil {
			return nil, err
		}
		if err = s.connect(); err != nil {
			return nil, err
		}
	}
	s.out = make([]*tensor.Tensor, len(s.columns))
	s.own = make([]tensor.Tensor, len(s.columns))
	d.sessions.Add(1)
	return s, nil
}

// fellBack returns device.ErrFellBack if the provider got no node. It does so
// too if another provider got one, with fallback=none and in the graph's part.
// all turns the check off.
func (d *ortDevice) fellBack(g *graph, what string, all bool) error {
	if d.p.add == addCPU || all || g.assigned == nil {
		return nil
	}
	if len(g.assigned) > 0 && len(g.assigned[d.p.EP]) == 0 {
		return fmt.Errorf("%w: no node of %s runs on %s: %s; fallback=all allows it", device.ErrFellBack, what, d.p.EP, g.ran())
	}
	if others := len(g.assigned) - 1; others > 0 && (d.c.fallback == fallbackNone || what != "the model") {
		return fmt.Errorf("%w: not every node of %s runs on %s: %s", device.ErrFellBack, what, d.p.EP, g.ran())
	}
	return nil
}

// ran describes which provider got which operators, in ORT's words:
// "CPUExecutionProvider runs Cast, Div, 2 Sub".
func (g *graph) ran() string {
	if g.assigned == nil {
		return "the library is too old to say what runs where"
	}
	var l []string
	for _, ep := range slices.Sorted(maps.Keys(g.assigned)) {
		count := map[string]int{}
		for _, op := range g.assigned[ep] {
			count[op]++
		}
		var ops []string
		for _, op := range slices.Sorted(maps.Keys(count)) {
			if n := count[op]; n > 1 {
				op = fmt.Sprintf("%d %s", n, op)
			}
			ops = append(ops, op)
		}
		l = append(l, ep+" runs "+strings.Join(ops, ", "))
	}
	if len(l) == 0 {
		return "no operator is left to run"
	}
	return strings.Join(l, "; ")
}

// connect finds the column for each input of the model.
func (s *Session) connect() error {
	var mine []string
	for _, c := range s.columns {
		mine = append(mine, fmt.Sprintf("%s (%v)", c.Name, c.Desc))
	}
	mismatch := func(format string, args ...any) error {
		return fmt.Errorf("the model: %s; the graph's outputs are %s", fmt.Sprintf(format, args...), strings.Join(mine, ", "))
	}
	for _, in := range s.model.inputs {
		c := slices.IndexFunc(s.columns, func(c datagraph.Column) bool { return c.Name == in.name })
		if c < 0 && len(s.model.inputs) == 1 && len(s.names) == 1 {
			c = 0
		}
		if c < 0 {
			return mismatch("no output of the graph has the name of the input %v", in)
		}
		d := s.columns[c].Desc
		if d.DType != in.dtype {
			return mismatch("the input %v takes another type than %s is", in, s.columns[c].Name)
		}
		f := feed{column: c, batch: len(in.dims) == d.Shape.Rank()+1}
		sizes := d.Shape.Slice()
		if f.batch {
			sizes = append([]int{1}, sizes...)
		}
		if len(in.dims) != len(sizes) {
			return mismatch("the input %v has another number of axes than %s", in, s.columns[c].Name)
		}
		for i, n := range in.dims {
			if n >= 0 && sizes[i] != tensor.Unknown && int64(sizes[i]) != n {
				return mismatch("axis %d of the input %v is not that of %s", i, in, s.columns[c].Name)
			}
		}
		s.feeds = append(s.feeds, f)
	}
	return nil
}

// Placement returns the place of every step. Why of a step on the device names
// the provider that got its operators.
func (s *Session) Placement() device.Placement { return s.placement }

// Assigned returns the model's operators by ORT's name of the provider that got
// them. It is nil without a model, and with ORT older than 1.24.
func (s *Session) Assigned() map[string][]string {
	if s.model == nil {
		return nil
	}
	return maps.Clone(s.model.assigned)
}

// ModelOutputs describes the model's outputs. It is empty without a model.
// Sizes that are not fixed are tensor.Unknown.
func (s *Session) ModelOutputs() []datagraph.Column {
	if s.model == nil {
		return nil
	}
	var l []datagraph.Column
	for _, p := range s.model.outputs {
		d := tensor.Desc{DType: p.dtype}
		if len(p.dims) <= tensor.MaxRank {
			for _, n := range p.dims {
				d.Shape = d.Shape.Append(int(max(n, tensor.Unknown)))
			}
		}
		l = append(l, datagraph.Column{Name: p.name, Desc: d})
	}
	return l
}

// places holds a run's values by column, and all that must be released after
// the run.
type places struct {
	a      *api
	values []value // by column; zero if the column is only in host memory
	more   []value
	pin    runtime.Pinner
}

func (r *places) close() {
	for i := range r.values {
		r.a.releaseValue(&r.values[i])
	}
	for i := range r.more {
		r.a.releaseValue(&r.more[i])
	}
	r.pin.Unpin()
}

// prepare runs the graph. Afterwards each result of pre is in r.values, in the
// memory given. Every other column is in s.out.
func (s *Session) prepare(ctx context.Context, r *places, memory uintptr, inputs []*tensor.Tensor) error {
	if s.closed {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	host, err := s.host.Run(inputs...)
	if err != nil {
		return err
	}
	r.values = make([]value, len(s.columns))
	if s.pre == nil {
		copy(s.out, host)
		return nil
	}
	e := s.low.Exported
	for i, c := range s.columns {
		s.out[i] = nil
		if j := slices.IndexFunc(s.hostCols, func(h datagraph.Column) bool { return h.Name == c.Name }); j >= 0 {
			s.out[i] = host[j]
		}
	}
	var in []value
	var inNames []string
	give := func(name string, t *tensor.Tensor) error {
		v, err := r.feed(s.d.host, t, shape(t))
		if err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
		in, inNames = append(in, v), append(inNames, name)
		return nil
	}
	for i, p := range e.Inputs {
		if err := give(p.Name, host[i]); err != nil {
			return err
		}
	}
	if s.taps, err = s.tapsFor(host); err != nil {
		return err
	}
	for _, t := range s.taps {
		if err := give(t.Name, t.T); err != nil {
			return err
		}
	}
	var want []string
	for _, p := range e.Outputs {
		want = append(want, p.Name)
	}
	got, err := s.pre.run(ctx, inNames, in, want, memory)
	if err != nil {
		return err
	}
	for i, p := range e.Outputs {
		for j, c := range s.columns {
			if c.Name == p.Column && r.values[j].p == 0 {
				r.values[j], got[i] = got[i], value{}
				s.out[j] = nil
				break
			}
		}
	}
	r.more = append(r.more, got...)
	return nil
}

// tapsFor returns the resize taps for the sizes of the host's images. It
// computes them only if the size has changed. It returns none unless the form
// is exact.
func (s *Session) tapsFor(host []*tensor.Tensor) ([]tensor.Named, error) {
	if s.d.c.form != formExact {
		return nil, nil
	}
	for i := range s.low.Inputs {
		t := host[i]
		if !t.IsImage() {
			continue
		}
		if size := [2]int{t.Height(), t.Width()}; s.taps == nil || size != s.tapsSize {
			taps, err := s.low.Taps(t.Height(), t.Width())
			if err != nil {
				return nil, err
			}
			s.tapsSize = size
			return taps, nil
		}
		break
	}
	return s.taps, nil
}

// feed creates a value over a tensor that lives until the run ends.
func (r *places) feed(memory uintptr, t *tensor.Tensor, dims []int64) (value, error) {
	v, err := r.a.feed(&r.pin, memory, t, dims)
	if err == nil {
		r.more = append(r.more, v)
	}
	return v, err
}

func shape(t *tensor.Tensor) []int64 {
	l := make([]int64, t.Shape.Rank())
	for i := range l {
		l[i] = int64(t.Shape.At(i))
	}
	return l
}

// Preprocess runs the graph.
func (s *Session) Preprocess(ctx context.Context, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	r := &places{a: s.d.a}
	defer r.close()
	if err := s.prepare(ctx, r, s.d.host, inputs); err != nil {
		return nil, fmt.Errorf("%s: %w", s.d.Name(), err)
	}
	for i, c := range s.columns {
		if r.values[i].p == 0 {
			continue
		}
		t := &s.own[i]
		err := s.d.a.read(r.values[i], t)
		if err == nil {
			t.Layout = c.Desc.Layout
			if !c.Desc.Matches(t.Desc) {
				err = fmt.Errorf("it is %v, want %v", t.Desc, c.Desc)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: output %s: %w", s.d.Name(), c.Name, err)
		}
		s.out[i] = t
	}
	return s.out, nil
}

// Infer runs the graph and the model.
func (s *Session) Infer(ctx context.Context, inputs ...*tensor.Tensor) ([]tensor.Named, error) {
	out, err := s.infer(ctx, inputs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.d.Name(), err)
	}
	return out, nil
}

func (s *Session) infer(ctx context.Context, inputs []*tensor.Tensor) ([]tensor.Named, error) {
	if s.model == nil {
		return nil, fmt.Errorf("the session has no model")
	}
	r := &places{a: s.d.a}
	defer r.close()
	memory := s.d.host
	if s.d.own != 0 {
		memory = s.d.own
	}
	if err := s.prepare(ctx, r, memory, inputs); err != nil {
		return nil, err
	}
	var in []value
	for i, f := range s.feeds {
		v, err := s.modelInput(r, f, memory)
		if err != nil {
			return nil, fmt.Errorf("the model's input %s: %w", s.model.inputs[i].name, err)
		}
		in = append(in, v)
	}
	got, err := s.model.run(ctx, names(s.model.inputs), in, names(s.model.outputs), s.d.host)
	if err != nil {
		return nil, fmt.Errorf("the model: %w", err)
	}
	r.more = append(r.more, got...)
	if s.results == nil {
		for _, p := range s.model.outputs {
			s.results = append(s.results, tensor.Named{Name: p.name, T: &tensor.Tensor{}})
		}
	}
	for i, v := range got {
		if err := s.d.a.read(v, s.results[i].T); err != nil {
			return nil, fmt.Errorf("the model's output %s: %w", s.results[i].Name, err)
		}
	}
	return s.results, nil
}

// modelInput returns the value for an input of the model. It uses the column
// where it lies, if possible.
func (s *Session) modelInput(r *places, f feed, memory uintptr) (value, error) {
	v := r.values[f.column]
	if v.p == 0 {
		t := s.out[f.column]
		dims := shape(t)
		if f.batch {
			dims = append([]int64{1}, dims...)
		}
		return r.feed(s.d.host, t, dims)
	}
	if !f.batch {
		return v, nil
	}
	// The value shares the memory and has one more axis.
	dtype, dims, data, err := s.d.a.look(v)
	if err != nil {
		return v, err
	}
	size := int64(dtype.Size())
	for _, n := range dims {
		size *= n
	}
	v, err = s.d.a.wrap(memory, data, size, dtype, append([]int64{1}, dims...))
	if err == nil {
		r.more = append(r.more, v)
	}
	return v, err
}

// free releases all ORT objects of the session.
func (s *Session) free() {
	if s.pre != nil {
		s.pre.close()
	}
	if s.model != nil {
		s.model.close()
	}
}

// Close releases the session. Further calls do nothing.
func (s *Session) Close() error {
	if !s.closed {
		s.closed = true
		s.free()
		s.d.sessions.Add(-1)
	}
	return nil
}
