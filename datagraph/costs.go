package datagraph

import "github.com/infer-prep/infer-prep/tensor"

// StepCost is the memory traffic of a step, in bytes.
type StepCost struct {
	Read    int64 // the size of the inputs
	Written int64 // the size of the outputs
	// Window is the memory for rows inside the step. It is 0 unless the step
	// works row by row.
	Window int64
}

// Costs is the estimated cost of a run.
type Costs struct {
	// Descs are the descriptions of every step's outputs, as Infer returns
	// them.
	Descs   [][]tensor.Desc
	Steps   []StepCost // of the plan's steps
	Buffers []int64    // the bytes of each buffer
	// Unknown reports that some sizes are unknown. They count as 0.
	Unknown bool
	// Declined reports that the fused steps cannot handle these inputs. Steps
	// and Buffers are then those of the plan without passes.
	Declined bool
}

// Memory estimates the memory of a run without its inputs: the buffers, the
// rows between steps, and the decoder's copy of the image. Unknown sizes count
// as 0.
func (c Costs) Memory() int64 {
	n := int64(0)
	for _, b := range c.Buffers {
		n += b
	}
	for _, s := range c.Steps {
		n += s.Window
	}
	if len(c.Descs) > 0 {
		n += max(0, c.Descs[0][0].Size())
	}
	return n
}

// Costs estimates the cost of a run on these inputs from their headers alone.
// Without inputs it returns what is known at compile time.
func (r *Runner) Costs(inputs ...*tensor.Tensor) (Costs, error) {
	var c Costs
	r.scratch.BeginRun()
	err := r.estimate(&c, inputs)
	if err != nil {
		return Costs{}, err
	}
	return c, nil
}

// estimate is Costs without BeginRun. It writes to the memory of c.
func (r *Runner) estimate(c *Costs, inputs []*tensor.Tensor) error {
	p, plain := r.plan, r
	if p.unfused != nil {
		plain = r.fallback()
	}
	c.Steps, c.Unknown, c.Declined = c.Steps[:0], false, false
	c.Buffers = append(c.Buffers[:0], make([]int64, p.buffers)...)
	if len(inputs) == 0 {
		plain.known = plain.known[:0]
		for _, v := range plain.plan.values {
			plain.known = append(plain.known, v.desc)
		}
	} else if err := plain.inferAll(inputs); err != nil {
		return err
	}
	c.Descs = plain.descs(c.Descs)
	size := func(v int) int64 {
		d := plain.known[v]
		if d.DType == tensor.Bytes {
			if v < len(inputs) {
				return int64(len(inputs[v].Data))
			}
			return 0
		}
		n := d.Size()
		c.Unknown = c.Unknown || n < 0
		return max(n, 0)
	}
	for i := range p.steps {
		s := &p.steps[i]
		var cost StepCost
		write := func(v int) {
			n := size(v)
			cost.Written += n
			c.Buffers[p.values[v].buffer] = max(c.Buffers[p.values[v].buffer], n)
		}
		for _, v := range s.in {
			cost.Read += size(v)
		}
		for _, v := range s.out {
			write(v)
		}
		for _, m := range s.moves() {
			cost.Read += size(m.in)
			write(m.out)
		}
		if f, ok := s.op.(*fused); ok {
			source := plain.known[s.in[0]]
			if f.decode != nil {
				source = plain.known[plain.plan.steps[s.first].out[0]]
			}
			if source.Size() < 0 {
				c.Unknown = true
			} else {
				st := f.state(r.steps[i].ctx)
				if err := f.prepare(r.steps[i].ctx, st, source); err != nil {
					err := plain.estimate(c, inputs)
					c.Declined = true
					return err
				}
				cost.Window = st.tables.windowBytes() + st.tables.imageBytes()
			}
		}
		c.Steps = append(c.Steps, cost)
	}
	return nil
}
