//go:build cgo || wasip1

package main

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

func (g *graph) kind() int32 { return kindGraph }

func (g *graph) close() {}

// source says where a graph comes from, as inferprep.Source does.
type source struct {
	name                     string
	data                     []byte // nil if it is to be read
	format, backend, decoder string
	ignored                  []string
}

func graphOpen(name *byte, data unsafe.Pointer, n uint64, options *ipOptions, h *uintptr, e *ipError) int32 {
	return do(e, func() error {
		var from source
		if name != nil {
			from.name = goString(name)
		} else {
			var err error
			if from.data, err = bytesOf(address(data), n); err != nil {
				return err
			}
		}
		g, err := openGraph(from, options)
		if err != nil {
			return fileError{err}
		}
		*h = put(g)
		return nil
	})
}

// settings reads options, which may be nil, and returns limits and jobs.
func (s *source) settings(options *ipOptions) (limits codec.Limits, jobs int, err error) {
	if options == nil {
		return limits, 0, nil
	}
	if _, err := listOf("ip_options", options, 1); err != nil {
		return limits, 0, err
	}
	limits = codec.Limits{Pixels: options.maxPixels, Bytes: options.maxBytes, Scans: int(options.maxScans)}
	if options.format != nil {
		s.format = goString(options.format)
	}
	s.backend, s.decoder = goString(options.backend), goString(options.decoder)
	if options.ignored < 0 || options.ignored > 0 && options.ignoredKeys == nil {
		return limits, 0, fmt.Errorf("infer_prep: open: %w: %d ignored keys at %p", errInput, options.ignored, options.ignoredKeys)
	}
	for _, k := range unsafe.Slice(options.ignoredKeys, int(options.ignored)) {
		s.ignored = append(s.ignored, goString(k))
	}
	return limits, int(options.jobs), nil
}

func openGraph(from source, options *ipOptions) (*graph, error) {
	limits, jobs, err := from.settings(options)
	if err != nil {
		return nil, err
	}
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
	g := &graph{
		pool: plan.NewPool(datagraph.PoolOptions{Jobs: jobs}), inputs: def.Inputs, outputs: plan.Outputs(), side: len(def.Outputs),
	}
	for _, c := range g.outputs {
		g.names = append(g.names, c.Name)
	}
	return g, nil
}

// columns returns the columns of a list, nil for another list.
func (g *graph) columns(list int32) []datagraph.Column {
	switch list {
	case ipInputs:
		return g.inputs
	case ipOutputs:
		return g.outputs
	}
	return nil
}

func graphCount(h uintptr, list int32) int32 {
	g, err := get[*graph](h)
	if err != nil || list != ipInputs && list != ipOutputs {
		return -1
	}
	return int32(len(g.columns(list)))
}

func graphFind(h uintptr, list int32, name *byte) int32 {
	g, err := get[*graph](h)
	if err != nil {
		return -1
	}
	want := goString(name)
	for i, c := range g.columns(list) {
		if c.Name == want {
			return int32(i)
		}
	}
	return -1
}

func graphDescribe(h uintptr, list, i int32, column *ipColumn, e *ipError) int32 {
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
		setColumn(column, l[i], list == ipOutputs && int(i) >= g.side)
		return nil
	})
}

func graphSizes(h uintptr, height, width int64, columns *ipColumn, n int32, e *ipError) int32 {
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

func setColumn(to *ipColumn, c datagraph.Column, side bool) {
	to.dtype, to.layout, to.rank = int32(c.Desc.DType), int32(c.Desc.Layout), int32(c.Desc.Shape.Rank())
	setShape(&to.shape, c.Desc.Shape)
	to.bytes = sizeOf(c.Desc)
	to.fill, to.batch, to.side = c.Batch.Value, int32(c.Batch.Rule), 0
	if side {
		to.side = 1
	}
	text(to.name[:], c.Name)
}

func setShape(to *[tensor.MaxRank]int64, s tensor.Shape) {
	for i := range to {
		to[i] = 0
		if i < s.Rank() {
			to[i] = int64(s.At(i))
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

func probe(image unsafe.Pointer, n uint64, info *ipImageInfo, e *ipError) int32 {
	return do(e, func() error {
		if _, err := listOf("ip_image_info", info, 1); err != nil {
			return err
		}
		b, err := bytesOf(address(image), n)
		if err != nil {
			return err
		}
		c, err := codec.DecodeConfig(b, &codec.Options{Limits: codec.NoLimits()})
		if err != nil {
			return err
		}
		info.depth, info.orientation, info.hasAlpha = int32(c.Depth), int32(c.Orientation), 0
		if c.HasAlpha {
			info.hasAlpha = 1
		}
		info.width, info.height, info.frames = int64(c.Width), int64(c.Height), int64(c.Frames)
		text(info.format[:], c.Format)
		text(info.mode[:], c.Mode.String())
		return nil
	})
}
