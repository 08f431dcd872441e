package dataset

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/rng"
)

// Mix takes each sample from a random input, drawn by weight. The inputs must
// have equal columns, except for sizes.
type Mix struct {
	// Weights are the inputs' weights, 0 or more. Their sum need not be 1.
	Weights []float64 `json:"weights"`
	// UntilAll draws among the inputs that have not ended, until all have.
	// Default: the mix ends when the drawn input has ended.
	UntilAll bool `json:"until_all"`
}

// Interleave takes a block of samples from each input in turn, until all inputs
// have ended. The inputs must have equal columns, except for sizes.
type Interleave struct {
	Block int64 `json:"block"` // samples per turn, 1 to 1,099,511,627,776
	// Lanes is the number of inputs that are read at a time. When one ends, the
	// next input takes its place. So the order depends on the lengths of the
	// inputs, and never on the time that they take. Default: 0, all.
	Lanes int `json:"lanes"`
}

func init() {
	Register(Info{Name: "mix", Version: 1, New: func() Node { return &Mix{Weights: []float64{}} }, Doc: "samples of datasets drawn by weight"})
	Register(Info{Name: "interleave", Version: 1, New: func() Node { return &Interleave{Block: 1} }, Doc: "samples of datasets in turn"})
}

// NewMix returns a dataset that takes each sample from one of the datasets,
// drawn by weight, until the drawn one has ended.
func NewMix(weights []float64, d ...*Dataset) *Dataset {
	return Of(&Mix{Weights: weights}, d...)
}

// NewInterleave returns a dataset that takes block samples from each of the
// datasets in turn.
func NewInterleave(block int64, d ...*Dataset) *Dataset { return Of(&Interleave{Block: block}, d...) }

// Validate requires finite weights of 0 or more, not all 0.
func (n *Mix) Validate() error {
	sum := 0.0
	for _, w := range n.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return paramErr("weights %v, want finite numbers of 0 or more", n.Weights)
		}
		sum += w
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return paramErr("weights %v with the sum %v, want a finite sum above 0", n.Weights, sum)
	}
	return nil
}

// maxBlock bounds Interleave.Block, so that the numbers of samples and turns do
// not overflow.
const maxBlock int64 = 1 << 40

// Validate requires a block of 1 to 1,099,511,627,776 and 0 or more lanes.
func (n *Interleave) Validate() error {
	if n.Block < 1 || n.Block > maxBlock {
		return paramErr("blocks of %d, want 1 to %d", n.Block, maxBlock)
	}
	if n.Lanes < 0 {
		return paramErr("%d lanes, want 0 or more", n.Lanes)
	}
	return nil
}

// begun returns the number of inputs that are read at first.
func (n *Interleave) begun(s *step) int {
	if n.Lanes == 0 {
		return len(s.in)
	}
	return min(n.Lanes, len(s.in))
}

func (n *Mix) traits() traits { return traits{joins: true} }

func (n *Mix) build(_ *Built, s *step) error {
	if len(n.Weights) != len(s.in) {
		return defErr("%d weights, want one for each of %d inputs", len(n.Weights), len(s.in))
	}
	return s.sameColumns()
}

func (n *Interleave) traits() traits { return traits{joins: true} }

func (n *Interleave) build(_ *Built, s *step) error { return s.sameColumns() }

// length is known if no input ends, or if all inputs are read to their end.
func (n *Mix) length(b *Built, s *step) int64 {
	if n.UntilAll {
		return sumOf(b, s)
	}
	for _, in := range s.in {
		if b.lenOf(in) != Endless {
			return Unknown
		}
	}
	return Endless
}

func (n *Interleave) length(b *Built, s *step) int64 { return sumOf(b, s) }

func sumOf(b *Built, s *step) int64 {
	sum := int64(0)
	for _, in := range s.in {
		l := b.lenOf(in)
		if l == Unknown || l == Endless {
			return l
		}
		sum += l
	}
	return sum
}

func (n *Mix) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	m := &mixed{n: n, key: rng.NewKey(o.b.options.Seed, epoch, s.path), weights: append([]float64(nil), n.Weights...)}
	return m, m.open(o, s, epoch)
}

func (n *Mix) trace(ctx context.Context, t *tracer, s *scope) error {
	s.either = true
	return nil
}

func (n *Interleave) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	m := &mixed{block: n.Block}
	for i := range n.begun(s) {
		m.lanes = append(m.lanes, i)
	}
	return m, m.open(o, s, epoch)
}

func (n *Interleave) trace(ctx context.Context, t *tracer, s *scope) error {
	s.either = true
	return nil
}

func (n *Mix) merge(m *merger, s *step, epoch uint64) error { return mergeMixed(m, s, 0, epoch) }

func (n *Interleave) merge(m *merger, s *step, epoch uint64) error {
	return mergeMixed(m, s, n.begun(s), epoch)
}

func mergeMixed(m *merger, s *step, lanes int, epoch uint64) error {
	m.largest()
	for range s.in {
		m.put(0) // as for Concat
	}
	if lanes < len(s.in) {
		for i := range lanes {
			m.put(int64(i))
		}
	}
	return m.inputs(s, epoch)
}

type mixed struct {
	in      []iterator
	ended   []bool
	given   int64 // samples returned; for Interleave also the turns of ended inputs
	block   int64 // of Interleave; 0 for Mix
	lanes   []int // of Interleave: the inputs that are read
	n       *Mix
	key     rng.Key
	weights []float64 // 0 for inputs that have ended
}

func (m *mixed) open(o *opener, s *step, epoch uint64) error {
	m.ended = make([]bool, len(s.in))
	if o.state != nil {
		m.given = o.state.upTo(maxPlace, "the number of samples returned")
		for i := range m.ended {
			m.ended[i] = o.state.upTo(1, "the end of an input") == 1
		}
		if m.n == nil && len(m.lanes) < len(s.in) {
			for i := range m.lanes {
				m.lanes[i] = int(o.state.upTo(int64(len(s.in)-1), "the input of a lane"))
			}
		}
		if o.state.err != nil {
			return o.state.err
		}
		for i, in := range m.lanes {
			if slices.Contains(m.lanes[:i], in) {
				o.state.fail("two lanes with input %d", in)
				return o.state.err
			}
		}
	}
	for i, in := range s.in {
		it, err := o.open(in, epoch)
		if err != nil {
			return errors.Join(err, m.Close())
		}
		m.in = append(m.in, it)
		if m.ended[i] && m.n != nil {
			m.weights[i] = 0
		}
	}
	return nil
}

func (m *mixed) Next(ctx context.Context, s *Sample) error {
	for {
		i, ok := m.choose()
		if !ok {
			return io.EOF
		}
		if m.ended[i] {
			m.given = (m.given/m.block + 1) * m.block
			continue
		}
		err := pull(ctx, m.in[i], s)
		switch {
		case err == io.EOF && m.n != nil && !m.n.UntilAll:
			return io.EOF
		case err == io.EOF:
			m.ended[i] = true
			if m.n != nil {
				m.weights[i] = 0
			} else if lane := slices.Index(m.lanes, i); slices.Max(m.lanes)+1 < len(m.in) {
				m.lanes[lane] = slices.Max(m.lanes) + 1
			}
			continue
		case err != nil:
			return err
		}
		m.given++
		s.Ordinal = ofInput(s.Ordinal, i)
		return nil
	}
}

// choose returns the input of the next sample. ok is false if all have ended.
func (m *mixed) choose() (int, bool) {
	open := false
	for _, e := range m.ended {
		open = open || !e
	}
	if !open {
		return 0, false
	}
	if m.n == nil {
		return m.lanes[m.given/m.block%int64(len(m.lanes))], true
	}
	sum := 0.0
	for _, w := range m.weights {
		sum += w
	}
	if sum == 0 {
		return 0, false
	}
	r := m.key.At(uint64(m.given))
	u := float64(r.Float64() * sum)
	last := 0
	for i, w := range m.weights {
		if w == 0 {
			continue
		}
		last = i
		if u < w {
			break
		}
		u -= w
	}
	return last, true
}

func (m *mixed) Save(w []int64) []int64 {
	w = append(w, m.given)
	for _, e := range m.ended {
		if e {
			w = append(w, 1)
		} else {
			w = append(w, 0)
		}
	}
	if len(m.lanes) < len(m.in) && m.n == nil {
		for _, i := range m.lanes {
			w = append(w, int64(i))
		}
	}
	for _, it := range m.in {
		w = it.Save(w)
	}
	return w
}

func (m *mixed) Close() error { return closeAll(m.in) }
