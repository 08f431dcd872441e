package graph

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

func graphMakeCmd(a *command.App) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:                   "make OP [NAME=VALUE]... [OP [NAME=VALUE]...]...",
		Short:                 "Print the graph of a list of ops as JSON",
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var l []string
			for _, i := range transforms.Ops() {
				l = append(l, i.Name)
			}
			return l, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := makeGraph(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			return writeIndented(cmd.Context(), a, out, g)
		},
	}
	addOutput(cmd, &out)
	return cmd
}

// makeGraph returns the graph of the ops that arguments name.
func makeGraph(ctx context.Context, a *command.App, args []string) (*datagraph.Graph, error) {
	l, err := splitWords(args)
	if err != nil {
		return nil, command.UsageErr("graph make: %w", err)
	}
	if len(l) == 0 {
		return nil, command.UsageErr("graph make: want at least one op, such as decode")
	}
	var ops []transforms.Op
	for _, w := range l {
		i, err := transforms.Lookup(w.name)
		if err != nil {
			return nil, command.UsageErr("graph make: unknown op %q%s", w.name, suggestOps(w.name))
		}
		params, err := wordsJSON(ctx, a, w, i.New())
		if err != nil {
			return nil, command.UsageErr("graph make: %w", err)
		}
		op, err := transforms.MakeOp(w.name, params)
		if err != nil {
			return nil, command.UsageErr("graph make: %w", err)
		}
		ops = append(ops, op)
	}
	g := datagraph.New(ops...)
	keepFile(g)
	if err := g.Validate(); err != nil {
		return nil, command.UsageErr("graph make %s: %w", strings.Join(args, " "), err)
	}
	if _, err := g.Infer(); err != nil && len(g.Inputs) == 1 {
		decoded := *g
		desc := tensor.Image(tensor.Uint8, tensor.HWC, tensor.Unknown, tensor.Unknown, 3)
		if g.Inputs[0].Name == datagraph.Sound {
			desc = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(tensor.Unknown)}
		}
		decoded.Inputs = []datagraph.Column{{Name: g.Inputs[0].Name, Desc: desc}}
		if _, err := decoded.Infer(); err == nil {
			return &decoded, nil
		}
	}
	return g, nil
}

// fileColumn is the input of ops that read the encoded image again, such as
// modality_lut.
const fileColumn = "file"

// keepFile gives the encoded image a column of its own, if an op needs it after
// it was decoded.
func keepFile(g *datagraph.Graph) {
	if !slices.ContainsFunc(g.Steps, func(s datagraph.Step) bool { return slices.Contains(s.In, fileColumn) }) {
		return
	}
	g.Inputs[0].Name = fileColumn
	for _, s := range g.Steps {
		for i, c := range s.In {
			if c == datagraph.Image {
				s.In[i] = fileColumn
			}
		}
		if slices.Contains(s.Out, datagraph.Image) {
			return
		}
	}
}
