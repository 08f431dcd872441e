package datagraph

import (
	"slices"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Plan is a compiled graph. It is immutable and safe for concurrent use.
type Plan struct {
	graph   *Graph
	options CompileOptions // with the defaults filled in
	steps   []planStep
	values  []value // every input and every tensor that a run computes, in that order
	inputs  int     // values[:inputs] are the graph's inputs
	outputs []int   // values of the outputs, then of the side outputs
	buffers int
	unfused *Plan                  // the plan without passes; nil if passes changed nothing
	drawn   bool                   // the graph has random ops or moves; passes run on the ops drawn for a sample
	sizer   atomic.Pointer[Runner] // of the last Sizes
}

type planStep struct {
	op       transforms.Op
	in, out  []int  // values
	along    *along // nil if no column has a role
	first, n int    // it replaces n steps of the graph, from first on
	passes   []Pass
}

// along are the columns with a role, as a step sees them.
type along struct {
	moves []move
	left  []string // the columns that stay behind if the op moves pixels
}

// move is a column that a step moves.
type move struct {
	role    transforms.Role
	in, out int // values
}

func (s *planStep) moves() []move {
	if s.along == nil {
		return nil
	}
	return s.along.moves
}

// written returns the values that the step computes: its outputs, then the
// columns that it moves.
func (s *planStep) written() []int {
	l := s.out
	for _, m := range s.moves() {
		l = append(l[:len(l):len(l)], m.out)
	}
	return l
}

// value is one tensor of a run. A column names a value; a rebound column names
// a new value from then on.
type value struct {
	column string
	desc   tensor.Desc // sizes may be unknown
	buffer int         // -1 for inputs
	last   int         // the last step that uses it; len(steps) for outputs
}

// CompileOptions are the options of Compile. The zero value means the default
// limits and all passes.
type CompileOptions struct {
	// Limits bounds the cost of each run. Limits.Bytes bounds the memory of a
	// decoder and, separately, of all of a Runner's tensors together. The zero
	// value means codec.DefaultLimits.
	Limits codec.Limits
	// Index keeps notes about images of which a run decodes a part, so that
	// later runs on the same bytes decode less. Plans may share it. Default
	// none.
	Index *codec.Index
	// Disable lists passes that Compile does not run. Default: none.
	Disable []Pass
}

// Compile validates the graph, infers shapes, runs the passes and assigns
// memory: two tensors share a buffer if the first is dead before the second is
// written.
//
// Passes change neither outputs nor errors. A run that succeeds without passes
// also succeeds with them. The graph must not be changed after Compile.
func Compile(g *Graph, o CompileOptions) (*Plan, error) {
	o.Limits = o.Limits.WithDefaults()
	o.Disable = slices.Clone(o.Disable)
	enabled, err := passTable.Enabled(o.Disable)
	if err != nil {
		return nil, err
	}
	descs, err := g.Infer()
	if err != nil {
		return nil, err
	}
	plain := newPlan(g, o, descs)
	p := plain
	if len(enabled) > 0 && !plain.drawn {
		p = newPlan(g, o, descs)
		p.unfused = plain
		for _, q := range enabled {
			passTable.Run(q)(p)
		}
	}
	if len(p.steps) == len(plain.steps) && !p.changed() {
		p = plain
	}
	plain.assign()
	if p != plain {
		p.assign()
	}
	if n, limit := p.arenaSize(), o.Limits.Bytes; limit > 0 && n > limit {
		return nil, errfmt.Errorf("datagraph: compile: %w: the tensors need %d bytes, the limit is %d", codec.ErrBytes, n, limit)
	}
	return p, nil
}

// changed reports whether a pass changed the plan.
func (p *Plan) changed() bool {
	return slices.ContainsFunc(p.steps, func(s planStep) bool { return len(s.passes) > 0 })
}

// newPlan returns the plan before passes, without buffers.
func newPlan(g *Graph, o CompileOptions, descs [][]tensor.Desc) *Plan {
	p := &Plan{graph: g, options: o, inputs: len(g.Inputs), drawn: g.Random() || g.Moves()}
	bound := map[string]int{}
	for i, c := range g.Inputs {
		p.values = append(p.values, value{column: c.Name, desc: c.Desc})
		bound[c.Name] = i
	}
	for i, s := range g.Steps {
		st := planStep{op: s.Op, first: i, n: 1}
		for _, c := range s.In {
			st.in = append(st.in, bound[c])
		}
		for j, c := range s.Out {
			bound[c] = len(p.values)
			st.out = append(st.out, len(p.values))
			p.values = append(p.values, value{column: c, desc: descs[i][j]})
		}
		if len(g.Roles) > 0 {
			st.along = &along{left: g.left(i)}
			for j, c := range s.Moves {
				r, _ := g.role(c)
				st.along.moves = append(st.along.moves, move{r.Role, bound[c], len(p.values)})
				bound[c] = len(p.values)
				p.values = append(p.values, value{column: c, desc: descs[i][len(s.Out)+j]})
			}
		}
		p.steps = append(p.steps, st)
	}
	for _, o := range slices.Concat(g.Outputs, g.SideOutputs) {
		p.outputs = append(p.outputs, bound[o])
	}
	return p
}

// descs returns the descriptions of values.
func (p *Plan) descs(values []int) []tensor.Desc {
	l := make([]tensor.Desc, len(values))
	for i, v := range values {
		l[i] = p.values[v].desc
	}
	return l
}

// assign assigns a buffer to each value that a step computes. A step's outputs
// never share a buffer with its inputs, because ops read while they write.
func (p *Plan) assign() {
	for v := range p.values {
		p.values[v].buffer, p.values[v].last = -1, -1
	}
	for i, s := range p.steps {
		for _, v := range s.in {
			p.values[v].last = i
		}
		for _, m := range s.moves() {
			p.values[m.in].last = i
		}
		for _, v := range s.written() {
			p.values[v].last = i
		}
	}
	for _, v := range p.outputs {
		p.values[v].last = len(p.steps)
	}
	var free []int
	for i, s := range p.steps {
		for _, v := range s.written() {
			if n := len(free); n > 0 {
				p.values[v].buffer, free = free[n-1], free[:n-1]
			} else {
				p.values[v].buffer = p.buffers
				p.buffers++
			}
		}
		for v := range p.values {
			if p.values[v].last == i && p.values[v].buffer >= 0 {
				free = append(free, p.values[v].buffer)
			}
		}
	}
}

// arenaSize returns the bytes of all buffers, as far as sizes are known at
// compile time.
func (p *Plan) arenaSize() int64 {
	sizes := make([]int64, p.buffers)
	for _, v := range p.values {
		if v.buffer >= 0 {
			sizes[v.buffer] = max(sizes[v.buffer], v.desc.Size())
		}
	}
	n := int64(0)
	for _, s := range sizes {
		n += s
	}
	return n
}

// Graph returns the graph that the plan was compiled from. Do not modify it.
func (p *Plan) Graph() *Graph { return p.graph }

// Outputs describes the outputs, then the side outputs. Sizes that depend on
// the data are tensor.Unknown.
//
//go:noinline
func (p *Plan) Outputs() []Column {
	l := make([]Column, 0, len(p.outputs))
	for _, v := range p.outputs {
		l = append(l, Column{Name: p.values[v].column, Desc: p.values[v].desc, Batch: p.graph.batching(p.values[v].column)})
	}
	return l
}

// Unfused returns the plan of the same graph and limits without passes, or p if
// passes changed nothing. Its steps are the graph's.
func (p *Plan) Unfused() *Plan {
	if p.unfused != nil {
		return p.unfused
	}
	return p
}

// StepInfo describes a step of a plan.
type StepInfo struct {
	Op       string // "decode", or "decode+resize+center_crop" for a fused step
	First, N int    // it replaces N steps of the graph, from First on
	Passes   []Pass // the passes that made it
	In, Out  []Column
	Buffers  []int // the buffer of each output
}

// Steps describes the plan's steps in the order in which they run.
func (p *Plan) Steps() []StepInfo {
	var l []StepInfo
	for _, s := range p.steps {
		i := StepInfo{Op: transforms.InfoOf(s.op).Name, First: s.first, N: s.n, Passes: slices.Clone(s.passes)}
		for _, v := range s.in {
			i.In = append(i.In, Column{Name: p.values[v].column, Desc: p.values[v].desc})
		}
		for _, v := range s.out {
			i.Out = append(i.Out, Column{Name: p.values[v].column, Desc: p.values[v].desc})
			i.Buffers = append(i.Buffers, p.values[v].buffer)
		}
		for _, m := range s.moves() {
			i.In = append(i.In, Column{Name: p.values[m.in].column, Desc: p.values[m.in].desc})
			i.Out = append(i.Out, Column{Name: p.values[m.out].column, Desc: p.values[m.out].desc})
			i.Buffers = append(i.Buffers, p.values[m.out].buffer)
		}
		l = append(l, i)
	}
	return l
}

// Buffers returns the number of buffers of a Runner.
func (p *Plan) Buffers() int { return p.buffers }

// Limits returns the limits that the plan was compiled with.
func (p *Plan) Limits() codec.Limits { return p.options.Limits }
