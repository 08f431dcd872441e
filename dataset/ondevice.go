package dataset

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// placeMaps gives the last steps of every map to Options.Device, after the
// passes. A device that takes no step of any map is an error.
func (b *Built) placeMaps(ctx context.Context) error {
	if b.options.Device == nil {
		return nil
	}
	var why error
	placed, maps := 0, 0
	seen := map[*step]bool{}
	var walk func(s *step) error
	walk = func(s *step) error {
		if seen[s] {
			return nil
		}
		seen[s] = true
		if st, ok := s.state.(*mapState); ok {
			maps++
			reason, err := b.placeMap(ctx, st)
			if err != nil {
				return &NodeError{s.path, err}
			}
			if st.tail != nil {
				placed++
			} else if why == nil {
				why = &NodeError{s.path, reason}
			}
		}
		for _, in := range s.in {
			if err := walk(in); err != nil {
				return err
			}
		}
		return nil
	}
	err := walk(b.top)
	switch {
	case err != nil:
		return err
	case maps == 0:
		return fmt.Errorf("dataset: %w: no map for device %s to run", ErrDefinition, b.options.Device.Name())
	case placed == 0:
		return fmt.Errorf("dataset: %w: device %s runs no step of any map: %w", ErrDefinition, b.options.Device.Name(), why)
	}
	return nil
}

// tail is the part of a map's graph that runs on a device. The steps before run
// on the host, in head.
type tail struct {
	device device.Device
	head   *datagraph.Plan // nil if the device runs every step
	plan   *datagraph.Plan
	// cut holds the columns between head and tail: outputs of head, or inputs
	// of the map if head is nil.
	cut    []int
	inputs []int // of plan, as indexes of cut
	// from is the index of each output of the map: of cut, or -1-i for output i
	// of plan.
	from     []int
	sessions *device.Pool
}

// placeMap finds the longest tail of a map that the device runs, and opens its
// first session, so that Build returns the error. reason is why no tail was
// found.
func (b *Built) placeMap(ctx context.Context, st *mapState) (reason, err error) {
	d, least := b.options.Device, b.options.DeviceLeast
	g := st.plan.Graph()
	descs, err := g.Infer()
	if err != nil {
		return nil, err
	}
	placement := make(device.Placement, len(g.Steps))
	st.placement = placement
	first := 0
	for i, s := range g.Steps {
		placement[i] = device.Place{Step: i, Op: transforms.InfoOf(s.Op).Name, Where: "cpu", Class: device.Exact}
		if _, random := s.Op.(transforms.Random); random || len(s.Moves) > 0 {
			first = i + 1
		}
	}
	for i := range first {
		placement[i].Why = "it is not behind the last step that is random or moves other columns"
	}
	reason = errors.New("no step is behind the last one that is random or moves other columns")
	for k := first; k < len(g.Steps); k++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := newTail(g, descs, k, st.plan.Outputs(), b.compileOptions())
		var p device.Placement
		if err == nil {
			if p, err = d.Place(t.plan); err == nil {
				err = t.accept(p, d.Name(), least)
			}
		}
		if err != nil {
			reason = fmt.Errorf("step %d (%s): %w", k, placement[k].Op, err)
			placement[k].Why = err.Error()
			continue
		}
		t.device, placement[k].Why = d, ""
		if t.sessions, err = device.NewPool(d, t.plan, device.Options{Least: least}, 1); err != nil {
			return nil, err
		}
		for i, s := range t.sessions.Placement() {
			s.Step = k + i
			placement[k+i] = s
		}
		b.open = append(b.open, t.sessions)
		st.tail = t
		return nil, nil
	}
	return reason, nil
}

// accept returns why a placement of a tail is not used: a step on the host, or
// one that is worse than least.
func (t *tail) accept(p device.Placement, name string, least device.Class) error {
	for _, s := range p {
		if s.Where == name {
			continue
		}
		why := s.Why
		if why == "" {
			why = "the device does not run it"
		}
		if s.Step > 0 {
			why = fmt.Sprintf("%s, a later step, stays on the host: %s", s.Op, why)
		}
		return errors.New(why)
	}
	return p.Accept(least)
}

// newTail cuts a graph before step k. It does not change random numbers: a
// Runner draws before it runs a step, and all random steps are before k.
func newTail(g *datagraph.Graph, descs [][]tensor.Desc, k int, outputs []datagraph.Column, o datagraph.CompileOptions) (*tail, error) {
	t := &tail{}
	rest := &datagraph.Graph{Steps: g.Steps[k:]}
	var cut []string
	cutAt := func(c string) int {
		i := slices.Index(cut, c)
		if i < 0 {
			i = len(cut)
			cut = append(cut, c)
		}
		return i
	}
	made := map[string]bool{} // columns that the tail has written
	before := *g
	before.Steps = g.Steps[:k]
	for _, s := range rest.Steps {
		for _, c := range s.In {
			if made[c] || slices.ContainsFunc(rest.Inputs, func(x datagraph.Column) bool { return x.Name == c }) {
				continue
			}
			rest.Inputs = append(rest.Inputs, datagraph.Column{Name: c, Desc: before.Last(descs[:k], c)})
			t.inputs = append(t.inputs, cutAt(c))
		}
		for _, c := range s.Out {
			made[c] = true
		}
	}
	for _, c := range slices.Concat(g.Outputs, g.SideOutputs) {
		if !made[c] {
			t.from = append(t.from, cutAt(c))
			continue
		}
		i := slices.Index(rest.Outputs, c)
		if i < 0 {
			i = len(rest.Outputs)
			rest.Outputs = append(rest.Outputs, c)
		}
		t.from = append(t.from, -1-i)
	}
	if len(rest.Outputs) == 0 {
		return nil, errors.New("no output depends on it")
	}
	var err error
	if t.plan, err = datagraph.Compile(rest, o); err != nil {
		return nil, err
	}
	if k == 0 {
		for _, c := range cut {
			t.cut = append(t.cut, slices.IndexFunc(g.Inputs, func(x datagraph.Column) bool { return x.Name == c }))
		}
		return t, nil
	}
	for i := range cut {
		t.cut = append(t.cut, i)
	}
	before.Outputs, before.SideOutputs, before.Batch = cut, nil, nil
	if t.head, err = datagraph.Compile(&before, o); err != nil {
		return nil, err
	}
	return t, nil
}

// run runs the tail and gives its outputs to use.
func (t *tail) run(ctx context.Context, in []*tensor.Tensor, use func(out []*tensor.Tensor) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return t.sessions.Run(ctx, in, func(out []*tensor.Tensor) error {
		columns := t.plan.Outputs()
		if len(out) != len(columns) {
			return fmt.Errorf("%d outputs, want %d", len(out), len(columns))
		}
		for i, c := range columns {
			if !c.Desc.Matches(out[i].Desc) {
				return fmt.Errorf("output %s is %v, want %v", c.Name, out[i].Desc, c.Desc)
			}
		}
		return use(out)
	})
}

// deviceMapping is the worker of a map with a tail on a device.
type deviceMapping struct {
	newHost func() (worker, error)
	host    worker // nil until the first error
	t       *tail
	mapping *mapping // its runner is that of the head, nil without one
	src     []*tensor.Tensor
}

func newDeviceMapping(b *Built, st *mapState, newHost func() (worker, error)) *deviceMapping {
	m := &mapping{seed: b.options.Seed, cols: st.cols.clone()}
	if st.tail.head != nil {
		m.runner = st.tail.head.NewRunner()
		m.runner.Weights = b.weights
	}
	return &deviceMapping{newHost: newHost, t: st.tail, mapping: m}
}

// Do runs the head and the tail. If one fails, the host runs the whole map, so
// that a bad sample's error does not depend on the device. A sample that only
// fails on the device is not bad: its error ends the run.
func (w *deviceMapping) Do(ctx context.Context, s *Sample) error {
	err := w.run(ctx, s)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if w.host == nil {
		var e error
		if w.host, e = w.newHost(); e != nil {
			return e
		}
	}
	if err := w.host.Do(ctx, s); err != nil {
		return err
	}
	return &deviceError{w.t.device.Name(), err}
}

func (w *deviceMapping) run(ctx context.Context, s *Sample) error {
	m, t := w.mapping, w.t
	m.src = m.src[:0]
	for _, i := range m.cols.in {
		m.src = append(m.src, &s.Values[i].Tensor)
	}
	between := m.src
	if m.runner != nil {
		m.runner.At = rng.Point{Seed: m.seed, Epoch: s.Epoch, Ordinal: s.Ordinal}
		var err error
		if between, err = m.runner.Run(m.src...); err != nil {
			return err
		}
	}
	w.src = w.src[:0]
	for _, i := range t.inputs {
		w.src = append(w.src, between[t.cut[i]])
	}
	m.out = m.out[:0]
	return t.run(ctx, w.src, func(out []*tensor.Tensor) error {
		for _, from := range t.from {
			v := m.cols.value()
			if err := w.set(&v, from, between, out); err != nil {
				return err
			}
			m.out = append(m.out, v)
		}
		m.cols.apply(s, m.out)
		return nil
	})
}

// set makes v an output of the map. The session keeps the memory of its
// outputs, so they are copied; the head's are taken.
func (w *deviceMapping) set(v *Value, from int, between, out []*tensor.Tensor) error {
	if from < 0 {
		return v.Copy(out[-1-from])
	}
	i := w.t.cut[from]
	if w.mapping.runner == nil {
		return v.Copy(between[i])
	}
	t, own := w.mapping.runner.Take(i, v.own)
	if !own {
		return v.Copy(&t)
	}
	v.Tensor, v.own = t, t.Data
	return nil
}

// deviceError reports that a device failed on a sample that the host can
// transform. It ends the run under every ErrorPolicy.
type deviceError struct {
	device string
	err    error
}

func (e *deviceError) Error() string {
	return fmt.Sprintf("device %s failed on a sample that the host can transform: %v", e.device, e.err)
}

func isDeviceError(err error) bool {
	var e *deviceError
	return errors.As(err, &e)
}

func (e *deviceError) Unwrap() error { return e.err }
