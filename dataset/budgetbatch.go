package dataset

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// BudgetBatch makes batches of as many samples as a budget allows, in frames,
// pixels or tokens. A sample's size is the product of the sizes of some axes of
// a column: axis 0 counts the frames of (frames, features), and axes 0 and 1
// count the pixels of an HWC image.
//
// The budget bounds what the batch holds, with its padding: the number of
// samples times the product of the largest sizes. For a column that the graph's
// rule concatenates, it bounds the sum of the sizes. A batch is returned when
// the next sample would exceed the budget. A sample that exceeds it alone is a
// bad sample.
//
// With Boundaries, a batch has samples of similar sizes, as BucketBatch's, so
// that little is padded. Each bucket then has the whole budget. At the end of
// the epoch it returns the remaining buckets in order.
//
// Reference: fairseq's batch_by_size with max_tokens and max_sentences (0.6.2):
// without Boundaries, equal batches.
type BudgetBatch struct {
	// Column determines a sample's size.
	Column string `json:"column"`
	Axes   []int  `json:"axes"`   // whose sizes are multiplied, ascending
	Budget int64  `json:"budget"` // 1 to 1,099,511,627,776
	// MaxSamples is the largest number of samples of a batch, up to 1,048,576,
	// which is also the limit of the default 0.
	MaxSamples int `json:"max_samples"`
	// Boundaries are the sizes at which buckets start, ascending: bucket i has
	// sizes from Boundaries[i-1] to Boundaries[i]-1. Empty: one bucket, so that
	// samples keep their order.
	Boundaries []int       `json:"boundaries"`
	Pad        []PadColumn `json:"pad"`
}

func init() {
	Register(Info{
		Name: "budget_batch", Version: 1,
		New: func() Node { return &BudgetBatch{Axes: []int{0}, Budget: 1, Boundaries: []int{}, Pad: []PadColumn{}} },
		Doc: "batches of a bounded number of frames, pixels or tokens",
	})
}

// BudgetBatch makes batches whose column has a size of at most budget, counted
// in axis 0, with padding.
func (d *Dataset) BudgetBatch(column string, budget int64, pad ...PadColumn) *Dataset {
	return d.then(&BudgetBatch{Column: column, Axes: []int{0}, Budget: budget, Boundaries: []int{}, Pad: pad})
}

// maxBudget bounds a budget.
const maxBudget int64 = 1 << 40

// Validate requires axes, a budget and ascending boundaries.
func (n *BudgetBatch) Validate() error {
	if len(n.Axes) == 0 || len(n.Axes) > tensor.MaxRank {
		return paramErr("axes %v, want 1 to %d axes", n.Axes, tensor.MaxRank)
	}
	for i, a := range n.Axes {
		if a < 0 || a >= tensor.MaxRank || i > 0 && a <= n.Axes[i-1] {
			return paramErr("axes %v, want ascending axes from 0 to %d", n.Axes, tensor.MaxRank-1)
		}
	}
	if n.Budget < 1 || n.Budget > maxBudget {
		return paramErr("a budget of %d, want 1 to %d", n.Budget, maxBudget)
	}
	if n.MaxSamples < 0 || n.MaxSamples > maxBatch {
		return paramErr("at most %d samples, want 0 to %d", n.MaxSamples, maxBatch)
	}
	if err := validateBoundaries(n.Boundaries); err != nil {
		return err
	}
	return validatePad(n.Pad)
}

// most returns the largest number of samples of a batch.
func (n *BudgetBatch) most() int {
	if n.MaxSamples == 0 {
		return maxBatch
	}
	return n.MaxSamples
}

func (n *BudgetBatch) traits() traits { return traits{batches: true, unrefillable: noBatch} }

func (n *BudgetBatch) build(_ *Built, s *step) error {
	in := s.in[0]
	i, err := in.column(n.Column)
	if err != nil {
		return err
	}
	if d := in.columns[i].Desc; n.Axes[len(n.Axes)-1] >= d.Shape.Rank() {
		return defErr("column %q is %v, want an axis %d", n.Column, d, n.Axes[len(n.Axes)-1])
	}
	c, err := newCollator(in, n.Pad)
	if err != nil {
		return err
	}
	s.state = budgetState{i, c}
	if s.columns, err = c.columnsOf(tensor.Unknown); err != nil {
		return err
	}
	return s.requireRefillable()
}

type budgetState struct {
	column int
	c      *collator
}

func (n *BudgetBatch) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	st := s.state.(budgetState)
	w, err := o.openBuckets(s, epoch, len(n.Boundaries)+1, math.MaxInt) // restore checks the samples
	if err != nil {
		return nil, err
	}
	it := &budgeted{buckets: w, n: n, column: st.column, judge: o.judge(s)}
	it.c = o.collator(s, st.c)
	col := st.c.columns[st.column]
	it.sum = col.rule.Rule == datagraph.BatchConcat
	it.fixed = make([]int, len(n.Axes))
	for i, a := range n.Axes {
		if it.fixed[i] = -1; col.padded {
			it.fixed[i] = col.shape[a]
		}
	}
	it.loads = make([]load, len(n.Boundaries)+1)
	it.failed = func(x *Sample, err error) error { return o.failed(s.path, x, err) }
	return o.judged(s, it), nil
}

func (n *BudgetBatch) trace(ctx context.Context, t *tracer, s *scope) error {
	t.batch(s, n, n.Pad)
	return nil
}

func (n *BudgetBatch) merge(m *merger, s *step, epoch uint64) error { return mergeBuckets(m, s, epoch) }

type budgeted struct {
	buckets
	n      *BudgetBatch
	column int
	sum    bool   // the column's values are concatenated
	fixed  []int  // padded size of each of the axes; -1: the largest
	loads  []load // of the buckets
	size   []int  // scratch memory
	before []int64
	ended  bool // with an error
	judge  *judge
	failed func(*Sample, error) error
}

// load is what a batch holds so far.
type load struct {
	most []int // the largest size of each of the axes
	sum  int64 // of the sizes
}

// product returns the product of sizes, or a number above every budget if it is
// larger.
func product(sizes []int) int64 {
	p := int64(1)
	for _, s := range sizes {
		if s > 0 && p > maxBudget/int64(s) {
			return maxBudget + 1
		}
		p *= int64(s)
	}
	return p
}

// sizes returns the sizes of the sample's axes. They are valid until the next
// call.
func (b *budgeted) sizes(x *Sample) []int {
	b.size = b.size[:0]
	s := x.Values[b.column].Shape
	for i, a := range b.n.Axes {
		n := 0
		if a < s.Rank() {
			n = s.At(a)
		}
		if b.fixed[i] >= 0 {
			n = b.fixed[i]
		}
		b.size = append(b.size, n)
	}
	return b.size
}

// add adds a sample to bucket i if it fits.
func (b *budgeted) add(i int, x *Sample) bool {
	l, n := &b.loads[i], int64(len(b.list[i]))
	if n == 0 {
		l.most, l.sum = append(l.most[:0], make([]int, len(b.n.Axes))...), 0
	}
	size := b.sizes(x)
	own := product(size)
	for k, s := range l.most {
		size[k] = max(s, size[k])
	}
	if n == int64(b.n.most()) || b.sum && own > b.n.Budget-l.sum || !b.sum && product(size) > b.n.Budget/(n+1) {
		return false
	}
	copy(l.most, size)
	l.sum += own
	b.list[i] = append(b.list[i], x)
	return true
}

// full reports whether bucket i has room for no other sample.
func (b *budgeted) full(i int) bool {
	n := len(b.list[i])
	return n == b.n.most() || n > 0 && !b.sum && product(b.loads[i].most) > b.n.Budget/int64(n+1)
}

func (b *budgeted) Next(ctx context.Context, s *Sample) error {
	b.before = b.buckets.Save(b.before[:0])
	err := b.batch(ctx, s)
	b.ended = err != nil && err != io.EOF
	return err
}

func (b *budgeted) batch(ctx context.Context, s *Sample) error {
	if err := b.restore(ctx, func(x *Sample) error {
		if !b.add(b.bucket(x), x) {
			return fmt.Errorf("%w: a batch of more than the budget of %d", ErrState, b.n.Budget)
		}
		return nil
	}); err != nil {
		return err
	}
	for i := range b.list { // the sample that ended the last batch may fill one alone
		if b.full(i) {
			return b.stack(s, b.drain(i))
		}
	}
	for b.last < 0 {
		x, err := b.next(ctx)
		if err != nil {
			return err
		}
		if x == nil {
			break
		}
		size := product(b.sizes(x))
		if size > b.n.Budget {
			if err := b.failed(x, defErr("column %q has a size of %d, want at most the budget of %d", b.n.Column, size, b.n.Budget)); err != nil {
				return err
			}
		}
		if err := b.judge.count(x); err != nil {
			return err
		}
		if size > b.n.Budget {
			b.free = append(b.free, x)
			b.held -= x.Memory()
			continue
		}
		i := b.bucket(x)
		if !b.add(i, x) {
			l := b.drain(i)
			b.add(i, x)
			return b.stack(s, l)
		}
		if b.full(i) {
			return b.stack(s, b.drain(i))
		}
	}
	i, err := b.nextNonEmpty()
	if err != nil {
		return err
	}
	return b.stack(s, b.drain(i))
}

// bucket returns the number of a sample's bucket.
func (b *budgeted) bucket(x *Sample) int {
	return bucket(b.n.Boundaries, int(min(product(b.sizes(x)), math.MaxInt)))
}

func (b *budgeted) stack(s *Sample, l []*Sample) error {
	return stackOr(b.c, s, l, b.failed)
}

func (b *budgeted) Save(w []int64) []int64 {
	if b.ended {
		return append(w, b.before...)
	}
	return b.buckets.Save(w)
}
