package diff

import (
	"context"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Survey is the result of ExplainAll.
type Survey struct {
	// Diagnoses are the sets of changes that explain images. The first explains
	// the most. An empty set stands for rounding.
	Diagnoses [][]Change `json:"diagnoses"`
	// Verdicts has one for each image.
	Verdicts []Verdict `json:"verdicts"`
}

// Verdict says what explains one image of a Survey.
type Verdict struct {
	// Diagnosis is the index of the diagnosis, -1 if none explains the image.
	Diagnosis int `json:"diagnosis"`
	// Explanation is what the diagnosis leaves. It is nil without one.
	Explanation *Explanation `json:"explanation,omitempty"`
}

const (
	// maxVariants is the number of sets that are tried with all images, for one
	// image that was explained.
	maxVariants = 12
	// maxUnexplained is the number of images that are examined in vain.
	maxUnexplained = 3
)

// survey explains many images.
type survey struct {
	ctx      context.Context
	graph    *datagraph.Graph
	output   string
	load     func(i int) (image, other *tensor.Tensor, err error)
	o        *Options
	sets     [][]Change
	verdicts []Verdict
}

// ExplainAll finds the smallest number of explanations for n images and the
// tensors that another program made of them. It calls load for each image, in
// order, several times, and fails with its error. One image often does not tell
// which of several changes was made: ExplainAll chooses the set of changes that
// explains the most images. A set that explains an image may do nothing there:
// an EXIF orientation that is applied explains the images without one, too.
// Images that no set explains count as unexplained after three of them were
// examined.
func ExplainAll(ctx context.Context, g *datagraph.Graph, output string, n int, load func(i int) (image, other *tensor.Tensor, err error), o Options) (*Survey, error) {
	s := &survey{ctx: ctx, graph: g, output: output, load: load, o: &o, verdicts: make([]Verdict, n)}
	open := make([]int, n)
	for i := range open {
		open[i] = i
		s.verdicts[i].Diagnosis = -1
	}
	for failed := 0; len(open) > 0 && failed < maxUnexplained; {
		image, other, err := load(open[0])
		if err != nil {
			return nil, err
		}
		r, err := Explain(ctx, g, output, image, other, o)
		if err != nil {
			return nil, err
		}
		rest, err := s.add(variants(changesOf(g), r, s.sets), open)
		if err != nil {
			return nil, err
		}
		if len(rest) == len(open) { // nothing explains it
			rest = open[1:]
			failed++
		}
		open = rest
	}
	if err := s.join(); err != nil {
		return nil, err
	}
	return s.result(), nil
}

// variants returns the sets of changes that a report allows, also together with
// those known before. all are the changes of the graph.
func variants(all []Change, r *Report, known [][]Change) (l [][]Change) {
	for _, x := range r.Explanations {
		if len(x.Changes) == 0 && !x.explained() {
			continue
		}
		l = append(l, x.Changes)
		for i, also := range x.Also {
			for _, name := range also {
				if k := position(all, Change{Name: name}); k >= 0 {
					v := slices.Clone(x.Changes)
					v[i] = all[k]
					l = append(l, v)
				}
			}
		}
	}
	l = l[:min(len(l), maxVariants)]
	for _, x := range slices.Clone(l) {
		for _, k := range known {
			l = append(l, union(x, k))
		}
	}
	return l
}

// union returns the changes of both sets.
func union(a, b []Change) []Change {
	l := slices.Clone(a)
	for _, c := range b {
		if position(l, c) < 0 {
			l = append(l, c)
		}
	}
	return l
}

// try compares each of the images with each set of changes. It returns, for
// each set, what it leaves of the images that it explains.
func (s *survey) try(sets [][]Change, images []int) ([]map[int]*Explanation, error) {
	l := make([]map[int]*Explanation, len(sets))
	for k := range l {
		l[k] = map[int]*Explanation{}
	}
	for _, i := range images {
		image, other, err := s.load(i)
		if err != nil {
			return nil, err
		}
		e, _, _, err := started(s.ctx, s.graph, s.output, image, other, s.o)
		if err != nil {
			return nil, err
		}
		baseline := e.judge(nil)
		for k, set := range sets {
			if err := s.ctx.Err(); err != nil {
				return nil, err
			}
			ordered, ok := e.joined(set)
			if !ok {
				continue
			}
			if x := e.judge(ordered); x != nil && (x.explained() || len(set) > 0 && e.near(x, baseline)) {
				x.Changes = set
				x.Explains, x.Levels = explains(x, baseline), e.levels(x)
				l[k][i] = x
			}
		}
	}
	return l, nil
}

// add takes the set that explains the most of the images as a diagnosis. It
// returns the images that remain.
func (s *survey) add(sets [][]Change, images []int) ([]int, error) {
	found, err := s.try(sets, images)
	best := -1
	for k := range found {
		if len(found[k]) > 0 && (best < 0 || len(found[k]) > len(found[best])) {
			best = k
		}
	}
	if best < 0 || err != nil {
		return images, err
	}
	var rest []int
	for _, i := range images {
		if x := found[best][i]; x != nil {
			s.verdicts[i] = Verdict{len(s.sets), x}
		} else {
			rest = append(rest, i)
		}
	}
	s.sets = append(s.sets, sets[best])
	return rest, nil
}

// join replaces the diagnoses by one if all of their changes together, or those
// of one of them, explain every image that was explained.
func (s *survey) join() error {
	if len(s.sets) < 2 {
		return nil
	}
	var all []Change
	for _, l := range s.sets {
		all = union(all, l)
	}
	var images []int
	for i, v := range s.verdicts {
		if v.Diagnosis >= 0 {
			images = append(images, i)
		}
	}
	sets := append(slices.Clone(s.sets), all)
	found, err := s.try(sets, images)
	for k := range found {
		if len(found[k]) == len(images) {
			s.sets = sets[k : k+1]
			for i, x := range found[k] {
				s.verdicts[i] = Verdict{0, x}
			}
			break
		}
	}
	return err
}

// result sorts the diagnoses by the number of images.
func (s *survey) result() *Survey {
	count := make([]int, len(s.sets))
	for _, v := range s.verdicts {
		if v.Diagnosis >= 0 {
			count[v.Diagnosis]++
		}
	}
	order := make([]int, len(s.sets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return count[b] - count[a] })
	r := &Survey{Diagnoses: [][]Change{}, Verdicts: s.verdicts}
	for _, i := range order {
		r.Diagnoses = append(r.Diagnoses, s.sets[i])
	}
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Diagnosis >= 0 {
			v.Diagnosis = slices.Index(order, v.Diagnosis)
		}
	}
	return r
}
