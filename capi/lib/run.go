//go:build cgo || wasip1

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"

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

// listOf returns the host's list of the graph's inputs.
func (g *graph) listOf(in *ipInput, n int32) (list[ipInput], error) {
	l, err := listOf("ip_input", in, n)
	if err == nil && l.n != len(g.inputs) {
		err = fmt.Errorf("infer_prep: run: %w: %d inputs, the graph has %d", errInput, l.n, len(g.inputs))
	}
	return l, err
}

// args returns the inputs of a run. The caller calls done, after an error too.
func (g *graph) args(in *ipInput, n int32) (a args, err error) {
	l, err := g.listOf(in, n)
	if err != nil {
		return a, err
	}
	a.list = make([]*tensor.Tensor, l.n)
	for i := range a.list {
		if a.list[i], err = a.input(l.of(i), g.inputs[i].Desc); err != nil {
			return a, fmt.Errorf("infer_prep: run: input %q: %w", g.inputs[i].Name, err)
		}
	}
	return a, nil
}

func (a *args) input(in *ipInput, want tensor.Desc) (*tensor.Tensor, error) {
	if in.dtype == int32(tensor.Bytes) {
		b, err := bytesOf(in.data, in.bytes)
		return tensor.FromBytes(b), err
	}
	d, err := descOf(in)
	if err != nil {
		return nil, err
	}
	if want.DType == tensor.Bytes {
		return a.pixels(in, d)
	}
	size, err := dense(in, d)
	if err != nil {
		return nil, err
	}
	b, err := bytesOf(in.data, uint64(size))
	if err != nil {
		return nil, err
	}
	return tensor.Wrap(d, b)
}

// dense returns the bytes of an input whose elements must be dense.
func dense(in *ipInput, d tensor.Desc) (int64, error) {
	size := d.Size()
	if in.bytes != 0 && in.bytes < uint64(size) {
		return 0, fmt.Errorf("%w: %d bytes, %v has %d", errInput, in.bytes, d, size)
	}
	step := int64(d.DType.Size())
	for i := d.Shape.Rank() - 1; i >= 0; i-- {
		if s := in.strides[i]; s != 0 && s != step && d.Shape.At(i) > 1 {
			return 0, fmt.Errorf("%w: stride %d of axis %d, want %d: the graph takes dense elements only", codec.ErrUnsupported, s, i, step)
		}
		step *= int64(d.Shape.At(i))
	}
	return size, nil
}

// descOf returns the description of an input that is not IP_BYTES.
func descOf(in *ipInput) (d tensor.Desc, err error) {
	if in.dtype < 0 || in.dtype > int32(tensor.Bytes) || in.layout < 0 || in.layout > int32(tensor.CHW) || in.rank < 0 || in.rank > tensor.MaxRank {
		return d, fmt.Errorf("%w: dtype %d, layout %d, rank %d", errInput, in.dtype, in.layout, in.rank)
	}
	d = tensor.Desc{DType: tensor.DType(in.dtype), Layout: tensor.Layout(in.layout)}
	for _, n := range in.shape[:in.rank] {
		if n < 0 || int64(int(n)) != n {
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
	if in.data == 0 {
		return d, fmt.Errorf("%w: data is NULL", errInput)
	}
	return d, nil
}

// pixels lends pixels to the decoders.
func (a *args) pixels(in *ipInput, d tensor.Desc) (*tensor.Tensor, error) {
	m, n, err := imageOf(in, d)
	if err != nil {
		return nil, err
	}
	if m.Data, err = bytesOf(in.data-address(m.Offset), uint64(n)); err != nil {
		return nil, err
	}
	name, done, err := memory.Lend(m)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	a.lent = append(a.lent, done)
	return tensor.FromBytes(name), nil
}

// imageOf returns the image of pixels without Data, and the bytes of that.
func imageOf(in *ipInput, d tensor.Desc) (m memory.Image, n int, err error) {
	if d.DType != tensor.Uint8 || !d.IsImage() || d.Channels() < 1 || d.Channels() >= len(modes) {
		return m, 0, fmt.Errorf("%w: %v, want an encoded image, or uint8 HWC or CHW of 1 to 4 channels", errInput, d)
	}
	s := in.strides
	if s == [tensor.MaxRank]int64{} {
		s[2] = 1
		s[1] = int64(d.Shape.At(2))
		s[0] = s[1] * int64(d.Shape.At(1))
	}
	m = memory.Image{Width: d.Width(), Height: d.Height(), Mode: modes[d.Channels()]}
	m.Row, m.Pixel, m.Sample = int(s[0]), int(s[1]), int(s[2])
	if d.Layout == tensor.CHW {
		m.Row, m.Pixel, m.Sample = int(s[1]), int(s[2]), int(s[0])
	}
	if m.Offset, n, err = m.Extent(); err != nil {
		return m, 0, fmt.Errorf("%w: %w", errInput, err)
	}
	if in.bytes != 0 && (m.Offset != 0 || uint64(n) > in.bytes) {
		return m, 0, fmt.Errorf("%w: strides %v of %v lead outside of %d bytes", errInput, s[:3], d, in.bytes)
	}
	return m, n, nil
}

func runInto(h uintptr, in *ipInput, nin int32, out *ipTensor, nout int32, e *ipError) int32 {
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
func (g *graph) runInto(in []*tensor.Tensor, out list[ipTensor]) error {
	// Some outputs do not fit, some have no known size, none has memory.
	small, open, none := false, false, true
	for i := range out.n {
		t := out.of(i)
		if t.capacity > math.MaxInt || t.data == 0 && t.capacity > 0 {
			return fmt.Errorf("infer_prep: run: %w: capacity %d of output %q, whose data is NULL", errInput, t.capacity, g.outputs[i].Name)
		}
		n := sizeOf(g.outputs[i].Desc)
		small, open, none = small || n > int64(t.capacity), open || n < 0, none && t.capacity == 0
	}
	return g.pool.Do(context.Background(), func(r *datagraph.Runner) error {
		run := !small && !(open && none)
		var failed error
		if run {
			failed = write(r, in, out)
		}
		if !run || failed != nil && open {
			// An output may be too large, which only a run may say.
			if err := g.measure(r, in, out); err != nil {
				return cmp.Or(failed, err)
			}
		}
		if failed == nil || open {
			for i := range out.n {
				if t := out.of(i); t.bytes > t.capacity {
					return fmt.Errorf("infer_prep: run: %w: output %q has %d bytes, its memory has %d", errCapacity, g.outputs[i].Name, t.bytes, t.capacity)
				}
			}
		}
		if run {
			return failed
		}
		return write(r, in, out) // of outputs without elements
	})
}

// measure describes the outputs of a run: by the headers of its inputs if that
// is enough, else by the run.
func (g *graph) measure(r *datagraph.Runner, in []*tensor.Tensor, out list[ipTensor]) error {
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

func setDesc(to *ipTensor, d tensor.Desc) {
	to.dtype, to.layout, to.rank = int32(d.DType), int32(d.Layout), int32(d.Shape.Rank())
	setShape(&to.shape, d.Shape)
	to.bytes = uint64(max(sizeOf(d), 0))
}

// setTensor describes a tensor. A byte string is a list of bytes.
func setTensor(to *ipTensor, t *tensor.Tensor) {
	setDesc(to, t.Desc)
	if t.DType == tensor.Bytes {
		to.rank, to.shape[0], to.bytes = 1, int64(len(t.Data)), uint64(len(t.Data))
	}
}
