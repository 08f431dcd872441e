package main

// #include "infer_prep.h"
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// graph is an open graph.
type graph struct {
	pool    *datagraph.Pool
	inputs  []datagraph.Column
	outputs []datagraph.Column
	names   []string // of outputs
	side    int      // the first side output

	mu    sync.Mutex
	spare [][][]byte // memory of freed results, a list for each
}

// source says where a graph comes from, as inferprep.Source does.
type source struct {
	name                     string
	data                     []byte // nil if it is to be read
	format, backend, decoder string
	ignored                  []string
}

//export ipgo_graph_open
func ipgo_graph_open(name *C.char, data unsafe.Pointer, n C.size_t, options *C.ip_options, h *C.uintptr_t, e *C.ip_error) C.ip_status {
	return do(e, func() error {
		var b []byte
		if name == nil {
			var err error
			if b, err = bytesOf(data, uint64(n)); err != nil {
				return err
			}
		}
		g, err := openGraph(C.GoString(name), b, options)
		if err != nil {
			return fileError{err}
		}
		*h = put(g)
		return nil
	})
}

// settingsOf reads options, which may be nil.
func settingsOf(options *C.ip_options) (from source, limits codec.Limits, jobs int, err error) {
	if options == nil {
		return from, limits, 0, nil
	}
	if _, err := listOf("ip_options", options, 1); err != nil {
		return from, limits, 0, err
	}
	limits = codec.Limits{Pixels: int64(options.max_pixels), Bytes: int64(options.max_bytes), Scans: int(options.max_scans)}
	from.format, from.backend, from.decoder = C.GoString(options.format), C.GoString(options.backend), C.GoString(options.decoder)
	if options.ignored < 0 || options.ignored > 0 && options.ignored_keys == nil {
		return from, limits, 0, fmt.Errorf("infer_prep: open: %w: %d ignored keys at %p", errInput, options.ignored, options.ignored_keys)
	}
	for _, k := range unsafe.Slice(options.ignored_keys, int(options.ignored)) {
		from.ignored = append(from.ignored, C.GoString(k))
	}
	return from, limits, int(options.jobs), nil
}

func openGraph(name string, data []byte, options *C.ip_options) (*graph, error) {
	from, limits, jobs, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	from.name, from.data = name, data
	if from.format == "preset" && from.data != nil {
		from.name, from.data = string(from.data), nil
	}
	def, err := from.load()
	if err != nil {
		return nil, err
	}
	plan, err := datagraph.Compile(def, datagraph.CompileOptions{Limits: limits})
	if err != nil {
		return nil, err
	}
	if def.Random() {
		return nil, fmt.Errorf("infer_prep: open: %w: the graph has random ops, which are for training", codec.ErrUnsupported)
	}
	g := &graph{pool: plan.NewPool(datagraph.PoolOptions{Jobs: jobs}), inputs: def.Inputs, outputs: plan.Outputs(), side: len(def.Outputs)}
	for _, c := range g.outputs {
		g.names = append(g.names, c.Name)
	}
	return g, nil
}

// columns returns the columns of a list, nil for another list.
func (g *graph) columns(list C.int32_t) []datagraph.Column {
	switch list {
	case C.IP_INPUTS:
		return g.inputs
	case C.IP_OUTPUTS:
		return g.outputs
	}
	return nil
}

//export ipgo_graph_count
func ipgo_graph_count(h C.uintptr_t, list C.int32_t) C.int32_t {
	g, err := get[*graph](h)
	if err != nil || list != C.IP_INPUTS && list != C.IP_OUTPUTS {
		return -1
	}
	return C.int32_t(len(g.columns(list)))
}

//export ipgo_graph_find
func ipgo_graph_find(h C.uintptr_t, list C.int32_t, name *C.char) C.int32_t {
	g, err := get[*graph](h)
	if err != nil {
		return -1
	}
	want := C.GoString(name)
	for i, c := range g.columns(list) {
		if c.Name == want {
			return C.int32_t(i)
		}
	}
	return -1
}

//export ipgo_graph_describe
func ipgo_graph_describe(h C.uintptr_t, list, i C.int32_t, column *C.ip_column, e *C.ip_error) C.ip_status {
	return do(e, func() error {
		g, err := get[*graph](h)
		if err != nil {
			return err
		}
		if _, err := listOf("ip_column", column, 1); err != nil {
			return err
		}
		l := g.columns(list)
		if i < 0 || int(i) >= len(l) {
			return fmt.Errorf("infer_prep: describe: %w: column %d of list %d, which has %d", errInput, i, list, len(l))
		}
		setColumn(column, l[i], list == C.IP_OUTPUTS && int(i) >= g.side)
		return nil
	})
}

//export ipgo_graph_sizes
func ipgo_graph_sizes(h C.uintptr_t, height, width C.int64_t, columns *C.ip_column, n C.int32_t, e *C.ip_error) C.ip_status {
	return do(e, func() error {
		g, err := get[*graph](h)
		if err != nil {
			return err
		}
		l, err := listOf("ip_column", columns, n)
		if err != nil {
			return err
		}
		if l.n > len(g.outputs) {
			return fmt.Errorf("infer_prep: sizes: %w: %d columns, the graph has %d outputs", errInput, l.n, len(g.outputs))
		}
		sizes, err := g.pool.Plan().Sizes(int(height), int(width))
		if err != nil {
			return err
		}
		for i := range l.n {
			setColumn(l.of(i), sizes[i], i >= g.side)
		}
		return nil
	})
}

func setColumn(to *C.ip_column, c datagraph.Column, side bool) {
	to.dtype, to.layout, to.rank = C.int32_t(c.Desc.DType), C.int32_t(c.Desc.Layout), C.int32_t(c.Desc.Shape.Rank())
	setShape(&to.shape, c.Desc.Shape)
	to.bytes = C.int64_t(sizeOf(c.Desc))
	to.fill, to.batch, to.side = C.double(c.Batch.Value), C.int32_t(c.Batch.Rule), 0
	if side {
		to.side = 1
	}
	text(to.name[:], c.Name)
}

func setShape(to *[tensor.MaxRank]C.int64_t, s tensor.Shape) {
	for i := range to {
		to[i] = 0
		if i < s.Rank() {
			to[i] = C.int64_t(s.At(i))
		}
	}
}

// sizeOf returns the bytes of a column, -1 if they depend on the image.
func sizeOf(d tensor.Desc) int64 {
	if d.DType == tensor.Bytes {
		return -1
	}
	return d.Size()
}

//export ipgo_probe
func ipgo_probe(image unsafe.Pointer, n C.size_t, info *C.ip_image_info, e *C.ip_error) C.ip_status {
	return do(e, func() error {
		if _, err := listOf("ip_image_info", info, 1); err != nil {
			return err
		}
		b, err := bytesOf(image, uint64(n))
		if err != nil {
			return err
		}
		c, err := codec.DecodeConfig(b, &codec.Options{Limits: codec.NoLimits()})
		if err != nil {
			return err
		}
		info.depth, info.orientation, info.has_alpha = C.int32_t(c.Depth), C.int32_t(c.Orientation), 0
		if c.HasAlpha {
			info.has_alpha = 1
		}
		info.width, info.height, info.frames = C.int64_t(c.Width), C.int64_t(c.Height), C.int64_t(c.Frames)
		text(info.format[:], c.Format)
		text(info.mode[:], c.Mode.String())
		return nil
	})
}
