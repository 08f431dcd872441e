package dataset

import (
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Column is a named tensor of every sample. Unknown sizes are tensor.Unknown.
type Column = datagraph.Column

// Sample is a sample or a batch: one value for each column. It keeps its
// buffers for the next sample. One goroutine uses it at a time.
type Sample struct {
	// Values are in the order of the columns. Column returns one by its name.
	Values []Value
	// Key names the sample in errors: "cats/12.jpg", "data.csv:17". A batch has
	// the key of its first sample.
	Key string
	// Epoch counts the passes over the source. Ordinal is the place in the
	// epoch's order, before samples are divided among ranks. Together they
	// select the sample's random numbers. A batch has those of its first
	// sample.
	Epoch, Ordinal uint64

	columns []Column // of Values
	origin  origin
	dropped bool // engines pass it on, and users never see it
	// bad is why the sample was dropped; nil if a predicate did. judged reports
	// that a judge counted it.
	bad    *SampleError
	judged bool
	row    int64 // of the source, before the sample is read
}

// NewSample returns a sample with a Value for each column, without memory yet.
func NewSample(columns []Column) *Sample {
	return &Sample{Values: make([]Value, len(columns)), columns: columns}
}

// Column returns the value of a column: s.Column("label"). It returns nil if
// the sample has no such column. Samples have names where a run returns them
// or uploads them (pipeline.Options.Upload), and in Rows.Read, Reader.Next, a
// BatchFunc (the columns of its input) and SinkWriter.Write.
//
//go:noinline
func (s *Sample) Column(name string) *Value {
	for i := range min(len(s.columns), len(s.Values)) {
		if s.columns[i].Name == name {
			return &s.Values[i]
		}
	}
	return nil
}

// Value is a tensor of a sample. Its data is in its own buffer, which Reset and
// Bytes reuse for later samples, or in shared memory that nobody writes.
type Value struct {
	tensor.Tensor
	own []byte
}

// Reset makes v a dense tensor of description d in its own buffer. The elements
// are undefined.
func (v *Value) Reset(d tensor.Desc) error {
	v.Data = v.own[:0]
	if err := v.Tensor.Reset(d); err != nil {
		return err
	}
	v.own = v.Data
	return nil
}

// Bytes makes v a Bytes tensor of n bytes in its own buffer, and returns the
// buffer. Its content is undefined.
//
//go:noinline
func (v *Value) Bytes(n int) []byte {
	if cap(v.own) < n {
		// A quarter more, so that files of similar sizes need no new buffer.
		v.own = tensor.Alloc(n + n/4)
	}
	v.own = v.own[:n]
	v.Tensor = tensor.Tensor{Desc: tensor.Encoded(), Data: v.own}
	return v.own
}

// Share makes v the tensor t without a copy. Nobody may write t's data while
// the dataset is in use.
func (v *Value) Share(t *tensor.Tensor) { v.Tensor = *t }

// ShareBytes makes v a Bytes tensor of b without a copy. Nobody may write b
// while the dataset is in use.
func (v *Value) ShareBytes(b []byte) { v.Tensor = tensor.Tensor{Desc: tensor.Encoded(), Data: b} }

// SetInt32 makes v a scalar of int32.
func (v *Value) SetInt32(n int32) error {
	if err := v.Reset(tensor.Desc{DType: tensor.Int32}); err != nil {
		return err
	}
	tensor.View[int32](&v.Tensor)[0] = n
	return nil
}

// copyFrom makes v a copy of o in v's own memory.
func (v *Value) copyFrom(o *Value) error { return v.Copy(&o.Tensor) }

// Copy makes v a copy of t in its own memory. t must not be &v.Tensor.
func (v *Value) Copy(t *tensor.Tensor) error {
	if t.DType == tensor.Bytes {
		copy(v.Bytes(len(t.Data)), t.Data)
		return nil
	}
	if err := v.Reset(t.Desc); err != nil {
		return err
	}
	return t.CopyTo(&v.Tensor)
}

// Memory returns the number of bytes in the sample's own buffers. Shared data
// does not count.
func (s *Sample) Memory() (n int64) {
	for i := range s.Values {
		n += int64(cap(s.Values[i].own))
	}
	return n
}

// Resize gives s n values and keeps the buffers of those beyond. The content of
// added values is undefined; set each of them.
func (s *Sample) Resize(n int) {
	s.Values = slices.Grow(s.Values[:0], n)[:n]
}

// reset gives s a value for each column.
func (s *Sample) reset(columns []Column) {
	s.Resize(len(columns))
	s.columns = columns
}

// begin makes s the sample at a place of a root, without its key and values.
func (s *Sample) begin(epoch uint64, at origin) {
	s.Key, s.Epoch, s.Ordinal, s.origin = "", epoch, uint64(at.k), at
	s.dropped, s.bad, s.judged = false, nil, false
}

// identity copies all but the values of o to s.
func (s *Sample) identity(o *Sample) {
	s.Key, s.Epoch, s.Ordinal, s.origin = o.Key, o.Epoch, o.Ordinal, o.origin
	s.dropped, s.bad, s.judged = o.dropped, o.bad, o.judged
}

// CopyFrom makes s a copy of o in its own buffers.
func (s *Sample) CopyFrom(o *Sample) error {
	s.Resize(len(o.Values))
	s.columns = o.columns
	for i := range o.Values {
		if err := s.Values[i].copyFrom(&o.Values[i]); err != nil {
			return fmt.Errorf("dataset: sample %s: %w", o.Key, err)
		}
	}
	s.identity(o)
	return nil
}

// Take moves o, with its buffers, to s, and gives o the buffers of s for later
// samples. Data that o shares is copied, so s has memory of its own: after a
// Take of what Run.Next returned, s stays valid whatever becomes of the run. An
// error leaves both undefined.
func (s *Sample) Take(o *Sample) error {
	*s, *o = *o, *s
	for i := range s.Values {
		v := &s.Values[i]
		if v.owned() {
			continue
		}
		shared := v.Tensor
		if err := v.Copy(&shared); err != nil {
			return fmt.Errorf("dataset: sample %s: %w", s.Key, err)
		}
	}
	return nil
}

// owned reports whether the data is in v's own buffer.
func (v *Value) owned() bool {
	return len(v.Data) == 0 || len(v.own) > 0 && &v.own[0] == &v.Data[0]
}
