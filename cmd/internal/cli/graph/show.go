package graph

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/transforms"
)

// showFlags are the flags of graph show.
type showFlags struct {
	source.GraphFlags
	sheet       sheetFlags
	tree        treeFlags
	asJSON, all bool
	svg, steps  string
}

func graphShowCmd(a *command.App) *cobra.Command {
	f := &showFlags{}
	cmd := &cobra.Command{
		Use:                   "show [--preset NAME | --graph FILE | …] [--svg FILE] [--steps DIR] [IMAGE] | show --sheet FILE IMAGE... | show --dataset FILE",
		Short:                 "Show a graph's steps with their parameters and shapes",
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.sheet.file != "" || cmd.Flags().Changed("dataset") {
				return nil
			}
			return oneImage(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return show(a, cmd, f, args) },
	}
	f.Add(cmd)
	f.sheet.add(cmd)
	f.tree.add(cmd)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object, with -1 for an unknown size")
	cmd.Flags().BoolVar(&f.all, "all", false, "show parameters with their default too")
	cmd.Flags().StringVar(&f.svg, "svg", "", "draw the graph to `FILE`; - writes standard output")
	cmd.Flags().StringVar(&f.steps, "steps", "", "run the graph on IMAGE and write the outputs of every step to `DIR`, with pictures")
	command.Must(cmd.MarkFlagFilename("svg", "svg"))
	command.Must(cmd.MarkFlagDirname("steps"))
	return cmd
}

// show shows a dataset, a contact sheet or a graph.
func show(a *command.App, cmd *cobra.Command, f *showFlags, args []string) error {
	if cmd.Flags().Changed("dataset") {
		if with := command.OtherThan(cmd, "dataset", "passes", "svg", "json", "all", "allow-outside", "allow-plugin"); with != "" {
			return command.UsageErr("--dataset and --%s: want only one", with)
		}
		if len(args) > 0 {
			return command.UsageErr("--dataset takes no IMAGE, got %q", args[0])
		}
		return showTree(cmd.Context(), a, &f.tree, f.sheet.outside, f.all, f.asJSON, f.svg)
	}
	if f.tree.passes {
		return command.UsageErr("--passes needs --dataset")
	}
	if f.sheet.file != "" {
		if with := command.FirstChanged(cmd, "svg", "steps", "json", "all"); with != "" {
			return command.UsageErr("--sheet and --%s: want only one", with)
		}
		g, err := f.Load(cmd, a.Stdin)
		if err != nil {
			return err
		}
		return writeSheet(a, cmd, &f.GraphFlags, &f.sheet, g, args)
	}
	if with := command.FirstChanged(cmd, "limit", "cell", "allow-outside"); with != "" {
		return command.UsageErr("--%s needs --sheet", with)
	}
	return showGraph(a, cmd, f, first(args))
}

// showGraph shows a graph, with the sizes of an image if there is one.
func showGraph(a *command.App, cmd *cobra.Command, f *showFlags, image string) error {
	if f.steps != "" && image == "" {
		return command.UsageErr("--steps needs an IMAGE")
	}
	g, err := f.Load(cmd, a.Stdin)
	if err != nil {
		return err
	}
	r, err := InferGraph(cmd, &f.GraphFlags, g, image)
	if err != nil {
		return err
	}
	draw := func(w io.Writer) error {
		_, err := io.WriteString(w, DrawSVG(r, f.all))
		return err
	}
	switch f.svg {
	case "":
	case "-":
		err = draw(a.Stdout)
	default:
		err = command.WrapFail(newfile.Write(cmd.Context(), f.svg, draw))
	}
	if err != nil {
		return err
	}
	if f.steps != "" {
		if err := writeSteps(cmd.Context(), r, f.steps); err != nil {
			return err
		}
	}
	switch {
	case f.asJSON:
		return showJSON(a, r)
	case f.svg != "" || f.steps != "":
		return nil
	}
	return showTable(a, r, f.all)
}

func showJSON(a *command.App, r *Inferred) error {
	steps, err := r.json()
	if err != nil {
		return err
	}
	side := r.Graph.SideOutputs
	if side == nil {
		side = []string{}
	}
	return a.PrintJSON(struct {
		Reference   string       `json:"reference,omitempty"`
		Image       string       `json:"image,omitempty"`
		Inputs      []columnJSON `json:"inputs"`
		Steps       []stepJSON   `json:"steps"`
		Outputs     []string     `json:"outputs"`
		SideOutputs []string     `json:"side_outputs"`

		Batch []datagraph.BatchColumn `json:"batch,omitempty"`
	}{r.Graph.Reference, r.Image, columnsJSON(r.Graph.Inputs), steps, r.Graph.Outputs, side, r.Graph.Batch})
}

func showTable(a *command.App, r *Inferred, all bool) error {
	var b strings.Builder
	if r.Graph.Reference != "" {
		fmt.Fprintf(&b, "reference  %s\n", r.Graph.Reference)
	}
	for _, c := range r.Graph.Inputs {
		fmt.Fprintf(&b, "input      %s: %v\n", c.Name, c.Desc)
	}
	for _, l := range r.Graph.Roles {
		fmt.Fprintf(&b, "role       %s: %v", l.Column, l.Kind)
		if l.Kind == transforms.RoleBoxes {
			fmt.Fprintf(&b, " %v, clamping %v,", l.Format, l.Clamping)
		}
		fmt.Fprintf(&b, " of %s\n", l.Image)
	}
	b.WriteString("\n")
	t := command.Table{}
	t.Row("STEP", "OP", "COLUMNS", "IN", "OUT", "PARAMETERS")
	for i, s := range r.steps {
		cols := columnNames(s.In)
		if out := columnNames(s.Out); out != cols {
			cols += " -> " + out
		}
		lines := wrapParams(params(r.Graph.Steps[i].Op, all), 60)
		for j := range max(len(lines), len(s.In), len(s.Out)) {
			row := make([]string, 6)
			if j == 0 {
				copy(row, []string{fmt.Sprint(i), s.Op, cols})
			}
			if j < len(s.In) {
				row[3] = s.In[j].Desc.String()
			}
			if j < len(s.Out) {
				row[4] = s.Out[j].Desc.String()
			}
			if j < len(lines) {
				row[5] = lines[j]
			}
			t.Row(row...)
		}
	}
	if err := t.Write(&b); err != nil {
		return err
	}
	b.WriteString("\n")
	for _, o := range r.Graph.Outputs {
		fmt.Fprintf(&b, "output     %s: %v\n", o, r.lastDesc(o))
	}
	for _, o := range r.Graph.SideOutputs {
		fmt.Fprintf(&b, "side       %s: %v\n", o, r.lastDesc(o))
	}
	for _, c := range r.Graph.Batch {
		fmt.Fprintf(&b, "batch      %s: %v", c.Column, c.Rule)
		if c.Rule == datagraph.BatchPad {
			fmt.Fprintf(&b, " with %v", c.Value)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(a.Stdout, b.String())
	return err
}

// wrapParams puts parameters on lines of at most width characters. It never
// breaks one.
func wrapParams(l []param, width int) []string {
	var lines []string
	for _, p := range l {
		s := joinParams([]param{p})
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(s) <= width {
			lines[n-1] += " " + s
		} else {
			lines = append(lines, s)
		}
	}
	return lines
}
