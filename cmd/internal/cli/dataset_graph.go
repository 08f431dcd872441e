package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
)

// datasetFlags make an inference graph of a dataset's definition.
type datasetFlags struct {
	file, random, column string
	replace, outputs     []string
	notes                []dataset.Note // that parse made
}

func datasetHelp() string {
	var b strings.Builder
	b.WriteString(`Print a graph as JSON, to keep and to give to --graph.

--dataset takes the definition of a training's dataset, as train-bench does, and
makes the graph for inference of it: what its maps do to one image, the same each
time. Random ops are left out, and each is named on standard error, or, with
--random refuse, they are an error. --replace puts other ops in their place:
`)
	for _, r := range dataset.Replacements() {
		fmt.Fprintf(&b, "\n  %-20s %s; for %s", r.Name, r.Doc, strings.Join(r.For, ", "))
	}
	return b.String()
}

func (f *datasetFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.file, "dataset", "", "the inference graph of the dataset that `FILE` defines, as JSON; - reads standard input")
	fl.StringVar(&f.random, "random", "drop", "with --dataset, `WHAT` becomes of random ops: drop or refuse")
	fl.StringArrayVar(&f.replace, "replace", nil, "with --dataset, replace a random op, as `OP=NAME`; may be given several times")
	fl.StringVar(&f.column, "dataset-column", "", "with --dataset, the `COLUMN` of the source that has the image, where that is not clear")
	fl.StringSliceVar(&f.outputs, "dataset-outputs", nil, "with --dataset, the `COLUMNS` that the graph gives, with commas between")
	complete(cmd, "random", "drop", "refuse")
	noErr(cmd.MarkFlagFilename("dataset", "json"))
}

// check refuses flags that only --dataset has a meaning for.
func (f *datasetFlags) check(cmd *cobra.Command) error {
	for _, name := range []string{"random", "replace", "dataset-column", "dataset-outputs"} {
		if cmd.Flags().Changed(name) && !cmd.Flags().Changed("dataset") {
			return usageErr("--%s wants --dataset", name)
		}
	}
	return nil
}

// parse reads a definition, and makes the graph and the notes.
func (f *datasetFlags) parse(ctx context.Context, b []byte) (*datagraph.Graph, error) {
	o := dataset.InferenceOptions{Column: f.column, Outputs: f.outputs, Replace: map[string]dataset.Replacement{}}
	switch f.random {
	case "drop":
	case "refuse":
		o.Random = dataset.RefuseRandom
	default:
		return nil, fmt.Errorf("--random %q: want drop or refuse", f.random)
	}
	all := dataset.Replacements()
	for _, s := range f.replace {
		op, name, ok := strings.Cut(s, "=")
		i := slices.IndexFunc(all, func(r dataset.NamedReplacement) bool { return r.Name == name })
		if !ok || i < 0 || !slices.Contains(all[i].For, op) {
			var want []string
			for _, r := range all {
				for _, op := range r.For {
					want = append(want, op+"="+r.Name)
				}
			}
			return nil, fmt.Errorf("--replace %q: want one of %s", s, strings.Join(want, ", "))
		}
		o.Replace[op] = all[i].With
	}
	var d dataset.Dataset
	if err := d.UnmarshalJSON(b); err != nil {
		return nil, err
	}
	g, notes, err := dataset.InferenceGraph(ctx, &d, o)
	if err != nil {
		return nil, err
	}
	for _, s := range f.replace {
		op, _, _ := strings.Cut(s, "=")
		if !slices.ContainsFunc(notes, func(n dataset.Note) bool { return n.Op == op }) {
			return nil, fmt.Errorf("--replace %s: the definition has no such op on the way of the image", op)
		}
	}
	f.notes = notes
	return g, nil
}
