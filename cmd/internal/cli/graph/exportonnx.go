package graph

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/onnx"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/tensor/npz"
)

// sizeFlag is the value HEIGHTxWIDTH of a flag.
type sizeFlag struct{ height, width int }

func (s *sizeFlag) Set(v string) error {
	h, w, ok := strings.Cut(v, "x")
	height, errH := strconv.Atoi(h)
	width, errW := strconv.Atoi(w)
	if !ok || errH != nil || errW != nil || height < 1 || width < 1 {
		return errors.New("want a height and width in pixels, such as 480x640")
	}
	*s = sizeFlag{height, width}
	return nil
}

func (s *sizeFlag) String() string {
	if *s == (sizeFlag{}) {
		return ""
	}
	return fmt.Sprintf("%dx%d", s.height, s.width)
}

func (s *sizeFlag) Type() string { return "HEIGHTxWIDTH" }

type portJSON struct {
	Name   string `json:"name"`
	Column string `json:"column"`
	tensor.Desc
}

func portsJSON(ports []onnx.Port) []portJSON {
	l := []portJSON{}
	for _, p := range ports {
		l = append(l, portJSON{p.Name, p.Column, p.Desc})
	}
	return l
}

type exportONNXFlags struct {
	source.GraphFlags
	options          onnx.Options
	form, merge, out string
	size, tapsFor    sizeFlag
	asJSON           bool
}

func graphExportONNXCmd(a *command.App) *cobra.Command {
	f := &exportONNXFlags{}
	cmd := &cobra.Command{
		Use:                   "export-onnx [--preset NAME | --graph FILE | …] -o FILE",
		Short:                 "Write the steps after decoding as an ONNX model",
		DisableFlagsInUseLine: true,
		Args:                  command.NoArgs,
		ValidArgsFunction:     cobra.NoFileCompletions,
		RunE:                  func(cmd *cobra.Command, _ []string) error { return exportONNX(a, cmd, f) },
	}
	f.Add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.form, "form", "exact", "`FORM` of the model: exact, fast or tail")
	fl.Var(&f.size, "input-size", "size of every decoded image (default any size)")
	fl.BoolVar(&f.options.HostTaps, "host-taps", false, "with --form exact, make the taps of resizes inputs of the model")
	fl.Var(&f.tapsFor, "taps-for", "with --host-taps, also write the taps for images of this size to FILE.HEIGHTxWIDTH.npz")
	fl.IntVar(&f.options.Opset, "opset", 0, fmt.Sprintf("`VERSION` of ai.onnx, %d to %d (default %d, or that of the model to merge)", onnx.MinOpset, onnx.MaxOpset, onnx.DefaultOpset))
	fl.BoolVar(&f.options.Batch, "batch", false, "add a batch axis of 1 in front of every output")
	fl.StringVar(&f.merge, "merge", "", "put the steps in front of the model in `FILE`")
	fl.StringVarP(&f.out, "output", "o", "", "write the model to `FILE`")
	fl.BoolVar(&f.asJSON, "json", false, "print the model's inputs and outputs as one JSON object, with -1 for an unknown size")
	command.Must(cmd.MarkFlagFilename("output", "onnx"))
	command.Must(cmd.MarkFlagFilename("merge", "onnx"))
	command.Complete(cmd, "form", "exact", "fast", "tail")
	return cmd
}

// exportONNX writes the model, or two models if they cannot be merged.
func exportONNX(a *command.App, cmd *cobra.Command, f *exportONNXFlags) error {
	var err error
	if f.options.Form, err = onnx.ParseForm(f.form); err != nil {
		return command.OneOf("form", f.form, "exact", "fast", "tail")
	}
	if f.out == "" {
		return command.UsageErr("no output file: want -o FILE")
	}
	if f.tapsFor != (sizeFlag{}) && !f.options.HostTaps {
		return command.UsageErr("--taps-for needs --host-taps")
	}
	f.options.Height, f.options.Width = f.size.height, f.size.width
	g, err := f.Load(cmd, a.Stdin)
	if err != nil {
		return err
	}
	var model []byte
	var e *onnx.Exported
	if f.merge != "" {
		if model, err = source.ReadSmall(cmd.Context(), f.merge, a.Stdin, math.MaxInt32); err != nil {
			return command.WrapFail(err)
		}
		e, err = onnx.Merge(g, f.options, model)
		if errors.Is(err, onnx.ErrModel) {
			return command.FailErr("%s: %w", f.merge, err)
		}
	} else {
		e, err = onnx.Export(g, f.options)
	}
	files := map[string][]byte{}
	apart := errors.Is(err, onnx.ErrMerge)
	ext := filepath.Ext(f.out)
	before, after := strings.TrimSuffix(f.out, ext)+".preprocess"+ext, strings.TrimSuffix(f.out, ext)+".model"+ext
	if apart {
		a.Complain(fmt.Errorf("%s: %w: writing %s and %s instead, to run one after the other", f.merge, err, before, after))
		f.options.Batch = true
		e, err = onnx.Export(g, f.options)
	}
	if err != nil {
		return command.UsageErr("%w%s", err, f.opsetHint(g, err))
	}
	path := f.out
	if apart {
		path, files[after] = before, model
	}
	files[path] = e.Model
	if f.tapsFor != (sizeFlag{}) {
		taps, err := e.Taps(f.tapsFor.height, f.tapsFor.width)
		if err != nil {
			return command.FailErr("--taps-for %s: %w", f.tapsFor.String(), err)
		}
		if err := newfile.Write(cmd.Context(), path+"."+f.tapsFor.String()+".npz", func(w io.Writer) error { return npz.Write(w, taps) }); err != nil {
			return command.WrapFail(err)
		}
	}
	for path, b := range files {
		err := newfile.Write(cmd.Context(), path, func(w io.Writer) error {
			_, err := w.Write(b)
			return err
		})
		if err != nil {
			return command.WrapFail(err)
		}
	}
	return printExport(a, e, g, f.asJSON)
}

// opsetHint says which flags help if a step needs a newer opset than that of
// the model to merge.
func (f *exportONNXFlags) opsetHint(g *datagraph.Graph, err error) string {
	var step *onnx.StepError
	if f.merge == "" || !errors.As(err, &step) {
		return ""
	}
	o := f.options
	o.Opset = onnx.DefaultOpset
	if _, err := onnx.Export(g, o); err != nil {
		return ""
	}
	return fmt.Sprintf("; want --form exact --input-size HEIGHTxWIDTH, or a model of opset %d; without --merge, --opset %d writes the steps alone to %s",
		o.Opset, o.Opset, f.out)
}

// printExport prints a model's inputs and outputs.
func printExport(a *command.App, e *onnx.Exported, g *datagraph.Graph, asJSON bool) error {
	if asJSON {
		x := struct {
			First   int        `json:"first_step"`
			Within1 []int      `json:"steps_within_1"`
			Inputs  []portJSON `json:"inputs"`
			Merged  []portJSON `json:"merged_inputs,omitempty"`
			Outputs any        `json:"outputs"`
			Host    []string   `json:"host_outputs"`
		}{e.First, append([]int{}, e.Within1...), portsJSON(e.Inputs), nil, portsJSON(e.Outputs), e.Host.Outputs}
		if e.ModelOutputs != nil {
			x.Merged, x.Outputs = portsJSON(e.Outputs), valuesJSON(e.ModelOutputs)
		}
		return a.PrintJSON(x)
	}
	t := command.Table{}
	t.Row("steps", fmt.Sprintf("%d to %d of %d", e.First, len(g.Steps)-1, len(g.Steps)))
	for _, p := range e.Inputs {
		t.Row("input", p.Name, p.Desc.String())
	}
	kind := "output"
	if e.ModelOutputs != nil {
		kind = "merged" // an input of the other model, and no output of this one
	}
	for _, p := range e.Outputs {
		t.Row(kind, p.Name, p.Desc.String())
	}
	for _, v := range e.ModelOutputs {
		t.Row("output", v.Name, strings.TrimSuffix(strings.TrimPrefix(v.String(), v.Name+" ("), ")"))
	}
	return t.Write(a.Stdout)
}

// valueJSON is an output of a merged model. Its type is empty if it is no
// tensor of a supported type; no shape means that the model states none.
type valueJSON struct {
	Name  string  `json:"name"`
	DType string  `json:"dtype,omitempty"`
	Shape []int64 `json:"shape,omitempty"`
}

func valuesJSON(l []onnx.Value) []valueJSON {
	var out []valueJSON
	for _, v := range l {
		x := valueJSON{Name: v.Name, Shape: v.Dims}
		if v.DType != tensor.Invalid {
			x.DType = v.DType.String()
		}
		out = append(out, x)
	}
	return out
}
