package source

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/store"
)

// DatasetFlags derive an inference graph from a dataset's definition.
type DatasetFlags struct {
	file, random, column string
	replace, outputs     []string
	Notes                []dataset.Note // set by parse
}

func (f *DatasetFlags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.file, "dataset", "", "derive the inference graph of the dataset defined in the JSON `FILE`; - reads standard input")
	fl.StringVar(&f.random, "random", "drop", "with --dataset, `WHAT` to do with random ops: drop or refuse")
	fl.StringArrayVar(&f.replace, "replace", nil, "with --dataset, replace a random op, `OP=NAME`; repeatable")
	fl.StringVar(&f.column, "dataset-column", "", "with --dataset, the source's `COLUMN` of the image; required if the source has several candidates")
	fl.StringSliceVar(&f.outputs, "dataset-outputs", nil, "with --dataset, the `COLUMNS` that the graph outputs, separated by commas")
	command.Complete(cmd, "random", "drop", "refuse")
	command.Must(cmd.MarkFlagFilename("dataset", "json"))
}

// Check refuses flags that need --dataset.
func (f *DatasetFlags) Check(cmd *cobra.Command) error {
	for _, name := range []string{"random", "replace", "dataset-column", "dataset-outputs"} {
		if cmd.Flags().Changed(name) && !cmd.Flags().Changed("dataset") {
			return command.UsageErr("--%s needs --dataset", name)
		}
	}
	return nil
}

// parse reads a definition, derives its graph and sets f.notes.
func (f *DatasetFlags) parse(ctx context.Context, b []byte) (*datagraph.Graph, error) {
	o := dataset.InferenceOptions{Column: f.column, Outputs: f.outputs, Replace: map[string]dataset.Replacement{}, Store: store.URI}
	switch f.random {
	case "drop":
	case "refuse":
		o.Random = dataset.RefuseRandom
	default:
		return nil, command.OneOf("random", f.random, "drop", "refuse")
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
			return nil, fmt.Errorf("--replace %q: want %s%s", s, command.OrList(want), registry.DidYouMean(s, want))
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
			return nil, fmt.Errorf("--replace %s: the definition does not apply such an op to the image", op)
		}
	}
	f.Notes = notes
	return g, nil
}
