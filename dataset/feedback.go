package dataset

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/transforms"
)

// PolicyWeights are the weights of a transforms.FeedbackPolicy in a State.
type PolicyWeights struct {
	Name  string    `json:"name"`
	Epoch []float64 `json:"epoch"` // of the state's epoch
	Next  []float64 `json:"next"`  // from the next epoch on
}

// maxPolicies bounds the feedback policies of a definition.
const maxPolicies = 1024

// addFeedback collects the feedback policies of a map's graph.
func (b *Built) addFeedback(g *datagraph.Graph) error {
	var here []string
	for _, s := range g.Steps {
		if x, ok := s.Op.(*transforms.PolicyIndex); ok && !slices.Contains(here, string(x.Name)) {
			return defErr("policy_index of %q: no earlier step of its graph is a feedback policy of that name", string(x.Name))
		}
		for _, p := range transforms.FeedbackPolicies(s.Op) {
			name := string(p.Name)
			here = append(here, name)
			old := b.policies[name]
			switch {
			case old == nil && len(b.policies) == maxPolicies:
				return defErr("more than %d feedback policies", maxPolicies)
			case old == nil:
				if b.policies == nil {
					b.policies = map[string]*transforms.FeedbackPolicy{}
				}
				b.policies[name] = p
			case !slices.Equal(old.Weights, p.Weights):
				return defErr("two feedback policies named %q start with the weights %v and %v, want equal ones: they share them", name, old.Weights, p.Weights)
			}
		}
	}
	return nil
}

// policy returns the feedback policy of a name.
func (b *Built) policy(name string) (*transforms.FeedbackPolicy, error) {
	p := b.policies[name]
	if p != nil {
		return p, nil
	}
	known := slices.Sorted(maps.Keys(b.policies))
	if len(known) == 0 {
		return nil, fmt.Errorf("dataset: %w", paramErr("unknown feedback policy %q; the definition has none", name))
	}
	return nil, fmt.Errorf("dataset: %w", paramErr("unknown feedback policy %q%s", name, registry.Hint(name, known)))
}

// Weights returns the weights of a feedback policy in this epoch. It is safe
// for concurrent use. The slice belongs to the caller. Its error wraps
// ErrParam.
func (r *Run) Weights(name string) ([]float64, error) {
	p, err := r.built.policy(name)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(weightsOf(r.weights, p)), nil
}

// SetWeights sets the weights of a feedback policy for the epochs that begin
// afterwards; an epoch begins with its first Next. Weights are 0 to 1e30 and
// not all 0; their sum need not be 1. Of several calls in an epoch the last one
// counts. The weights are part of State, so a resumed run continues with them.
//
// A run draws the same samples again if the calls depend on the samples that
// Next returned, or on their losses, and all ranks set equal weights. Call it
// after the last Next of an epoch, or in an EpochEnd of Watch. It is safe for
// concurrent use. Its error wraps ErrParam, or is ErrClosed.
func (r *Run) SetWeights(name string, weights []float64) error {
	p, err := r.built.policy(name)
	if err != nil {
		return err
	}
	if err := p.CheckWeights(weights); err != nil {
		return fmt.Errorf("dataset: feedback policy %q: %w", name, err)
	}
	if r.closing.Load() {
		return ErrClosed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// Workers read the maps of their epoch.
	next := maps.Clone(r.next)
	if next == nil {
		next = map[string][]float64{}
	}
	next[name] = slices.Clone(weights)
	if r.next = next; !r.begun {
		r.weights = next
	}
	return nil
}

// weightsOf returns the weights of p among those that a training set.
func weightsOf(set map[string][]float64, p *transforms.FeedbackPolicy) []float64 {
	if w, ok := set[string(p.Name)]; ok {
		return w
	}
	return p.Weights
}

// epochBuilt returns the Built with the weights of the epoch that begins.
func (r *Run) epochBuilt() *Built {
	if len(r.built.policies) == 0 {
		return r.built
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
	b := *r.built
	b.weights = r.weights
	return &b
}

// endEpoch makes the weights of the next epoch those of this one.
func (r *Run) endEpoch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.weights, r.begun = r.next, false
}

// saveWeights puts the weights into a state. ended reports that the state is
// the start of the next epoch.
func (r *Run) saveWeights(s *State, ended bool) {
	if len(r.built.policies) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.weights
	if ended {
		now = r.next
	}
	s.Version = weightsVersion
	for _, name := range slices.Sorted(maps.Keys(r.built.policies)) {
		p := r.built.policies[name]
		s.Weights = append(s.Weights, PolicyWeights{name, slices.Clone(weightsOf(now, p)), slices.Clone(weightsOf(r.next, p))})
	}
}

// loadWeights reads the weights of a state.
func (r *Run) loadWeights(s *State) error {
	if len(s.Weights) == 0 {
		return nil // of a release without them
	}
	r.weights, r.next = map[string][]float64{}, map[string][]float64{}
	for _, w := range s.Weights {
		p := r.built.policies[w.Name]
		if p == nil || r.weights[w.Name] != nil {
			return fmt.Errorf("%w: weights of the feedback policy %q, want those of each policy once", ErrState, w.Name)
		}
		for _, l := range [2][]float64{w.Epoch, w.Next} {
			if err := p.CheckWeights(l); err != nil {
				return fmt.Errorf("%w: feedback policy %q: %v", ErrState, w.Name, err)
			}
		}
		r.weights[w.Name], r.next[w.Name] = slices.Clone(w.Epoch), slices.Clone(w.Next)
	}
	return nil
}

// sameWeights compares the weights of two ranks' states.
func sameWeights(a, b *State) error {
	same := func(x, y PolicyWeights) bool {
		return x.Name == y.Name && slices.Equal(x.Epoch, y.Epoch) && slices.Equal(x.Next, y.Next)
	}
	if slices.EqualFunc(a.Weights, b.Weights, same) {
		return nil
	}
	for i := range min(len(a.Weights), len(b.Weights)) {
		x, y := a.Weights[i], b.Weights[i]
		if !same(x, y) {
			return fmt.Errorf("%w: ranks %d and %d have other weights of feedback policies: %q has %v, next %v, and %q has %v, next %v",
				ErrState, a.Rank, b.Rank, x.Name, x.Epoch, x.Next, y.Name, y.Epoch, y.Next)
		}
	}
	return fmt.Errorf("%w: ranks %d and %d have %d and %d feedback policies with weights", ErrState, a.Rank, b.Rank, len(a.Weights), len(b.Weights))
}

// appendWeights appends the binary form: for each policy its name and both
// lists of weights, as float64s.
func appendWeights(b []byte, l []PolicyWeights) []byte {
	b = binary.AppendUvarint(b, uint64(len(l)))
	for _, w := range l {
		b = binary.AppendUvarint(b, uint64(len(w.Name)))
		b = append(b, w.Name...)
		for _, v := range [2][]float64{w.Epoch, w.Next} {
			b = binary.AppendUvarint(b, uint64(len(v)))
			for _, x := range v {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
			}
		}
	}
	return b
}

// readWeights reads the binary form and returns the rest of b.
func readWeights(b []byte) (l []PolicyWeights, rest []byte, ok bool) {
	// count reads the number of things of at least size bytes.
	count := func(size int) (int, bool) {
		n, k := binary.Uvarint(b)
		if k <= 0 {
			return 0, false
		}
		b = b[k:]
		return int(n), n <= uint64(len(b)/size)
	}
	n, ok := count(3)
	if !ok {
		return nil, nil, false
	}
	for range n {
		var w PolicyWeights
		k, ok := count(1)
		if !ok {
			return nil, nil, false
		}
		w.Name, b = string(b[:k]), b[k:]
		for _, v := range [2]*[]float64{&w.Epoch, &w.Next} {
			if k, ok = count(8); !ok {
				return nil, nil, false
			}
			for range k {
				*v, b = append(*v, math.Float64frombits(binary.LittleEndian.Uint64(b))), b[8:]
			}
		}
		l = append(l, w)
	}
	return l, b, true
}
