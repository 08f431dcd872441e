package run

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/job"
)

// topFlags print the best classes of a model.
type topFlags struct {
	top     int
	softmax bool
}

func (f *topFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.IntVar(&f.top, "top", 5, "with --infer and a bundle that has labels, print the best `N` labels of each image with their scores; 0 prints none")
	fl.BoolVar(&f.softmax, "softmax", false, "print probabilities, the softmax of the scores: for models whose output is logits")
}

// newLabels returns the labels to print, or nil if there are none to print.
// outputs are those of the model.
func (f *runFlags) newLabels(cmd *cobra.Command, outputs []datagraph.Column) (*job.Labels, error) {
	asked := command.FirstChanged(cmd, "top", "softmax")
	l := &job.Labels{Names: f.Labels, Top: f.top, Softmax: f.softmax, Required: asked != "" || f.out == ""}
	why := ""
	switch {
	case f.top < 0:
		return nil, command.UsageErr("--top %d: want at least 0", f.top)
	case outputs == nil:
		why = "no model runs: want --infer or --model"
	case len(f.Labels) == 0:
		why = "the labels are unknown: want a --bundle that has some"
	case !slices.ContainsFunc(outputs, func(c datagraph.Column) bool { return l.Fit(c.Desc) }):
		why = fmt.Sprintf("no output of the model has a score for each of the %s", command.Plural(len(f.Labels), "label"))
	}
	switch {
	case why != "" && asked != "" && f.top > 0:
		return nil, command.UsageErr("--%s: %s", asked, why)
	case why != "" || f.top == 0 || f.quiet && asked == "" && f.out != "" && !f.json:
		if f.out == "" {
			return nil, command.UsageErr("no output folder: want -o DIR, or -o - for standard output%s", labelHint(f, why))
		}
		return nil, nil
	case f.out == "-":
		if asked != "" {
			return nil, command.UsageErr("--%s and -o - both write to standard output: want only one of them", asked)
		}
		return nil, nil
	}
	return l, nil
}

// labelHint says why a run without an output folder prints no labels either.
func labelHint(f *runFlags, why string) string {
	if why == "" || !f.Infer {
		return ""
	}
	return "; no labels are printed, since " + why
}

// printBest prints an image's best classes, one a line: path, label and score,
// with tabs between them. Scores have six digits: further ones depend on the
// machine.
func printBest(a *command.App, path string, l []job.Label) error {
	var b strings.Builder
	for i, p := range l {
		label := command.Printable(p.Label)
		if i == 0 {
			label = a.Colored(a.Stdout, command.Bold, label)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\n", command.Printable(path), label, strconv.FormatFloat(p.Score, 'g', 6, 64))
	}
	_, err := io.WriteString(a.Stdout, b.String())
	return err
}
