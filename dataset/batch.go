package dataset

import (
	"context"
	"errors"
	"io"
	"runtime/debug"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// Batch stacks samples: every column gets a first axis, the batch, and has no
// layout. Columns of bytes cannot be stacked. An output of a Map whose graph
// has a batch rule for it (datagraph.Graph.Batch) is padded or concatenated
// instead.
type Batch struct {
	Size int `json:"size"` // 1 to 1,048,576; 0 with SizeFunc
	// SizeFunc names a registered SizeFunc that returns the size of each batch.
	// The length of an epoch is then unknown. An invalid size ends the run with
	// a *NodeError. Default: none.
	//
	// Reference: MindSpore 2.10.0's batch with a function as batch_size: equal
	// batches.
	SizeFunc      string `json:"size_func"`
	DropRemainder bool   `json:"drop_remainder"` // drop a smaller last batch
	// Pad pads samples of different sizes to one size before stacking. It
	// replaces the graph's rule.
	Pad []PadColumn `json:"pad"`
	// PerBatch names a registered BatchFunc that is called on the samples of
	// each batch before stacking. Default: none.
	PerBatch string `json:"per_batch"`
	// Out are the columns that the BatchFunc makes, all of them, in order. Pad
	// names these columns, and a graph's batch rules have no effect. Empty: the
	// columns keep their types and numbers of axes; their sizes may change. A
	// batch of samples that do not fit is bad.
	//
	// Reference: MindSpore 2.10.0's per_batch_map with output_columns: equal
	// batches.
	Out []OutColumn `json:"out"`

	f    BatchFunc
	size SizeFunc
}

// PadColumn pads the values of a column to one size: it appends elements to
// each axis.
type PadColumn struct {
	Column string `json:"column"`
	// Shape is the size of each axis; -1 means the largest of the batch.
	Shape []int   `json:"shape"`
	Value float64 `json:"value"` // of the added elements
}

func init() {
	Register(Info{Name: "batch", Version: 1, New: func() Node { return &Batch{Size: 1, Pad: []PadColumn{}, Out: []OutColumn{}} }, Doc: "samples stacked to batches"})
}

// Batch stacks size samples at a time. The last batch of an epoch may be
// smaller.
func (d *Dataset) Batch(size int) *Dataset {
	return d.then(&Batch{Size: size, Pad: []PadColumn{}, Out: []OutColumn{}})
}

// BatchDrop is Batch without a smaller last batch.
func (d *Dataset) BatchDrop(size int) *Dataset {
	return d.then(&Batch{Size: size, DropRemainder: true, Pad: []PadColumn{}, Out: []OutColumn{}})
}

// BatchPadded is Batch with padded columns.
func (d *Dataset) BatchPadded(size int, pad ...PadColumn) *Dataset {
	return d.then(&Batch{Size: size, Pad: pad, Out: []OutColumn{}})
}

// BatchFunc is Batch with a call of f on the samples of each batch before
// stacking. f makes the columns out. If there are none, f keeps the columns
// with their types and numbers of axes, and may change their sizes; a batch of
// samples that do not is bad.
// Such a definition has no written form; a Batch with PerBatch has one.
func (d *Dataset) BatchFunc(size int, f BatchFunc, out ...Column) *Dataset {
	return d.then(&Batch{Size: size, Pad: []PadColumn{}, Out: outColumns(out), f: f})
}

// BatchSizes is Batch with the size that f returns for each batch. Such a
// definition has no written form; a Batch with a SizeFunc has one.
func (d *Dataset) BatchSizes(f SizeFunc) *Dataset {
	return d.then(&Batch{Pad: []PadColumn{}, Out: []OutColumn{}, size: f})
}

// maxBatch bounds the samples of a batch.
const maxBatch = 1 << 20

// Validate requires a size of 1 to 1,048,576 or a SizeFunc, and valid padding.
func (n *Batch) Validate() error {
	_, size, err := n.functions()
	switch {
	case err != nil:
		return err
	case size != nil && n.Size != 0:
		return paramErr("batches of %d and of a function's sizes, want only one of them", n.Size)
	case size == nil && (n.Size < 1 || n.Size > maxBatch):
		return paramErr("batches of %d, want 1 to %d", n.Size, maxBatch)
	case len(n.Out) > 0 && n.f == nil && n.PerBatch == "":
		return paramErr("%d output columns without a function per batch, want none", len(n.Out))
	}
	return validatePad(n.Pad)
}

// functions returns the functions of the batch, nil where it has none.
func (n *Batch) functions() (f BatchFunc, size SizeFunc, err error) {
	f, size = n.f, n.size
	if n.PerBatch != "" {
		if f, err = function[BatchFunc](n.PerBatch); err != nil {
			return nil, nil, err
		}
	}
	if n.SizeFunc != "" {
		size, err = function[SizeFunc](n.SizeFunc)
	}
	return f, size, err
}

// sized reports whether a function returns the sizes.
func (n *Batch) sized() bool { return n.size != nil || n.SizeFunc != "" }

// noBatch is the trait unrefillable of nodes that stack samples.
const noBatch = "a buffer of batches cannot be refilled when a run is resumed; put it below %s"

// GivesBatches reports whether the samples of the definition are batches.
func (d *Dataset) GivesBatches() bool {
	for {
		t := traitsOf(d.Node)
		if t.batches || t.several || len(d.In) == 0 {
			return t.batches
		}
		d = d.In[0]
	}
}

func validatePad(pad []PadColumn) error {
	for _, p := range pad {
		for _, d := range p.Shape {
			if d < -1 {
				return paramErr("column %q padded to %v, want sizes of -1 or more", p.Column, p.Shape)
			}
		}
	}
	return nil
}

func (n *Batch) unwritable() error {
	return errors.Join(unnamed(n.f != nil, n.PerBatch), unnamed(n.size != nil, n.SizeFunc))
}

func (n *Batch) traits() traits { return traits{batches: true, lockstep: true, unrefillable: noBatch} }

func (n *Batch) build(_ *Built, s *step) error {
	in := s.in[0]
	size := n.Size
	if !n.DropRemainder || n.sized() {
		size = tensor.Unknown
	}
	if len(n.Out) > 0 {
		in = &step{columns: columnsOut(n.Out)}
		if err := checkColumns(in.columns); err != nil {
			return err
		}
	}
	c, err := newCollator(in, n.Pad)
	if err != nil {
		return err
	}
	s.state = c
	if (n.f != nil || n.PerBatch != "") && len(n.Out) == 0 {
		// The function may change the size of every sample.
		for i := range c.columns {
			if !c.columns[i].padded {
				d := &c.columns[i].desc
				for a := range d.Shape.Rank() {
					d.Shape = d.Shape.With(a, tensor.Unknown)
				}
			}
		}
	}
	s.columns, err = c.columnsOf(size)
	return err
}

func (n *Batch) length(b *Built, s *step) int64 {
	l := b.lenOf(s.in[0])
	if l == Unknown || l == Endless {
		return l
	}
	if n.sized() {
		return Unknown // the sizes may differ between epochs
	}
	if n.DropRemainder {
		return l / int64(n.Size)
	}
	return (l + int64(n.Size) - 1) / int64(n.Size)
}

func (n *Batch) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	b := &batching{
		n: n, columns: s.in[0].columns, c: o.collator(s, s.state.(*collator)), caller: caller{seed: o.b.options.Seed, path: s.path}, judge: o.judge(s),
		failed: func(x *Sample, err error) error { return o.failed(s.path, x, err) },
	}
	var err error
	if b.f, b.size, err = n.functions(); err != nil {
		return nil, err
	}
	b.epoch = epoch
	if b.size != nil && o.state != nil {
		b.number = o.state.upTo(maxPlace, "the number of batches")
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	if b.in, err = o.open(s.in[0], epoch); err != nil {
		return nil, err
	}
	return o.judged(s, b), nil
}

func (n *Batch) trace(ctx context.Context, t *tracer, s *scope) error {
	t.batch(s, n, n.Pad)
	if n.f != nil || n.PerBatch != "" {
		s.spoilt = &NodeError{s.path, defErr("the function %s changes the samples of a batch, which a graph cannot", called(n.PerBatch))}
	}
	return nil
}

func (n *Batch) merge(m *merger, s *step, epoch uint64) error {
	if n.sized() {
		m.largest()
	}
	return m.inputs(s, epoch)
}

type batching struct {
	in      iterator
	columns []Column // of in
	n       *Batch
	f       BatchFunc
	c       *collator
	caller  caller
	one     Sample
	samples []*Sample // a whole batch, where stacking needs all samples
	before  []int64   // the state before the last batch
	ended   bool      // with an error
	judge   *judge    // of samples that do not fit their batch
	failed  func(*Sample, error) error
	size    SizeFunc // nil: n.Size
	epoch   uint64
	number  int64 // of the next batch in the epoch, with size
}

// next returns the size of the next batch.
func (b *batching) next() (size int, err error) {
	if b.size == nil {
		return b.n.Size, nil
	}
	// The numbers differ from those that a BatchFunc gets.
	c := Call{Stream: rng.NewKey(b.caller.seed, b.epoch, b.caller.path+"/size").At(uint64(b.number)), Epoch: b.epoch}
	err = guard(func() (err error) {
		size, err = b.size(&c, b.number)
		return err
	})
	if err == nil && (size < 1 || size > maxBatch) {
		err = defErr("the function made a size of %d for batch %d of epoch %d, want 1 to %d", size, b.number, b.epoch, maxBatch)
	}
	if err != nil {
		return 0, &NodeError{b.caller.path, err}
	}
	return size, nil
}

func (b *batching) Next(ctx context.Context, s *Sample) error {
	b.before = b.save(b.before[:0])
	err := b.batch(ctx, s)
	b.ended = err != nil && err != io.EOF
	return err
}

func (b *batching) batch(ctx context.Context, s *Sample) error {
	whole := b.f != nil || b.c.needsAll
	size, err := b.next()
	if err != nil {
		return err
	}
	n, held := 0, int64(0)
	for n < size {
		x := &b.one
		if whole {
			if n == len(b.samples) {
				b.samples = append(b.samples, &Sample{})
			}
			x = b.samples[n]
		}
		err := pull(ctx, b.in, x)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if n == 0 {
			s.identity(x)
		}
		if !whole {
			bad := b.c.put(s, x, n, size)
			if bad != nil {
				if errors.Is(bad, errBatchBytes) {
					return bad
				}
				if err := b.failed(x, bad); err != nil {
					return err
				}
			}
			if err := b.judge.count(x); err != nil {
				return err
			}
			if bad != nil {
				continue
			}
		} else if held += x.Memory(); b.c.most > 0 && held > b.c.most {
			return b.c.tooLarge(n+1, held)
		}
		n++
	}
	if n == 0 || n < size && b.n.DropRemainder {
		return io.EOF
	}
	b.number++
	if !whole {
		return b.c.finish(s, n)
	}
	if b.f != nil {
		for _, x := range b.samples[:n] {
			x.columns = b.columns
		}
		err := guard(func() error { return b.f(b.caller.of(b.samples[0]), b.samples[:n]) })
		if err == nil {
			err = b.fit(b.samples[:n])
		}
		if err != nil {
			return b.failed(s, err)
		}
	}
	return stackOr(b.c, s, b.samples[:n], b.failed)
}

// fit returns an error unless the function made samples with Out's columns, or
// without Out with the types and numbers of axes of the input's.
func (b *batching) fit(l []*Sample) error {
	want := len(b.c.columns)
	for _, x := range l {
		if len(x.Values) != want {
			return defErr("sample %q: the function made %d columns, want %d", x.Key, len(x.Values), want)
		}
		for i, c := range b.n.Out {
			if !c.Desc.Matches(x.Values[i].Desc) {
				return defErr("sample %q: column %q: the function made %v, want %v", x.Key, c.Name, x.Values[i].Desc, c.Desc)
			}
		}
		if len(b.n.Out) > 0 {
			continue
		}
		for i, c := range b.columns {
			if v := &x.Values[i]; v.DType != c.Desc.DType || v.Shape.Rank() != c.Desc.Shape.Rank() {
				return defErr("sample %q: column %q: the function made %v of %v: state the columns that it makes", x.Key, c.Name, v.Desc, c.Desc)
			}
		}
	}
	return nil
}

func (b *batching) Save(w []int64) []int64 {
	if b.ended {
		return append(w, b.before...)
	}
	return b.save(w)
}

func (b *batching) save(w []int64) []int64 {
	if b.size != nil {
		w = append(w, b.number)
	}
	return b.in.Save(w)
}

func (b *batching) Close() error { return b.in.Close() }

// guard calls f and returns a panic as an error.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return f()
}
