package binding

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/infer-prep/infer-prep/tensor"
)

// Tensors are tensors that are lent to a program in another language. Their
// memory stays where it is and is not reused before Release, which must be
// called once Pointer was.
type Tensors struct {
	Epoch uint64
	Step  int64  // of the epoch, from 1; 0 for those of a graph
	Key   string // of the first sample
	Notes bool   // Pipeline.Notes has news

	list    []tensor.Tensor
	release func()
	once    sync.Once
	pins    runtime.Pinner
}

// List returns the tensors, all dense.
func (t *Tensors) List() []tensor.Tensor { return t.list }

// Pointer returns the address of tensor i, which is pinned until Release, and
// nil if the tensor has no elements.
func (t *Tensors) Pointer(i int) unsafe.Pointer {
	d := t.list[i].Data
	if len(d) == 0 {
		return nil
	}
	p := &d[0]
	t.pins.Pin(p)
	return unsafe.Pointer(p)
}

// Release ends the loan. A second Release does nothing.
func (t *Tensors) Release() {
	t.once.Do(func() {
		t.pins.Unpin()
		if t.release != nil {
			t.release()
		}
		t.list = nil
	})
}

// Dense returns a tensor of a shape in C order with the memory b. dtype is an
// element type of package tensor.
func Dense(dtype int, shape []int, b []byte) (t tensor.Tensor, err error) {
	d := tensor.Desc{DType: tensor.DType(dtype)}
	if d.DType == tensor.Bytes {
		return tensor.Tensor{Desc: d, Data: b}, nil
	}
	d.Shape = tensor.Dims(shape...)
	if err := d.Validate(); err != nil {
		return t, err
	}
	if d.Size() != int64(len(b)) {
		return t, fmt.Errorf("infer_prep: %w: %d bytes for %v, want %d", errInput, len(b), d, d.Size())
	}
	t.Data = b
	return t, t.Reset(d)
}

// dense reports whether t's elements follow one another.
func dense(t *tensor.Tensor) bool {
	n := 1
	for i := t.Shape.Rank() - 1; i >= 0; i-- {
		if d := t.Shape.At(i); d != 1 && t.Strides[i] != n {
			return false
		}
		n *= t.Shape.At(i)
	}
	return true
}
