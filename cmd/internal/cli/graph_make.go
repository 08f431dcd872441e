package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/transforms"
)

func (a *app) graphMakeCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "make OP [NAME=VALUE]... [OP [NAME=VALUE]...]...",
		Short: "Print the graph of a list of ops as JSON",
		Long: `Make prints the graph that runs ops one after another on an encoded image, as JSON for
--graph of other commands. Each op works on its usual columns, which are the image for
most. "infer-prep ops" lists the ops, and "infer-prep ops NAME" the parameters of one.
A parameter that holds ops is a list of JSON objects with op, version and params, all
of them: the defaults are for the ops that you name. A graph with random ops is for the
map node of a dataset, which draws for each sample; run draws the same for every image.
` + wordsHelp,
		Example: `  infer-prep graph make decode resize fit=shortest edge=256 center_crop to_tensor -o eval.json
  infer-prep graph make decode random_resized_crop scale=0.5,1 to_tensor -o train.json
  infer-prep graph make decode random_apply probability=0.2 'ops=[{"op":"invert","version":1,"params":{}}]'`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			var l []string
			for _, i := range transforms.Ops() {
				l = append(l, i.Name)
			}
			return l, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := a.makeGraph(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.writeIndented(cmd.Context(), out, g)
		},
	}
	addOutput(cmd, &out)
	return cmd
}

// makeGraph returns the graph of the ops that arguments name.
func (a *app) makeGraph(ctx context.Context, args []string) (*datagraph.Graph, error) {
	l, err := splitWords(args)
	if err != nil {
		return nil, usageErr("graph make: %w", err)
	}
	if len(l) == 0 {
		return nil, usageErr("graph make: want at least one op, such as decode")
	}
	var ops []transforms.Op
	for _, w := range l {
		i, err := transforms.Lookup(w.name)
		if err != nil {
			return nil, usageErr("graph make: unknown op %q%s", w.name, suggestOps(w.name))
		}
		params, err := a.wordsJSON(ctx, w, i.New())
		if err != nil {
			return nil, usageErr("graph make: %w", err)
		}
		op, err := transforms.MakeOp(w.name, params)
		if err != nil {
			return nil, usageErr("graph make: %w", err)
		}
		ops = append(ops, op)
	}
	g := datagraph.New(ops...)
	if err := g.Validate(); err != nil {
		return nil, usageErr("graph make %s: %w", strings.Join(args, " "), err)
	}
	return g, nil
}
