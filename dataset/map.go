package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// Map runs a graph on every sample. The graph's outputs and side outputs
// replace the columns that are its inputs; all other columns stay. A graph may
// have random ops.
type Map struct {
	Graph *datagraph.Graph `json:"graph"`
	// In are the columns of the graph's inputs, in order. Default: the columns
	// with the inputs' names.
	In []string `json:"in"`
	// Out names the columns of the outputs and side outputs. Default: the
	// graph's names.
	Out []string `json:"out"`
}

func init() {
	Register(Info{
		Name: "map", Version: 1, New: func() Node { return &Map{Graph: datagraph.New(), In: []string{}, Out: []string{}} },
		Doc: "a graph of ops on every sample",
	})
}

// Map runs a graph on every sample, on the columns with the names of its
// inputs.
func (d *Dataset) Map(g *datagraph.Graph) *Dataset {
	return d.then(&Map{Graph: g, In: []string{}, Out: []string{}})
}

// MapColumns runs a graph on the columns in, and names its outputs out.
func (d *Dataset) MapColumns(g *datagraph.Graph, in, out []string) *Dataset {
	return d.then(&Map{Graph: g, In: in, Out: out})
}

// Validate checks the graph.
func (n *Map) Validate() error {
	if n.Graph == nil {
		return paramErr("no graph, want one")
	}
	if err := n.Graph.Validate(); err != nil {
		return err
	}
	if g := n.Graph; len(n.In) > 0 && len(n.In) != len(g.Inputs) || len(n.Out) > 0 && len(n.Out) != len(g.Outputs)+len(g.SideOutputs) {
		return paramErr("columns %q -> %q, want %d -> %d, or none", n.In, n.Out, len(g.Inputs), len(g.Outputs)+len(g.SideOutputs))
	}
	return nil
}

// mapState is the state that the workers share.
type mapState struct {
	plan *datagraph.Plan
	cols *outputs
	// before is the number of steps of the node's graph that another step runs.
	before int
	// parts are the maps that FuseMaps merged into this one.
	parts []*step
	// tail runs the last steps on Options.Device; nil if the host runs all.
	tail *tail
	// placement has the places of all steps; nil without a device.
	placement device.Placement
}

func (n *Map) clear() { n.Graph = nil }

func (n *Map) traits() traits { return traits{changes: n.Graph.Random()} }

func (n *Map) build(b *Built, s *step) error {
	in := s.inherit()
	if err := b.addFeedback(n.Graph); err != nil {
		return err
	}
	// Specialize the graph for these columns, and add paths for random numbers.
	g := *n.Graph
	g.Inputs = append([]datagraph.Column(nil), g.Inputs...)
	g.Steps = append([]datagraph.Step(nil), g.Steps...)
	names := n.In
	if len(names) == 0 {
		for _, c := range g.Inputs {
			names = append(names, c.Name)
		}
	}
	columns, err := in.columnsOf(names)
	if err != nil {
		return err
	}
	for i, c := range columns {
		d := in.columns[c].Desc
		if err := fits(g.Inputs[i].Desc, d); err != nil {
			return defErr("column %q: %v", names[i], err)
		}
		g.Inputs[i].Desc = d
	}
	for i := range g.Steps {
		if g.Steps[i].Path == "" {
			g.Steps[i].Path = fmt.Sprintf("%s/%d", s.path, i)
		}
	}
	st := &mapState{}
	if st.plan, err = datagraph.Compile(&g, b.compileOptions()); err != nil {
		return err
	}
	out := st.plan.Outputs()
	for i := range n.Out {
		out[i].Name = n.Out[i]
	}
	st.cols, err = s.replace(in, names, out)
	s.state = st
	return err
}

func (n *Map) from(s *step) []int { return s.state.(*mapState).cols.from }

// mapped returns the state of a Map, or nil for another node.
func (s *step) mapped() *mapState {
	st, _ := s.state.(*mapState)
	return st
}

// fits returns an error unless a column can match want. An Unknown size can
// match any size.
func fits(want, have tensor.Desc) error {
	ok := want.DType == have.DType && want.Layout == have.Layout && want.Shape.Rank() == have.Shape.Rank()
	for i := 0; ok && i < have.Shape.Rank(); i++ {
		w, h := want.Shape.At(i), have.Shape.At(i)
		ok = w == h || w == tensor.Unknown || h == tensor.Unknown
	}
	if !ok {
		return fmt.Errorf("it is %v, want %v", have, want)
	}
	return nil
}

func (n *Map) worker(b *Built, s *step) (worker, error) {
	st := s.state.(*mapState)
	onHost := func() (worker, error) { return hostMapping(b, st), nil }
	if st.tail != nil {
		return newDeviceMapping(b, st, onHost), nil
	}
	return onHost()
}

func (n *Map) trace(ctx context.Context, t *tracer, s *scope) error { return t.traceMap(ctx, s, n) }

// hostMapping returns a worker that runs all of a map on the host.
func hostMapping(b *Built, st *mapState) worker {
	if len(st.parts) > 0 {
		return &fusedMapping{whole: guardMapping(b, st), b: b, steps: st.parts}
	}
	return newMapping(b, st)
}

func newMapping(b *Built, st *mapState) *mapping {
	m := &mapping{seed: b.options.Seed, limits: b.options.Limits, runner: st.plan.NewRunner(), cols: st.cols.clone(), before: st.before}
	m.runner.Weights = b.weights
	return m
}

type mapping struct {
	seed   uint64
	limits codec.Limits
	runner *datagraph.Runner
	cols   *outputs
	before int
	src    []*tensor.Tensor
	out    []Value
}

func (w *mapping) Do(_ context.Context, s *Sample) error {
	w.src = w.src[:0]
	for _, i := range w.cols.in {
		w.src = append(w.src, &s.Values[i].Tensor)
	}
	w.runner.At = rng.Point{Seed: w.seed, Epoch: s.Epoch, Ordinal: s.Ordinal}
	out, err := w.runner.Run(w.src...)
	if err != nil {
		var e *datagraph.StepError
		if w.before > 0 && errors.As(err, &e) {
			return &datagraph.StepError{Step: e.Step + w.before, Op: e.Op, Err: e.Err}
		}
		return err
	}
	w.out = w.out[:0]
	for i := range out {
		v := w.cols.value()
		if t, own := w.runner.Take(i, v.own); own {
			v.Tensor, v.own = t, t.Data
		} else if err := v.Copy(&t); err != nil {
			return err
		}
		w.out = append(w.out, v)
	}
	w.cols.apply(s, w.out)
	return nil
}
