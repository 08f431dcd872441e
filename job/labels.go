package job

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/sorts"
	"github.com/infer-prep/infer-prep/tensor"
)

// Labels ranks the classes of each image by their scores: of the first output
// with a floating-point score for each label.
type Labels struct {
	Names   []string // of the classes, in the order of the scores
	Top     int      // how many of the best ones a Result has
	Softmax bool     // rank probabilities, the softmax of the scores
	// Required fails an image whose outputs have no score for each label.
	Required bool
}

// Label is a class with its score.
type Label struct {
	Label string  `json:"label"`
	Index int     `json:"index"`
	Score float64 `json:"score"`
}

// Fit reports whether an output can hold one score for each label. It is of
// floats, and has as many elements on one axis besides axes of 1. An unknown
// size counts as any.
func (l *Labels) Fit(d tensor.Desc) bool { return mayScore(d, len(l.Names)) }

// ranked is a sink that ranks the classes of each image and passes the outputs
// on.
type ranked struct {
	sink
	labels Labels
}

// write ranks the classes, and writes what the sink behind it writes.
func (s *ranked) write(name string, out []*tensor.Tensor) (written, error) {
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
func (s *ranked) best(out []*tensor.Tensor) ([]Label, error) {
	i := slices.IndexFunc(out, func(t *tensor.Tensor) bool { return mayScore(t.Desc, len(s.labels.Names)) })
	if i < 0 {
		if !s.labels.Required {
			return nil, nil
		}
		var l []string
		for _, t := range out {
			l = append(l, t.Desc.String())
		}
		return nil, fmt.Errorf("no output has a score for each of the %s: the outputs are %s", plural(len(s.labels.Names), "label"), strings.Join(l, ", "))
	}
	t := out[i]
	if !t.Dense() {
		t = t.Clone()
	}
	at := tensor.Float64s(t)
	l := make([]Label, len(s.labels.Names))
	for i := range l {
		l[i] = Label{s.labels.Names[i], i, at(i)}
	}
	if s.labels.Softmax {
		softmax(l)
	}
	sorts.Stable(l, func(a, b Label) int { return cmp.Compare(b.Score, a.Score) }) // NaN is less than all
	return slices.Clip(l[:min(s.labels.Top, len(l))]), nil
}

// softmax replaces scores by probabilities, in float64.
func softmax(l []Label) {
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

func isFloat(d tensor.DType) bool {
	return d == tensor.Float16 || d == tensor.BFloat16 || d == tensor.Float32 || d == tensor.Float64
}
