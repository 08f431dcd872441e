package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/datagraph/diff"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/job"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// foldersReport is the result of a comparison of a folder of images with a
// folder of tensors, as --json prints it.
type foldersReport struct {
	A      string        `json:"a"`
	B      string        `json:"b"`
	Equal  bool          `json:"equal"`
	Images []folderImage `json:"images"`
	// WithoutImage are the tensor files of no image.
	WithoutImage []string `json:"without_image"`
	// LeftOut is the number of files that are no images.
	LeftOut   int             `json:"left_out"`
	Diagnoses [][]diff.Change `json:"diagnoses"`
}

// folderImage is a row of the table.
type folderImage struct {
	Name   string `json:"name"`
	Tensor string `json:"tensor,omitempty"` // the file, "" if there is none
	// Error says what is wrong with the image or its tensor.
	Error      string           `json:"error,omitempty"`
	Difference *diff.Difference `json:"difference,omitempty"`
	// Verdict is nil for an image that is equal or was not compared.
	Verdict *diff.Verdict `json:"verdict,omitempty"`
	in      *job.File
}

// folderRun compares images with the tensors of a folder.
type folderRun struct {
	app     *command.App
	flags   *diffFlags
	graph   *datagraph.Graph
	plan    *datagraph.Plan
	column  int // of the plan's outputs
	tensors map[string]string
	report  *foldersReport
}

// outputIndex returns the index of --column in the graph's outputs and side
// outputs.
func (f *diffFlags) outputIndex(g *datagraph.Graph) (int, error) {
	if f.column == "" {
		return 0, nil
	}
	outputs := slices.Concat(g.Outputs, g.SideOutputs)
	k := slices.Index(outputs, f.column)
	if k < 0 {
		return 0, command.UsageErr("--column %q: want one of %s", f.column, strings.Join(outputs, ", "))
	}
	return k, nil
}

// diffFolders compares the graph's output of every image of a folder with the
// tensor of that name, and explains the differences together.
func diffFolders(ctx context.Context, a *command.App, f *diffFlags, g *datagraph.Graph, folder string) error {
	if flag := command.FirstChanged(f.cmd, "png", "places"); flag != "" {
		return command.UsageErr("--%s applies to one image, not to the folder %s", flag, paths.Shown(folder))
	}
	plan, err := f.CompileImage(g)
	if err != nil {
		return err
	}
	r := &folderRun{app: a, flags: f, graph: g, plan: plan, tensors: map[string]string{}}
	if r.column, err = f.outputIndex(g); err != nil {
		return err
	}
	if err := r.list(ctx, f.against, ""); err != nil {
		return command.UsageErr("%w", err)
	}
	if len(r.tensors) == 0 {
		return command.UsageErr("%s: the folder has no tensor files, such as cat.jpg.npy or cat.npy", paths.Shown(f.against))
	}
	r.report = &foldersReport{A: paths.Shown(folder), B: paths.Shown(f.against), Images: []folderImage{}, WithoutImage: []string{}, Diagnoses: [][]diff.Change{}}
	l := job.Find(ctx, f.outside.Files(), job.Paths(folder), "")
	defer l.Close()
	l.For(g)
	if err := r.compare(ctx, l); err != nil {
		return err
	}
	if err := r.explain(ctx); err != nil {
		return err
	}
	if f.json {
		err = a.PrintJSON(r.report)
	} else {
		_, err = io.WriteString(a.Stdout, r.report.text(func(style, s string) string { return a.Colored(a.Stdout, style, s) }))
	}
	if err == nil && !r.report.Equal {
		err = &command.ExitError{Status: command.ExitFailed}
	}
	return err
}

// list fills the tensor files of a folder and the folders below it, by their
// paths in it.
func (r *folderRun) list(ctx context.Context, dir, rel string) error {
	entries, err := store.ListNames(ctx, store.URI, paths.StoreName(dir))
	if err != nil {
		return paths.Error(dir, err)
	}
	for _, e := range entries {
		name, file := path.Join(rel, e.Base), paths.Join(dir, e.Base)
		switch {
		case e.Folder:
			if err := r.list(ctx, file, name); err != nil {
				return err
			}
		case slices.Contains(tensorExtensions, strings.ToLower(filepath.Ext(e.Base))):
			r.tensors[name] = file
		}
	}
	return nil
}

// find returns the tensor file of an image, such as cat.jpg.npy or cat.npy, ""
// if there is none, and removes it from the list.
func (r *folderRun) find(image string) string {
	for _, name := range []string{image, strings.TrimSuffix(image, path.Ext(image))} {
		for _, ext := range tensorExtensions {
			if file, ok := r.tensors[name+ext]; ok {
				delete(r.tensors, name+ext)
				return file
			}
		}
	}
	return ""
}

// compare compares each image with its tensor.
func (r *folderRun) compare(ctx context.Context, l *job.Listing) error {
	run := r.plan.NewRunner()
	rep := r.report
	rep.Equal = true
	for i := range l.Files {
		in := &l.Files[i]
		if in.Err == nil && !in.IsImage(ctx) {
			rep.LeftOut++
			continue
		}
		x := folderImage{Name: filepath.ToSlash(in.Name), in: in}
		if x.Name == "" { // a path that cannot be read
			x.Name = paths.Shown(in.Path)
		}
		x.Tensor = r.find(x.Name)
		err := in.Err
		if err == nil && x.Tensor != "" {
			x.Difference, err = r.one(in, x.Tensor, run)
		}
		if ctx.Err() != nil {
			return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted")}
		}
		if err != nil {
			x.Error = paths.Reason(err).Error()
		}
		rep.Equal = rep.Equal && x.Difference != nil && x.Difference.Equal
		rep.Images = append(rep.Images, x)
	}
	if len(rep.Images) == 0 {
		return command.UsageErr("%s: the folder has no images", rep.A)
	}
	for name := range r.tensors {
		rep.WithoutImage = append(rep.WithoutImage, name)
	}
	slices.Sort(rep.WithoutImage)
	rep.Equal = rep.Equal && len(rep.WithoutImage) == 0
	return nil
}

// one compares one image with its tensor.
func (r *folderRun) one(in *job.File, file string, run *datagraph.Runner) (*diff.Difference, error) {
	image, err := source.ReadImage(r.flags.cmd, in, r.flags.Limits)
	if err != nil {
		return nil, err
	}
	out, err := run.Run(image)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paths.Shown(in.Path), paths.Reason(err))
	}
	other, err := r.flags.readOne(file, &out[r.column].Desc)
	if err == nil && other.DType == tensor.Bytes {
		err = fmt.Errorf("%s: %v: want numbers", paths.Shown(file), other.Desc)
	}
	if err != nil {
		return nil, err
	}
	d := diff.Compare(out[r.column], other, 0)
	return &d, nil
}

// explain finds what explains the images that differ.
func (r *folderRun) explain(ctx context.Context) error {
	var rows []*folderImage
	for i := range r.report.Images {
		if x := &r.report.Images[i]; x.Difference != nil && !x.Difference.Equal {
			rows = append(rows, x)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	f := r.flags
	run := r.plan.NewRunner()
	output := slices.Concat(r.graph.Outputs, r.graph.SideOutputs)[r.column]
	s, err := diff.ExplainAll(ctx, r.graph, output, len(rows), func(i int) (image, other *tensor.Tensor, err error) {
		if image, err = source.ReadImage(f.cmd, rows[i].in, f.Limits); err != nil {
			return nil, nil, err
		}
		var like *tensor.Desc
		if isRaw(rows[i].Tensor) {
			out, err := run.Run(image)
			if err != nil {
				return nil, nil, err
			}
			like = &out[r.column].Desc
		}
		other, err = f.readOne(rows[i].Tensor, like)
		return image, other, err
	}, diff.Options{Limits: f.Limits, Alternatives: f.Alternatives(f.cmd)})
	if ctx.Err() != nil {
		return &command.ExitError{Status: command.ExitInterrupted, Err: errors.New("interrupted")}
	}
	if err != nil {
		return command.UsageErr("%w", err)
	}
	r.report.Diagnoses = s.Diagnoses
	for i, x := range rows {
		x.Verdict = &s.Verdicts[i]
	}
	return nil
}

// text formats the report.
func (r *foldersReport) text(colored func(style, s string) string) string {
	var b strings.Builder
	t := command.Table{}
	t.Row("IMAGE", "LARGEST DIFFERENCE", "EQUAL", "EXPLAINED BY")
	var counts struct{ equal, missing, damaged, unexplained int }
	by := make([]int, len(r.Diagnoses))
	for _, x := range r.Images {
		largest, equal, why := "-", "-", "-"
		if d := x.Difference; d != nil && d.Comparable {
			largest = command.Figure(d.Max)
			equal = command.Percent(1 - float64(d.Differ)/float64(max(d.Elements, 1)))
		}
		switch {
		case x.Error != "":
			counts.damaged++
			why = "damaged: " + command.Printable(x.Error)
		case x.Tensor == "":
			counts.missing++
			why = "no tensor"
		case x.Difference.Equal:
			counts.equal++
			why = "equal"
		case x.Verdict.Diagnosis < 0:
			counts.unexplained++
			why = "unexplained"
			if !x.Difference.Comparable {
				why += ": " + sentence(x.Difference)
			}
		default:
			by[x.Verdict.Diagnosis]++
			why = strconv.Itoa(x.Verdict.Diagnosis + 1)
			switch e := x.Verdict.Explanation; {
			case e.Rounding && !e.Equal:
				why += ", up to rounding"
			case !e.Equal:
				why += fmt.Sprintf(", %s of the difference", command.Percent(float64(e.Explains)))
			}
		}
		t.Row(command.Printable(x.Name), largest, equal, why)
	}
	_ = t.Write(&b) // to memory
	if r.Equal {
		fmt.Fprintf(&b, "\n%s: all %d\n", colored(command.Green, "equal"), counts.equal)
		return b.String()
	}
	fmt.Fprintf(&b, "\n%s\n", colored(command.Red, fmt.Sprintf("%d of %s equal", counts.equal, command.Plural(len(r.Images), "image"))))
	for i, l := range r.Diagnoses {
		if len(l) == 0 {
			fmt.Fprintf(&b, "%d explains %s: equal up to float rounding\n", i+1, command.Plural(by[i], "image"))
			continue
		}
		fmt.Fprintf(&b, "%s\n", colored(command.Bold, fmt.Sprintf("%d explains %s:", i+1, command.Plural(by[i], "image"))))
		for _, c := range l {
			fmt.Fprintf(&b, "  - %s (%s)\n", c.Text, c.Name)
		}
	}
	for _, c := range []struct {
		n    int
		what string
	}{{counts.unexplained, "unexplained"}, {counts.damaged, "damaged"}, {counts.missing, "without a tensor"}} {
		if c.n > 0 {
			fmt.Fprintf(&b, "%s %s\n", command.Plural(c.n, "image"), c.what)
		}
	}
	if n := len(r.WithoutImage); n > 0 {
		fmt.Fprintf(&b, "%s without an image: %s\n", command.Plural(n, "tensor"), command.Printable(strings.Join(r.WithoutImage, ", ")))
	}
	if r.LeftOut > 0 {
		fmt.Fprintf(&b, "%s left out: no image\n", command.Plural(r.LeftOut, "other file"))
	}
	return b.String()
}
