package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/diff"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all" // every ecosystem
	"github.com/infer-prep/infer-prep/importer/triton"
	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/preset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// maxGraphBytes is the largest file that describes a graph. Real ones are below
// 100 kB.
const maxGraphBytes = 16 << 20

// graphFlags choose and change a graph. Every command that works on a graph has
// them.
type graphFlags struct {
	preset, graph string
	bundle        string
	imports       map[string]*string // the files, by importer name
	backend       string
	ignore        []string // keys of the imported file

	dataset *datasetFlags // only for graph import

	dtype, layout string
	triton        string // a Triton model's config.pbtxt
	exif, exifSet bool   // the value of --exif, and whether it was given
	limits        codec.Limits

	off     []datagraph.Pass
	file    string // the graph's file, set by load; "" for a preset
	folder  bool   // file was chosen in a folder
	content []byte // of the file
}

func (f *graphFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.preset, "preset", "", "use the built-in graph `NAME`: "+strings.Join(preset.Names(), ", "))
	fl.StringVar(&f.graph, "graph", "", "use the graph in `FILE`, as graph import writes it; - reads standard input")
	fl.StringVar(&f.bundle, "bundle", "", "use the graph in the model bundle `FILE`")
	f.imports = map[string]*string{}
	for _, i := range importer.All() {
		what := "`FILE`"
		if i.Folder != nil {
			what = "`FILE` or a model's folder"
		}
		f.imports[i.Name] = fl.String(i.Name, "", "import the graph from "+what+": "+i.Doc)
		noErr(cmd.MarkFlagFilename(i.Name))
	}
	fl.StringArrayVar(&f.ignore, "ignore-key", nil, "import the file without its unknown key `NAME`; the graph's reference records it; repeatable")
	fl.StringVar(&f.backend, "backend", "", "reproduce this `BACKEND`: with --hf torchvision (the default, as of transformers 5) or pil; with --torchvision pil (the default, for Pillow images) or tensor (for decode_image's tensors)")
	fl.StringVar(&f.dtype, "dtype", "", "convert outputs that are images or floats to `TYPE`, as NumPy's astype does; side outputs stay unchanged")
	fl.StringVar(&f.layout, "layout", "", "convert outputs that are images to `LAYOUT`, HWC or CHW")
	fl.StringVar(&f.triton, "triton", "", "rename the outputs to the inputs of a Triton model's config.pbtxt `FILE`, and check their types, shapes and layouts")
	fl.BoolVar(&f.exif, "exif", false, "apply the EXIF orientation of images; --exif=false ignores it where the graph applies it")
	f.limits = codec.DefaultLimits()
	fl.Var((*limit)(&f.limits.Pixels), "limit-pixels", "refuse images of more pixels; 0 means no limit")
	fl.Var((*limit)(&f.limits.Bytes), "limit-bytes", "refuse files and images that need more `BYTES` of memory; all jobs together stay below it too; 0 means no limit")

	noErr(cmd.MarkFlagFilename("graph", "json", "msgp"))
	noErr(cmd.MarkFlagFilename("triton", "pbtxt"))
	noErr(cmd.MarkFlagFilename("bundle"))
	complete(cmd, "preset", preset.Names()...)
	complete(cmd, "layout", "HWC", "CHW")
	complete(cmd, "backend", "pil", "tensor", "torchvision")
	complete(cmd, "dtype", dtypeNames()...)
}

// dtypeNames lists the types of --dtype.
func dtypeNames() []string {
	var l []string
	for d := tensor.Uint8; d < tensor.Bool; d++ {
		l = append(l, d.String())
	}
	return l
}

// flagNames lists the flags that name a graph.
func (f *graphFlags) flagNames() string {
	l := []string{"--preset", "--graph", "--bundle"}
	for _, i := range importer.All() {
		l = append(l, "--"+i.Name)
	}
	return orList(l)
}

// load reads the graph that the flags name and applies the flags that change
// it. Its errors are usage errors and name the file.
func (f *graphFlags) load(cmd *cobra.Command, stdin io.Reader) (*datagraph.Graph, error) {
	ctx := cmd.Context()
	var sources []string
	set := func(flag string) bool {
		if cmd.Flags().Changed(flag) {
			sources = append(sources, "--"+flag)
			return true
		}
		return false
	}
	var g *datagraph.Graph
	var err error
	if set("preset") {
		if g, err = preset.Graph(f.preset); err != nil {
			err = oneOf("preset", f.preset, preset.Names()...)
		}
	}
	if set("graph") {
		g, err = f.fromFile(ctx, f.graph, stdin, parseGraph, 0)
	}
	if set("bundle") {
		g, err = f.fromBundle(ctx, f.bundle)
	}
	for _, i := range importer.All() {
		if set(i.Name) {
			parse := i.Import
			if p, ok := i.Backends[f.backend]; ok {
				parse = p
			}
			if g, err = f.imported(ctx, *f.imports[i.Name], stdin, i, parse); err == nil && !quiet(cmd) {
				f.say(cmd, i, g)
			}
		}
	}
	if f.dataset != nil && set("dataset") {
		g, err = f.fromFile(ctx, f.dataset.file, stdin, func(b []byte) (*datagraph.Graph, error) { return f.dataset.parse(ctx, b) }, maxGraphBytes)
	}
	if len(sources) != 1 {
		if len(sources) == 0 {
			return nil, usageErr("no graph: want %s", f.flagNames())
		}
		return nil, usageErr("%s: want only one graph", strings.Join(sources, " and "))
	}
	if i, _ := importer.Lookup(sources[0][2:]); len(f.ignore) > 0 && i.Import == nil {
		return nil, usageErr("--ignore-key applies to an imported file, not to %s", sources[0])
	}
	if cmd.Flags().Changed("backend") {
		i, _ := importer.Lookup(sources[0][2:]) // without backends if it is no importer
		if i.Backends == nil {
			return nil, usageErr("--backend applies to --hf and --torchvision, not to %s", sources[0])
		}
		if _, ok := i.Backends[f.backend]; !ok {
			return nil, oneOf("backend", f.backend, slices.Sorted(maps.Keys(i.Backends))...)
		}
	}
	f.exifSet = cmd.Flags().Changed("exif")
	if err == nil {
		err = f.change(g)
	}
	if err == nil && f.triton != "" {
		err = f.fitTriton(ctx, g, stdin)
	}
	if err != nil {
		return nil, usageErr("%w", err)
	}
	return g, nil
}

// alternatives returns the graphs of all backends of an imported file, for
// diff.
func (f *graphFlags) alternatives(cmd *cobra.Command) (l []diff.Alternative) {
	for _, i := range importer.All() {
		if !cmd.Flags().Changed(i.Name) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(i.Backends)) {
			g, err := importer.IgnoreKeys(i.Backends[name], f.ignore...)(f.content)
			if err == nil {
				err = f.change(g)
			}
			if err == nil { // else this backend cannot run the file
				l = append(l, diff.Alternative{
					Name: "backend-" + name, Text: fmt.Sprintf("the preprocessing runs with the backend %s: --backend %s", name, name), Graph: g,
				})
			}
		}
	}
	return l
}

// compile calls datagraph.Compile and adds the graph's file to errors.
func (f *graphFlags) compile(g *datagraph.Graph) (*datagraph.Plan, error) {
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: f.limits, Disable: f.off})
	if err != nil && f.file != "" {
		err = fmt.Errorf("%s: %w", f.file, err)
	}
	if err != nil {
		return nil, usageErr("%w", err)
	}
	return plan, nil
}

// imported imports a file, or the file that the importer chooses in a folder.
func (f *graphFlags) imported(ctx context.Context, name string, stdin io.Reader, i importer.Importer, parse func([]byte) (*datagraph.Graph, error)) (*datagraph.Graph, error) {
	parse = importer.IgnoreKeys(parse, f.ignore...)
	if name == "-" || !folderExists(ctx, name) {
		return f.fromFile(ctx, name, stdin, parse, i.MaxBytes)
	}
	if i.Folder == nil {
		return nil, fmt.Errorf("--%s %s: is a folder: want a file", i.Name, name)
	}
	chosen, data, err := i.Folder(func(file string) ([]byte, error) {
		return readSmall(ctx, join(name, file), nil, maxGraphBytes)
	})
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w", i.Name, name, err)
	}
	f.folder, f.file, f.content = true, join(name, chosen), data
	g, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.file, err)
	}
	return g, nil
}

// say prints which file of a folder was read, and which of transformers'
// backends the graph reproduces if the command line names none.
func (f *graphFlags) say(cmd *cobra.Command, i importer.Importer, g *datagraph.Graph) {
	byDefault := strings.Contains(g.Reference, ", backend ") && !cmd.Flags().Changed("backend")
	if !f.folder && !byDefault {
		return
	}
	text := shown(f.file) + ": " + g.Reference
	if byDefault {
		text += " (by default; --backend takes " + orList(slices.Sorted(maps.Keys(i.Backends))) + ")"
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", Program, printable(text))
}

// quiet reports whether the command has --quiet and it is set.
func quiet(cmd *cobra.Command) bool {
	q, err := cmd.Flags().GetBool("quiet")
	return err == nil && q
}

func (f *graphFlags) fromFile(ctx context.Context, name string, stdin io.Reader, parse func([]byte) (*datagraph.Graph, error), most int64) (*datagraph.Graph, error) {
	if most == 0 {
		most = maxGraphBytes
	}
	b, err := readSmall(ctx, name, stdin, most)
	if err != nil {
		return nil, err
	}
	if name == "-" {
		name = "standard input"
	}
	f.file, f.content = name, b
	g, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

// fromBundle reads the graph of a bundle, and no other section.
func (f *graphFlags) fromBundle(ctx context.Context, name string) (*datagraph.Graph, error) {
	f.file = name
	b, err := modelbundle.OpenStore(ctx, store.URI, storeName(name), modelbundle.DefaultLimits())
	if err != nil {
		return nil, plain(name, err)
	}
	return b.Graph(), plain(name, b.Close())
}

// readSmall reads a file of at most so many bytes. The name - means stdin.
func readSmall(ctx context.Context, name string, stdin io.Reader, most int64) ([]byte, error) {
	r := stdin
	if name != "-" {
		f, err := openSequential(ctx, name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, plain(name, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s: the file has more than %d bytes, the limit for such files", name, most)
	}
	return b, nil
}

// readUTF8 is readSmall for text, without a byte order mark.
func readUTF8(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	b, err := readSmall(ctx, name, stdin, maxGraphBytes)
	if err == nil {
		if b, err = bom.Cut(b); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	return b, err
}

// parseGraph parses the JSON form of a graph, or the msgp form, whose first
// byte starts an array.
func parseGraph(b []byte) (*datagraph.Graph, error) {
	g := &datagraph.Graph{}
	if len(b) > 0 && (b[0]&0xf0 == 0x90 || b[0] == 0xdc || b[0] == 0xdd) {
		rest, err := g.UnmarshalMsg(b)
		if err == nil && len(rest) > 0 {
			err = fmt.Errorf("%d bytes after the graph", len(rest))
		}
		return g, err
	}
	if b = importer.Text(b); len(bytes.TrimSpace(b)) == 0 {
		return nil, errors.New("the file is empty: want a graph")
	}
	return g, g.UnmarshalJSON(b)
}

// change applies --exif, --dtype and --layout.
func (f *graphFlags) change(g *datagraph.Graph) error {
	if f.exifSet {
		n := 0
		for i, s := range g.Steps {
			if d, ok := s.Op.(*transforms.Decode); ok {
				c := *d
				if c.Orientation = codec.OrientationIgnore; f.exif {
					c.Orientation = codec.OrientationApply
				}
				g.Steps[i].Op = &c
				n++
			}
		}
		if n == 0 {
			return errors.New("--exif: the graph has no decode step")
		}
	}
	if f.layout != "" {
		if err := f.changeLayout(g); err != nil {
			return err
		}
	}
	if f.dtype != "" {
		return f.changeDType(g)
	}
	return nil
}

// fitTriton applies --triton.
func (f *graphFlags) fitTriton(ctx context.Context, g *datagraph.Graph, stdin io.Reader) error {
	b, err := readUTF8(ctx, f.triton, stdin)
	if err != nil {
		return fmt.Errorf("--triton: %w", err)
	}
	c, err := triton.Parse(b)
	if err == nil {
		err = c.Fit(g)
	}
	if err != nil {
		return fmt.Errorf("--triton %s: %w", f.triton, err)
	}
	return nil
}

func (f *graphFlags) changeLayout(g *datagraph.Graph) error {
	var want tensor.Layout
	if err := want.UnmarshalText([]byte(strings.ToUpper(f.layout))); err != nil || want == tensor.NoLayout {
		return fmt.Errorf("--layout %q: want HWC or CHW", f.layout)
	}
	descs, err := g.Infer()
	if err != nil {
		return err
	}
	images := 0
	for _, o := range g.Outputs {
		d := g.Last(descs, o)
		if !d.IsImage() {
			continue
		}
		images++
		switch {
		case d.Layout == want:
		case want == tensor.CHW:
			g.Then(transforms.NewHWC2CHW(), []string{o}, []string{o})
		default:
			g.Then(transforms.NewCHW2HWC(), []string{o}, []string{o})
		}
	}
	if images == 0 {
		return fmt.Errorf("--layout %s: no output is an image: %s", want, describeOutputs(g, descs))
	}
	return nil
}

func (f *graphFlags) changeDType(g *datagraph.Graph) error {
	want, err := tensor.ParseDType(f.dtype)
	if err != nil || !slices.Contains(dtypeNames(), f.dtype) {
		return oneOf("dtype", f.dtype, dtypeNames()...)
	}
	descs, err := g.Infer()
	if err != nil {
		return err
	}
	n := 0
	for _, o := range g.Outputs {
		d := g.Last(descs, o)
		if !d.IsImage() && !isFloat(d.DType) {
			continue
		}
		n++
		if d.DType != want {
			g.Then(transforms.NewToType(want), []string{o}, []string{o})
		}
	}
	if n == 0 {
		return fmt.Errorf("--dtype %s: no output is an image or float: %s", want, describeOutputs(g, descs))
	}
	return nil
}

func isFloat(d tensor.DType) bool {
	return d == tensor.Float16 || d == tensor.BFloat16 || d == tensor.Float32 || d == tensor.Float64
}

// describeOutputs lists the outputs with their types, for errors.
func describeOutputs(g *datagraph.Graph, descs [][]tensor.Desc) string {
	var l []string
	for _, o := range g.Outputs {
		l = append(l, fmt.Sprintf("%s is %v", o, g.Last(descs, o)))
	}
	return strings.Join(l, ", ")
}
