package graph

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/opdoc"
	"github.com/infer-prep/infer-prep/internal/registry"
)

func DatasetCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dataset",
		Short: "Make definitions of datasets, and list their nodes",
		Args:  command.OneOfCommands,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(datasetMakeCmd(a), datasetNodesCmd(a))
	return cmd
}

func datasetMakeCmd(a *command.App) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:                   "make SOURCE [NAME=VALUE]... [NODE [NAME=VALUE]...]...",
		Short:                 "Print a definition as JSON",
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeNodes,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := makeDataset(cmd.Context(), a, args)
			if err != nil {
				return err
			}
			return writeIndented(cmd.Context(), a, out, d)
		},
	}
	addOutput(cmd, &out)
	return cmd
}

func completeNodes(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var l []string
	for _, i := range dataset.Nodes() {
		l = append(l, i.Name)
	}
	return l, cobra.ShellCompDirectiveNoFileComp
}

// makeDataset returns the definition of the nodes that arguments name.
func makeDataset(ctx context.Context, a *command.App, args []string) (*dataset.Dataset, error) {
	l, err := splitWords(args)
	if err != nil {
		return nil, command.UsageErr("dataset make: %w", err)
	}
	var in []*dataset.Dataset // those that no node has taken yet
	for _, w := range l {
		if file, ok := strings.CutPrefix(w.name, "@"); ok {
			d, err := source.ReadDefinition(ctx, file, a.Stdin)
			if err != nil {
				return nil, err
			}
			in = append(in, d)
			continue
		}
		i, err := lookupNode(w.name)
		if err != nil {
			return nil, command.UsageErr("dataset make: %w", err)
		}
		params, err := wordsJSON(ctx, a, w, i.New())
		if err != nil {
			return nil, command.UsageErr("dataset make: %w", err)
		}
		n, err := dataset.MakeNode(w.name, params)
		if err != nil {
			return nil, command.UsageErr("dataset make: %w", err)
		}
		if _, ok := n.(dataset.Source); ok {
			in = append(in, dataset.Of(n))
			continue
		}
		if len(in) == 0 {
			return nil, command.UsageErr("dataset make: %s: want a source before it", w.name)
		}
		in = []*dataset.Dataset{dataset.Of(n, in...)}
	}
	if len(in) == 0 {
		return nil, command.UsageErr("dataset make: want a source, such as image_folder")
	}
	if len(in) > 1 {
		return nil, command.UsageErr("dataset make: %d sources, want one, or a node such as zip or concat after them", len(in))
	}
	return in[0], nil
}

func lookupNode(name string) (dataset.Info, error) {
	var all []string
	for _, i := range dataset.Nodes() {
		if i.Name == name {
			return i, nil
		}
		all = append(all, i.Name)
	}
	return dataset.Info{}, fmt.Errorf("unknown node %q%s", name, cmp.Or(registry.DidYouMean(name, all), "; \""+command.Program+" dataset nodes\" lists the nodes"))
}

func datasetNodesCmd(a *command.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "nodes [NAME]",
		Short: "List the sources and the other nodes, or describe one",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.UsageErr("dataset nodes: want at most one name, got %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: completeNodes,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listNodes(a, asJSON)
			}
			i, err := lookupNode(args[0])
			if err != nil {
				return command.UsageErr("dataset nodes: %w", err)
			}
			d := describeNode(i)
			if asJSON {
				return a.PrintJSON(d)
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%s, version %d: %s\n\n%s\n", d.Name, d.Version, d.Kind, d.Doc)
			if err := printParams(&b, d.Parameters); err != nil {
				return err
			}
			_, err = io.WriteString(a.Stdout, b.String())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// NodeJSON is a node as --json prints it.
type NodeJSON struct {
	Name       string      `json:"name"`
	Version    int         `json:"version"`
	Kind       string      `json:"kind"` // source or node
	Summary    string      `json:"summary"`
	Doc        string      `json:"doc"`
	Parameters []paramJSON `json:"parameters"`
}

func describeNode(i dataset.Info) NodeJSON {
	n := i.New()
	d := NodeJSON{Name: i.Name, Version: i.Version, Kind: "node", Summary: i.Doc, Parameters: []paramJSON{}}
	if _, ok := n.(dataset.Source); ok {
		d.Kind = "source"
	}
	doc, _ := opdoc.LookupNode(i.Name)
	d.Doc = strings.TrimSpace(doc.Doc)
	d.Parameters = describeParams(reflect.ValueOf(n).Elem(), doc.Fields)
	return d
}

func listNodes(a *command.App, asJSON bool) error {
	l := []NodeJSON{}
	for _, i := range dataset.Nodes() {
		l = append(l, describeNode(i))
	}
	if asJSON {
		return a.PrintJSON(l)
	}
	t := command.Table{}
	t.Row("NODE", "KIND", "")
	for _, n := range l {
		t.Row(n.Name, n.Kind, n.Summary)
	}
	return t.Write(a.Stdout)
}
