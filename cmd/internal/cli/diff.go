package cli

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/internal/diff"
	"github.com/infer-prep/infer-prep/tensor"
)

type diffFlags struct {
	graphFlags
	against, like, column, png string
	places                     int
	json                       bool
	same                       tensor.Desc // of --like
}

func (a *app) diffCmd() *cobra.Command {
	f := &diffFlags{}
	cmd := &cobra.Command{
		Use:   "diff A B | diff [--preset NAME | --graph FILE | …] IMAGE DIR | … IMAGE --against FILE",
		Short: "Say where tensors differ, and why",
		Long: `Say where tensors differ, and why.

A and B are two files of tensors, or two folders of them. A file is npy, npz, pb
(ONNX TensorProto), safetensors, or raw or bin (the elements alone), by its
extension; FILE:NAME is one tensor of an npz or safetensors file of several. Files
of several tensors and folders are compared tensor by tensor, by name, and the
first that differs is told of. In a folder every file is one tensor, as graph show
--steps writes them: 00-decode.image.npy, 01-resize.image.npy, …; other files are left
out. A raw file is taken to be as the other tensor, unless --like says what it is.

With a graph, IMAGE and DIR, the graph is run on IMAGE, and what each step gives is
compared with the file of its name in DIR, which graph show --steps wrote, or another
program that uses the same names; there need not be a file for every step.

With a graph, IMAGE and --against, the graph's output is compared with a tensor that
another program made of the same image. If they differ, the graph is changed as
programs usually differ: another library's resize, no antialiasing, BGR, values of
0-255, the EXIF orientation, the rounding of a centre crop, a squashed image, the mean
and std, the order of steps, the layout, …; one change at a time, then two at a time,
then what came nearest with further ones. That takes seconds, of large photos minutes.
Told is which changes make the tensors equal, or, if none do, nearest (by the mean
of the absolute differences).

Places are (y, x, c) for images, whatever their layout, else indices in the order of
the axes. Tensors are equal if dtype, shape and all bits are.

Exit status: 0 equal; 1 different; 2 a wrong flag, graph or file; 130 interrupted.`,
		Example: `  infer-prep diff a.npy b.npy
  infer-prep graph show --preset clip --steps ours cat.jpg && infer-prep diff ours theirs
  infer-prep diff --hf preprocessor_config.json cat.jpg theirs/
  infer-prep diff --preset imagenet cat.jpg --against theirs.npy --png heat.png`,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.diff(cmd, f, args)
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.against, "against", "", "compare the graph's output with the tensor in `FILE`, and explain the difference")
	fl.StringVar(&f.like, "like", "", "what raw files hold: `DESC` such as float32:3,224,224 or uint8:224,224,3:HWC, or another file of a tensor")
	fl.StringVar(&f.column, "column", "", "with --against, the graph's output or side output `NAME`; usually its first output")
	fl.StringVar(&f.png, "png", "", "draw the differences to `FILE`: of each pixel the largest of its channels, from black (none) to white (the largest of all)")
	fl.IntVar(&f.places, "places", 5, "tell of the first `N` places that differ")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	noErr(cmd.MarkFlagFilename("against"))
	noErr(cmd.MarkFlagFilename("png", "png"))
	return cmd
}

// hasGraph reports whether a flag names a graph.
func (f *diffFlags) hasGraph(cmd *cobra.Command) bool {
	flags := []string{"preset", "graph", "bundle"}
	for _, i := range importers() {
		flags = append(flags, i.Flag)
	}
	return slices.ContainsFunc(flags, cmd.Flags().Changed)
}

func (a *app) diff(cmd *cobra.Command, f *diffFlags, args []string) (err error) {
	if f.places < 0 {
		return usageErr("--places %d: want 0 or more", f.places)
	}
	if f.like != "" {
		if f.same, err = f.description(f.like); err != nil {
			return usageErr("--like %w", err)
		}
	}
	if !f.hasGraph(cmd) {
		switch {
		case f.against != "" || f.column != "":
			return usageErr("--against and --column want a graph, one of %s", f.flagNames())
		case len(args) != 2:
			return usageErr("want two files or folders of tensors, or a graph and an image; got %s and no graph", plural(len(args), "argument"))
		}
		return a.diffFiles(cmd.Context(), f, args[0], args[1])
	}
	against := f.against
	switch {
	case len(args) == 1 && against != "":
	case len(args) == 2 && against == "":
		against = args[1]
	default:
		return usageErr("want an image, and a folder of tensors or --against FILE")
	}
	g, err := f.load(cmd, a.stdin)
	if err != nil {
		return err
	}
	r, err := inferGraph(&f.graphFlags, g, args[0])
	if err != nil {
		return asUsage(err)
	}
	if r.graph.Random() {
		return usageErr("the graph has random ops, which give something else each time")
	}
	if isFolder(against) {
		if f.against != "" {
			return usageErr("--against %s: a folder, want a file; without --against a folder is compared step by step", against)
		}
		return a.diffSteps(cmd.Context(), f, r, against)
	}
	return a.diffForeign(cmd.Context(), f, r, against)
}

// asUsage makes an error of status 2: status 1 is for tensors that differ.
func asUsage(err error) error {
	var e *exitError
	if errors.As(err, &e) && e.status == exitFailed && e.err != nil {
		return &exitError{exitUsage, e.err}
	}
	return err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// maxTensor bounds the elements of files that are compared: as much as a run may have.
func (f *diffFlags) maxTensor() int64 {
	if n := f.limits.Bytes; n > 0 {
		return n
	}
	return 1 << 62
}

// description is what --like says: a description or a file that has it.
func (f *diffFlags) description(s string) (tensor.Desc, error) {
	if d, err := diff.ParseLike(s); err == nil {
		return d, nil
	} else if _, serr := os.Stat(s); serr != nil {
		return d, err
	}
	l, err := diff.Load(s, nil, f.maxTensor())
	if err == nil && len(l) != 1 {
		err = fmt.Errorf("%s: %d tensors, want one: FILE:NAME", s, len(l))
	}
	if err != nil {
		return tensor.Desc{}, err
	}
	return l[0].T.Desc, nil
}

// read reads a file; like is what it is if it is raw and --like says nothing.
func (f *diffFlags) read(path string, like *tensor.Desc) ([]tensor.Named, error) {
	if f.like != "" {
		like = &f.same
	}
	l, err := diff.Load(path, like, f.maxTensor())
	if err != nil {
		return nil, usageErr("%w", err)
	}
	return l, nil
}

// entry is a tensor of a file or folder, which is read when it is compared.
type entry struct {
	name string
	read func(like *tensor.Desc) (*tensor.Tensor, error)
	raw  bool
}

// entries are the tensors of a file or folder, by name.
func (f *diffFlags) entries(path string) ([]entry, error) {
	if isFolder(path) {
		steps, err := diff.Folder(path)
		if err != nil {
			return nil, usageErr("%w", err)
		}
		if len(steps) == 0 {
			return nil, usageErr("%s: no files of tensors in the folder", path)
		}
		var l []entry
		for _, s := range steps {
			l = append(l, entry{name: s.Name, raw: diff.IsRaw(s.Path), read: func(like *tensor.Desc) (*tensor.Tensor, error) { return f.readOne(s.Path, like) }})
		}
		return l, nil
	}
	if diff.IsRaw(path) {
		return []entry{{raw: true, read: func(like *tensor.Desc) (*tensor.Tensor, error) { return f.readOne(path, like) }}}, nil
	}
	ts, err := f.read(path, nil)
	if err != nil {
		return nil, err
	}
	if len(ts) == 0 {
		return nil, usageErr("%s: no tensors in the file", path)
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
		err = usageErr("%s: %d tensors, want one", path, len(l))
	}
	if err != nil {
		return nil, err
	}
	return l[0].T, nil
}

// compared is one tensor's difference, as --json tells it.
type compared struct {
	Name string `json:"name"`
	// Missing says where the tensor is not.
	Missing    string           `json:"missing,omitempty"`
	Difference *diff.Difference `json:"difference,omitempty"`
}

func (c *compared) equal() bool { return c.Missing == "" && c.Difference.Equal }

// diffReport is what diff found, as --json tells it.
type diffReport struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Equal bool   `json:"equal"`
	// First is the name of the first tensor that differs.
	First   *string        `json:"first,omitempty"`
	Tensors []compared     `json:"tensors"`
	Explain *diff.Report   `json:"explain,omitempty"`
	one     bool           // without names
	a, b    *tensor.Tensor // the first that differ and can be drawn
}

// add notes a comparison; a and b must stay as they are only if they are kept by the caller.
func (r *diffReport) add(f *diffFlags, name string, a, b *tensor.Tensor) {
	d := diff.Tensors(a, b, f.places)
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
func (a *app) diffFiles(ctx context.Context, f *diffFlags, pathA, pathB string) error {
	la, err := f.entries(pathA)
	if err != nil {
		return err
	}
	lb, err := f.entries(pathB)
	if err != nil {
		return err
	}
	r := &diffReport{A: pathA, B: pathB, one: len(la) == 1 && len(lb) == 1 && !isFolder(pathA) && !isFolder(pathB)}
	pair := func(name string, x, y entry) error {
		// What is raw is as the other one.
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
		return a.diffDone(f, r)
	}
	inB := map[string]entry{}
	for _, e := range lb {
		inB[e.name] = e
	}
	inA := map[string]bool{}
	for _, e := range la {
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted")}
		}
		inA[e.name] = true
		o, ok := inB[e.name]
		if !ok {
			r.missing(e.name, pathB)
		} else if err := pair(e.name, e, o); err != nil {
			return err
		}
	}
	for _, e := range lb {
		if !inA[e.name] {
			r.missing(e.name, pathA)
		}
	}
	return a.diffDone(f, r)
}

// diffSteps compares what the steps of a graph give with the files of a folder.
func (a *app) diffSteps(ctx context.Context, f *diffFlags, r *inferred, dir string) error {
	entries, err := f.entries(dir)
	if err != nil {
		return err
	}
	there := map[string]entry{}
	for _, e := range entries {
		there[e.name] = e
	}
	image, err := readImage(r.image, f.limits)
	if err != nil {
		return asUsage(err)
	}
	rep := &diffReport{A: r.image, B: dir, Tensors: []compared{}}
	found := 0
	var failed error
	run := r.plan.NewRunner()
	run.OnStep = func(step int, out []*tensor.Tensor) error {
		if failed = ctx.Err(); failed != nil {
			return failed
		}
		for i, o := range out {
			name := r.stepName(step, i)
			e, ok := there[name]
			if !ok {
				continue // a program may write some steps alone
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
	_, err = run.Run(image)
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, errors.New("interrupted")}
	case failed != nil:
		return failed
	case err != nil:
		return usageErr("%s: %w", r.image, message(err))
	case found == 0:
		return usageErr("%s: no file has the name of a step, want %s.npy or others that graph show --steps writes", dir, r.stepName(0, 0))
	}
	return a.diffDone(f, rep)
}

// diffForeign compares the graph's output with a tensor, and explains the difference.
func (a *app) diffForeign(ctx context.Context, f *diffFlags, r *inferred, path string) error {
	outputs := slices.Concat(r.graph.Outputs, r.graph.SideOutputs)
	k := 0
	if f.column != "" {
		if k = slices.Index(outputs, f.column); k < 0 {
			return usageErr("--column %q: want one of %s", f.column, strings.Join(outputs, ", "))
		}
	}
	image, err := readImage(r.image, f.limits)
	if err != nil {
		return asUsage(err)
	}
	out, err := r.plan.NewRunner().Run(image)
	if err != nil {
		return usageErr("%s: %w", r.image, message(err))
	}
	foreign, err := f.readOne(path, &out[k].Desc)
	if err != nil {
		return err
	}
	rep := &diffReport{A: r.image, B: path, one: true}
	rep.add(f, outputs[k], out[k], foreign)
	if rep.First != nil {
		rep.Explain, err = diff.Explain(ctx, r.graph, outputs[k], image, foreign, diff.Options{Limits: f.limits})
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted")}
		}
		if err != nil {
			return usageErr("%s: %w", path, err)
		}
	}
	return a.diffDone(f, rep)
}

// diffDone tells of what was found.
func (a *app) diffDone(f *diffFlags, r *diffReport) error {
	r.Equal = r.First == nil
	var err error
	if f.json {
		err = a.printJSON(r)
	} else {
		_, err = io.WriteString(a.stdout, r.text(f))
	}
	if err != nil {
		return err
	}
	if f.png != "" {
		x, y := r.a, r.b
		if x == nil && r.Equal && len(r.Tensors) > 0 {
			// Nothing differs: a black picture of the last, if it is an image.
			d := r.Tensors[len(r.Tensors)-1].Difference.A
			t, err := tensor.New(d)
			if err != nil {
				return usageErr("--png: %w", err)
			}
			x, y = t, t
		}
		if x == nil {
			return usageErr("--png: the first tensor that differs, %s, is not on both sides", *r.First)
		}
		m, err := diff.Heat(x, y)
		if err != nil {
			return usageErr("--png: %w", err)
		}
		if err := writeFile(f.png, func(w io.Writer) error { return png.Encode(w, m) }); err != nil {
			return usageErr("--png: %w", err)
		}
	}
	if !r.Equal {
		return &exitError{status: exitFailed}
	}
	return nil
}

func (r *diffReport) text(f *diffFlags) string {
	var b strings.Builder
	if r.one {
		d := r.Tensors[0].Difference
		if r.Equal {
			fmt.Fprintf(&b, "equal: %v\n", d.A)
			return b.String()
		}
		fmt.Fprintf(&b, "A  %s: %v\nB  %s: %v\n\n%s\n", printable(r.A), d.A, printable(r.B), d.B, sentence(d))
		b.WriteString(places(d))
	} else {
		equal := 0
		t := table{}
		for _, c := range r.Tensors {
			what := "equal"
			switch {
			case c.equal():
				equal++
			case c.Missing != "":
				what = "not in " + printable(c.Missing)
			default:
				what = sentence(c.Difference)
			}
			t.row(printable(c.Name), what)
		}
		_ = t.write(&b) // to memory
		if r.Equal {
			fmt.Fprintf(&b, "\nequal: all %d\n", equal)
			return b.String()
		}
		i := slices.IndexFunc(r.Tensors, func(c compared) bool { return !c.equal() })
		fmt.Fprintf(&b, "\n%d of %d are equal. The first that differs is %s\n", equal, len(r.Tensors), printable(*r.First))
		if d := r.Tensors[i].Difference; d != nil {
			if d.A != d.B {
				fmt.Fprintf(&b, "  A is %v\n  B is %v\n", d.A, d.B)
			}
			b.WriteString(places(d))
		}
	}
	if r.Explain != nil {
		b.WriteString(explained(r.Explain))
	}
	return b.String()
}

// sentence says how large a difference is.
func sentence(d *diff.Difference) string {
	hint := d.Hint
	if hint != "" {
		hint = ": " + hint
	}
	switch {
	case d.Equal:
		return "equal"
	case !d.Comparable:
		return fmt.Sprintf("%v against %v%s", d.A, d.B, hint)
	case d.Differ == 0:
		return fmt.Sprintf("%v against %v%s", d.A.DType, d.B.DType, hint)
	}
	s := fmt.Sprintf("%d of %d elements differ (%.2g %%)", d.Differ, d.Elements, float64(d.Differ)*100/float64(d.Elements))
	if d.Largest != nil {
		s += fmt.Sprintf(", largest difference %s at %s, mean of all %s", figure(d.Max), at(d, d.Largest.At), figure(d.Mean))
	}
	if d.NotFinite > 0 {
		s += fmt.Sprintf(", %d by no finite number", d.NotFinite)
	}
	return s
}

func figure(n diff.Number) string { return strconv.FormatFloat(float64(n), 'g', 4, 64) }

func at(d *diff.Difference, place []int) string {
	var l []string
	for i, n := range place {
		if d.Image {
			l = append(l, fmt.Sprintf("%s %d", []string{"y", "x", "c"}[i], n))
		} else {
			l = append(l, strconv.Itoa(n))
		}
	}
	return "(" + strings.Join(l, ", ") + ")"
}

func places(d *diff.Difference) string {
	t := table{}
	for _, p := range d.Places {
		digits := func(n diff.Number, dt tensor.DType) string {
			size := 64
			if dt == tensor.Float32 || dt == tensor.Float16 || dt == tensor.BFloat16 {
				size = 32
			}
			return strconv.FormatFloat(float64(n), 'g', -1, size)
		}
		t.row("  at "+at(d, p.At)+":", "A "+digits(p.A, d.A.DType), "B "+digits(p.B, d.B.DType))
	}
	var b strings.Builder
	_ = t.write(&b) // to memory
	return b.String()
}

// explained is what Explain found, for people.
func explained(r *diff.Report) string {
	var b strings.Builder
	b.WriteString("\n")
	for _, f := range r.Facts {
		fmt.Fprintf(&b, "%s\n", f)
	}
	if len(r.Explanations) == 0 {
		fmt.Fprintf(&b, "none of %d combinations of usual differences gives a tensor of that shape\n", r.Tried)
		return b.String()
	}
	switch best := r.Explanations[0]; {
	case best.Equal:
		b.WriteString("all values are equal if\n")
	case best.Rounding:
		b.WriteString("all values are equal, but for the rounding of float32, if\n")
	case len(best.Suspects) == 0:
		fmt.Fprintf(&b, "none of %d combinations of usual differences brings it much nearer: another image, or an op that is not usual\n", r.Tried)
		return b.String()
	default:
		fmt.Fprintf(&b, "none of %d combinations of usual differences makes all values equal; the nearest:\n", r.Tried)
	}
	for i, x := range r.Explanations {
		if (x.Equal || x.Rounding) && i > 0 {
			b.WriteString("or if\n")
		}
		if len(x.Suspects) == 0 {
			b.WriteString("  - nothing else is changed\n")
		}
		for j, s := range x.Suspects {
			and := ""
			if len(x.Also[j]) > 0 {
				and = ", or " + strings.Join(x.Also[j], ", ") + ", which is the same here"
			}
			fmt.Fprintf(&b, "  - %s (%s%s)\n", s.Text, s.Name, and)
		}
		if !x.Equal {
			fmt.Fprintf(&b, "    %d of %d elements differ, largest difference %s, mean %s\n", x.Differ, x.Elements, figure(x.Max), figure(x.Mean))
		}
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", r.More)
	}
	return b.String()
}
