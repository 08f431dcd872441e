package graph

import (
	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/datagraph"
)

// oneImage accepts at most one argument.
func oneImage(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return command.UsageErr("%s: want at most one image, got %d", command.CommandName(cmd), len(args))
	}
	return nil
}

// first returns the first argument, or "".
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func graphInferCmd(a *command.App) *cobra.Command {
	f := &source.GraphFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "infer [--preset NAME | --graph FILE | …] [IMAGE]",
		Short:                 "Print the types and shapes of a graph's outputs",
		DisableFlagsInUseLine: true,
		Args:                  oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := f.Load(cmd, a.Stdin)
			if err != nil {
				return err
			}
			r, err := InferGraph(cmd, f, g, first(args))
			if err != nil {
				return err
			}
			columns := func(names []string) (l []datagraph.Column) {
				for _, n := range names {
					l = append(l, datagraph.Column{Name: n, Desc: r.lastDesc(n)})
				}
				return l
			}
			if asJSON {
				return a.PrintJSON(struct {
					Image       string       `json:"image,omitempty"`
					Inputs      []columnJSON `json:"inputs"`
					Outputs     []columnJSON `json:"outputs"`
					SideOutputs []columnJSON `json:"side_outputs"`
				}{r.Image, columnsJSON(g.Inputs), columnsJSON(columns(g.Outputs)), columnsJSON(columns(g.SideOutputs))})
			}
			t := command.Table{}
			for _, c := range g.Inputs {
				t.Row("input", c.Name, c.Desc.String())
			}
			for _, c := range columns(g.Outputs) {
				t.Row("output", c.Name, c.Desc.String())
			}
			for _, c := range columns(g.SideOutputs) {
				t.Row("side output", c.Name, c.Desc.String())
			}
			return t.Write(a.Stdout)
		},
	}
	f.Add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, with -1 for an unknown size")
	return cmd
}
