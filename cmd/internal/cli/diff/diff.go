// Package diff implements the command diff.
package diff

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/graph"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph/diff"
	"github.com/infer-prep/infer-prep/importer"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/internal/pipe"
	"github.com/infer-prep/infer-prep/tensor"
)

type diffFlags struct {
	source.GraphFlags
	against, like, column, png string
	places                     int
	json                       bool
	outside                    command.Outside
	likeDesc                   tensor.Desc // parsed from --like
	cmd                        *cobra.Command
}

func Command(a *command.App) *cobra.Command {
	f := &diffFlags{}
	cmd := &cobra.Command{
		Use:                   "diff A B | diff [--preset NAME | --graph FILE | …] IMAGE (DIR | --against FILE) | diff … IMAGES --against DIR",
		Short:                 "Show where tensors differ, and why",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDiff(a, cmd, f, args)
		},
	}
	f.Add(cmd)
	f.outside.Add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.against, "against", "", "compare the graph's output with the tensor in `FILE`, or a folder of images with a folder of tensors, and explain the difference")
	fl.StringVar(&f.like, "like", "", "the type and shape of raw files: `DESC` such as float32:3,224,224 or uint8:224,224,3:HWC, or a tensor file")
	fl.StringVar(&f.column, "column", "", "with --against, compare the graph's output or side output `NAME` (default its first output)")
	fl.StringVar(&f.png, "png", "", "draw the differences to `FILE`: for each pixel the largest of its channels, from black (none) to white (the largest of the image)")
	fl.IntVar(&f.places, "places", 5, "print the first `N` places that differ")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	command.Must(cmd.MarkFlagFilename("against"))
	command.Must(cmd.MarkFlagFilename("png", "png"))
	return cmd
}

// hasGraph reports whether a flag names a graph.
func (f *diffFlags) hasGraph(cmd *cobra.Command) bool {
	flags := []string{"preset", "graph", "bundle"}
	for _, i := range importer.All() {
		flags = append(flags, i.Name)
	}
	return slices.ContainsFunc(flags, cmd.Flags().Changed)
}

func runDiff(a *command.App, cmd *cobra.Command, f *diffFlags, args []string) (err error) {
	f.cmd = cmd
	if f.places < 0 {
		return command.UsageErr("--places %d: want at least 0", f.places)
	}
	if f.like != "" {
		if f.likeDesc, err = f.description(f.like); err != nil {
			return command.UsageErr("--like %w", err)
		}
	}
	if !f.hasGraph(cmd) {
		switch {
		case f.against != "" || f.column != "":
			return command.UsageErr("--against and --column need a graph: %s", f.FlagNames())
		case len(args) != 2:
			return command.UsageErr("want two tensor files or folders, or a graph and an image; got %s and no graph", command.Plural(len(args), "argument"))
		}
		return diffFiles(cmd.Context(), a, f, args[0], args[1])
	}
	against := f.against
	switch {
	case len(args) == 1 && against != "":
	case len(args) == 2 && against == "":
		against = args[1]
	default:
		return command.UsageErr("want an image or a folder of images, and either a folder of the tensors of its steps or --against")
	}
	image, there := args[0], paths.FolderExists(cmd.Context(), against)
	images := paths.FolderExists(cmd.Context(), image)
	switch {
	case images && f.against == "":
		return command.UsageErr("%s is a folder of images: compare it with --against DIR, a folder of tensors", paths.Shown(image))
	case images && !there:
		return command.UsageErr("--against %s: is no folder, want a folder of tensors for the images of %s", paths.Shown(against), paths.Shown(image))
	case !images && there && f.against != "":
		return command.UsageErr("--against %s: is a folder, want a file for one image; to compare a folder step by step, omit --against", paths.Shown(against))
	}
	g, err := f.Load(cmd, a.Stdin)
	if err != nil {
		return err
	}
	if images {
		if g.Random() {
			return errRandom
		}
		return diffFolders(cmd.Context(), a, f, g, image)
	}
	r, err := graph.InferGraph(cmd, &f.GraphFlags, g, args[0])
	if err != nil {
		return command.AsUsage(err)
	}
	if r.Graph.Random() {
		return errRandom
	}
	if there {
		return diffSteps(cmd.Context(), a, f, r, against)
	}
	return diffAgainst(cmd.Context(), a, f, r, against, f.Alternatives(cmd))
}

var errRandom = command.UsageErr("the graph has random ops: its output differs from run to run")

// maxTensor returns the largest tensor to read from a file: the limit of a run.
func (f *diffFlags) maxTensor() int64 {
	if n := f.Limits.Bytes; n > 0 {
		return n
	}
	return 1 << 62
}

// description parses --like: a description, or a tensor file with that type and
// shape.
func (f *diffFlags) description(s string) (tensor.Desc, error) {
	if d, err := parseDesc(s); err == nil {
		return d, nil
	} else if there, serr := paths.Exists(f.cmd.Context(), s); !there || serr != nil {
		return d, err
	}
	l, err := LoadTensors(f.cmd.Context(), s, nil, f.maxTensor())
	if err == nil && len(l) != 1 {
		err = fmt.Errorf("%s: the file has %d tensors: select one with FILE:NAME", s, len(l))
	}
	if err != nil {
		return tensor.Desc{}, err
	}
	return l[0].T.Desc, nil
}

// read reads a tensor file. like describes a raw file unless --like is given.
func (f *diffFlags) read(path string, like *tensor.Desc) ([]tensor.Named, error) {
	if f.like != "" {
		like = &f.likeDesc
	}
	var l []tensor.Named
	var err error
	if pipe.Is(path) {
		l, err = readTensorPipe(f.cmd, path, like, f.maxTensor())
		if f.cmd.Context().Err() != nil {
			return nil, err
		}
	} else {
		l, err = LoadTensors(f.cmd.Context(), path, like, f.maxTensor())
	}
	if err != nil {
		return nil, command.UsageErr("%w", err)
	}
	return l, nil
}

// entry is a tensor of a file or folder. It is read when it is compared.
type entry struct {
	name string
	read func(like *tensor.Desc) (*tensor.Tensor, error)
	raw  bool
}

// entries lists the tensors of a file or folder.
func (f *diffFlags) entries(path string) ([]entry, error) {
	if paths.FolderExists(f.cmd.Context(), path) {
		steps, err := tensorFolder(f.cmd.Context(), path)
		if err != nil {
			return nil, command.UsageErr("%w", err)
		}
		if len(steps) == 0 {
			return nil, command.UsageErr("%s: the folder has no tensor files", path)
		}
		var l []entry
		for _, s := range steps {
			l = append(l, entry{name: s.name, raw: isRaw(s.path), read: func(like *tensor.Desc) (*tensor.Tensor, error) { return f.readOne(s.path, like) }})
		}
		return l, nil
	}
	if isRaw(path) {
		return []entry{{raw: true, read: func(like *tensor.Desc) (*tensor.Tensor, error) { return f.readOne(path, like) }}}, nil
	}
	ts, err := f.read(path, nil)
	if err != nil {
		return nil, err
	}
	if len(ts) == 0 {
		return nil, command.UsageErr("%s: the file has no tensors", path)
	}
	var l []entry
	for _, t := range ts {
		l = append(l, entry{name: t.Name, read: func(*tensor.Desc) (*tensor.Tensor, error) { return t.T, nil }})
	}
	return l, nil
}

func (f *diffFlags) readOne(path string, like *tensor.Desc) (*tensor.Tensor, error) {
	l, err := f.read(path, like)
	if err == nil && len(l) != 1 {
		err = command.UsageErr("%s: the file has %d tensors, want one", path, len(l))
	}
	if err != nil {
		return nil, err
	}
	return l[0].T, nil
}

// compared is the comparison of one tensor, as --json prints it.
type compared struct {
	Name string `json:"name"`
	// Missing is the file or folder that lacks the tensor.
	Missing    string           `json:"missing,omitempty"`
	Difference *diff.Difference `json:"difference,omitempty"`
}

func (c *compared) equal() bool { return c.Missing == "" && c.Difference.Equal }

// diffReport is the result of the command, as --json prints it.
type diffReport struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Equal bool   `json:"equal"`
	// First is the name of the first tensor that differs.
	First   *string        `json:"first,omitempty"`
	Tensors []compared     `json:"tensors"`
	Explain *diff.Report   `json:"explain,omitempty"`
	one     bool           // one tensor on each side, printed without its name
	a, b    *tensor.Tensor // the first that differ, for --png
}

// add compares two tensors. It keeps b if it is the first that differs.
func (r *diffReport) add(f *diffFlags, name string, a, b *tensor.Tensor) {
	d := diff.Compare(a, b, f.places)
	r.Tensors = append(r.Tensors, compared{Name: name, Difference: &d})
	if r.First == nil && !d.Equal {
		r.First = &name
		r.a, r.b = a.Clone(), b
	}
}

func (r *diffReport) missing(name, where string) {
	r.Tensors = append(r.Tensors, compared{Name: name, Missing: where})
	if r.First == nil {
		r.First = &name
	}
}

// diffFiles compares two files or folders.
func diffFiles(ctx context.Context, a *command.App, f *diffFlags, pathA, pathB string) error {
	la, err := f.entries(pathA)
	if err != nil {
		return err
	}
	lb, err := f.entries(pathB)
	if err != nil {
		return err
	}
	r := &diffReport{A: paths.Shown(pathA), B: paths.Shown(pathB), one: len(la) == 1 && len(lb) == 1 && !paths.FolderExists(ctx, pathA) && !paths.FolderExists(ctx, pathB)}
	pair := func(name string, x, y entry) error {
		// A raw tensor takes the description of the other one, which is read
		// first.
		var ta, tb *tensor.Tensor
		var err error
		if x.raw && !y.raw {
			if tb, err = y.read(nil); err == nil {
				ta, err = x.read(&tb.Desc)
			}
		} else if ta, err = x.read(nil); err == nil {
			tb, err = y.read(&ta.Desc)
		}
		if err == nil {
			r.add(f, name, ta, tb)
		}
		return err
	}
	if r.one {
		if err := pair(la[0].name, la[0], lb[0]); err != nil {
			return err
		}
		return diffDone(a, f, r)
	}
	inB := map[string]entry{}
	for _, e := range lb {
		inB[e.name] = e
	}
	inA := map[string]bool{}
	for _, e := range la {
		if ctx.Err() != nil {
			return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted")}
		}
		inA[e.name] = true
		o, ok := inB[e.name]
		if !ok {
			r.missing(e.name, paths.Shown(pathB))
		} else if err := pair(e.name, e, o); err != nil {
			return err
		}
	}
	for _, e := range lb {
		if !inA[e.name] {
			r.missing(e.name, paths.Shown(pathA))
		}
	}
	return diffDone(a, f, r)
}

// diffSteps compares the outputs of a graph's steps with the files of a folder.
func diffSteps(ctx context.Context, a *command.App, f *diffFlags, r *graph.Inferred, dir string) error {
	entries, err := f.entries(dir)
	if err != nil {
		return err
	}
	there := map[string]entry{}
	for _, e := range entries {
		there[e.name] = e
	}
	rep := &diffReport{A: r.Image, B: dir, Tensors: []compared{}}
	found := 0
	var failed error
	run := r.Plan.NewRunner()
	run.OnStep = func(step int, out []*tensor.Tensor) error {
		if failed = ctx.Err(); failed != nil {
			return failed
		}
		for i, o := range out {
			name := r.StepName(step, i)
			e, ok := there[name]
			if !ok {
				continue // the other program may have written only some steps
			}
			found++
			t, err := e.read(&o.Desc)
			if err != nil {
				failed = err
				return err
			}
			rep.add(f, name, o, t)
		}
		return nil
	}
	_, err = run.Run(r.Data)
	switch {
	case ctx.Err() != nil:
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted")}
	case failed != nil:
		return failed
	case err != nil:
		return command.UsageErr("%s: %w", r.Image, paths.Reason(err))
	case found == 0:
		return command.UsageErr("%s: no file is named after a step of the graph, such as %s.npy; \"graph show --steps\" writes such files", dir, r.StepName(0, 0))
	}
	return diffDone(a, f, rep)
}

// diffAgainst compares the graph's output with another program's tensor and
// explains the difference.
func diffAgainst(ctx context.Context, a *command.App, f *diffFlags, r *graph.Inferred, path string, others []diff.Alternative) error {
	outputs := slices.Concat(r.Graph.Outputs, r.Graph.SideOutputs)
	k, err := f.outputIndex(r.Graph)
	if err != nil {
		return err
	}
	out, err := r.Plan.NewRunner().Run(r.Data)
	if err != nil {
		return command.UsageErr("%s: %w", r.Image, paths.Reason(err))
	}
	other, err := f.readOne(path, &out[k].Desc)
	if err != nil {
		return err
	}
	rep := &diffReport{A: r.Image, B: paths.Shown(path), one: true}
	rep.add(f, outputs[k], out[k], other)
	if rep.First != nil {
		rep.Explain, err = diff.Explain(ctx, r.Graph, outputs[k], r.Data, other, diff.Options{Limits: f.Limits, Alternatives: others})
		if ctx.Err() != nil {
			return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted")}
		}
		if err != nil {
			return command.UsageErr("%s: %w", path, err)
		}
	}
	return diffDone(a, f, rep)
}

// diffDone prints the report and writes the heat map.
func diffDone(a *command.App, f *diffFlags, r *diffReport) error {
	r.Equal = r.First == nil
	var err error
	if f.json {
		err = a.PrintJSON(r)
	} else {
		_, err = io.WriteString(a.Stdout, r.text(func(style, s string) string { return a.Colored(a.Stdout, style, s) }))
	}
	if err != nil {
		return err
	}
	if f.png != "" {
		x, y := r.a, r.b
		if x == nil && r.Equal && len(r.Tensors) > 0 {
			// Nothing differs: draw a black image of the last tensor's size.
			d := r.Tensors[len(r.Tensors)-1].Difference.A
			t, err := tensor.New(d)
			if err != nil {
				return command.UsageErr("--png: %w", err)
			}
			x, y = t, t
		}
		if x == nil {
			return command.UsageErr("--png: the first tensor that differs, %s, is missing on one side", *r.First)
		}
		m, err := diff.HeatMap(x, y)
		if err != nil {
			return command.UsageErr("--png: %w", err)
		}
		if err := newfile.Write(f.cmd.Context(), f.png, func(w io.Writer) error { return png.Encode(w, m) }); err != nil {
			return command.UsageErr("--png: %w", err)
		}
	}
	if !r.Equal {
		return &command.ExitError{Status: command.ExitFailed}
	}
	return nil
}
