package datagraph

import (
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/errfmt"
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

// drawing is the state of a Runner of a graph that is expanded for each sample.
type drawing struct {
	draw     *transforms.Draw
	at       rng.Point // the seed and epoch of keys
	keys     []rng.Key // one for each step
	types    map[reflect.Type]byte
	variants map[string]*variant
	// name is the key of the variant: for every step that draws or moves the
	// numbers of its ops, their types and kinds, and the kinds of the outputs.
	name []byte
	// steps are the ops to run on this sample. One of them writes each value;
	// values from len(plan.values) on lie between drawn ops.
	steps   []drawnStep
	values  []int // memory of the in and out of steps
	next    int   // the next free value
	alias   []int // for each value of the plan, the one that holds it
	known   []tensor.Desc
	one, in []tensor.Desc
	src     []*tensor.Tensor
	early   []*earlyValue // by value
	oneOp   [1]transforms.Op
	oneFrom [1]tensor.Desc
	runs    uint64
}

// drawnStep is an op to run on a sample.
type drawnStep struct {
	step    int // of the graph
	op      transforms.Op
	drawn   bool // the op belongs to the drawing, not to the graph
	in, out []int
}

// earlyValue is a value that was computed for a draw, before the run.
type earlyValue struct {
	tensor tensor.Tensor
	ctx    *transforms.Context
	run    uint64 // in which it was computed
}

type variant struct {
	runner *Runner
	ops    []transforms.Op // the drawn ops
	steps  []int           // the step of the expanded graph, for each step of the variant
	// outputs maps the outputs of the expanded graph to those of the variant.
	outputs []int
}

func (r *Runner) newDrawing() *drawing {
	n := 0
	for _, s := range r.plan.steps {
		n = max(n, len(s.in), len(s.out))
	}
	return &drawing{
		draw: transforms.NewDraw(r.scratch.Sibling()), types: map[reflect.Type]byte{}, variants: map[string]*variant{},
		alias: make([]int, len(r.plan.values)), known: make([]tensor.Desc, len(r.plan.values)),
		one: make([]tensor.Desc, n), in: make([]tensor.Desc, n), src: make([]*tensor.Tensor, n),
	}
}

// Drawn draws for the sample at r.At, as Run does, and returns the plan that a
// run on the inputs then uses, with the step of r's graph of each of its steps.
// The steps of a graph that draws nothing are its own. The plan's ops are valid
// until the next call of Drawn or Run.
func (r *Runner) Drawn(inputs ...*tensor.Tensor) (p *Plan, steps []int, err error) {
	if !r.plan.drawn {
		for i := range r.plan.graph.Steps {
			steps = append(steps, i)
		}
		return r.plan, steps, nil
	}
	r.scratch.BeginRun()
	v, err := r.drawn(inputs)
	if err != nil {
		return nil, nil, err
	}
	return v.runner.plan, slices.Clone(v.steps), nil
}

// drawn draws the ops for the sample at r.At, and returns their variant with
// the drawn parameters.
func (r *Runner) drawn(inputs []*tensor.Tensor) (*variant, error) {
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
	i := 0
	for _, s := range d.steps {
		if s.drawn {
			reflect.ValueOf(v.ops[i]).Elem().Set(reflect.ValueOf(s.op).Elem())
			i++
		}
	}
	return v, nil
}

// runDrawn draws the ops for the sample at r.At and runs them.
func (r *Runner) runDrawn(inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	v, err := r.drawn(inputs)
	if err != nil {
		return nil, err
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
	if se, ok := errors.AsType[*StepError](err); ok {
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

// drawOps draws the ops of all steps, and infers descriptions through them.
func (r *Runner) drawOps() error {
	d := r.drawing
	d.draw.Begin()
	d.draw.Weights = r.Weights
	d.steps, d.values, d.name = d.steps[:0], d.values[:0], d.name[:0]
	d.next = len(r.plan.values)
	d.runs++
	for i := range r.plan.inputs {
		d.known[i] = r.values[i].Desc
	}
	for v := range d.alias {
		d.alias[v] = v
	}
	for i := range r.plan.steps {
		if err := r.drawStep(i); err != nil {
			return r.plan.graph.stepErr(i, err)
		}
	}
	return nil
}

func (r *Runner) drawStep(i int) error {
	d, s := r.drawing, &r.plan.steps[i]
	in, src := d.in[:len(s.in)], d.src[:len(s.in)]
	for j, v := range s.in {
		in[j] = d.known[v]
		if src != nil && v < r.plan.inputs {
			src[j] = r.values[v]
		} else {
			src = nil
		}
	}
	if op, ok := s.op.(transforms.Random); ok {
		if n := len(s.out); n < len(s.in) && src == nil {
			src = d.src[:len(s.in)]
			clear(src[:n])
			for j := n; j < len(s.in); j++ {
				t, err := r.early(d.alias[s.in[j]])
				if err != nil {
					return err
				}
				in[j], src[j] = t.Desc, t
			}
		}
		ops, err := d.draw.Run(op, d.keys[i].At(r.At.Ordinal), in, src)
		if err != nil {
			return err
		}
		r.chain(i, ops, s.in[:len(s.out)], s.out)
		for j, v := range s.out {
			d.known[v] = in[j]
			d.nameKind(in[j])
		}
		if s.along != nil && len(s.along.left) > 0 && slices.ContainsFunc(ops, moves) {
			return leftErr(s.along.left)
		}
		return r.drawMoves(i, ops, d.draw.From(ops), in[0])
	}
	out := d.one[:len(s.out)]
	err := s.op.Infer(out, in)
	if o, ok := s.op.(transforms.DataShaped); ok && err == nil && src != nil {
		r.steps[i].ctx.Begin()
		err = o.InferData(r.steps[i].ctx, out, src)
	}
	if err != nil {
		return err
	}
	for j, v := range s.out {
		d.known[v] = out[j]
	}
	d.add(i, s.op, false, d.aliases(s.in), d.list(s.out...))
	if len(s.moves()) == 0 {
		return nil
	}
	d.oneOp[0], d.oneFrom[0] = s.op, in[0]
	return r.drawMoves(i, d.oneOp[:], d.oneFrom[:], out[0])
}

// drawMoves adds the ops that move the columns of step i as ops move its image,
// whose descriptions are from before each of ops, and to in the end.
func (r *Runner) drawMoves(i int, ops []transforms.Op, from []tensor.Desc, to tensor.Desc) error {
	for _, m := range r.plan.steps[i].moves() {
		if err := r.drawMove(i, m, ops, from, to); err != nil {
			return errfmt.Errorf("column %q: %w", r.plan.values[m.in].column, err)
		}
	}
	return nil
}

func (r *Runner) drawMove(i int, m move, ops []transforms.Op, from []tensor.Desc, to tensor.Desc) error {
	d := r.drawing
	column := append(d.one[:0], d.known[m.in])
	at, n := d.alias[m.in], len(d.name)
	d.name = append(d.name, 0)
	for k, op := range ops {
		mover, ok := op.(transforms.Mover)
		if !ok {
			continue
		}
		after := to
		if k+1 < len(from) {
			after = from[k+1]
		}
		companions, err := d.draw.MoveColumn(mover, m.role, column, from[k], after)
		if err != nil {
			return err
		}
		for _, c := range companions {
			d.nameOp(c)
			d.add(i, c, true, d.list(at), d.list(d.next))
			at = d.next
			d.next++
			d.name[n]++
		}
	}
	d.alias[m.out], d.known[m.out] = at, column[0]
	d.nameKind(column[0])
	return nil
}

// chain adds the drawn ops of step i, each of which reads the outputs of the
// one before it.
func (r *Runner) chain(i int, ops []transforms.Op, in, out []int) {
	d := r.drawing
	d.name = append(d.name, byte(len(ops)))
	at := d.aliases(in)
	for _, op := range ops {
		d.nameOp(op)
		to := d.list(out...)
		for j := range to {
			to[j] = d.next
			d.next++
		}
		d.add(i, op, true, at, to)
		at = to
	}
	for j, v := range out {
		d.alias[v] = at[j]
	}
}

func (d *drawing) add(step int, op transforms.Op, drawn bool, in, out []int) {
	d.steps = append(d.steps, drawnStep{step, op, drawn, in, out})
}

// list returns a copy of values in the drawing's memory.
func (d *drawing) list(values ...int) []int {
	n := len(d.values)
	d.values = append(d.values, values...)
	return d.values[n:len(d.values):len(d.values)]
}

// aliases returns the values that hold values of the plan.
func (d *drawing) aliases(values []int) []int {
	l := d.list(values...)
	for i, v := range l {
		l[i] = d.alias[v]
	}
	return l
}

// nameOp appends the type and the kinds of a drawn op to the variant's key.
func (d *drawing) nameOp(op transforms.Op) {
	t := reflect.TypeOf(op)
	if _, ok := d.types[t]; !ok {
		d.types[t] = byte(len(d.types))
	}
	d.name = appendKinds(append(d.name, d.types[t]), reflect.ValueOf(op).Elem())
}

// nameKind appends the kind of a tensor to the variant's key.
func (d *drawing) nameKind(t tensor.Desc) {
	if d.name = append(d.name, byte(t.DType), byte(t.Layout)); t.IsImage() {
		d.name = append(d.name, byte(t.Channels()))
	}
}

// early computes a value before the run, for a draw, and the values that it
// needs. The tensor is valid until the next run.
func (r *Runner) early(value int) (*tensor.Tensor, error) {
	d := r.drawing
	if value < r.plan.inputs {
		return r.values[value], nil
	}
	for len(d.early) < d.next {
		d.early = append(d.early, &earlyValue{ctx: r.scratch.Sibling()})
	}
	e := d.early[value]
	if e.run == d.runs {
		return &e.tensor, nil
	}
	s := d.steps[slices.IndexFunc(d.steps, func(s drawnStep) bool { return slices.Contains(s.out, value) })]
	in, out := make([]tensor.Desc, len(s.in)), make([]tensor.Desc, len(s.out))
	src, dst := make([]*tensor.Tensor, len(s.in)), make([]*tensor.Tensor, len(s.out))
	for j, v := range s.in {
		t, err := r.early(v)
		if err != nil {
			return nil, err
		}
		in[j], src[j] = t.Desc, t
	}
	err := s.op.Infer(out, in)
	if o, ok := s.op.(transforms.DataShaped); ok && err == nil {
		e.ctx.Begin()
		err = o.InferData(e.ctx, out, src)
	}
	if err != nil {
		return nil, err
	}
	for j, v := range s.out {
		if n, limit := out[j].Size(), r.plan.options.Limits.Bytes; limit > 0 && n > limit {
			return nil, errfmt.Errorf("%w: a tensor needs %d bytes, the limit is %d", codec.ErrBytes, n, limit)
		}
		if err := d.early[v].tensor.Reset(out[j]); err != nil {
			return nil, err
		}
		d.early[v].run = d.runs
		dst[j] = &d.early[v].tensor
	}
	e.ctx.Begin()
	if err := s.op.Apply(e.ctx, dst, src); err != nil {
		return nil, err
	}
	return &e.tensor, nil
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
	names := func(values []int) (l []string) {
		for _, v := range values {
			l = append(l, "v"+strconv.Itoa(v))
		}
		return l
	}
	for i := range p.inputs {
		g.Inputs = append(g.Inputs, Column{Name: "v" + strconv.Itoa(i), Desc: p.values[i].desc})
	}
	for _, s := range d.steps {
		op := s.op
		if s.drawn {
			own := reflect.New(reflect.TypeOf(op).Elem())
			own.Elem().Set(reflect.ValueOf(op).Elem())
			op = own.Interface().(transforms.Op)
			v.ops = append(v.ops, op)
		}
		g.Then(op, names(s.in), names(s.out))
		v.steps = append(v.steps, s.step)
	}
	// Two outputs may be the same column if nothing was drawn between them.
	for _, o := range names(d.aliases(p.outputs)) {
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
