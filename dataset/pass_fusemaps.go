package dataset

import (
	"context"
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

var fuseMaps = passInfo{
	Name: "fuse-maps",
	Doc:  "adjacent maps become one map",
	Run:  runFuseMaps,
}

func runFuseMaps(ctx context.Context, b *Built, s *step) *step {
	for i := range s.in {
		s.in[i] = runFuseMaps(ctx, b, s.in[i])
	}
	if s.mapped() == nil {
		return s
	}
	slot := below(&s.in[0])
	if (*slot).mapped() == nil {
		return s
	}
	f := b.fuse(*slot, s)
	if f == nil {
		return s
	}
	*slot = f
	columnsFrom(&s.in[0], slot)
	return s.in[0]
}

// fuse merges two maps into one step, or returns nil if it cannot. The steps of
// the graphs keep their paths, which select their random numbers.
func (b *Built) fuse(low, high *step) *step {
	first, second := low.mapped(), high.mapped()
	if len(first.plan.Graph().Roles)+len(second.plan.Graph().Roles) > 0 {
		return nil // a writer renames columns, which roles name
	}
	w := newWriter(low.in[0].columns)
	results := w.add(first.plan.Graph(), w.inputs(first.cols.in))
	// middle returns the name of a column between the maps.
	middle := func(c int) string {
		if f := first.cols.from[c]; f < 0 {
			return results[-1-f]
		}
		return w.input(first.cols.from[c])
	}
	var in []string
	for _, c := range second.cols.in {
		in = append(in, middle(c))
	}
	last := w.add(second.plan.Graph(), in)
	var from []int
	output := func(name string) int {
		i := slices.Index(w.g.Outputs, name)
		if i < 0 {
			i = len(w.g.Outputs)
			w.g.Outputs = append(w.g.Outputs, name)
		}
		return -1 - i
	}
	for _, f := range second.cols.from {
		switch {
		case f < 0:
			f = output(last[-1-f])
		case first.cols.from[f] < 0:
			f = output(results[-1-first.cols.from[f]])
		default:
			f = first.cols.from[f]
		}
		if f < 0 && slices.Contains(from, f) {
			return nil // one tensor cannot be two columns
		}
		from = append(from, f)
	}
	if len(w.g.Outputs) == 0 {
		w.g.Outputs = last
	}
	if !drawable(&w.g) {
		return nil
	}
	plan, err := datagraph.Compile(&w.g, b.compileOptions())
	if err != nil {
		return nil
	}
	f := *high
	f.in, f.size, f.indexed = low.in, low.size, low.indexed
	f.passes = slices.Concat(low.passes, high.passes)
	slices.Sort(f.passes)
	f.passes = slices.Compact(f.passes)
	f.addPass(FuseMaps)
	f.state = &mapState{plan: plan, cols: &outputs{in: w.columns, from: from}, parts: slices.Concat(parts(low), parts(high))}
	return &f
}

// parts returns the maps that a step was made of.
func parts(s *step) []*step {
	if st := s.mapped(); len(st.parts) > 0 {
		return st.parts
	}
	return []*step{s}
}

// writer writes a graph whose values have unique names.
type writer struct {
	base    []Column // the columns of the inputs
	g       datagraph.Graph
	columns []int // for every input, its column of base
	values  int
}

func newWriter(base []Column) *writer { return &writer{base: base} }

// input returns the input that is a column of base, and adds it if necessary.
func (w *writer) input(column int) string {
	name := "c" + strconv.Itoa(column)
	if !slices.Contains(w.columns, column) {
		w.columns = append(w.columns, column)
		w.g.Inputs = append(w.g.Inputs, datagraph.Column{Name: name, Desc: w.base[column].Desc})
	}
	return name
}

func (w *writer) inputs(columns []int) (l []string) {
	for _, c := range columns {
		l = append(l, w.input(c))
	}
	return l
}

// add appends g's steps on the named inputs, and returns the names of its
// outputs and side outputs.
func (w *writer) add(g *datagraph.Graph, inputs []string) (outputs []string) {
	bound := map[string]string{}
	for i, c := range g.Inputs {
		bound[c.Name] = inputs[i]
	}
	for _, s := range g.Steps {
		n := datagraph.Step{Op: s.Op, Path: s.Path}
		for _, c := range s.In {
			n.In = append(n.In, bound[c])
		}
		for _, c := range s.Out {
			name := "v" + strconv.Itoa(w.values)
			w.values++
			bound[c] = name
			n.Out = append(n.Out, name)
		}
		w.g.Steps = append(w.g.Steps, n)
	}
	for _, o := range slices.Concat(g.Outputs, g.SideOutputs) {
		outputs = append(outputs, bound[o])
	}
	return outputs
}

// drawable reports whether a graph can be cut without a change of its random
// numbers. A Runner draws all random ops before it runs a step, so it only
// knows the inputs and the image sizes that headers state. The random ops must
// depend on nothing else.
func drawable(g *datagraph.Graph) bool {
	if !g.Random() {
		return true
	}
	descs, err := g.Infer()
	if err != nil {
		return false
	}
	type value struct {
		input, sized, image bool
	}
	known := map[string]value{}
	for _, c := range g.Inputs {
		known[c.Name] = value{input: true, sized: true}
	}
	for i, s := range g.Steps {
		inputs, sized := true, true
		for _, c := range s.In {
			inputs, sized = inputs && known[c].input, sized && known[c].sized
		}
		if _, ok := s.Op.(transforms.Random); ok {
			for _, c := range s.In {
				if v := known[c]; !v.input && !(v.sized && v.image) {
					return false
				}
			}
		} else if _, ok := s.Op.(transforms.DataShaped); ok {
			sized = inputs
		}
		for j, c := range s.Out {
			known[c] = value{sized: sized, image: descs[i][j].IsImage() && descs[i][j].DType != tensor.Bytes}
		}
	}
	return true
}

// fusedMapping is the worker of a fused map. If it fails, it runs the maps that
// it was made of one by one, so that the error names the map that failed.
type fusedMapping struct {
	whole worker
	b     *Built
	steps []*step
	parts []worker // nil until the first error
}

// guardMapping returns a guarded worker of a map.
func guardMapping(b *Built, st *mapState) worker {
	make := func() (worker, error) { return newMapping(b, st), nil }
	return &guardedWorker{make, newMapping(b, st)}
}

func (w *fusedMapping) Do(ctx context.Context, s *Sample) error {
	if w.whole.Do(ctx, s) == nil {
		return nil
	}
	if w.parts == nil {
		for _, p := range w.steps {
			w.parts = append(w.parts, guardMapping(w.b, p.state.(*mapState)))
		}
	}
	for i, p := range w.parts {
		if err := p.Do(ctx, s); err != nil {
			return &nodeFailure{w.steps[i].path, err}
		}
	}
	return nil
}

// nodeFailure is an error in another node than the stage's.
type nodeFailure struct {
	path string
	err  error
}

func (e *nodeFailure) Error() string { return e.path + ": " + e.err.Error() }

func (e *nodeFailure) Unwrap() error { return e.err }

// failedNode returns the path of the node with the error, and the error itself.
func failedNode(path string, err error) (string, error) {
	if e, ok := err.(*nodeFailure); ok {
		return failedNode(e.path, e.err)
	}
	return path, err
}
