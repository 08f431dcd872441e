package dataset

import (
	"fmt"

	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// Call describes the call of a user's function. It is valid until the function
// returns.
type Call struct {
	// Stream has the random numbers of this sample for this node.
	rng.Stream
	Key            string // of the sample
	Epoch, Ordinal uint64
}

// MapFunc computes output values from a sample's values. dst has a Value for
// each output column, which the function fills with Reset, Bytes or Share. It
// may share the data of src, which it must not write. It must be safe for
// concurrent use.
type MapFunc func(c *Call, dst []*Value, src []*tensor.Tensor) error

// Predicate reports whether to keep a sample. It must be safe for concurrent
// use.
type Predicate func(c *Call, src []*tensor.Tensor) (bool, error)

// FlatMapFunc computes sample i of the samples that replace a sample, or
// returns false if there are no more. It is called with i from 0 up. A resumed
// run may call it again with an i that it had before.
type FlatMapFunc func(c *Call, i int, dst []*Value, src []*tensor.Tensor) (bool, error)

// BatchFunc changes the samples of a batch before they are stacked, for example
// to a size for this step. The values of a sample are its columns, in order.
// The function may replace any of them, but must return samples that can be
// stacked. With Batch.Out it may also add, remove and reorder columns: it
// leaves each sample with the values of Out, in that order, for example by
// Sample.Resize.
type BatchFunc func(c *Call, samples []*Sample) error

// SamplerFunc fills order with the numbers of the rows of an epoch, 0 to
// rows-1, in the order in which to return them. A row may occur several times
// or never. c has the epoch and random numbers for it, and no sample. The
// order must depend on the arguments alone, since a run may ask for it again.
// It must be safe for concurrent use.
type SamplerFunc func(c *Call, rows int64, order []int64) error

// SizeFunc returns the number of samples of a batch, 1 to 1,048,576. batch
// counts the batches of the epoch from 0. c has the epoch and random numbers
// for this batch, and no sample. The size must depend on the arguments alone,
// since a resumed run may ask for it again. It must be safe for concurrent use.
type SizeFunc func(c *Call, batch int64) (int, error)

var functions = registry.New[any]("dataset function")

// RegisterFunc registers a MapFunc, Predicate, FlatMapFunc, BatchFunc, SizeFunc
// or SamplerFunc under the name that it has in written definitions; init
// functions call it. It panics on any other type, and if the name is empty or
// taken.
func RegisterFunc(name string, f any) {
	switch f.(type) {
	case MapFunc, Predicate, FlatMapFunc, BatchFunc, SizeFunc, SamplerFunc:
	default:
		functions.Refuse(name, fmt.Sprintf("%T is not a function type of package dataset", f))
	}
	functions.Add(name, f)
}

// function returns the function of a name.
func function[F any](name string) (f F, err error) {
	x, err := functions.Lookup(name)
	if err != nil {
		return f, fmt.Errorf("%w: %w", ErrParam, err)
	}
	f, ok := x.(F)
	if !ok {
		return f, paramErr("function %q is a %T, want a %T", name, x, f)
	}
	return f, nil
}

// caller makes the Calls of a node, for one goroutine.
type caller struct {
	call  Call
	seed  uint64
	path  string
	epoch uint64
	key   rng.Key
	ready bool
}

func (c *caller) of(s *Sample) *Call {
	if !c.ready || c.epoch != s.Epoch {
		c.epoch, c.key, c.ready = s.Epoch, rng.NewKey(c.seed, s.Epoch, c.path), true
	}
	c.call = Call{Stream: c.key.At(s.Ordinal), Key: s.Key, Epoch: s.Epoch, Ordinal: s.Ordinal}
	return &c.call
}

// outputs replaces the columns that a worker reads with those that it makes.
type outputs struct {
	in    []int   // the columns that the worker reads
	from  []int   // for every new column, the old column, or -1-i for output i
	spare []Value // free buffers
	next  []Value // the sample's next list of values
}

// replace sets the columns of s: the columns of in without the inputs names,
// and the outputs out at the place of the first input.
func (s *step) replace(in *step, names []string, out []Column) (*outputs, error) {
	o := &outputs{}
	var err error
	if o.in, err = in.columnsOf(names); err != nil {
		return nil, err
	}
	first := len(in.columns)
	for _, i := range o.in {
		first = min(first, i)
	}
	put := func() {
		for i, c := range out {
			s.columns = append(s.columns, c)
			o.from = append(o.from, -1-i)
		}
	}
	s.columns = nil
	for i, c := range in.columns {
		if i == first {
			put()
		}
		used := false
		for _, j := range o.in {
			used = used || i == j
		}
		if !used {
			s.columns = append(s.columns, c)
			o.from = append(o.from, i)
		}
	}
	if first == len(in.columns) {
		put()
	}
	return o, nil
}

// clone returns outputs for another worker.
func (o *outputs) clone() *outputs { return &outputs{in: o.in, from: o.from} }

// apply gives s its new columns. s takes over the buffers of out, the outputs;
// the buffers of replaced columns become spare.
func (o *outputs) apply(s *Sample, out []Value) {
	o.next = append(o.next[:0], make([]Value, 0)...)
	for _, f := range o.from {
		if f >= 0 {
			o.next = append(o.next, s.Values[f])
			s.Values[f] = Value{}
			continue
		}
		o.next = append(o.next, out[-1-f])
		out[-1-f] = Value{}
	}
	for i := range s.Values {
		if s.Values[i].own != nil {
			o.spare = append(o.spare, Value{own: s.Values[i].own})
		}
	}
	s.Values, o.next = o.next, s.Values
}

// value returns a Value with a spare buffer, if there is one.
func (o *outputs) value() Value {
	n := len(o.spare)
	if n == 0 {
		return Value{}
	}
	v := o.spare[n-1]
	o.spare = o.spare[:n-1]
	return v
}
