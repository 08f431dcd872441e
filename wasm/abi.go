//go:build wasip1

package main

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/jpeg"
	_ "github.com/infer-prep/infer-prep/codec/pixels"
	_ "github.com/infer-prep/infer-prep/codec/png"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// The exports exchange numbers, and addresses in the module's memory. The host
// allocates memory with alloc, writes into it and passes the address on.
//
// A table describes tensors. It is a list of little-endian uint32 values: the
// number of tensors, then tableEntry values for each of them:
//
//	0  address of the name        4  layout (0 none, 1 HWC, 2 CHW)
//	1  bytes of the name          5  address of the elements
//	2  step that wrote it         6  bytes of the elements
//	3  dtype (tensor.DType)       7  rank, then maxRank sizes
//
// The elements are dense, in row-major order, little-endian. A size that is not
// known before a run is 0xffffffff. Tables that an export returns, and all that
// they point to, are valid until the next call of any export.
const (
	tableEntry = 8 + tensor.MaxRank
	tableLimit = 1000 // tensors of an input table; graphs have far fewer inputs
)

// The kinds of error that failure returns. The host's errors have their names.
const (
	_ = iota
	kindInternal
	kindFormat
	kindUnsupported
	kindLimit
	kindGraph
	kindUnknownOp
	kindParam
	kindInput
)

// kindOf is the kind of an error.
type kindOf struct {
	err  error
	kind uint32
}

// kinds is searched in order: an ErrUnknownOp within an ErrGraph is the former.
var kinds = []kindOf{
	{codec.ErrInternal, kindInternal},
	{codec.ErrFormat, kindFormat},
	{codec.ErrUnsupported, kindUnsupported},
	{codec.ErrLimit, kindLimit},
	{transforms.ErrUnknownOp, kindUnknownOp},
	{datagraph.ErrGraph, kindGraph},
	{transforms.ErrParam, kindParam},
	{transforms.ErrInput, kindInput},
	{tensor.ErrDesc, kindInput},
}

// collectEvery is the number of runs between garbage collections. A run leaves
// up to some kilobytes, which Go would let fill 4 MiB first, and memory never
// shrinks. A collection of the few buffers takes about a millisecond.
const collectEvery = 32

var (
	// runs counts the runs of all graphs.
	runs uint32
	// held keeps the host's memory from the garbage collector, by address.
	held = map[uint32][]byte{}
	// graphs are the open graphs, by handle.
	graphs = map[uint32]*graph{}
	last   uint32 // the newest handle
	// failed is the error of the last call, kept for failure.
	failed []byte
	// table is the table of the last call.
	table []uint32
	names []byte // the names of table
	// kept are copies that table points to.
	kept []*tensor.Tensor
	// probed decodes headers for probe.
	probed codec.Decoder
)

// graph is a graph that the host has opened.
type graph struct {
	plan   *datagraph.Plan
	runner *datagraph.Runner
	inputs []*tensor.Tensor
	device any // a *gpuGraph, after gpu_open
}

// guard turns an error of f, or its panic, into the status that exports return:
// 0, or a kind of error.
func guard(f func() error) (status uint32) {
	failed = failed[:0]
	defer func() {
		if p := recover(); p != nil {
			failed = errfmt.Appendf(failed, "wasm: internal error: %v", p)
			status = kindInternal
		}
	}()
	err := f()
	if err == nil {
		return 0
	}
	failed = append(failed, err.Error()...)
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.kind
		}
	}
	return kindInput
}

func address[T any](s []T) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) }

// memory returns n bytes at an address that the host passed. They must be
// within one allocation of the host's, of which there are few.
func memory(at, n uint32) ([]byte, error) {
	for start, b := range held {
		if at >= start && uint64(at-start)+uint64(n) <= uint64(len(b)) {
			return b[at-start:][:n:n], nil
		}
	}
	return nil, errfmt.Errorf("wasm: %d bytes at %d: want memory that alloc returned", n, at)
}

// alloc returns the address of n bytes, which the host frees.
//
//go:wasmexport alloc
func alloc(n uint32) uint32 {
	b := make([]byte, max(n, 1))
	at := address(b)
	held[at] = b
	return at
}

//go:wasmexport free
func free(at uint32) { delete(held, at) }

// failure returns the address of the text of the last call's error.
//
//go:wasmexport failure
func failure() uint32 { return address(failed) }

//go:wasmexport failure_size
func failureSize() uint32 { return uint32(len(failed)) }

// open opens the graph of n bytes in msgpack form at an address. The limits
// have the meaning of codec.Limits; they are whole numbers. opened then
// returns the handle.
//
//go:wasmexport open
func open(at, n uint32, maxPixels, maxBytes float64) uint32 {
	return guard(func() error {
		b, err := memory(at, n)
		if err != nil {
			return err
		}
		g, err := parse(b)
		if err != nil {
			return err
		}
		plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: codec.Limits{Pixels: int64(maxPixels), Bytes: int64(maxBytes)}})
		if err != nil {
			return err
		}
		if len(graphs) == 0 || last == math.MaxUint32 {
			last = 0
		}
		last++
		graphs[last] = &graph{plan: plan, runner: plan.NewRunner()}
		return nil
	})
}

// opened returns the handle of the newest graph.
//
//go:wasmexport opened
func opened() uint32 { return last }

//go:wasmexport close
func closeGraph(handle uint32) { delete(graphs, handle) }

func lookup(handle uint32) (*graph, error) {
	g, ok := graphs[handle]
	if !ok {
		return nil, errfmt.Errorf("wasm: graph %d is not open", handle)
	}
	return g, nil
}

// tensors returns the address of the table that the last call made.
//
//go:wasmexport tensors
func tensors() uint32 { return address(table) }

// describe makes a table of a graph's inputs, then of its outputs and side
// outputs. The step of an input is 0, of an output 1, of a side output 2. The
// batch rule (datagraph.BatchRule), times 4, is added to the latter two.
//
//go:wasmexport describe
func describe(handle uint32) uint32 {
	return guard(func() error {
		g, err := lookup(handle)
		if err != nil {
			return err
		}
		startTable()
		for _, c := range g.plan.Graph().Inputs {
			addTensor(c.Name, 0, c.Desc, nil)
		}
		for i, c := range g.plan.Outputs() {
			step := 1
			if i >= len(g.plan.Graph().Outputs) {
				step = 2
			}
			addTensor(c.Name, step+4*int(c.Batch.Rule), c.Desc, nil)
		}
		finishTable()
		return nil
	})
}

// sizes makes a table of a graph's outputs and side outputs for an image of a
// height and a width. It runs nothing.
//
//go:wasmexport sizes
func sizes(handle, height, width uint32) uint32 {
	return guard(func() error {
		g, err := lookup(handle)
		if err != nil {
			return err
		}
		l, err := g.plan.Sizes(int(height), int(width))
		if err != nil {
			return err
		}
		startTable()
		for _, c := range l {
			addTensor(c.Name, 0, c.Desc, nil)
		}
		finishTable()
		return nil
	})
}

// run runs a graph on the inputs of a table at an address, and makes a table of
// the outputs and side outputs.
//
//go:wasmexport run
func run(handle, at uint32) uint32 {
	return guard(func() error {
		g, err := lookup(handle)
		if err != nil {
			return err
		}
		if err := g.read(at); err != nil {
			return err
		}
		if runs++; runs%collectEvery == 0 {
			runtime.GC()
		}
		out, err := g.runner.Run(g.inputs...)
		if err != nil {
			return err
		}
		startTable()
		for i, c := range g.plan.Outputs() {
			addTensor(c.Name, 0, out[i].Desc, dense(out[i]))
		}
		finishTable()
		return nil
	})
}

// trace runs a graph like run and makes a table of the outputs of every step.
// The names are those of the ops. Keeping all steps takes more memory than run.
//
//go:wasmexport trace
func trace(handle, at uint32) uint32 {
	return guard(func() error {
		g, err := lookup(handle)
		if err != nil {
			return err
		}
		if err := g.read(at); err != nil {
			return err
		}
		startTable()
		g.runner.OnStep = func(step int, out []*tensor.Tensor) error {
			name := transforms.InfoOf(g.plan.Graph().Steps[step].Op).Name
			for _, t := range out {
				kept = append(kept, t.Clone())
				addTensor(name, step, t.Desc, kept[len(kept)-1].Data)
			}
			return nil
		}
		defer func() { g.runner.OnStep = nil }()
		if _, err := g.runner.Run(g.inputs...); err != nil {
			return err
		}
		finishTable()
		return nil
	})
}

// takesPixels reports whether the host may pass a JPEG's pixels, in the form of
// package pixels, in place of the file, with the same result. It may if the
// input's only use is to be decoded at full size, with Pillow's treatment of
// damage and without refusals. Color luma is excluded because files store it.
//
//go:wasmexport takes_pixels
func takesPixels(handle, input uint32) uint32 {
	g, ok := graphs[handle]
	if !ok || uint64(input) >= uint64(len(g.plan.Graph().Inputs)) {
		return 0
	}
	def := g.plan.Graph()
	name, found := def.Inputs[input].Name, uint32(0)
	for _, s := range def.Steps {
		if slices.Contains(s.In, name) {
			d, ok := s.Op.(*transforms.Decode)
			if !ok || d.Scale != codec.ScaleFull || d.Damage != codec.DamagePillow || d.Refuse != 0 || d.Color == codec.ToLuma {
				return 0
			}
			found = 1
		}
		if slices.Contains(s.Out, name) {
			return found // later steps read the new column
		}
	}
	if slices.Contains(def.Outputs, name) || slices.Contains(def.SideOutputs, name) {
		return 0
	}
	return found
}

// read makes the inputs of a table that the host wrote.
func (g *graph) read(at uint32) error {
	b := held[at]
	u := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	if len(b) < 4 || u(0) > tableLimit || len(b) < 4+4*tableEntry*int(u(0)) {
		return errfmt.Errorf("wasm: a table of %d bytes: want its number of tensors, at most %d, and %d bytes for each", len(b), tableLimit, 4*tableEntry)
	}
	g.inputs = g.inputs[:0]
	for i := range int(u(0)) {
		e := 1 + i*tableEntry
		data, err := memory(u(e+5), u(e+6))
		if err != nil {
			return err
		}
		d := tensor.Desc{DType: tensor.DType(u(e + 3)), Layout: tensor.Layout(u(e + 4))}
		if d.DType == tensor.Bytes {
			g.inputs = append(g.inputs, tensor.FromBytes(data))
			continue
		}
		if rank := u(e + 7); rank > tensor.MaxRank {
			return errfmt.Errorf("wasm: input %d has rank %d, want at most %d", i, rank, tensor.MaxRank)
		}
		for j := range int(u(e + 7)) {
			n := u(e + 8 + j)
			if n > math.MaxInt32 {
				return errfmt.Errorf("wasm: input %d has a size of %d, want at most %d", i, n, math.MaxInt32)
			}
			d.Shape = d.Shape.Append(int(n))
		}
		t, err := tensor.Wrap(d, data)
		if err != nil {
			return err
		}
		g.inputs = append(g.inputs, t)
	}
	return nil
}

func startTable() { table, names, kept = append(table[:0], 0), names[:0], nil }

// addTensor adds a tensor. The name's address is set by finishTable, since
// names may move until then.
func addTensor(name string, step int, d tensor.Desc, data []byte) {
	table[0]++
	table = append(table, uint32(len(names)), uint32(len(name)), uint32(step),
		uint32(d.DType), uint32(d.Layout), address(data), uint32(len(data)), uint32(d.Shape.Rank()))
	names = append(names, name...)
	for i := range tensor.MaxRank {
		n := 0
		if i < d.Shape.Rank() {
			n = d.Shape.At(i)
		}
		table = append(table, uint32(n)) // tensor.Unknown is -1
	}
}

func finishTable() {
	for i := range int(table[0]) {
		table[1+i*tableEntry] += address(names)
	}
}

// dense returns the elements of t in row-major order.
func dense(t *tensor.Tensor) []byte {
	if !t.Dense() {
		t = t.Clone()
		kept = append(kept, t)
	}
	return t.Data
}

// probe reads the header of the image of n bytes at an address, without
// limits. The table then has six values: width, height, mode, orientation, and
// the address and bytes of a text: the format, a space, its variant.
//
//go:wasmexport probe
func probe(at, n uint32) uint32 {
	return guard(func() error {
		b, err := memory(at, n)
		if err != nil {
			return err
		}
		i, err := probed.Open(b, &codec.Options{Limits: codec.NoLimits()})
		if err != nil {
			return err
		}
		c := i.Info()
		names = append(append(append(names[:0], c.Format...), ' '), c.Variant...)
		table = append(table[:0], uint32(c.Width), uint32(c.Height), uint32(c.Mode), uint32(c.Orientation), address(names), uint32(len(names)))
		i.Close()
		return nil
	})
}
