package dataset

import (
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Column is a named tensor of every sample. Sizes may be tensor.Unknown.
type Column = datagraph.Column

// Sample is one sample, or a batch of them: a value for each column, in the
// order of the columns of the dataset that it is from. A Sample keeps its memory:
// it is filled again and again. It is used by one goroutine at a time.
type Sample struct {
	Values []Value
	// Key names the sample for people, in errors: "cats/12.jpg", "data.csv:17". Of
	// a batch it is the first sample's.
	Key string
	// Epoch counts passes over the source; Ordinal is the place in the epoch's
	// order before samples are distributed among ranks. Together they name the
	// random numbers that are drawn for the sample. Of a batch they are the first
	// sample's.
	Epoch, Ordinal uint64

	origin  origin
	dropped bool  // to be passed over
	row     int64 // of the source, before it is read
}

// Value is a tensor of a sample. Its data is memory of its own, which Reset and
// Bytes give and which is used again for later samples, or shared memory that
// nobody writes.
type Value struct {
	tensor.Tensor
	own []byte
}

// Reset makes v a dense tensor of description d in memory of its own. The
// elements are whatever was there.
func (v *Value) Reset(d tensor.Desc) error {
	v.Data = v.own[:0]
	if err := v.Tensor.Reset(d); err != nil {
		return err
	}
	v.own = v.Data
	return nil
}

// Bytes makes v a Bytes tensor of n bytes in memory of its own, and returns them.
func (v *Value) Bytes(n int) []byte {
	if cap(v.own) < n {
		// Some more, so that files of slightly different sizes need no new memory.
		v.own = tensor.Alloc(n + n/4)
	}
	v.own = v.own[:n]
	v.Tensor = tensor.Tensor{Desc: tensor.Encoded(), Data: v.own}
	return v.own
}

// Share makes v the tensor t, whose data nobody may write as long as the
// dataset is in use.
func (v *Value) Share(t *tensor.Tensor) { v.Tensor = *t }

// ShareBytes makes v a Bytes tensor of b, which nobody may write as long as the
// dataset is in use.
func (v *Value) ShareBytes(b []byte) { v.Tensor = tensor.Tensor{Desc: tensor.Encoded(), Data: b} }

// SetInt32 makes v a scalar.
func (v *Value) SetInt32(n int32) error {
	if err := v.Reset(tensor.Desc{DType: tensor.Int32}); err != nil {
		return err
	}
	tensor.View[int32](&v.Tensor)[0] = n
	return nil
}

// copyFrom makes v a copy of o in v's own memory.
func (v *Value) copyFrom(o *Value) error { return v.copyTensor(&o.Tensor) }

// copyTensor makes v a copy of t in its own memory. t must not be &v.Tensor.
func (v *Value) copyTensor(t *tensor.Tensor) error {
	if t.DType == tensor.Bytes {
		copy(v.Bytes(len(t.Data)), t.Data)
		return nil
	}
	if err := v.Reset(t.Desc); err != nil {
		return err
	}
	return t.CopyTo(&v.Tensor)
}

// Memory returns the number of bytes in the sample's own buffers. Shared data does
// not count.
func (s *Sample) Memory() (n int64) {
	for i := range s.Values {
		n += int64(cap(s.Values[i].own))
	}
	return n
}

// resize gives s n values.
func (s *Sample) resize(n int) {
	s.Values = slices.Grow(s.Values[:0], n)[:n]
}

// identity copies who a sample is.
func (s *Sample) identity(o *Sample) {
	s.Key, s.Epoch, s.Ordinal, s.origin, s.dropped = o.Key, o.Epoch, o.Ordinal, o.origin, o.dropped
}

// CopyFrom makes s a copy of o in memory of its own.
func (s *Sample) CopyFrom(o *Sample) error {
	s.resize(len(o.Values))
	for i := range o.Values {
		if err := s.Values[i].copyFrom(&o.Values[i]); err != nil {
			return fmt.Errorf("dataset: sample %s: %w", o.Key, err)
		}
	}
	s.identity(o)
	return nil
}

// owned reports whether the data is in v's own memory.
func (v *Value) owned() bool {
	return len(v.Data) == 0 || len(v.own) > 0 && &v.own[0] == &v.Data[0]
}
