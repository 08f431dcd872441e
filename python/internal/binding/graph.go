package binding

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	_ "github.com/infer-prep/infer-prep/codec/pixels" // arrays of Python
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all" // every importer
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/preset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Graph runs a data graph on images. It is safe for concurrent use.
type Graph struct {
	plan *datagraph.Plan
	json []byte
	on   *onDevice // nil for the host

	mu     sync.Mutex
	idle   []*datagraph.Runner
	spare  [][][]byte // memory of released tensors, a list for each run
	closed bool
}

// Source says where a graph comes from.
type Source struct {
	// Kind is "graph" for a data graph in JSON or msgp, "ops" for a list of ops
	// in JSON, "preset" for a preset's name, "bundle" for the path of a bundle,
	// or an importer's name.
	Kind string `json:"kind"`
	// Path is a file, or a folder where the importer chooses the file. If it is
	// empty the content is given.
	Path string `json:"path"`
	// Backend selects one of an importer's backends. Default: its own.
	Backend string `json:"backend"`
	// IgnoreKeys are keys of the file that an importer may ignore although they
	// influence the result.
	IgnoreKeys []string `json:"ignore_keys"`
	// Device runs the graph, and Least is the worst class of a step. Default:
	// the host.
	Device string `json:"device"`
	Least  string `json:"least"`
}

// maxGraphBytes bounds the files of graphs and configurations, as in the
// command line.
const maxGraphBytes = 16 << 20

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
	if in := g.Inputs; len(in) != 1 || in[0].Desc.DType != tensor.Bytes {
		return nil, fmt.Errorf("infer_prep: graph: %w: the graph has the inputs %v, want one encoded image", errInput, in)
	}
	form, err := g.MarshalJSON()
	if err != nil {
		return nil, err
	}
	graph := &Graph{plan: plan, json: form}
	if s.Device != "" {
		if graph.on, err = newOnDevice(s.Device, s.Least, plan); err != nil {
			return nil, err
		}
	}
	return graph, nil
}

func load(s Source, data []byte) (*datagraph.Graph, error) {
	switch s.Kind {
	case "graph":
		if s.Path != "" {
			b, err := readSmall(s.Path, maxGraphBytes)
			if err != nil {
				return nil, err
			}
			data = b
		}
		return parseGraph(data)
	case "ops":
		return opsGraph(data)
	case "preset":
		g, err := preset.Graph(string(data))
		if err != nil {
			err = fmt.Errorf("infer_prep: graph: %w: %w", errInput, err)
		}
		return g, err
	case "bundle":
		b, err := modelbundle.OpenStore(context.Background(), store.URI, s.Path, modelbundle.DefaultLimits())
		if err != nil {
			return nil, err
		}
		return b.Graph(), b.Close()
	}
	i, err := importer.Lookup(s.Kind)
	if err != nil {
		return nil, fmt.Errorf("infer_prep: graph: %w: %w", errInput, err)
	}
	parse := i.Import
	if s.Backend != "" {
		p, ok := i.Backends[s.Backend]
		if !ok {
			var names []string
			for name := range i.Backends {
				names = append(names, name)
			}
			slices.Sort(names)
			return nil, fmt.Errorf("infer_prep: graph: %w: no backend %q of %s: want one of %q%s", errInput, s.Backend, i.Name, names,
				registry.DidYouMean(s.Backend, names))
		}
		parse = p
	}
	parse = importer.IgnoreKeys(parse, s.IgnoreKeys...)
	if s.Path == "" {
		return parse(data)
	}
	name, most := s.Path, i.MaxBytes
	if most == 0 {
		most = maxGraphBytes
	}
	if info, err := os.Stat(s.Path); err == nil && info.IsDir() {
		if i.Folder == nil {
			return nil, fmt.Errorf("infer_prep: graph: %w: %s is a folder, want a file", errInput, s.Path)
		}
		chosen, b, err := i.Folder(func(file string) ([]byte, error) { return readSmall(filepath.Join(s.Path, file), maxGraphBytes) })
		if err != nil {
			return nil, fmt.Errorf("infer_prep: graph: %s: %w", s.Path, err)
		}
		name, data = filepath.Join(s.Path, chosen), b
	} else if data, err = readSmall(s.Path, most); err != nil {
		return nil, err
	}
	g, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("infer_prep: graph: %s: %w", name, err)
	}
	return g, nil
}

// readSmall reads a file of at most so many bytes.
func readSmall(path string, most int64) (b []byte, err error) {
	f, err := store.URI.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Size() > most {
		return nil, fmt.Errorf("infer_prep: %s: %w: %d bytes, want at most %d", path, errInput, f.Size(), most)
	}
	b = make([]byte, f.Size())
	_, err = store.ReadAll(f, b)
	return b, err
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

func (g *Graph) runner() (*datagraph.Runner, [][]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, nil, fmt.Errorf("infer_prep: graph %w", errClosed)
	}
	var spare [][]byte
	if n := len(g.spare); n > 0 {
		spare, g.spare = g.spare[n-1], g.spare[:n-1]
	}
	if n := len(g.idle); n > 0 {
		r := g.idle[n-1]
		g.idle = g.idle[:n-1]
		return r, spare, nil
	}
	return g.plan.NewRunner(), spare, nil
}

// putBack keeps a Runner for the next call. As many are kept as run at once.
func (g *Graph) putBack(r *datagraph.Runner) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed && len(g.idle) < runtime.GOMAXPROCS(0) {
		g.idle = append(g.idle, r)
	}
}

// Run runs the graph on an encoded image, or pixels in the form of package
// codec/pixels. It does not keep the image, and lends the tensors.
func (g *Graph) Run(image []byte) (*Tensors, error) {
	r, spare, err := g.runner()
	if err != nil {
		return nil, err
	}
	n := len(g.plan.Outputs())
	t := &Tensors{list: make([]tensor.Tensor, n)}
	memory := make([][]byte, n)
	copy(memory, spare)
	if g.on != nil {
		err = g.on.run(image, func(out []*tensor.Tensor) error { return copyAll(t.list, out, memory) })
	} else if _, err = r.Run(tensor.FromBytes(image)); err == nil {
		for i := range n {
			x, own := r.Take(i, memory[i])
			if !own || !dense(&x) {
				x = *x.Clone()
			}
			t.list[i] = x
		}
	}
	g.putBack(r)
	if err != nil {
		return nil, err
	}
	for i := range n {
		memory[i] = t.list[i].Data
	}
	t.release = func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.closed && len(g.spare) < runtime.GOMAXPROCS(0) {
			g.spare = append(g.spare, memory)
		}
	}
	return t, nil
}

// RunInto runs the graph on an image as Run does, and writes output i to the
// first bytes of dst[i]. It returns the descriptions of the outputs.
func (g *Graph) RunInto(image []byte, dst [][]byte) ([]tensor.Desc, error) {
	if n := len(g.plan.Outputs()); len(dst) != n {
		return nil, fmt.Errorf("infer_prep: run_into: %w: memory for %d outputs, the graph has %d", errInput, len(dst), n)
	}
	r, _, err := g.runner()
	if err != nil {
		return nil, err
	}
	defer g.putBack(r)
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
	out, err := r.RunInto(dst, tensor.FromBytes(image))
	if err != nil {
		return nil, err
	}
	for i, t := range out {
		l[i] = t.Desc
	}
	return l, nil
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
	g.closed, g.idle, g.spare = true, nil, nil
	g.mu.Unlock()
	if g.on != nil {
		return g.on.close()
	}
	return nil
}
