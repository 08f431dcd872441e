package dataset

import (
	"fmt"
	"sync"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

// Call is what a function of the user's is told besides values. It is valid
// until the function returns.
type Call struct {
	// Stream has the random numbers of this sample for this node.
	rng.Stream
	Key            string // of the sample
	Epoch, Ordinal uint64
}

// MapFunc computes values from a sample's values. dst has a Value for each output
// column, which it fills with Reset, Bytes or Share; it may share src's data. src
// must not be written. It is called by several goroutines at once.
type MapFunc func(c *Call, dst []*Value, src []*tensor.Tensor) error

// Predicate says whether a sample is kept. It is called by several goroutines at once.
type Predicate func(c *Call, src []*tensor.Tensor) (bool, error)

// FlatMapFunc computes the i-th of the samples that a sample becomes, or returns
// false if there are no more. It is called for i from 0 on, and again for the same
// i where a run is resumed.
type FlatMapFunc func(c *Call, i int, dst []*Value, src []*tensor.Tensor) (bool, error)

// BatchFunc changes the samples of a batch before they are stacked: a size for
// this step, say. Each sample's values are its columns, in order; it may change
// any of them to its heart's content, but all samples must fit together afterwards.
type BatchFunc func(c *Call, samples []*Sample) error

// Functions are written in definitions by name, and found again by it.
var functions = struct {
	sync.RWMutex
	m map[string]any
}{m: map[string]any{}}

// RegisterFunc gives a MapFunc, Predicate, FlatMapFunc or BatchFunc the name that
// it has in definitions that are read. It is called from init functions and
// panics on a name that is taken, which is a programming error.
func RegisterFunc(name string, f any) {
	switch f.(type) {
	case MapFunc, Predicate, FlatMapFunc, BatchFunc:
	default:
		panic(fmt.Sprintf("dataset: function %q is a %T", name, f))
	}
	functions.Lock()
	defer functions.Unlock()
	if _, ok := functions.m[name]; ok || name == "" {
		panic(fmt.Sprintf("dataset: function %q is registered already, or has no name", name))
	}
	functions.m[name] = f
}

// function finds a function by name.
func function[F any](name string) (f F, err error) {
	functions.RLock()
	x, ok := functions.m[name]
	functions.RUnlock()
	f, is := x.(F)
	switch {
	case !ok:
		err = paramErr("no function %q is registered", name)
	case !is:
		err = paramErr("function %q is a %T, want a %T", name, x, f)
	}
	return f, err
}

// caller makes the Calls of a node.
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

// outputs is how a worker replaces columns: those of the inputs make place for
// the outputs.
type outputs struct {
	in    []int // columns that are read
	from  []int // for every new column, the old one, or -1-i for output i
	spare []Value
	next  []Value
}

// replace finds the new columns of s: those of in without the inputs, in whose
// place, at the first of them, the outputs stand.
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

// clone is for another worker.
func (o *outputs) clone() *outputs { return &outputs{in: o.in, from: o.from} }

// apply gives s its new columns. out are the outputs, whose memory s takes over;
// what memory it has too much goes to spare.
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

// value is a Value with memory that is to spare, if there is any.
func (o *outputs) value() Value {
	n := len(o.spare)
	if n == 0 {
		return Value{}
	}
	v := o.spare[n-1]
	o.spare = o.spare[:n-1]
	return v
}
