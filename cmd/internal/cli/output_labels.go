package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
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

// prediction is a class with its score.
type prediction struct {
	Label string  `json:"label"`
	Index int     `json:"index"`
	Score float64 `json:"score"`
}

// predictions is a sink that ranks the classes of each image and passes the
// outputs on.
type predictions struct {
	sink
	labels  []string
	top     int
	softmax bool
	// strict fails an image whose outputs have no score for each label.
	strict bool
}

// newPredictions returns the sink in front of to, or to itself if there is
// nothing to print. to is nil without an output folder.
func (f *runFlags) newPredictions(cmd *cobra.Command, to sink, on *device.Pool, infer bool) (sink, error) {
	asked := firstChanged(cmd, "top", "softmax")
	why := ""
	switch {
	case f.top < 0:
		return nil, usageErr("--top %d: want at least 0", f.top)
	case !infer:
		why = "no model runs: want --infer or --model"
	case len(f.labels) == 0:
		why = "the labels are unknown: want a --bundle that has some"
	case !slices.ContainsFunc(on.Outputs(), func(c datagraph.Column) bool { return mayScore(c.Desc, len(f.labels)) }):
		why = fmt.Sprintf("no output of the model has a score for each of the %s", plural(len(f.labels), "label"))
	}
	switch {
	case why != "" && asked != "" && f.top > 0:
		return nil, usageErr("--%s: %s", asked, why)
	case why != "" || f.top == 0 || f.quiet && asked == "" && to != nil && !f.json:
		if to == nil {
			return nil, usageErr("no output folder: want -o DIR, or -o - for standard output%s", labelHint(f, why))
		}
		return to, nil
	case f.out == "-":
		if asked != "" {
			return nil, usageErr("--%s and -o - both write to standard output: want only one of them", asked)
		}
		return to, nil
	}
	p := &predictions{sink: to, labels: f.labels, top: f.top, softmax: f.softmax, strict: asked != "" || to == nil}
	if to == nil {
		p.sink = nothing{}
	}
	return p, nil
}

// labelHint says why a run without an output folder prints no labels either.
func labelHint(f *runFlags, why string) string {
	if why == "" || !f.infer {
		return ""
	}
	return "; no labels are printed, since " + why
}

// nothing is a sink that writes nothing.
type nothing struct{}

func (nothing) ready(context.Context) error { return nil }
func (nothing) write(string, []*tensor.Tensor) (written, error) {
	return written{results: []result{}}, nil
}
func (nothing) add(o outcome) ([]outcome, error) { return []outcome{o}, nil }
func (nothing) close() ([]outcome, error)        { return nil, nil }
func (nothing) abort() error                     { return nil }

// write ranks the classes, and writes what the sink behind it writes.
func (s *predictions) write(name string, out []*tensor.Tensor) (written, error) {
	best, err := s.best(out)
	if err != nil {
		return written{}, err
	}
	w, err := s.sink.write(name, out)
	w.best = best
	return w, err
}

// best returns the best classes of the first output with a score for each
// label, the best first. Equal scores are in the order of the classes, and NaN
// is the last.
func (s *predictions) best(out []*tensor.Tensor) ([]prediction, error) {
	i := slices.IndexFunc(out, func(t *tensor.Tensor) bool { return mayScore(t.Desc, len(s.labels)) })
	if i < 0 {
		if !s.strict {
			return nil, nil
		}
		var l []string
		for _, t := range out {
			l = append(l, t.Desc.String())
		}
		return nil, fmt.Errorf("no output has a score for each of the %s: the outputs are %s", plural(len(s.labels), "label"), strings.Join(l, ", "))
	}
	t := out[i]
	if !t.Dense() {
		t = t.Clone()
	}
	at := tensor.Float64s(t)
	l := make([]prediction, len(s.labels))
	for i := range l {
		l[i] = prediction{s.labels[i], i, at(i)}
	}
	if s.softmax {
		softmax(l)
	}
	slices.SortStableFunc(l, func(a, b prediction) int { return cmp.Compare(b.Score, a.Score) }) // NaN is less than all
	return slices.Clip(l[:min(s.top, len(l))]), nil
}

// softmax replaces scores by probabilities, in float64.
func softmax(l []prediction) {
	most := math.Inf(-1)
	for _, p := range l {
		most = max(most, p.Score)
	}
	sum := 0.0
	for i := range l {
		l[i].Score = exactmath.Exp(l[i].Score - most)
		sum += l[i].Score
	}
	for i := range l {
		l[i].Score /= sum
	}
}

// mayScore reports whether a tensor can hold one score for each of n classes of
// one image. It is of floats, and has n elements on one axis besides axes of 1.
// A size that is not known counts as any.
func mayScore(d tensor.Desc, n int) bool {
	if !isFloat(d.DType) || d.Shape.Rank() == 0 {
		return false
	}
	found, open := false, 0
	for _, size := range d.Shape.Slice() {
		switch {
		case size == tensor.Unknown:
			open++
		case size == n && !found && n > 1:
			found = true
		case size != 1:
			return false
		}
	}
	return found || open > 0 || n == 1
}

// printBest prints an image's best classes, one a line: path, label and score,
// with tabs between them. Scores have six digits: further ones depend on the
// machine.
func (a *app) printBest(path string, l []prediction) error {
	var b strings.Builder
	for i, p := range l {
		label := printable(p.Label)
		if i == 0 {
			label = a.colored(a.stdout, bold, label)
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\n", printable(path), label, strconv.FormatFloat(p.Score, 'g', 6, 64))
	}
	_, err := io.WriteString(a.stdout, b.String())
	return err
}
