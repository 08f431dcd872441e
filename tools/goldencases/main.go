// Command goldencases writes the goldens of the reference libraries as cases
// for the tests of other languages: a graph, its inputs and the digests of its
// outputs. It reads the golden files of the Go tests, and computes nothing but
// the kinds of the errors of refused files. It prints how many goldens of each
// kind there are and which are left out.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
	_ "github.com/infer-prep/infer-prep/codec/all"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all"
	"github.com/infer-prep/infer-prep/importer/hf"
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/importer/torchvision"
	"github.com/infer-prep/infer-prep/internal/golden"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
	"github.com/infer-prep/infer-prep/transforms"
	_ "github.com/infer-prep/infer-prep/transforms/all" // every op
)

// file is the contents of cases.json. Bytes of graphs, tensors and small files
// are in cases.bin, at the offsets and of the sizes that it names.
type file struct {
	Graphs [][2]int `json:"graphs"`
	Inputs []*input `json:"inputs"`
	Cases  []*kase  `json:"cases"`
}

type input struct {
	Path string `json:"path,omitempty"` // of an encoded image, below the repository's root
	At   [2]int `json:"at"`
	// A tensor's description; an encoded image has none.
	Type   string `json:"type,omitempty"`
	Layout string `json:"layout,omitempty"`
	Dims   []int  `json:"dims"`
}

// kase is a run of a graph.
type kase struct {
	Kind  string   `json:"kind"`
	Name  string   `json:"name"`
	Graph int      `json:"graph"`
	In    []int    `json:"in"`
	Out   []output `json:"out,omitempty"`
	// Error is the code of the error, for a file that the reference refuses.
	Error string `json:"error,omitempty"`
}

type output struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Layout string `json:"layout,omitempty"` // empty where the golden has none
	Dims   []int  `json:"dims"`
	SHA256 string `json:"sha256"`
	// Want is the tensor itself. It is set where the SHA-256 does not decide:
	// Tolerance is the largest difference that a few goldens allow, and the
	// sign of a NaN is the processor's.
	Want      *[2]int `json:"want,omitempty"`
	Tolerance float64 `json:"tolerance,omitempty"`
}

// writer collects the cases.
type writer struct {
	root   string
	file   file
	blob   []byte
	graphs map[string]int
	inputs map[string]int
	// left counts the goldens that are no cases, by reason.
	left map[string]int
}

func main() {
	root := flag.String("root", ".", "the repository's root")
	out := flag.String("out", "", "the folder to write into")
	flag.Parse()
	w := &writer{root: *root, graphs: map[string]int{}, inputs: map[string]int{}, left: map[string]int{}}
	if err := w.all(*out); err != nil {
		fmt.Fprintln(os.Stderr, "goldencases:", err)
		os.Exit(1)
	}
}

func (w *writer) all(out string) error {
	if out == "" {
		return errors.New("-out is required")
	}
	for _, f := range []func() error{w.codecs, w.jpegs, w.scaled, w.extremes, w.presets, w.importers, w.ops} {
		if err := f(); err != nil {
			return err
		}
	}
	if err := w.outside(); err != nil {
		return err
	}
	b, err := json.Marshal(w.file)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "cases.bin"), w.blob, 0o666); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "cases.json"), b, 0o666); err != nil {
		return err
	}
	imagenet, err := preset.Graph("imagenet")
	if err != nil {
		return err
	}
	if b, err = imagenet.MarshalMsg(nil); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "imagenet.msgp"), b, 0o666); err != nil {
		return err
	}
	if err := w.images(out); err != nil {
		return err
	}
	kinds, tensors := map[string]int{}, 0
	for _, c := range w.file.Cases {
		kinds[c.Kind]++
		tensors += len(c.Out)
	}
	fmt.Printf("%d goldens as cases: %d graphs, %d tensors\n", len(w.file.Cases), len(w.file.Graphs), tensors)
	for _, k := range slices.Sorted(keys(kinds)) {
		fmt.Printf("%8d %s\n", kinds[k], k)
	}
	fmt.Println("left out:")
	for _, k := range slices.Sorted(keys(w.left)) {
		fmt.Printf("%8d %s\n", w.left[k], k)
	}
	return nil
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(keys(m)) }

func (w *writer) read(path string, v any) error {
	b, err := os.ReadFile(filepath.Join(w.root, path))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (w *writer) store(b []byte) [2]int {
	at := len(w.blob)
	w.blob = append(w.blob, b...)
	return [2]int{at, len(b)}
}

func (w *writer) graph(g *datagraph.Graph) (int, error) {
	b, err := g.MarshalMsg(nil)
	if err != nil {
		return 0, err
	}
	i, ok := w.graphs[string(b)]
	if !ok {
		i = len(w.file.Graphs)
		w.graphs[string(b)] = i
		w.file.Graphs = append(w.file.Graphs, w.store(b))
	}
	return i, nil
}

func (w *writer) input(key string, f func() *input) int {
	i, ok := w.inputs[key]
	if !ok {
		i = len(w.file.Inputs)
		w.inputs[key] = i
		w.file.Inputs = append(w.file.Inputs, f())
	}
	return i
}

func (w *writer) image(path string) int {
	return w.input(path, func() *input { return &input{Path: path} })
}

func (w *writer) tensor(t *tensor.Tensor) int {
	sum := sha256.Sum256(t.Data)
	return w.input(fmt.Sprintf("%v %x", t.Desc, sum), func() *input {
		i := &input{At: w.store(t.Data)}
		if t.DType != tensor.Bytes {
			i.Type, i.Layout, i.Dims = t.DType.String(), t.Layout.String(), dims(t.Shape)
		}
		return i
	})
}

func dims(s tensor.Shape) []int {
	d := make([]int, s.Rank())
	for i := range d {
		d[i] = s.At(i)
	}
	return d
}

func (w *writer) add(c *kase) { w.file.Cases = append(w.file.Cases, c) }

// decode adds a decoded image, or a refused one if sum is empty.
func (w *writer) decode(kind, path string, o transforms.Decode, height, width int, sum string) error {
	g, err := w.graph(datagraph.New(&o))
	if err != nil {
		return err
	}
	c := &kase{Kind: kind, Name: fmt.Sprintf("%s %v %v %v %v %v", path, o.Color, o.Alpha, o.Orientation, o.Damage, o.Scale), Graph: g, In: []int{w.image(path)}}
	if sum == "" {
		c.Error, err = w.refused(path, &o)
		if err != nil {
			return err
		}
	} else {
		c.Out = []output{{Name: "image", Type: "uint8", Layout: "HWC", Dims: []int{height, width, o.Color.Channels()}, SHA256: sum}}
	}
	w.add(c)
	return nil
}

// refused returns the code of the error of a file that the reference refuses.
// The reference has no codes.
func (w *writer) refused(path string, d *transforms.Decode) (string, error) {
	b, err := os.ReadFile(filepath.Join(w.root, path))
	if err != nil {
		return "", err
	}
	_, err = codec.Decode(b, &codec.Options{Color: d.Color, Alpha: d.Alpha, Orientation: d.Orientation, Damage: d.Damage, Scale: d.Scale})
	switch {
	case errors.Is(err, codec.ErrFormat):
		return "format", nil
	case errors.Is(err, codec.ErrUnsupported):
		return "unsupported", nil
	case errors.Is(err, codec.ErrLimit):
		return "limit", nil
	}
	return "", fmt.Errorf("%s: error %v: want one of package codec", path, err)
}

// codecs adds the goldens of PNG, GIF, BMP, TIFF and WebP under every policy.
func (w *writer) codecs() error {
	type golden struct {
		Width, Height, UprightWidth, UprightHeight      int
		Mode, RGB, Gray, RGBA, White, KeyWhite, Upright string
		Kind                                            string
	}
	var g struct{ Images, Damaged map[string]golden }
	if err := w.read("testdata/golden/codecs.json", &g); err != nil {
		return err
	}
	for _, folder := range []string{"images", "damaged"} {
		files := map[string]map[string]golden{"images": g.Images, "damaged": g.Damaged}[folder]
		for _, name := range sorted(files) {
			k, path := files[name], "testdata/"+folder+"/"+name
			if k.Kind != "" {
				c, err := w.refused(path, &transforms.Decode{})
				if err != nil {
					return err
				}
				if c != k.Kind {
					return fmt.Errorf("%s: error %s: the golden has %s", path, c, k.Kind)
				}
				if err := w.decode("decode: refused file", path, transforms.Decode{}, 0, 0, ""); err != nil {
					return err
				}
				continue
			}
			for _, p := range []struct {
				o             transforms.Decode
				width, height int
				sum           string
			}{
				{transforms.Decode{}, k.Width, k.Height, k.RGB},
				{transforms.Decode{Color: codec.ToGray}, k.Width, k.Height, k.Gray},
				{transforms.Decode{Color: codec.ToRGBA}, k.Width, k.Height, k.RGBA},
				{transforms.Decode{Alpha: codec.AlphaWhite}, k.Width, k.Height, k.White},
				{transforms.Decode{Alpha: codec.AlphaKeyWhite}, k.Width, k.Height, k.KeyWhite},
				{transforms.Decode{Orientation: codec.OrientationApply}, k.UprightWidth, k.UprightHeight, k.Upright},
			} {
				if err := w.decode("decode: PNG, GIF, BMP, TIFF, WebP", path, p.o, p.height, p.width, p.sum); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// jpegGolden is a file of jpeg.json or jpeg_extremes.json.
type jpegGolden struct {
	Width, Height         int
	Mode, Native, RGB     string
	OpenCVGray            *string `json:"opencv_gray"`
	Half, Quarter, Eighth string
}

// jpeg adds the goldens of a file: as RGB and, where OpenCV reads it, its luma.
func (w *writer) jpeg(path string, k *jpegGolden) error {
	if k == nil {
		return w.decode("decode: refused file", path, transforms.Decode{}, 0, 0, "")
	}
	if err := w.decode("decode: JPEG", path, transforms.Decode{}, k.Height, k.Width, k.RGB); err != nil {
		return err
	}
	switch k.Mode {
	case "L":
		if err := w.decode("decode: JPEG", path, transforms.Decode{Color: codec.ToGray}, k.Height, k.Width, k.Native); err != nil {
			return err
		}
	case "CMYK":
		w.left["JPEG: inks of CMYK, which no graph returns"]++
	}
	if k.OpenCVGray != nil && k.Mode != "CMYK" {
		return w.decode("decode: JPEG", path, transforms.Decode{Color: codec.ToLuma}, k.Height, k.Width, *k.OpenCVGray)
	}
	return nil
}

func (w *writer) jpegs() error {
	var g struct{ Images, Damaged map[string]*jpegGolden }
	if err := w.read("testdata/golden/jpeg.json", &g); err != nil {
		return err
	}
	for _, folder := range []string{"images", "damaged"} {
		files := map[string]map[string]*jpegGolden{"images": g.Images, "damaged": g.Damaged}[folder]
		for _, name := range sorted(files) {
			if err := w.jpeg("testdata/"+folder+"/"+name, files[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// native adds a golden of the file's own mode at a scale.
func (w *writer) native(path, mode string, s codec.Scale, height, width int, sum string) error {
	switch mode {
	case "RGB":
		return w.decode("decode: JPEG at a scale", path, transforms.Decode{Scale: s}, height, width, sum)
	case "L":
		return w.decode("decode: JPEG at a scale", path, transforms.Decode{Scale: s, Color: codec.ToGray}, height, width, sum)
	}
	w.left["JPEG at a scale: inks of CMYK, which no graph returns"]++
	return nil
}

func (w *writer) scaled() error {
	type golden struct {
		Width, Height int
		Native, Luma  string
	}
	var g struct {
		Images, Damaged map[string]map[codec.Scale]*golden
	}
	var whole struct{ Images, Damaged map[string]*jpegGolden }
	if err := w.read("testdata/golden/jpeg_scaled.json", &g); err != nil {
		return err
	}
	if err := w.read("testdata/golden/jpeg.json", &whole); err != nil {
		return err
	}
	for _, folder := range []struct {
		name  string
		files map[string]map[codec.Scale]*golden
		whole map[string]*jpegGolden
	}{{"images", g.Images, whole.Images}, {"damaged", g.Damaged, whole.Damaged}} {
		for _, name := range sorted(folder.files) {
			path := "testdata/" + folder.name + "/" + name
			for s := codec.ScaleHalf; s <= codec.ScaleEighth; s++ {
				k := folder.files[name][s]
				if k == nil {
					if err := w.decode("decode: refused file", path, transforms.Decode{Scale: s}, 0, 0, ""); err != nil {
						return err
					}
					continue
				}
				if folder.whole[name] == nil {
					w.left["JPEG at a scale: the mode of a file that is refused at full size is not known"]++
					continue
				}
				if err := w.native(path, folder.whole[name].Mode, s, k.Height, k.Width, k.Native); err != nil {
					return err
				}
				if k.Luma != "" {
					if err := w.decode("decode: JPEG at a scale", path, transforms.Decode{Scale: s, Color: codec.ToLuma}, k.Height, k.Width, k.Luma); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (w *writer) extremes() error {
	var g struct{ Files map[string]*jpegGolden }
	if err := w.read("testdata/golden/jpeg_extremes.json", &g); err != nil {
		return err
	}
	for _, name := range sorted(g.Files) {
		k, path := g.Files[name], "testdata/extremes/"+name
		if err := w.jpeg(path, k); err != nil {
			return err
		}
		for i, sum := range []string{k.Half, k.Quarter, k.Eighth} {
			s := codec.ScaleHalf + codec.Scale(i)
			if err := w.native(path, k.Mode, s, s.Of(k.Height), s.Of(k.Width), sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// array is a tensor of a golden file.
type array struct {
	DType  string
	Shape  []int
	SHA256 string
}

// outputs returns the outputs of a graph as the golden file has them.
func outputs(p *datagraph.Plan, want map[string]array) ([]output, error) {
	if len(p.Outputs()) != len(want) {
		return nil, fmt.Errorf("%d outputs, the golden has %d", len(p.Outputs()), len(want))
	}
	var list []output
	for _, c := range p.Outputs() {
		a, ok := want[c.Name]
		if !ok {
			return nil, fmt.Errorf("the golden has no output %q", c.Name)
		}
		list = append(list, output{Name: c.Name, Type: a.DType, Dims: append([]int{}, a.Shape...), SHA256: a.SHA256})
	}
	return list, nil
}

func (w *writer) presets() error {
	var g map[string]map[string]map[string]array
	if err := w.read("importer/preset/testdata/golden.json", &g); err != nil {
		return err
	}
	for _, name := range sorted(g) {
		p, err := preset.Graph(name)
		if err != nil {
			return err
		}
		i, err := w.graph(p)
		if err != nil {
			return err
		}
		plan, err := datagraph.Compile(p, datagraph.CompileOptions{})
		if err != nil {
			return err
		}
		for _, image := range sorted(g[name]) {
			out, err := outputs(plan, g[name][image])
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			w.add(&kase{Kind: "preset", Name: name + " " + image, Graph: i, In: []int{w.image("testdata/images/" + image)}, Out: out})
		}
	}
	return nil
}

// importers adds the results of configurations. Graphs are imported here, as
// programs that write bundles do.
func (w *writer) importers() error {
	files, err := filepath.Glob(filepath.Join(w.root, "importer/testdata/goldens*.json"))
	if err != nil {
		return err
	}
	more, err := filepath.Glob(filepath.Join(w.root, "importer/*/testdata/goldens.json"))
	if err != nil {
		return err
	}
	for _, f := range append(files, more...) {
		rel, err := filepath.Rel(w.root, f)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		var g struct {
			Cases, Refused []struct {
				Importer, Name, File string
				Config               json.RawMessage
				Steps                json.RawMessage
				Results              []struct {
					Image, Image2 string
					Box           []float64
					Refused       bool
					Outputs       map[string]array
				}
			}
		}
		if err := w.read(rel, &g); err != nil {
			return err
		}
		w.left["importer: configurations that the reference refuses, which importers check"] += len(g.Refused)
		name, folder := "", "importer/testdata/"
		if filepath.Dir(rel) != "importer/testdata" {
			name, folder = strings.Split(rel, "/")[1], ""
		}
		for _, c := range g.Cases {
			config := []byte(c.Config)
			switch {
			case c.File != "":
				if config, err = os.ReadFile(filepath.Join(w.root, c.File)); err != nil {
					return err
				}
			case len(config) > 0 && config[0] == '"':
				var text string
				if err := json.Unmarshal(config, &text); err != nil {
					return err
				}
				config = []byte(text)
			case c.Steps != nil:
				if config, err = mindIR(c.Steps); err != nil {
					return fmt.Errorf("%s: %s: %w", rel, c.Name, err)
				}
			}
			graph, err := imported(cmp.Or(c.Importer, name), config)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", rel, c.Name, err)
			}
			plan, err := datagraph.Compile(graph, datagraph.CompileOptions{})
			if err != nil {
				return fmt.Errorf("%s: %s: %w", rel, c.Name, err)
			}
			i, err := w.graph(graph)
			if err != nil {
				return err
			}
			for _, r := range c.Results {
				k := &kase{Kind: "importer " + cmp.Or(c.Importer, name), Name: fmt.Sprintf("%s %s %s", c.Name, r.Image, r.Image2), Graph: i}
				for _, image := range []string{r.Image, r.Image2} {
					if image != "" {
						k.In = append(k.In, w.image(folder+image))
					}
				}
				if len(graph.Inputs) == 2 && r.Box != nil {
					t, err := tensor.New(tensor.Desc{DType: tensor.Float64, Shape: tensor.Dims(4)})
					if err != nil {
						return err
					}
					copy(tensor.View[float64](t), r.Box)
					k.In = append(k.In, w.tensor(t))
				}
				if r.Refused {
					k.Error = "input"
				} else if k.Out, err = outputs(plan, r.Outputs); err != nil {
					return fmt.Errorf("%s: %s: %w", rel, c.Name, err)
				}
				w.add(k)
			}
		}
	}
	return nil
}

// mindIR returns a MindIR file with the preprocessing steps of a golden.
func mindIR(golden []byte) ([]byte, error) {
	var steps []struct {
		InputColumns   string `json:"input_columns"`
		OutputColumns  string `json:"output_columns"`
		ProjectColumns string `json:"project_columns"`
		OpType         string `json:"op_type"`
		Operations     string `json:"operations"`
		Offload        bool   `json:"offload"`
	}
	if err := json.Unmarshal(golden, &steps); err != nil {
		return nil, err
	}
	field := func(b []byte, number int, v []byte) []byte { // of wire type 2
		b = binary.AppendUvarint(b, uint64(number<<3|2))
		return append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	var all []byte
	for _, s := range steps {
		var op []byte
		for i, v := range []string{s.InputColumns, s.OutputColumns, s.ProjectColumns, s.OpType, s.Operations} {
			if v != "" {
				op = field(op, i+1, []byte(v))
			}
		}
		if s.Offload {
			op = append(op, 6<<3, 1)
		}
		all = field(all, 1, op)
	}
	return field(nil, 9, all), nil
}

func imported(name string, config []byte) (*datagraph.Graph, error) {
	switch name {
	case "hf-pil":
		return hf.ImportPIL(config)
	case "torchvision-tensor":
		return torchvision.ImportTensor(config)
	}
	i, err := importer.Lookup(name)
	if err != nil {
		return nil, err
	}
	return i.Import(config)
}

// ops adds the goldens of single ops.
func (w *writer) ops() error {
	files, err := filepath.Glob(filepath.Join(w.root, "transforms/testdata/*/cases.json"))
	if err != nil {
		return err
	}
	for _, f := range files {
		var g struct {
			Op    string
			Cases []struct {
				Name      string
				Params    json.RawMessage
				In, Out   []opArray
				Tolerance float64
			}
		}
		dir := filepath.Dir(f)
		rel, err := filepath.Rel(w.root, f)
		if err != nil {
			return err
		}
		if err := w.read(rel, &g); err != nil {
			return err
		}
		if g.Op == "moves" { // the ops that Movers emit, not one op
			w.left["moves of masks, boxes and points, which are no single op"] += len(g.Cases)
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, "golden.npz"))
		if err != nil {
			return err
		}
		list, err := npz.Read(bytes.NewReader(b), int64(len(b)), 1<<28)
		if err != nil {
			return err
		}
		arrays := map[string]*tensor.Tensor{}
		for _, n := range list {
			arrays[n.Name] = n.T
		}
		info, err := transforms.Lookup(g.Op)
		if err != nil {
			return err
		}
		for _, c := range g.Cases {
			op, err := transforms.UnmarshalParams(info.Name, info.Version, c.Params)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", g.Op, c.Name, err)
			}
			k := &kase{Kind: "op", Name: filepath.Base(dir) + " " + c.Name}
			graph := &datagraph.Graph{}
			var in, out []string
			for i, a := range c.In {
				t, err := a.tensor(arrays)
				if err != nil {
					return err
				}
				in = append(in, fmt.Sprintf("in%d", i))
				graph.Inputs = append(graph.Inputs, datagraph.Column{Name: in[i], Desc: t.Desc})
				k.In = append(k.In, w.tensor(t))
			}
			for i, a := range c.Out {
				out = append(out, fmt.Sprintf("out%d", i))
				if a.SHA256 != "" {
					k.Out = append(k.Out, output{Name: out[i], Type: a.DType, Layout: a.Layout.String(), Dims: a.Shape, SHA256: a.SHA256})
					continue
				}
				t, err := a.tensor(arrays)
				if err != nil {
					return err
				}
				sum := sha256.Sum256(t.Data)
				o := output{Name: out[i], Type: t.DType.String(), Layout: t.Layout.String(), Dims: dims(t.Shape), SHA256: hex.EncodeToString(sum[:])}
				if c.Tolerance != 0 || hasNaN(t) {
					at := w.store(t.Data)
					o.Want, o.Tolerance = &at, c.Tolerance
				}
				k.Out = append(k.Out, o)
			}
			graph.Outputs = out
			if k.Graph, err = w.graph(graph.Then(op, in, out)); err != nil {
				return fmt.Errorf("%s: %s: %w", g.Op, c.Name, err)
			}
			w.add(k)
		}
	}
	return nil
}

// opArray is an array of golden.npz, or the digest of one.
type opArray struct {
	golden.Digest
	Array   string
	Layout  tensor.Layout
	Encoded bool // the array is an encoded image
}

func (a opArray) tensor(arrays map[string]*tensor.Tensor) (*tensor.Tensor, error) {
	x, ok := arrays[a.Array]
	if !ok {
		return nil, fmt.Errorf("golden.npz has no array %q", a.Array)
	}
	if a.Encoded {
		return tensor.FromBytes(x.Data), nil
	}
	v := *x
	v.Layout = a.Layout
	return &v, nil
}

// outside counts the goldens that one run of a graph cannot give.
func (w *writer) outside() error {
	var batches []struct{ Results []json.RawMessage }
	if err := w.read("importer/testdata/batches.json", &batches); err != nil {
		return err
	}
	for _, b := range batches {
		w.left["importer: batches of several images, which the package does not form"] += len(b.Results)
	}
	for _, f := range []struct{ pattern, why string }{
		{"transforms/testdata/*/draws.json", "op: files of random ops' distributions, which have no tensors"},
		{"transforms/testdata/*/sizes.json", "op: files of sizes, which have no tensors"},
		{"transforms/testdata/*/tiles.json", "op: files of tilings, which have no tensors"},
		{"transforms/testdata/*/thumbnail.json", "op: files of sizes, which have no tensors"},
		{"transforms/testdata/*/torch_uint8*.json", "op: files of checksums of generated pixels; the same op has other goldens"},
		{"datagraph/testdata/postprocess/cases.json", "post-processing: files of cases whose graphs a Go test builds"},
	} {
		list, err := filepath.Glob(filepath.Join(w.root, f.pattern))
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return fmt.Errorf("%s: no file", f.pattern)
		}
		w.left[f.why] += len(list)
	}
	return nil
}

// hasNaN reports whether a tensor has a NaN. float16 and bfloat16 count as
// having none: no golden of an op has one.
func hasNaN(t *tensor.Tensor) bool {
	switch t.DType {
	case tensor.Float32:
		return slices.ContainsFunc(tensor.View[float32](t), func(v float32) bool { return v != v })
	case tensor.Float64:
		return slices.ContainsFunc(tensor.View[float64](t), func(v float64) bool { return v != v })
	}
	return false
}
