// Package source holds the flags that choose a graph, a device and a model, and
// reads what they name.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	inferprep "github.com/infer-prep/infer-prep"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/datagraph/diff"
	"github.com/infer-prep/infer-prep/importer"
	_ "github.com/infer-prep/infer-prep/importer/all" // every ecosystem
	"github.com/infer-prep/infer-prep/importer/preset"
	"github.com/infer-prep/infer-prep/importer/triton"
	"github.com/infer-prep/infer-prep/internal/bom"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// MaxGraphBytes is the largest file that describes a graph. Real ones are below
// 100 kB.
const MaxGraphBytes = 16 << 20

// GraphFlags choose and change a graph. Every command that works on a graph has
// them.
type GraphFlags struct {
	prep          string // any of the following
	Preset, graph string
	Bundle        string
	imports       map[string]*string // the files, by importer name
	backend       string
	decoder       string
	pcm           string   // the form of samples without a header
	ignore        []string // keys of the imported file

	Dataset *DatasetFlags // only for graph import

	Dtype, Layout string
	triton        string // a Triton model's config.pbtxt
	exif, ExifSet bool   // the value of --exif, and whether it was given
	Limits        codec.Limits

	Off    []datagraph.Pass
	File   string           // the graph's file, set by load; "" for a preset
	folder bool             // file was chosen in a folder
	source inferprep.Source // of an imported file, as load found it; alternatives reads it again
}

func (f *GraphFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.prep, "prep", "", "use the preprocessing in `NAME`: a model's folder, or a file that one of the flags --graph, --bundle, --hf and so on takes; the content says which")
	fl.StringVar(&f.Preset, "preset", "", "use the built-in graph `NAME`: "+strings.Join(preset.Names(), ", "))
	fl.StringVar(&f.graph, "graph", "", "use the graph in `FILE`, as graph import writes it; - reads standard input")
	fl.StringVar(&f.Bundle, "bundle", "", "use the graph in the model bundle `FILE`")
	f.imports = map[string]*string{}
	for _, i := range importer.All() {
		what := "`FILE`"
		if i.Folder != nil {
			what = "`FILE` or a model's folder"
		}
		f.imports[i.Name] = fl.String(i.Name, "", "import the graph from "+what+": "+i.Doc)
		command.Must(cmd.MarkFlagFilename(i.Name))
	}
	fl.StringArrayVar(&f.ignore, "ignore-key", nil, "import the file without its unknown key `NAME`; the graph's reference records it; repeatable")
	fl.StringVar(&f.backend, "backend", "", "reproduce this `BACKEND`: with --hf torchvision (the default, as of transformers 5) or pil; with --torchvision pil (the default, for Pillow images) or tensor (for decode_image's tensors)")
	fl.StringVar(&f.Dtype, "dtype", "", "convert outputs that are images or floats to `TYPE`, as NumPy's astype does; side outputs stay unchanged")
	fl.StringVar(&f.Layout, "layout", "", "convert outputs that are images to `LAYOUT`, HWC or CHW")
	programs := decoders()
	fl.StringVar(&f.decoder, "decoder", "", "with --hf, read image files as `PROGRAM` does before it calls the image processor: "+command.OrList(programs)+" (see docs/graphs.md)")
	fl.StringVar(&f.pcm, "pcm", "", "take samples without a header in place of sound files: `FORM` is ENCODING:RATE or ENCODING:RATE:CHANNELS, such as s16le:16000:1 (see docs/formats.md)")
	fl.StringVar(&f.triton, "triton", "", "rename the outputs to the inputs of a Triton model's config.pbtxt `FILE`, and check their types, shapes and layouts")
	fl.BoolVar(&f.exif, "exif", false, "apply the EXIF orientation of images; --exif=false ignores it where the graph applies it")
	f.Limits = codec.DefaultLimits()
	fl.Var((*command.Limit)(&f.Limits.Pixels), "limit-pixels", "refuse images of more pixels; 0 means no limit")
	fl.Var((*command.Limit)(&f.Limits.Bytes), "limit-bytes", "refuse files and images that need more `BYTES` of memory; all jobs together stay below it too; 0 means no limit")

	command.Must(cmd.MarkFlagFilename("prep"))
	command.Must(cmd.MarkFlagFilename("graph", "json", "msgp"))
	command.Must(cmd.MarkFlagFilename("triton", "pbtxt"))
	command.Must(cmd.MarkFlagFilename("bundle"))
	command.Complete(cmd, "preset", preset.Names()...)
	command.Complete(cmd, "layout", "HWC", "CHW")
	command.Complete(cmd, "backend", "pil", "tensor", "tensor16", "torchvision")
	command.Complete(cmd, "dtype", DtypeNames()...)
	command.Complete(cmd, "decoder", programs...)
}

// decoders returns the names of the decoders of all importers.
func decoders() []string {
	var names []string
	for _, i := range importer.All() {
		names = slices.AppendSeq(names, maps.Keys(i.Decoders))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// DtypeNames lists the types of --dtype.
func DtypeNames() []string {
	var l []string
	for d := tensor.Uint8; d < tensor.Bool; d++ {
		l = append(l, d.String())
	}
	return l
}

// FlagNames lists the flags that name a graph.
func (f *GraphFlags) FlagNames() string {
	l := []string{"--prep", "--preset", "--graph", "--bundle"}
	for _, i := range importer.All() {
		l = append(l, "--"+i.Name)
	}
	return command.OrList(l)
}

// Load reads the graph that the flags name and applies the flags that change
// it. Its errors are usage errors and name the file.
func (f *GraphFlags) Load(cmd *cobra.Command, stdin io.Reader) (*datagraph.Graph, error) {
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
	open := func(flag, name string) {
		if set(flag) {
			f.source = inferprep.Source{Name: name, Format: flag, Backend: f.backend, Decoder: f.decoder, IgnoreKeys: f.ignore}
			if flag == "prep" {
				f.source.Format = ""
			}
			g, err = f.open(ctx, flag, stdin)
		}
	}
	open("prep", f.prep)
	open("preset", f.Preset)
	open("graph", f.graph)
	open("bundle", f.Bundle)
	for _, i := range importer.All() {
		open(i.Name, *f.imports[i.Name])
	}
	if f.Dataset != nil && set("dataset") {
		f.File = f.Dataset.file
		var b []byte
		if b, err = ReadSmall(ctx, f.File, stdin, MaxGraphBytes); err == nil {
			if f.File == "-" {
				f.File = "standard input"
			}
			if g, err = f.Dataset.parse(ctx, b); err != nil {
				err = fmt.Errorf("%s: %w", f.File, err)
			}
		}
	}
	if len(sources) != 1 {
		if len(sources) == 0 {
			return nil, command.UsageErr("no graph: want %s", f.FlagNames())
		}
		return nil, command.UsageErr("%s: want only one graph", strings.Join(sources, " and "))
	}
	i, _ := importer.Lookup(f.source.Format) // a zero one for a graph
	if len(f.ignore) > 0 && i.Import == nil {
		return nil, command.UsageErr("--ignore-key applies to an imported file, not to %s", sources[0])
	}
	if cmd.Flags().Changed("backend") {
		if i.Backends == nil {
			return nil, command.UsageErr("--backend applies to --hf and --torchvision, not to %s", sources[0])
		}
		if _, ok := i.Backends[f.backend]; !ok {
			return nil, command.OneOf("backend", f.backend, slices.Sorted(maps.Keys(i.Backends))...)
		}
	}
	if cmd.Flags().Changed("decoder") {
		if i.Decoders == nil {
			return nil, command.UsageErr("--decoder applies to --hf, not to %s", sources[0])
		}
		if _, ok := i.Decoders[f.decoder]; !ok {
			return nil, command.OneOf("decoder", f.decoder, slices.Sorted(maps.Keys(i.Decoders))...)
		}
	}
	if err == nil && i.Import != nil && !quiet(cmd) {
		f.say(cmd, i, g)
	}
	f.ExifSet = cmd.Flags().Changed("exif")
	if err == nil {
		err = f.change(g)
	}
	if err == nil && f.triton != "" {
		err = f.fitTriton(ctx, g, stdin)
	}
	if err != nil {
		return nil, command.UsageErr("%w", err)
	}
	return g, nil
}

// Alternatives returns the graphs of all backends of an imported file, for
// diff.
func (f *GraphFlags) Alternatives(cmd *cobra.Command) (l []diff.Alternative) {
	i, _ := importer.Lookup(f.source.Format)
	for _, name := range slices.Sorted(maps.Keys(i.Backends)) {
		s := f.source
		s.Backend = name
		g, err := s.Graph(cmd.Context())
		if err == nil {
			err = f.change(g)
		}
		if err == nil { // else this backend cannot run the file
			l = append(l, diff.Alternative{
				Name: "backend-" + name, Text: fmt.Sprintf("the preprocessing runs with the backend %s: --backend %s", name, name), Graph: g,
			})
		}
	}
	return l
}

// Compile calls datagraph.Compile and adds the graph's file to errors.
func (f *GraphFlags) Compile(g *datagraph.Graph) (*datagraph.Plan, error) {
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: f.Limits, Disable: f.Off})
	if err != nil && f.File != "" {
		err = fmt.Errorf("%s: %w", f.File, err)
	}
	if err != nil {
		return nil, command.UsageErr("%w", err)
	}
	return plan, nil
}

// CompileImage is Compile for a graph whose input must be one encoded image.
func (f *GraphFlags) CompileImage(g *datagraph.Graph) (*datagraph.Plan, error) {
	if err := WantOneImage(g); err != nil {
		return nil, err
	}
	return f.Compile(g)
}

// open reads the graph of f.source, which flag names, and completes f.source.
// It reads standard input and pipes, too.
func (f *GraphFlags) open(ctx context.Context, flag string, stdin io.Reader) (*datagraph.Graph, error) {
	s := f.source
	f.folder = s.Name != "-" && paths.FolderExists(ctx, s.Name)
	switch {
	case s.Format == inferprep.FormatPreset:
		if !slices.Contains(preset.Names(), s.Name) {
			return nil, command.OneOf("preset", s.Name, preset.Names()...)
		}
	case s.Name != "-" && (s.Format == "" || s.Format == inferprep.FormatBundle || f.folder):
		f.File = s.Name
		s.Name = paths.StoreName(s.Name)
	default:
		most := int64(MaxGraphBytes)
		if i, err := importer.Lookup(s.Format); err == nil && i.MaxBytes > 0 {
			most = i.MaxBytes
		}
		b, err := ReadSmall(ctx, s.Name, stdin, most)
		if err != nil {
			return nil, err
		}
		if f.File = s.Name; s.Name == "-" {
			f.File = "standard input"
		}
		s.Name, s.Data = f.File, b
	}
	s, err := s.Find(ctx)
	if err == nil {
		if f.source = s; f.folder {
			f.File = s.Name
		}
		if s.Format == inferprep.FormatBundle {
			f.Bundle = f.File
		}
		var g *datagraph.Graph
		if g, err = s.Graph(ctx); err == nil {
			return g, nil
		}
	}
	var e *inferprep.Error
	errors.As(err, &e) // Find and Graph return no others
	if f.File == "" {
		return nil, fmt.Errorf("--%s %s: %w", flag, paths.Shown(f.source.Name), e.Err)
	}
	if _, ok := e.Err.(*fs.PathError); ok || s.Format == inferprep.FormatBundle {
		return nil, paths.Error(f.File, e.Err)
	}
	return nil, fmt.Errorf("%s: %w", f.File, e.Err)
}

// say prints which file of a folder was read, and which of transformers'
// backends the graph reproduces if the command line names none.
func (f *GraphFlags) say(cmd *cobra.Command, i importer.Importer, g *datagraph.Graph) {
	byDefault := strings.Contains(g.Reference, ", backend ") && !cmd.Flags().Changed("backend")
	if !f.folder && !byDefault {
		return
	}
	text := paths.Shown(f.File) + ": " + g.Reference
	if byDefault {
		text += " (the backend by default; --backend takes " + command.OrList(slices.Sorted(maps.Keys(i.Backends))) + ")"
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", command.Program, command.Printable(text))
}

// quiet reports whether the command has --quiet and it is set.
func quiet(cmd *cobra.Command) bool {
	q, err := cmd.Flags().GetBool("quiet")
	return err == nil && q
}

// ReadSmall reads a file of at most so many bytes. The name - means stdin.
func ReadSmall(ctx context.Context, name string, stdin io.Reader, most int64) ([]byte, error) {
	r := stdin
	if name != "-" {
		f, err := paths.Open(ctx, name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, paths.Error(name, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s: the file has more than %d bytes, the limit for such files", name, most)
	}
	return b, nil
}

// ReadUTF8 is readSmall for text, without a byte order mark.
func ReadUTF8(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	b, err := ReadSmall(ctx, name, stdin, MaxGraphBytes)
	if err == nil {
		if b, err = bom.Cut(b); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	return b, err
}

// change applies --pcm, --exif, --dtype and --layout.
func (f *GraphFlags) change(g *datagraph.Graph) error {
	if f.pcm != "" {
		if err := f.changePCM(g); err != nil {
			return err
		}
	}
	if f.ExifSet {
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
	if f.Layout != "" {
		if err := f.changeLayout(g); err != nil {
			return err
		}
	}
	if f.Dtype != "" {
		return f.changeDType(g)
	}
	return nil
}

// fitTriton applies --triton.
func (f *GraphFlags) fitTriton(ctx context.Context, g *datagraph.Graph, stdin io.Reader) error {
	b, err := ReadUTF8(ctx, f.triton, stdin)
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

func (f *GraphFlags) changeLayout(g *datagraph.Graph) error {
	var want tensor.Layout
	if err := want.UnmarshalText([]byte(strings.ToUpper(f.Layout))); err != nil || want == tensor.NoLayout {
		return fmt.Errorf("--layout %q: want HWC or CHW", f.Layout)
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

func (f *GraphFlags) changeDType(g *datagraph.Graph) error {
	want, err := tensor.ParseDType(f.Dtype)
	if err != nil || !slices.Contains(DtypeNames(), f.Dtype) {
		return command.OneOf("dtype", f.Dtype, DtypeNames()...)
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
