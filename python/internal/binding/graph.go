package binding

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/tensor"
)

// Graph runs a data graph on images. It is safe for concurrent use.
type Graph struct {
	plan *datagraph.Plan
	pool *datagraph.Pool
	json []byte
	on   *onDevice // nil for the host

	mu     sync.Mutex
	spare  [][][]byte // memory of released tensors, a list for each run
	stacks [][][]byte // the same of released batches
	closed bool
}

// Source says where a graph comes from.
type Source struct {
	// Kind is "ops" for a list of ops in JSON, "preset" for a preset's name, or
	// another format of inferprep.Source. Default: recognized by the content.
	Kind string `json:"kind"`
	// Path is a file, or a folder where the importer chooses the file. If it is
	// empty the content is given.
	Path string `json:"path"`
	// Backend selects one of an importer's backends. Default: its own.
	Backend string `json:"backend"`
	// Decoder selects one of an importer's decoders. Default: its own.
	Decoder string `json:"decoder"`
	// IgnoreKeys are keys of the file that an importer may ignore although they
	// influence the result.
	IgnoreKeys []string `json:"ignore_keys"`
	// Device runs the graph, and Least is the worst class of a step. Default:
	// the host.
	Device string `json:"device"`
	Least  string `json:"least"`
}

// OpenGraph opens the graph of a source; data is its content if it has no path.
func OpenGraph(s Source, data []byte) (*Graph, error) {
	g, err := load(s, data)
	if err != nil {
		return nil, err
	}
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		return nil, err
	}
	if err := g.WantImage(); err != nil {
		return nil, fmt.Errorf("infer_prep: graph: %w: %w", errInput, err)
	}
	form, err := g.MarshalJSON()
	if err != nil {
		return nil, err
	}
	graph := &Graph{plan: plan, pool: plan.NewPool(datagraph.PoolOptions{}), json: form}
	if s.Device != "" {
		if graph.on, err = newOnDevice(s.Device, s.Least, plan); err != nil {
			return nil, err
		}
	}
	return graph, nil
}

func load(s Source, data []byte) (*datagraph.Graph, error) {
	from := inferprep.Source{Name: s.Path, Format: s.Kind, Backend: s.Backend, Decoder: s.Decoder, IgnoreKeys: s.IgnoreKeys}
	switch {
	case s.Kind == "ops":
		return opsGraph(data)
	case s.Kind == inferprep.FormatPreset:
		from.Name = string(data)
	case s.Path == "":
		if from.Data = data; data == nil {
			from.Data = []byte{} // an empty file, not one to read
		}
	}
	g, err := from.Graph(context.Background())
	var e *inferprep.Error
	if !errors.As(err, &e) {
		return g, err
	}
	if err = e.Err; e.Name != "" && s.Kind != inferprep.FormatPreset {
		err = fmt.Errorf("%s: %w", e.Name, err)
	}
	for _, kind := range []error{inferprep.ErrUnknown, inferprep.ErrAmbiguous, inferprep.ErrOption, importer.ErrUnknown, preset.ErrUnknown} {
		if errors.Is(err, kind) {
			return nil, fmt.Errorf("infer_prep: graph: %w: %w", errInput, err)
		}
	}
	return nil, fmt.Errorf("infer_prep: graph: %w", err)
}

// JSON returns the graph in JSON. Do not modify it.
func (g *Graph) JSON() []byte { return g.json }

// Info describes a graph.
type Info struct {
	Columns   []Column `json:"columns"`
	Reference string   `json:"reference"` // what the graph reproduces; "" if unknown
}

// Info describes the outputs.
func (g *Graph) Info() Info { return Info{columnsOf(g.plan.Outputs()), g.plan.Graph().Reference} }

// Sizes describes the outputs for an image of a height and a width in pixels.
func (g *Graph) Sizes(height, width int) ([]datagraph.Column, error) {
	if err := g.use(); err != nil {
		return nil, err
	}
	return g.plan.Sizes(height, width)
}

// use returns an error if g is closed.
func (g *Graph) use() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("infer_prep: graph %w", errClosed)
	}
	return nil
}

// memory returns memory of released tensors, nil if there is none.
func (g *Graph) memory() (spare [][]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.spare); n > 0 {
		spare, g.spare = g.spare[n-1], g.spare[:n-1]
	}
	return spare
}

// Run runs the graph on an image. It does not keep the image, and lends the
// tensors.
func (g *Graph) Run(i Image) (*Tensors, error) {
	if err := g.use(); err != nil {
		return nil, err
	}
	image, done, err := i.input()
	if err != nil {
		return nil, err
	}
	defer done()
	n := len(g.plan.Outputs())
	t := &Tensors{list: make([]tensor.Tensor, n)}
	spare := make([][]byte, n)
	copy(spare, g.memory())
	if g.on != nil {
		err = g.on.run(image, func(out []*tensor.Tensor) error { return copyAll(t.list, out, spare) })
	} else {
		err = g.pool.Do(context.Background(), func(r *datagraph.Runner) error {
			if _, err := r.Run(tensor.FromBytes(image)); err != nil {
				return err
			}
			for i := range n {
				x, own := r.Take(i, spare[i])
				if !own || !dense(&x) {
					x = *x.Clone()
				}
				t.list[i] = x
			}
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	for i := range n {
		spare[i] = t.list[i].Data
	}
	t.release = func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.closed && len(g.spare) < runtime.GOMAXPROCS(0) {
			g.spare = append(g.spare, spare)
		}
	}
	return t, nil
}

// RunInto runs the graph on an image as Run does, and writes output i to the
// first bytes of dst[i]. It returns the descriptions of the outputs.
func (g *Graph) RunInto(i Image, dst [][]byte) ([]tensor.Desc, error) {
	if n := len(g.plan.Outputs()); len(dst) != n {
		return nil, fmt.Errorf("infer_prep: run_into: %w: memory for %d outputs, the graph has %d", errInput, len(dst), n)
	}
	if err := g.use(); err != nil {
		return nil, err
	}
	image, done, err := i.input()
	if err != nil {
		return nil, err
	}
	defer done()
	l := make([]tensor.Desc, len(dst))
	if g.on != nil {
		return l, g.on.run(image, func(out []*tensor.Tensor) error {
			for i, t := range out {
				d := tensor.Tensor{Data: dst[i]}
				if n := t.Desc.Size(); n > int64(len(dst[i])) {
					return fmt.Errorf("infer_prep: run_into: %w: output %q has %d bytes, its memory has %d", errInput, g.plan.Outputs()[i].Name, n, len(dst[i]))
				}
				if err := copyTo(&d, t); err != nil {
					return err
				}
				if len(d.Data) > 0 && &d.Data[0] != &dst[i][0] { // dst[i] was not aligned
					copy(dst[i], d.Data)
				}
				l[i] = t.Desc
			}
			return nil
		})
	}
	return l, g.pool.Do(context.Background(), func(r *datagraph.Runner) error {
		out, err := r.RunInto(dst, tensor.FromBytes(image))
		for i, t := range out {
			l[i] = t.Desc
		}
		return err
	})
}

// copyAll copies tensors to list, into memory where that is large enough.
func copyAll(list []tensor.Tensor, out []*tensor.Tensor, memory [][]byte) error {
	for i, t := range out {
		list[i].Data = memory[i]
		if err := copyTo(&list[i], t); err != nil {
			return err
		}
	}
	return nil
}

// copyTo copies t to the memory of dst, or to new memory if that is too small.
func copyTo(dst, t *tensor.Tensor) error {
	if t.DType == tensor.Bytes {
		dst.Desc, dst.Data = t.Desc, append(dst.Data[:0], t.Data...)
		return nil
	}
	if err := dst.Reset(t.Desc); err != nil {
		return err
	}
	return t.CopyTo(dst)
}

// Close releases the memory and the device. Tensors that are lent stay valid.
func (g *Graph) Close() error {
	g.mu.Lock()
	closed := g.closed
	g.closed, g.spare, g.stacks = true, nil, nil
	g.mu.Unlock()
	if g.on != nil && !closed {
		return g.on.Close()
	}
	return nil
}
