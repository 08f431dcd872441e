package main

// #include "infer_prep.h"
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/memory"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// modes are the modes of pixels by the number of their channels.
var modes = [...]codec.Mode{1: codec.L, 2: codec.LA, 3: codec.RGB, 4: codec.RGBA}

// args are the inputs of a run, for use until done.
type args struct {
	list []*tensor.Tensor
	lent []func()
}

func (a *args) done() {
	for _, f := range a.lent {
		f()
	}
}

// args returns the inputs of a run. The caller calls done, after an error too.
func (g *graph) args(in *C.ip_input, n C.int32_t) (a args, err error) {
	l, err := listOf("ip_input", in, n)
	if err != nil {
		return a, err
	}
	if l.n != len(g.inputs) {
		return a, fmt.Errorf("infer_prep: run: %w: %d inputs, the graph has %d", errInput, l.n, len(g.inputs))
	}
	a.list = make([]*tensor.Tensor, l.n)
	for i := range a.list {
		if a.list[i], err = a.input(l.of(i), g.inputs[i].Desc); err != nil {
			return a, fmt.Errorf("infer_prep: run: input %q: %w", g.inputs[i].Name, err)
		}
	}
	return a, nil
}

func (a *args) input(in *C.ip_input, want tensor.Desc) (*tensor.Tensor, error) {
	if in.dtype == C.IP_BYTES {
		b, err := bytesOf(in.data, uint64(in.bytes))
		return tensor.FromBytes(b), err
	}
	d, err := descOf(in)
	if err != nil {
		return nil, err
	}
	if in.data == nil {
		return nil, fmt.Errorf("%w: data is NULL", errInput)
	}
	if want.DType == tensor.Bytes {
		return a.pixels(in, d)
	}
	size := d.Size()
	if in.bytes != 0 && uint64(in.bytes) < uint64(size) {
		return nil, fmt.Errorf("%w: %d bytes, %v has %d", errInput, in.bytes, d, size)
	}
	step := int64(d.DType.Size())
	for i := d.Shape.Rank() - 1; i >= 0; i-- {
		if s := int64(in.strides[i]); s != 0 && s != step && d.Shape.At(i) > 1 {
			return nil, fmt.Errorf("%w: stride %d of axis %d, want %d: the graph takes dense elements only", codec.ErrUnsupported, s, i, step)
		}
		step *= int64(d.Shape.At(i))
	}
	b, err := bytesOf(in.data, uint64(size))
	if err != nil {
		return nil, err
	}
	return tensor.Wrap(d, b)
}

// descOf returns the description of an input that is not IP_BYTES.
func descOf(in *C.ip_input) (d tensor.Desc, err error) {
	if in.dtype < 0 || in.dtype > C.IP_BYTES || in.layout < 0 || in.layout > C.IP_CHW || in.rank < 0 || in.rank > tensor.MaxRank {
		return d, fmt.Errorf("%w: dtype %d, layout %d, rank %d", errInput, in.dtype, in.layout, in.rank)
	}
	d = tensor.Desc{DType: tensor.DType(in.dtype), Layout: tensor.Layout(in.layout)}
	for _, n := range in.shape[:in.rank] {
		if n < 0 || int64(int(n)) != int64(n) {
			return d, fmt.Errorf("%w: a size of %d", errInput, n)
		}
		d.Shape = d.Shape.Append(int(n))
	}
	if err := d.Validate(); err != nil {
		return d, err
	}
	if d.Size() < 0 {
		return d, fmt.Errorf("%w: %v has too many elements", errInput, d)
	}
	return d, nil
}

// pixels lends pixels to the decoders.
func (a *args) pixels(in *C.ip_input, d tensor.Desc) (*tensor.Tensor, error) {
	if d.DType != tensor.Uint8 || !d.IsImage() || d.Channels() < 1 || d.Channels() >= len(modes) {
		return nil, fmt.Errorf("%w: %v, want an encoded image, or uint8 HWC or CHW of 1 to 4 channels", errInput, d)
	}
	s := in.strides
	if s == [tensor.MaxRank]C.int64_t{} {
		s[2] = 1
		s[1] = C.int64_t(d.Shape.At(2))
		s[0] = s[1] * C.int64_t(d.Shape.At(1))
	}
	m := memory.Image{Width: d.Width(), Height: d.Height(), Mode: modes[d.Channels()]}
	m.Row, m.Pixel, m.Sample = int(s[0]), int(s[1]), int(s[2])
	if d.Layout == tensor.CHW {
		m.Row, m.Pixel, m.Sample = int(s[1]), int(s[2]), int(s[0])
	}
	before, n, err := m.Extent()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	if in.bytes != 0 && (before != 0 || uint64(n) > uint64(in.bytes)) {
		return nil, fmt.Errorf("%w: strides %v of %v lead outside of %d bytes", errInput, s[:3], d, in.bytes)
	}
	m.Offset = before
	if m.Data, err = bytesOf(unsafe.Add(in.data, -before), uint64(n)); err != nil {
		return nil, err
	}
	name, done, err := memory.Lend(m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	a.lent = append(a.lent, done)
	return tensor.FromBytes(name), nil
}

//export ipgo_run_into
func ipgo_run_into(h C.uintptr_t, in *C.ip_input, nin C.int32_t, out *C.ip_tensor, nout C.int32_t, e *C.ip_error) C.ip_status {
	return do(e, func() error {
		g, err := get[*graph](h)
		if err != nil {
			return err
		}
		l, err := listOf("ip_tensor", out, nout)
		if err != nil {
			return err
		}
		if l.n > len(g.outputs) {
			return fmt.Errorf("infer_prep: run: %w: memory for %d outputs, the graph has %d", errInput, l.n, len(g.outputs))
		}
		a, err := g.args(in, nin)
		defer a.done()
		if err != nil {
			return err
		}
		return g.runInto(a.list, l)
	})
}

// runInto runs the graph and writes its outputs to the host's memory.
func (g *graph) runInto(in []*tensor.Tensor, out list[C.ip_tensor]) error {
	dst := make([][]byte, out.n)
	small, open := false, false // of known outputs; outputs of unknown size
	for i := range dst {
		t := out.of(i)
		var err error
		if t.data != nil {
			dst[i], err = bytesOf(t.data, uint64(t.capacity))
		} else if dst[i] = []byte{}; t.capacity > 0 {
			err = fmt.Errorf("infer_prep: run: %w: capacity %d of output %q, whose data is NULL", errInput, t.capacity, g.outputs[i].Name)
		}
		if err != nil {
			return err
		}
		n := sizeOf(g.outputs[i].Desc)
		small, open = small || n > int64(len(dst[i])), open || n < 0
	}
	return g.pool.Do(context.Background(), func(r *datagraph.Runner) error {
		if small || open && noneFits(dst) {
			if err := g.measure(r, in, out); err != nil {
				return err
			}
		} else {
			res, err := r.RunInto(dst, in...)
			if err == nil {
				for i := range out.n {
					setTensor(out.of(i), res[i])
				}
				return nil
			}
			// An output may have been too large. Only a run says how large
			// it is.
			if !open || g.measure(r, in, out) != nil {
				return err
			}
		}
		for i := range out.n {
			if t := out.of(i); t.bytes > t.capacity {
				return fmt.Errorf("infer_prep: run: %w: output %q has %d bytes, its memory has %d", errCapacity, g.outputs[i].Name, t.bytes, t.capacity)
			}
		}
		return fmt.Errorf("infer_prep: run: %w: two runs on one input differ", errInternal)
	})
}

// noneFits reports whether the host asks for sizes only.
func noneFits(dst [][]byte) bool {
	for _, d := range dst {
		if len(d) > 0 {
			return false
		}
	}
	return true
}

// measure describes the outputs of a run: by the headers of its inputs if that
// is enough, else by the run.
func (g *graph) measure(r *datagraph.Runner, in []*tensor.Tensor, out list[C.ip_tensor]) error {
	descs, err := r.Infer(in...)
	if err != nil {
		return err
	}
	known := true
	for i := range out.n {
		d := g.outputs[i].Desc
		if sizeOf(d) < 0 {
			d = g.pool.Plan().Graph().Last(descs, g.outputs[i].Name)
		}
		known = known && sizeOf(d) >= 0
		setDesc(out.of(i), d)
	}
	if known {
		return nil
	}
	res, err := r.Run(in...)
	if err != nil {
		return err
	}
	for i := range out.n {
		setTensor(out.of(i), res[i])
	}
	return nil
}

func setDesc(to *C.ip_tensor, d tensor.Desc) {
	to.dtype, to.layout, to.rank = C.int32_t(d.DType), C.int32_t(d.Layout), C.int32_t(d.Shape.Rank())
	setShape(&to.shape, d.Shape)
	to.bytes = C.uint64_t(max(sizeOf(d), 0))
}

// setTensor describes a tensor. A byte string is a list of bytes.
func setTensor(to *C.ip_tensor, t *tensor.Tensor) {
	setDesc(to, t.Desc)
	if t.DType == tensor.Bytes {
		to.rank, to.shape[0], to.bytes = 1, C.int64_t(len(t.Data)), C.uint64_t(len(t.Data))
	}
}

// result holds outputs in memory of its own, which is pinned.
type result struct {
	list  []tensor.Tensor
	names []string
	pins  runtime.Pinner
	graph *graph // nil unless it is of one run of a graph
}

// lend pins the memory and returns a handle.
func (r *result) lend() C.uintptr_t {
	for _, t := range r.list {
		if len(t.Data) > 0 {
			r.pins.Pin(&t.Data[0])
		}
	}
	return put(r)
}

// free keeps the memory for a later result of the graph.
func (r *result) free() {
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

//export ipgo_run
func ipgo_run(h C.uintptr_t, in *C.ip_input, nin C.int32_t, lent *C.uintptr_t, e *C.ip_error) C.ip_status {
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

//export ipgo_result_tensor
func ipgo_result_tensor(h C.uintptr_t, i C.int32_t, to *C.ip_tensor, e *C.ip_error) C.ip_status {
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
		to.data, to.capacity = nil, to.bytes
		if len(t.Data) > 0 {
			to.data = unsafe.Pointer(&t.Data[0])
		}
		return nil
	})
}

//export ipgo_result_count
func ipgo_result_count(h C.uintptr_t) C.int32_t {
	r, err := get[*result](h)
	if err != nil {
		return -1
	}
	return C.int32_t(len(r.list))
}

//export ipgo_result_describe
func ipgo_result_describe(h C.uintptr_t, i C.int32_t, column *C.ip_column, e *C.ip_error) C.ip_status {
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
		column.bytes = C.int64_t(len(t.Data))
		return nil
	})
}
