package bundle

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/datagraph/diff"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/onnx"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// fitFlags connect a graph with a model.
type fitFlags struct {
	names     []string
	unchecked bool
}

func (f *fitFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.names, "name", nil, "rename an output of the graph to the model's input, `OUTPUT=INPUT`; repeatable; INPUT alone is enough for a single output")
	fl.BoolVar(&f.unchecked, "unchecked-model", false, "accept a graph or labels that do not fit the model")
}

// renameOutputs applies --name to a graph.
func (f *fitFlags) renameOutputs(g *datagraph.Graph) error {
	old := slices.Clone(g.Outputs)
	for _, n := range f.names {
		output, input, ok := strings.Cut(n, "=")
		if !ok && len(old) == 1 {
			output, input, ok = old[0], n, true
		}
		i := slices.Index(old, output)
		if !ok || i < 0 || input == "" {
			return command.UsageErr("--name %q: want OUTPUT=INPUT, where OUTPUT is %s", n, command.OrList(old))
		}
		if g.Outputs[i] != output {
			return command.UsageErr("--name %q: the output is named twice", n)
		}
		if input == output {
			continue
		}
		if slices.Contains(slices.Concat(g.Outputs, g.SideOutputs), input) {
			return command.UsageErr("--name %q: the graph has another output %s", n, input)
		}
		g.RenameOutput(i, input)
	}
	if len(f.names) > 0 {
		if err := g.Validate(); err != nil {
			return command.UsageErr("--name: %w", err)
		}
	}
	return nil
}

// fits refuses ONNX models that cannot take the graph's outputs, and labels
// that are not those of the model's classes. One of several models must take
// the outputs.
func (f *fitFlags) fits(c *modelbundle.Content) error {
	if f.unchecked {
		return nil
	}
	var errs []error
	for _, m := range c.Models {
		if m.Format != "onnx" {
			continue
		}
		err := onnx.CheckFit(m.Data, c.Graph, len(c.Labels))
		if err == nil {
			return nil
		}
		if errors.Is(err, onnx.ErrModel) {
			return command.FailErr("%s: %w", m.Name, err)
		}
		errs = append(errs, command.UsageErr("%s: %w%s", m.Name, err, mend(err)))
	}
	if len(errs) == 0 {
		return nil
	}
	return errs[0]
}

// mend returns how to make a graph or labels fit a model, as the end of an
// error.
func mend(err error) string {
	var e *onnx.FitError
	if !errors.As(err, &e) {
		return ""
	}
	const other = "; is it another model's graph? --unchecked-model accepts it"
	in := e.Inputs
	switch e.Problem {
	case onnx.FitName:
		if len(in) == 0 {
			return other
		}
		same := slices.DeleteFunc(slices.Clone(in), func(v onnx.Value) bool { return v.DType != e.Output.Desc.DType })
		if len(same) > 0 {
			in = same
		}
		return fmt.Sprintf("; --name %s=%s renames it", e.Output.Name, in[0].Name)
	case onnx.FitDType:
		if slices.Contains(source.DtypeNames(), in[0].DType.String()) {
			return fmt.Sprintf("; --dtype %v converts it", in[0].DType)
		}
	case onnx.FitLayout:
		want := tensor.CHW
		if e.Output.Desc.Layout == tensor.CHW {
			want = tensor.HWC
		}
		return fmt.Sprintf("; --layout %v converts it", want)
	case onnx.FitBatch:
		return "; export the model with a batch axis of any size, or form the batches in your program with --unchecked-model"
	case onnx.FitLabels:
		return "; want a --labels file of one line for each class, in the order of the scores"
	}
	return other
}

// proves runs the graph on a golden sample's image and compares it with the
// tensors of training. The error names the likely cause of a difference.
func (f *bundleCreateFlags) proves(ctx context.Context, g *datagraph.Graph, s *modelbundle.Golden, saved []tensor.Named) error {
	plan, err := f.Compile(g)
	if err != nil {
		return err
	}
	image := tensor.FromBytes(s.Input)
	out, err := plan.NewRunner().Run(image)
	if err != nil {
		return command.FailErr("%w", paths.Reason(err))
	}
	err = s.Compare(plan.Outputs(), out)
	var differs *modelbundle.MismatchError
	if !errors.As(err, &differs) {
		return command.WrapFail(err)
	}
	i := slices.IndexFunc(saved, func(n tensor.Named) bool { return n.Name == differs.Output })
	return command.FailErr("%w; %s", err, cause(ctx, g, differs.Output, image, saved[i].T, f.Limits))
}

// cause names the likely cause of a difference from another program's tensor,
// as diff does.
func cause(ctx context.Context, g *datagraph.Graph, output string, image, other *tensor.Tensor, limits codec.Limits) string {
	r, err := diff.Explain(ctx, g, output, image, other, diff.Options{Limits: limits, MaxExplanations: 1})
	none := "no usual difference of programs explains it"
	if err != nil || len(r.Explanations) == 0 {
		return none
	}
	x := r.Explanations[0]
	if len(x.Changes) == 0 && x.Rounding {
		return command.Remains(&x)
	}
	if len(x.Changes) == 0 {
		return none
	}
	switch text := changesText(x.Changes); {
	case x.Equal:
		return "the likely cause: " + text
	case x.Rounding:
		return "the likely cause, up to float rounding: " + text
	default:
		return fmt.Sprintf("the likely cause of %s of the difference: %s", command.Percent(float64(x.Explains)), text)
	}
}

// changesText describes changes on one line.
func changesText(changes []diff.Change) string {
	var l []string
	for _, c := range changes {
		l = append(l, fmt.Sprintf("%s (%s)", c.Text, c.Name))
	}
	return strings.Join(l, ", and ")
}

// backendLibraries are the libraries that a backend reproduces, as references
// names them.
var backendLibraries = map[transforms.Backend]string{
	transforms.Pillow: "Pillow", transforms.OpenCV: "OpenCV", transforms.OpenCV4: "OpenCV", transforms.OpenCVIPP: "OpenCV",
	transforms.Torch: "torchvision", transforms.TorchUint8: "torchvision", transforms.TorchUint8NoAVX2: "torchvision",
}

// graphLibraries returns the libraries, with versions, that the graph
// reproduces. They are those of its reference and of its ops' backends. An op
// with several equal references counts for the graph's own, if it is one.
func graphLibraries(g *datagraph.Graph) map[string]string {
	pixels := []string{"Pillow", "OpenCV"} // decoders and backends choose between these
	found := map[string]bool{}
	named := func(text string) (l []string) {
		for _, r := range command.References {
			if strings.Contains(strings.ToLower(text), strings.ToLower(r.Name)) {
				l = append(l, r.Name)
			}
		}
		return l
	}
	whole := named(g.Reference)
	for _, n := range whole {
		found[n] = true
	}
	for _, s := range g.Steps {
		l := named(transforms.InfoOf(s.Op).Reference)
		if d, ok := s.Op.(*transforms.Decode); ok {
			l = pixels[:1]
			if d.Color == codec.ToGray {
				l = pixels[1:]
			}
		} else if b, ok := backendOf(s.Op); ok {
			l = slices.DeleteFunc(l, func(n string) bool { return slices.Contains(pixels, n) || n == "torchvision" })
			if n := backendLibraries[b]; n != "" {
				l = append(l, n)
			}
		}
		if chosen := slices.DeleteFunc(slices.Clone(l), func(n string) bool { return slices.Contains(pixels, n) || !slices.Contains(whole, n) }); len(chosen) > 0 {
			l = slices.DeleteFunc(l, func(n string) bool { return !slices.Contains(pixels, n) && !slices.Contains(whole, n) })
		}
		for _, n := range l {
			found[n] = true
		}
	}
	m := map[string]string{}
	for _, r := range command.References {
		if found[r.Name] {
			m[r.Name] = r.Version
		}
	}
	return m
}

// backendOf returns the backend of an op that has one.
func backendOf(op transforms.Op) (transforms.Backend, bool) {
	v := reflect.Indirect(reflect.ValueOf(op))
	if v.Kind() != reflect.Struct {
		return 0, false
	}
	f := v.FieldByName("Backend")
	if !f.IsValid() {
		return 0, false
	}
	b, ok := f.Interface().(transforms.Backend)
	return b, ok
}
