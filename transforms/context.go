package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// Context holds the memory that one op keeps between runs, so that a run in
// steady state does not allocate. An engine has one Context per step and
// worker. A Context is not safe for concurrent use.
type Context struct {
	// State belongs to the op: coefficient tables or a decoder, for example.
	// Only the op that set it reads it. A Context serves one op.
	State any
	// Limits bounds the size and the work of decoding.
	Limits codec.Limits

	scratch *scratch
}

type scratch struct {
	decode  decodeState
	run     uint64 // number of BeginRun; 0 if it was never called
	workers int    // goroutines that may decode one image
	index   *codec.Index
	bufs    [][]byte
	usedB   int
	tensors []*tensor.Tensor
	usedT   int
}

// NewContext returns the Context of one op.
func NewContext(l codec.Limits) *Context {
	return &Context{Limits: l.WithDefaults(), scratch: &scratch{}}
}

// Sibling returns a Context for another op of the same worker. The two share
// scratch memory, so their ops must not run at the same time.
func (c *Context) Sibling() *Context { return &Context{Limits: c.Limits, scratch: c.scratch} }

// BeginRun starts a run of a graph over new inputs. An engine that calls it
// allows ops to reuse what they read from the same input earlier in the run: an
// image's header is then read once.
func (c *Context) BeginRun() { c.scratch.run++ }

// SetWorkers sets the number of goroutines that may decode one image, as
// codec.Options.Workers. Default: the caller's alone.
func (c *Context) SetWorkers(n int) { c.scratch.workers = n }

// SetIndex sets the notes of images that Decode uses, as codec.Options.Index.
// Default none.
func (c *Context) SetIndex(x *codec.Index) { c.scratch.index = x }

// Begin releases all scratch memory. The engine calls it before each Apply.
func (c *Context) Begin() { c.scratch.usedB, c.scratch.usedT = 0, 0 }

// Scratch returns n bytes of undefined content, aligned to 8 bytes. They are
// valid until Apply returns.
func (c *Context) Scratch(n int) []byte {
	s := c.scratch
	if s.usedB == len(s.bufs) {
		s.bufs = append(s.bufs, nil)
	}
	b := s.bufs[s.usedB]
	if cap(b) < n {
		b = tensor.Alloc(n)
		s.bufs[s.usedB] = b
	}
	s.usedB++
	return b[:n]
}

// Temp returns a dense scratch tensor with description d. It is valid until
// Apply returns.
func (c *Context) Temp(d tensor.Desc) (*tensor.Tensor, error) {
	s := c.scratch
	if s.usedT == len(s.tensors) {
		s.tensors = append(s.tensors, &tensor.Tensor{})
	}
	t := s.tensors[s.usedT]
	s.usedT++
	return t, t.Reset(d)
}

// Dense returns t if t is dense, else a dense copy in scratch memory.
func (c *Context) Dense(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.DType == tensor.Bytes || t.Dense() {
		return t, nil
	}
	d, err := c.Temp(t.Desc)
	if err != nil {
		return nil, err
	}
	return d, t.CopyTo(d)
}
