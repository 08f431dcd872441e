package transforms

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// Random is an Op whose parameters are drawn anew for each sample. It has no
// kernel of its own: Draw gives the ops that are run on the sample, which are
// ordinary ones, with what was drawn as their parameters. Its Infer tells what
// is known before drawing, and its Apply returns ErrNotDrawn.
//
// A Random op has as many outputs as inputs, and the ops that it gives have the
// same number of each.
type Random interface {
	Op
	// Draw draws from d and calls d.Emit for each op to run, in their order; none
	// leaves the sample as it is. It may be called by several goroutines at once,
	// each with a Draw of its own. The numbers drawn must follow from the op, d's
	// descriptions and d's stream alone.
	Draw(d *Draw) error
}

// What random ops are measured against: the numbers of their references come
// from other generators, so it is the distributions that are compared.
const (
	randomReference = "torchvision 0.29.2, of its draws the distribution"
	randomExactness = "0 for the ops that are drawn; the numbers drawn are package rng's, of the same distribution"
)

// ErrNotDrawn is the error of a random op that is run without being drawn.
var ErrNotDrawn = errors.New("a random op is run by an engine that draws: package dataset, or datagraph.Runner")

// Draw is where a Random op takes its numbers and leaves the ops to run.
type Draw struct {
	rng.Stream
	// In describes the op's inputs: first the sample's, then, after each Emit, what
	// the emitted op makes of them. Sizes are known, unless they depend on data
	// that no header tells.
	In []tensor.Desc
	// Src are the inputs, for a Random op that must look into them, such as one
	// that reads a JPEG header. It is nil where they are not computed yet: after an
	// Emit, and if steps before the op are not done.
	Src []*tensor.Tensor

	ops  []Op
	out  []tensor.Desc
	ctx  *Context
	pool map[reflect.Type]*drawn
}

// drawn are the ops of one type that a Draw made, of which the first used are given out.
type drawn struct {
	ops  []Op
	used int
}

// NewDraw makes a Draw, which keeps its memory from sample to sample.
func NewDraw(c *Context) *Draw { return &Draw{ctx: c, pool: map[reflect.Type]*drawn{}} }

// Begin begins a sample: all ops that were made are free again.
func (d *Draw) Begin() {
	for _, p := range d.pool {
		p.used = 0
	}
	d.ops = d.ops[:0]
}

// Run draws op from the stream for inputs of these descriptions, and returns the
// ops to run. They are valid until Begin. src may be nil. in is overwritten with
// the descriptions of the outputs.
func (d *Draw) Run(op Random, s rng.Stream, in []tensor.Desc, src []*tensor.Tensor) ([]Op, error) {
	d.Stream, d.In, d.Src = s, in, src
	n := len(d.ops)
	err := op.Draw(d)
	return d.ops[n:len(d.ops):len(d.ops)], err
}

// Emit adds an op to run. If it is Random it is drawn, from the same stream.
func (d *Draw) Emit(op Op) error {
	if r, ok := op.(Random); ok {
		return r.Draw(d)
	}
	if err := op.Validate(); err != nil {
		return fmt.Errorf("%s as drawn: %w", InfoOf(op).Name, err)
	}
	if len(d.out) < len(d.In) {
		d.out = make([]tensor.Desc, len(d.In))
	}
	out := d.out[:len(d.In)]
	if err := op.Infer(out, d.In); err != nil {
		return fmt.Errorf("%s as drawn: %w", InfoOf(op).Name, err)
	}
	if s, ok := op.(DataShaped); ok && d.Src != nil {
		d.ctx.Begin()
		if err := s.InferData(d.ctx, out, d.Src); err != nil {
			return err
		}
	}
	copy(d.In, out)
	d.Src = nil
	d.ops = append(d.ops, op)
	return nil
}

// size is the height and width of the one input, an image.
func (d *Draw) size() (h, w int, err error) {
	in := d.In[0]
	if err := wantImage(in); err != nil {
		return 0, 0, err
	}
	if h, w = in.Height(), in.Width(); h == tensor.Unknown || w == tensor.Unknown {
		return 0, 0, inputErr("%v, want an image whose size is known before it is computed", in)
	}
	return h, w, nil
}

// permute puts the numbers from 0 on in random order.
func (d *Draw) permute(p []uint8) {
	for i := range p {
		p[i] = uint8(i)
	}
	d.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
}

// Make is an op of type T for Emit, in memory that is used again for later
// samples: its fields are whatever they were, and all must be set.
func Make[T any, P interface {
	*T
	Op
}](d *Draw) P {
	t := reflect.TypeFor[T]()
	p := d.pool[t]
	if p == nil {
		p = &drawn{}
		d.pool[t] = p
	}
	if p.used == len(p.ops) {
		p.ops = append(p.ops, P(new(T)))
	}
	p.used++
	return p.ops[p.used-1].(P)
}
