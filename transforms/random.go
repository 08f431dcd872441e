package transforms

import (
	"errors"
	"reflect"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// Random is an Op whose parameters are drawn for each sample. It has no kernel:
// Draw emits ordinary ops, whose parameters hold the numbers drawn. Infer
// describes the outputs as far as they are known before the draw. Apply returns
// ErrNotDrawn.
//
// The ops it emits have as many inputs and outputs as it has outputs. They read
// its first inputs, and then each other's outputs. Only Draw reads the values
// of further inputs, such as the boxes that a random crop must cover.
type Random interface {
	Op
	// Draw draws from d and calls d.Emit for each op to run, in order. If it
	// emits no op, the sample is unchanged. Goroutines may call Draw
	// concurrently, each with its own Draw. The numbers drawn must depend only
	// on the op, on the descriptions in d, on d's random stream and weights.
	Draw(d *Draw) error
}

// The references of random ops use other random generators, so only the
// distributions are compared.
const (
	randomReference        = "torchvision 0.29.2 (distribution of the draws)"
	mindsporeDrawReference = "MindSpore 2.10.0 (distribution of the draws)"
	randomExactness        = "0 for the ops drawn; random numbers come from package rng, with the same distribution"
)

// ErrNotDrawn reports a random op that was run without a draw.
var ErrNotDrawn = errors.New("transforms: random op: use an engine that draws its parameters: package dataset or datagraph.Runner")

// Draw supplies random numbers to a Random op and collects the ops to run.
type Draw struct {
	rng.Stream
	// In describes the op's inputs: first those of the sample, then, after each
	// Emit, the outputs of the emitted op. Sizes are known unless they depend
	// on data beyond a header.
	In []tensor.Desc
	// Src holds the inputs, for a Random op that must read them, such as a JPEG
	// header. It is nil if the inputs are not computed yet: after an Emit, and
	// before the preceding steps have run. If the op has further inputs, these
	// are always there before the first Emit; the first ones may then be nil.
	Src []*tensor.Tensor
	// Weights replace those of feedback policies, by name.
	Weights map[string][]float64

	picks []pick        // of the sample
	outs  int           // the number of outputs of the op, and so of inputs of emitted ops
	from  []tensor.Desc // for every one of ops, what describes its first input
	ops   []Op
	out   []tensor.Desc
	ctx   *Context
	pool  map[reflect.Type]*drawn
}

// drawn pools the ops of one type that a Draw created; the first used are
// taken.
type drawn struct {
	ops  []Op
	used int
}

// NewDraw returns a Draw, which reuses its memory for each sample.
func NewDraw(c *Context) *Draw { return &Draw{ctx: c, pool: map[reflect.Type]*drawn{}} }

// Begin starts a new sample and makes all pooled ops available again.
func (d *Draw) Begin() {
	for _, p := range d.pool {
		p.used = 0
	}
	d.ops, d.from, d.picks = d.ops[:0], d.from[:0], d.picks[:0]
}

// imageBoxes are the inputs of ops that draw a box among others. Draw.Run reads
// the Info of ops, which must not allocate.
var imageBoxes = []string{"image", "boxes"}

// Run draws op from the stream for inputs with these descriptions and returns
// the ops to run. They are valid until Begin. src may be nil. Run overwrites in
// with the descriptions of the outputs.
func (d *Draw) Run(op Random, s rng.Stream, in []tensor.Desc, src []*tensor.Tensor) ([]Op, error) {
	d.Stream, d.In, d.Src = s, in, src
	if d.outs = 1; len(in) > 1 {
		d.outs = len(InfoOf(op).Out)
	}
	n := len(d.ops)
	err := op.Draw(d)
	return d.ops[n:len(d.ops):len(d.ops)], err
}

// Emit adds an op to run. A Random op is drawn from the same stream.
func (d *Draw) Emit(op Op) error {
	if r, ok := op.(Random); ok {
		return r.Draw(d)
	}
	if err := op.Validate(); err != nil {
		return errfmt.Errorf("drawn op %s: %w", InfoOf(op).Name, err)
	}
	if len(d.out) < d.outs {
		d.out = make([]tensor.Desc, d.outs)
	}
	out := d.out[:d.outs]
	if err := op.Infer(out, d.In[:d.outs]); err != nil {
		return errfmt.Errorf("drawn op %s: %w", InfoOf(op).Name, err)
	}
	if s, ok := op.(DataShaped); ok && d.Src != nil && d.Src[0] != nil {
		d.ctx.Begin()
		if err := s.InferData(d.ctx, out, d.Src[:d.outs]); err != nil {
			return err
		}
	}
	d.ops, d.from = append(d.ops, op), append(d.from, d.In[0])
	copy(d.In, out)
	d.Src = nil
	return nil
}

// collect calls f and appends the ops that it emits, for an input described by
// in, to l. They belong to another op and not to the sample.
func (d *Draw) collect(l OpList, in tensor.Desc, f func() error) (OpList, error) {
	n, sample := len(d.ops), d.In[0]
	d.In[0] = in
	err := f()
	l = append(l, d.ops[n:]...)
	d.ops, d.from, d.In[0] = d.ops[:n], d.from[:n], sample
	return l, err
}

// From returns what describes the first input of each of the ops that the last
// Run returned. It is valid until Begin.
func (d *Draw) From(ops []Op) []tensor.Desc {
	return d.from[len(d.from)-len(ops):]
}

// size returns the height and width of the input, which must be one image.
func (d *Draw) size() (h, w int, err error) {
	in := d.In[0]
	if err := wantImage(in); err != nil {
		return 0, 0, err
	}
	if h, w = in.Height(), in.Width(); h == tensor.Unknown || w == tensor.Unknown {
		return 0, 0, inputErr("%v, want an image of known size", in)
	}
	return h, w, nil
}

// permute fills p with a random permutation of 0..len(p)-1.
func (d *Draw) permute(p []uint8) {
	for i := range p {
		p[i] = uint8(i)
	}
	d.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
}

// NewOp returns an op of type T to pass to Emit. It reuses memory from earlier
// samples: its fields hold old values, and the caller must set all of them.
func NewOp[T any, P interface {
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

// emitOp emits an op, in the memory of an earlier sample's one.
func emitOp[T any, P interface {
	*T
	Op
}](d *Draw, v T) error {
	op := NewOp[T, P](d)
	*op = v
	return d.Emit(op)
}
