package datagraph

import (
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Random ops draw concrete ops for each sample. The types of the drawn ops
// repeat; mostly their parameters change. A Runner therefore keeps a variant
// for each list of op types that it has seen. A variant is a graph of concrete
// ops, compiled with all passes, whose parameters are overwritten by the drawn
// ones. Its key also has the parameters that passes depend on, such as a
// backend, and the kinds of the resulting images.

// Random reports whether the graph has random ops.
func (g *Graph) Random() bool {
	return slices.ContainsFunc(g.Steps, func(s Step) bool { return isRandom(s.Op) })
}

func isRandom(op transforms.Op) bool {
	_, ok := op.(transforms.Random)
	return ok
}

// maxVariants bounds the variants that a Runner keeps; beyond it, the Runner
// drops all of them. Colour changes in random order with two flips, grayscale
// and erasing have 384.
const maxVariants = 1024

// drawing is the state of a Runner of a random graph.
type drawing struct {
	draw     *transforms.Draw
	at       rng.Point // the seed and epoch of keys
	keys     []rng.Key // one for each step
	types    map[reflect.Type]byte
	variants map[string]*variant
	// name is the key of the variant: for every random step the number of its
	// ops, their types and kinds, and the kinds of the outputs.
	name    []byte
	ops     []transforms.Op
	counts  []int // the number of ops of each random step
	known   []tensor.Desc
	one, in []tensor.Desc
	src     []*tensor.Tensor
}

type variant struct {
	runner *Runner
	ops    []transforms.Op // the drawn ops
	steps  []int           // the step of the random graph, for each step of the variant
	// outputs maps the outputs of the random graph to those of the variant.
	outputs []int
}

func (r *Runner) newDrawing() *drawing {
	n := 0
	for _, s := range r.plan.steps {
		n = max(n, len(s.in), len(s.out))
	}
	return &drawing{
		draw: transforms.NewDraw(r.scratch.Sibling()), types: map[reflect.Type]byte{}, variants: map[string]*variant{},
		known: make([]tensor.Desc, len(r.plan.values)), one: make([]tensor.Desc, n), in: make([]tensor.Desc, n), src: make([]*tensor.Tensor, n),
	}
}

// runRandom draws the ops for the sample at r.At and runs them.
func (r *Runner) runRandom(inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	if err := r.bind(inputs); err != nil {
		return nil, err
	}
	if r.drawing == nil {
		r.drawing = r.newDrawing()
	}
	d := r.drawing
	d.setKeys(r.plan.graph, r.At)
	if err := r.drawOps(); err != nil {
		return nil, err
	}
	v := d.variants[string(d.name)]
	if v == nil {
		var err error
		if v, err = r.newVariant(); err != nil {
			return nil, err
		}
		if len(d.variants) == maxVariants {
			clear(d.variants)
		}
		d.variants[string(d.name)] = v
	}
	for i, op := range d.ops {
		reflect.ValueOf(v.ops[i]).Elem().Set(reflect.ValueOf(op).Elem())
	}
	for len(r.buffers) < len(v.runner.buffers) {
		r.buffers = append(r.buffers, nil)
	}
	v.runner.buffers = r.buffers
	if err := v.runner.refresh(v.ops); err != nil {
		return nil, r.originalStep(v, err)
	}
	v.runner.OnStep = nil
	if r.OnStep != nil {
		v.runner.OnStep = func(step int, out []*tensor.Tensor) error { return r.OnStep(v.steps[step], out) }
	}
	out, err := v.runner.runInputs(inputs)
	if err != nil {
		return nil, r.originalStep(v, err)
	}
	r.last, r.lastOutputs = v.runner.last, v.outputs
	for i, j := range v.outputs {
		r.outputs[i] = out[j]
	}
	return r.outputs, nil
}

// originalStep returns a variant's error with the step number of the random
// graph.
func (r *Runner) originalStep(v *variant, err error) error {
	var se *StepError
	if errors.As(err, &se) {
		return r.plan.graph.stepErr(v.steps[se.Step], se.Err)
	}
	return err
}

// setKeys computes the keys of the steps for an epoch.
func (d *drawing) setKeys(g *Graph, at rng.Point) {
	at.Ordinal = 0
	if d.keys != nil && d.at == at {
		return
	}
	d.keys = d.keys[:0]
	for i, s := range g.Steps {
		path := s.Path
		if path == "" {
			path = strconv.Itoa(i)
		}
		d.keys = append(d.keys, rng.NewKey(at.Seed, at.Epoch, path))
	}
	d.at = at
}

// drawOps draws the ops of all random steps, and infers descriptions through
// all steps.
func (r *Runner) drawOps() error {
	d := r.drawing
	d.draw.Begin()
	d.ops, d.counts, d.name = d.ops[:0], d.counts[:0], d.name[:0]
	for i := range r.plan.inputs {
		d.known[i] = r.values[i].Desc
	}
	for i, s := range r.plan.steps {
		in, src := d.in[:len(s.in)], d.src[:len(s.in)]
		for j, v := range s.in {
			in[j], src[j] = d.known[v], r.values[v]
			if v >= r.plan.inputs {
				src = nil
				break
			}
		}
		for j, v := range s.in {
			in[j] = d.known[v]
		}
		if op, ok := s.op.(transforms.Random); ok {
			ops, err := d.draw.Run(op, d.keys[i].At(r.At.Ordinal), in, src)
			if err != nil {
				return r.plan.graph.stepErr(i, err)
			}
			d.counts = append(d.counts, len(ops))
			d.ops = append(d.ops, ops...)
			d.name = append(d.name, byte(len(ops)))
			for _, op := range ops {
				t := reflect.TypeOf(op)
				if _, ok := d.types[t]; !ok {
					d.types[t] = byte(len(d.types))
				}
				d.name = appendKinds(append(d.name, d.types[t]), reflect.ValueOf(op).Elem())
			}
			for j, v := range s.out {
				d.known[v] = in[j]
				if d.name = append(d.name, byte(in[j].DType), byte(in[j].Layout)); in[j].IsImage() {
					d.name = append(d.name, byte(in[j].Channels()))
				}
			}
			continue
		}
		out := d.one[:len(s.out)]
		err := s.op.Infer(out, in)
		if o, ok := s.op.(transforms.DataShaped); ok && err == nil && src != nil {
			r.steps[i].ctx.Begin()
			err = o.InferData(r.steps[i].ctx, out, src)
		}
		if err != nil {
			return r.plan.graph.stepErr(i, err)
		}
		for j, v := range s.out {
			d.known[v] = out[j]
		}
	}
	return nil
}

// appendKinds appends the parameters of an op that are not numbers: enums and
// booleans.
func appendKinds(b []byte, op reflect.Value) []byte {
	for i := range op.NumField() {
		switch f := op.Field(i); f.Kind() {
		case reflect.Uint8:
			b = append(b, byte(f.Uint()))
		case reflect.Bool:
			if b = append(b, 0); f.Bool() {
				b[len(b)-1] = 1
			}
		}
	}
	return b
}

// newVariant compiles the graph of the drawn ops, with its own copies of them.
func (r *Runner) newVariant() (*variant, error) {
	d, p := r.drawing, r.plan
	v := &variant{}
	g := &Graph{}
	names := make([]string, len(p.values)) // the variant's column for each value
	for i := range p.inputs {
		names[i] = "v" + strconv.Itoa(i)
		g.Inputs = append(g.Inputs, Column{Name: names[i], Desc: p.values[i].desc})
	}
	add := func(step int, op transforms.Op, in, out []string) {
		g.Then(op, in, out)
		v.steps = append(v.steps, step)
	}
	columns := func(values []int) (l []string) {
		for _, v := range values {
			l = append(l, names[v])
		}
		return l
	}
	random := 0
	ops := d.ops
	for i, s := range p.steps {
		in := columns(s.in)
		for _, v := range s.out {
			names[v] = "v" + strconv.Itoa(v)
		}
		if !isRandom(s.op) {
			add(i, s.op, in, columns(s.out))
			continue
		}
		n := d.counts[random]
		random++
		if n == 0 {
			for j, v := range s.out {
				names[v] = in[j]
			}
		}
		for _, op := range ops[:n] {
			own := reflect.New(reflect.TypeOf(op).Elem())
			own.Elem().Set(reflect.ValueOf(op).Elem())
			v.ops = append(v.ops, own.Interface().(transforms.Op))
			out := columns(s.out)
			add(i, v.ops[len(v.ops)-1], in, out)
			in = out
		}
		ops = ops[n:]
	}
	// Two outputs may be the same column if nothing was drawn between them.
	for _, o := range columns(p.outputs) {
		j := slices.Index(g.Outputs, o)
		if j < 0 {
			j = len(g.Outputs)
			g.Outputs = append(g.Outputs, o)
		}
		v.outputs = append(v.outputs, j)
	}
	plan, err := Compile(g, p.options)
	if err != nil {
		return nil, err
	}
	v.runner = plan.newRunner(r.scratch)
	return v, nil
}

// refresh makes the fused steps read the parameters of the drawn ops again.
func (r *Runner) refresh(drawn []transforms.Op) error {
	for i, s := range r.plan.steps {
		f, ok := s.op.(*fused)
		if !ok {
			continue
		}
		f.state(r.steps[i].ctx).tables.source = tensor.Desc{}
		if f.table == nil || !slices.ContainsFunc(f.table.ops, func(op transforms.Op) bool { return slices.Contains(drawn, op) }) {
			continue
		}
		if err := f.table.update(); err != nil {
			return r.plan.graph.stepErr(s.first, err)
		}
	}
	return nil
}
