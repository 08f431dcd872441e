//go:build cgo

package main

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// result holds outputs in memory of its own, which is pinned.
type result struct {
	list  []tensor.Tensor
	names []string
	pins  runtime.Pinner
	graph *graph // nil unless it is of one run of a graph
}

// lendAll lends tensors, which no one else has, and returns a handle.
func lendAll(names []string, l []*tensor.Tensor) uintptr {
	r := &result{names: names, list: make([]tensor.Tensor, len(l))}
	for i, t := range l {
		r.list[i] = *t
	}
	return r.lend()
}

// lend pins the memory and returns a handle.
func (r *result) lend() uintptr {
	for _, t := range r.list {
		if len(t.Data) > 0 {
			r.pins.Pin(&t.Data[0])
		}
	}
	return put(r)
}

func (r *result) kind() int32 { return kindResult }

// close keeps the memory for a later result of the graph.
func (r *result) close() {
	r.pins.Unpin()
	if r.graph == nil {
		return
	}
	spare := make([][]byte, len(r.list))
	for i, t := range r.list {
		spare[i] = t.Data
	}
	g := r.graph
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.spare) < g.pool.Jobs() {
		g.spare = append(g.spare, spare)
	}
}

// memory returns the memory of a result that was freed, nil if there is none.
func (g *graph) memory() (spare [][]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.spare); n > 0 {
		spare, g.spare = g.spare[n-1], g.spare[:n-1]
	}
	return spare
}

func run(h uintptr, in *ipInput, nin int32, lent *uintptr, e *ipError) int32 {
	return do(e, func() error {
		g, err := get[*graph](h)
		if err != nil {
			return err
		}
		a, err := g.args(in, nin)
		defer a.done()
		if err != nil {
			return err
		}
		res := &result{list: make([]tensor.Tensor, len(g.outputs)), names: g.names, graph: g}
		spare := make([][]byte, len(g.outputs))
		copy(spare, g.memory())
		err = g.pool.Do(context.Background(), func(r *datagraph.Runner) error {
			if _, err := r.Run(a.list...); err != nil {
				return err
			}
			for i := range res.list {
				t, own := r.Take(i, spare[i])
				if !own || t.DType != tensor.Bytes && !t.Dense() {
					t = *t.Clone()
				}
				res.list[i] = t
			}
			return nil
		})
		if err != nil {
			return err
		}
		*lent = res.lend()
		return nil
	})
}

func resultTensor(h uintptr, i int32, to *ipTensor, e *ipError) int32 {
	return do(e, func() error {
		r, err := get[*result](h)
		if err != nil {
			return err
		}
		if _, err := listOf("ip_tensor", to, 1); err != nil {
			return err
		}
		if i < 0 || int(i) >= len(r.list) {
			return fmt.Errorf("infer_prep: result: %w: output %d of %d", errInput, i, len(r.list))
		}
		t := &r.list[i]
		setTensor(to, t)
		to.data, to.capacity = 0, to.bytes
		if len(t.Data) > 0 {
			to.data = address(unsafe.Pointer(&t.Data[0]))
		}
		return nil
	})
}

func resultCount(h uintptr) int32 {
	r, err := get[*result](h)
	if err != nil {
		return -1
	}
	return int32(len(r.list))
}

func resultDescribe(h uintptr, i int32, column *ipColumn, e *ipError) int32 {
	return do(e, func() error {
		r, err := get[*result](h)
		if err != nil {
			return err
		}
		if _, err := listOf("ip_column", column, 1); err != nil {
			return err
		}
		if i < 0 || int(i) >= len(r.list) {
			return fmt.Errorf("infer_prep: result: %w: output %d of %d", errInput, i, len(r.list))
		}
		t := &r.list[i]
		d := t.Desc
		if d.DType == tensor.Bytes {
			d.Shape = tensor.Dims(len(t.Data))
		}
		setColumn(column, datagraph.Column{Name: r.names[i], Desc: d}, false)
		column.bytes = int64(len(t.Data))
		return nil
	})
}

func collate(h uintptr, results unsafe.Pointer, n uint64, lent *uintptr, e *ipError) int32 {
	return do(e, func() error {
		g, err := get[*graph](h)
		if err != nil {
			return err
		}
		batch, err := g.join(n, func(i int) ([]*tensor.Tensor, error) {
			r, err := get[*result](unsafe.Slice((*uintptr)(results), n)[i])
			if err != nil {
				return nil, err
			}
			if r.graph != g {
				return nil, fmt.Errorf("%w: not a result of a run of this graph", errInput)
			}
			l := make([]*tensor.Tensor, len(r.list))
			for k := range r.list {
				l[k] = &r.list[k]
			}
			return l, nil
		})
		if err != nil {
			return err
		}
		*lent = lendAll(g.names, batch)
		return nil
	})
}

func videoRun(h uintptr, clips *ipClip, n int32, lent *uintptr, e *ipError) int32 {
	return do(e, func() error {
		names, batch, err := videoBatch(h, clips, n)
		if err != nil {
			return err
		}
		*lent = lendAll(names, batch)
		return nil
	})
}
