package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// Context is the memory that one op keeps between its runs, so that a run in
// steady state allocates nothing. An engine has one for every step of every
// worker. It is used by one goroutine at a time.
type Context struct {
	// State is the op's own: coefficient tables, a decoder. Only the op that
	// set it reads it, and an op only ever sees its own Context.
	State any
	// Limits bounds what decoding may cost.
	Limits codec.Limits

	scratch *scratch
}

type scratch struct {
	bufs    [][]byte
	usedB   int
	tensors []*tensor.Tensor
	usedT   int
}

// NewContext makes the Context of one op.
func NewContext(l codec.Limits) *Context { return &Context{Limits: l, scratch: &scratch{}} }

// Sibling makes the Context of another op of the same worker; the two share
// scratch memory, since they never run at once.
func (c *Context) Sibling() *Context { return &Context{Limits: c.Limits, scratch: c.scratch} }

// Begin gives back all scratch memory. The engine calls it before each Apply.
func (c *Context) Begin() { c.scratch.usedB, c.scratch.usedT = 0, 0 }

// Scratch is n bytes of any content, aligned to 8, the op's until Apply returns.
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

// Temp is a dense scratch tensor of description d, the op's until Apply returns.
func (c *Context) Temp(d tensor.Desc) (*tensor.Tensor, error) {
	s := c.scratch
	if s.usedT == len(s.tensors) {
		s.tensors = append(s.tensors, &tensor.Tensor{})
	}
	t := s.tensors[s.usedT]
	s.usedT++
	return t, t.Reset(d)
}

// Dense is t itself if it is dense, else a dense copy in scratch memory.
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
