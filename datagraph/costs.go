package datagraph

import "github.com/infer-prep/infer-prep/tensor"

// StepCost is the bytes that a step moves.
type StepCost struct {
	Read    int64 // the inputs
	Written int64 // the outputs
	// Window is the memory that the step keeps rows in on their way through, 0 for
	// a step that is no row step.
	Window int64
}

// Costs is what a run takes.
type Costs struct {
	// Descs are those of the outputs of every step of the graph, as of Infer.
	Descs   [][]tensor.Desc
	Steps   []StepCost // of the plan
	Buffers []int64    // bytes of each buffer of the arena
	// Unknown says that some sizes are not known; they count as nothing.
	Unknown bool
	// Declined says that the steps and buffers are those of the plan without
	// passes, since the fused steps cannot do these inputs.
	Declined bool
}

// Costs tells what a run on these inputs would take, from their headers alone;
// without inputs, what is known when compiling.
func (r *Runner) Costs(inputs ...*tensor.Tensor) (Costs, error) {
	p := r.plan
	descs := p.descs(p.all())
	c := Costs{Buffers: make([]int64, p.buffers)}
	if len(inputs) == 0 {
		for _, s := range p.Unfused().steps {
			c.Descs = append(c.Descs, p.descs(s.out))
		}
	} else {
		var err error
		if c.Descs, err = r.Infer(inputs...); err != nil {
			return Costs{}, err
		}
		for i, t := range inputs {
			descs[i] = t.Desc
		}
		for i, s := range p.Unfused().steps {
			for j, v := range s.out {
				descs[v] = c.Descs[i][j]
			}
		}
	}
	size := func(v int) int64 {
		if descs[v].DType == tensor.Bytes {
			if v < len(inputs) {
				return int64(len(inputs[v].Data))
			}
			return 0
		}
		n := descs[v].Size()
		c.Unknown = c.Unknown || n < 0
		return max(n, 0)
	}
	for i, s := range p.steps {
		var cost StepCost
		for _, v := range s.in {
			cost.Read += size(v)
		}
		for _, v := range s.out {
			n := size(v)
			cost.Written += n
			c.Buffers[p.values[v].buffer] = max(c.Buffers[p.values[v].buffer], n)
		}
		if f, ok := s.op.(*fused); ok {
			source := descs[s.in[0]]
			if f.decode != nil {
				source = descs[p.unfused.steps[s.first].out[0]]
			}
			if source.Size() < 0 {
				c.Unknown = true
			} else {
				st := f.state(r.steps[i].ctx)
				if err := f.prepare(r.steps[i].ctx, st, source); err != nil {
					plain, err := r.plain().Costs(inputs...)
					plain.Declined = true
					return plain, err
				}
				cost.Window = st.tables.windowBytes() + st.tables.imageBytes()
			}
		}
		c.Steps = append(c.Steps, cost)
	}
	return c, nil
}

// all are all values.
func (p *Plan) all() []int {
	l := make([]int, len(p.values))
	for i := range l {
		l[i] = i
	}
	return l
}
