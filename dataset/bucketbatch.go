package dataset

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
)

// BucketBatch makes batches of samples of similar length. It puts each sample
// into the bucket of its length, and returns a full bucket as a batch. At the
// end of the epoch it returns the remaining buckets in order.
//
// Reference: MindSpore 2.10.0's bucket_batch_by_length: equal batches.
type BucketBatch struct {
	// Column determines a sample's length: the size of its first axis.
	Column string `json:"column"`
	// Boundaries are the lengths at which buckets start, ascending: bucket i
	// has lengths from Boundaries[i-1] to Boundaries[i]-1.
	Boundaries []int `json:"boundaries"`
	// Sizes are the batch sizes of the buckets, one more than Boundaries.
	Sizes []int       `json:"sizes"`
	Pad   []PadColumn `json:"pad"`
	// PadToBoundary pads an axis of size -1 in Pad to the bucket's upper
	// boundary minus 1, not to the largest of the batch. Samples of the last
	// bucket, which has no upper boundary, are then errors.
	PadToBoundary bool `json:"pad_to_boundary"`
	DropRemainder bool `json:"drop_remainder"`
}

func init() {
	Register(Info{
		Name: "bucket_batch", Version: 1, New: func() Node { return &BucketBatch{Boundaries: []int{}, Sizes: []int{1}, Pad: []PadColumn{}} },
		Doc: "batches of samples of similar length",
	})
}

// BucketBatch makes batches of samples with similar lengths in the column.
func (d *Dataset) BucketBatch(column string, boundaries, sizes []int, pad ...PadColumn) *Dataset {
	return d.then(&BucketBatch{Column: column, Boundaries: boundaries, Sizes: sizes, Pad: pad})
}

// Validate requires ascending boundaries and a size for each bucket.
func (n *BucketBatch) Validate() error {
	if len(n.Sizes) != len(n.Boundaries)+1 {
		return paramErr("%d sizes for %d boundaries, want one size more than boundaries", len(n.Sizes), len(n.Boundaries))
	}
	if err := validateBoundaries(n.Boundaries); err != nil {
		return err
	}
	for _, s := range n.Sizes {
		if s < 1 || s > maxBatch {
			return paramErr("batches of %v, want 1 to %d", n.Sizes, maxBatch)
		}
	}
	return validatePad(n.Pad)
}

func validateBoundaries(l []int) error {
	for i, b := range l {
		if b < 1 || i > 0 && b <= l[i-1] {
			return paramErr("boundaries %v, want ascending lengths of 1 or more", l)
		}
	}
	return nil
}

func (n *BucketBatch) traits() traits { return traits{batches: true, unrefillable: noBatch} }

func (n *BucketBatch) build(_ *Built, s *step) error {
	in := s.in[0]
	i, err := in.column(n.Column)
	if err != nil {
		return err
	}
	if in.columns[i].Desc.Shape.Rank() == 0 {
		return defErr("column %q is %v, want one axis or more", n.Column, in.columns[i].Desc)
	}
	c, err := newCollator(in, n.Pad)
	if err != nil {
		return err
	}
	s.state = bucketState{i, c}
	if s.columns, err = c.columnsOf(tensor.Unknown); err != nil {
		return err
	}
	return s.requireRefillable()
}

type bucketState struct {
	column int
	c      *collator
}

func (n *BucketBatch) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	st := s.state.(bucketState)
	room := 0
	for _, size := range n.Sizes {
		room += size - 1
	}
	w, err := o.openBuckets(s, epoch, len(n.Sizes), room)
	if err != nil {
		return nil, err
	}
	it := &bucketed{buckets: w, n: n, column: st.column}
	it.c = o.collator(s, st.c)
	it.failed = func(x *Sample, err error) error { return o.failed(s.path, x, err) }
	return o.judged(s, it), nil
}

func (n *BucketBatch) trace(ctx context.Context, t *tracer, s *scope) error {
	t.batch(s, n, n.Pad)
	return nil
}

func (n *BucketBatch) merge(m *merger, s *step, epoch uint64) error { return mergeBuckets(m, s, epoch) }

func mergeBuckets(m *merger, s *step, epoch uint64) error {
	m.put(-1)
	m.drain(s, math.MaxInt)
	return m.inputs(s, epoch)
}

// buckets are the samples that wait for their batches, and the input that they
// come from.
type buckets struct {
	in     iterator
	list   [][]*Sample
	free   []*Sample
	last   int     // at the end of the input, the last bucket returned; -1 before
	refill *refill // nil unless a resumed run has yet to find its samples
	held   int64   // bytes of the samples in list
	c      *collator
}

// openBuckets opens the input of s with n buckets, which have room for the
// samples of a state.
func (o *opener) openBuckets(s *step, epoch uint64, n, room int) (b buckets, err error) {
	b = buckets{list: make([][]*Sample, n), last: -1}
	var l []held
	if o.state != nil {
		if last := o.state.int(); last < -1 || last > int64(n) {
			o.state.fail("bucket %d, want -1 to %d", last, n)
		} else {
			b.last = int(last)
		}
		l = o.b.loadHeld(o.state, s.in[0], room)
		if o.state.err != nil {
			return b, o.state.err
		}
	}
	if b.in, err = o.open(s.in[0], epoch); err != nil {
		return b, err
	}
	b.refill = o.newRefill(s.in[0], l)
	return b, nil
}

// restore calls add for each sample of a resumed run's state.
func (b *buckets) restore(ctx context.Context, add func(*Sample) error) error {
	if b.refill == nil {
		return nil
	}
	l, err := b.refill.read(ctx)
	if err != nil {
		return err
	}
	b.list = make([][]*Sample, len(b.list))
	for _, x := range l {
		if err := add(x); err != nil {
			return err
		}
		b.held += x.Memory()
	}
	b.refill = nil
	return nil
}

// next returns the next sample of the input, or nil at its end.
func (b *buckets) next(ctx context.Context) (*Sample, error) {
	x := &Sample{}
	if n := len(b.free); n > 0 {
		x, b.free = b.free[n-1], b.free[:n-1]
	}
	switch err := pull(ctx, b.in, x); {
	case err == io.EOF:
		b.last = 0
		return nil, nil
	case err != nil:
		return nil, err
	}
	b.held += x.Memory()
	if b.c.most > 0 && b.held > b.c.most {
		n := 1
		for _, l := range b.list {
			n += len(l)
		}
		return nil, b.c.tooLarge(n, b.held)
	}
	return x, nil
}

// nextNonEmpty returns a bucket that has samples at the end of the input, or
// io.EOF.
func (b *buckets) nextNonEmpty() (int, error) {
	for ; b.last < len(b.list); b.last++ {
		if len(b.list[b.last]) > 0 {
			return b.last, nil
		}
	}
	return 0, io.EOF
}

// drain empties bucket i. Its samples are valid until the next call of next.
func (b *buckets) drain(i int) []*Sample {
	l := b.list[i]
	b.list[i] = nil
	b.free = append(b.free, l...)
	for _, x := range l {
		b.held -= x.Memory()
	}
	return l
}

func (b *buckets) Save(w []int64) []int64 {
	if b.refill != nil {
		return b.in.Save(appendHeld(append(w, int64(b.last)), b.refill.l))
	}
	var l []*Sample
	for _, x := range b.list {
		l = append(l, x...)
	}
	return b.in.Save(saveHeld(append(w, int64(b.last)), l))
}

func (b *buckets) Close() error { return b.in.Close() }

type bucketed struct {
	buckets
	n      *BucketBatch
	column int
	failed func(*Sample, error) error
}

// bucket returns the number of the bucket of a length.
func bucket(boundaries []int, length int) int {
	i, found := slices.BinarySearch(boundaries, length)
	if found {
		i++
	}
	return i
}

// bucket returns the number of a sample's bucket.
func (b *bucketed) bucket(x *Sample) int {
	length := 0
	if s := x.Values[b.column].Shape; s.Rank() > 0 {
		length = s.At(0)
	}
	return bucket(b.n.Boundaries, length)
}

func (b *bucketed) Next(ctx context.Context, s *Sample) error {
	if err := b.restore(ctx, func(x *Sample) error {
		i := b.bucket(x)
		if len(b.list[i]) == b.n.Sizes[i]-1 {
			return fmt.Errorf("%w: a full bucket of %d samples", ErrState, b.n.Sizes[i])
		}
		b.list[i] = append(b.list[i], x)
		return nil
	}); err != nil {
		return err
	}
	for b.last < 0 {
		x, err := b.next(ctx)
		if err != nil {
			return err
		}
		if x == nil {
			break
		}
		i := b.bucket(x)
		b.list[i] = append(b.list[i], x)
		if len(b.list[i]) == b.n.Sizes[i] {
			return b.flush(s, i)
		}
	}
	if b.n.DropRemainder {
		return io.EOF
	}
	i, err := b.nextNonEmpty()
	if err != nil {
		return err
	}
	return b.flush(s, i)
}

// flush stacks bucket i.
func (b *bucketed) flush(s *Sample, i int) error {
	l := b.drain(i)
	if b.n.PadToBoundary {
		if i == len(b.n.Boundaries) {
			s.identity(l[0])
			return b.failed(s, defErr("length %d or more, want less: the last bucket has no upper boundary for PadToBoundary", b.n.Boundaries[len(b.n.Boundaries)-1]))
		}
		c := b.c.clone()
		for j := range c.columns {
			shape := slices.Clone(c.columns[j].shape)
			for a, n := range shape {
				if n == -1 {
					shape[a] = b.n.Boundaries[i] - 1
					c.columns[j].desc.Shape = c.columns[j].desc.Shape.With(a, shape[a])
				}
			}
			c.columns[j].shape = shape
		}
		return stackOr(c, s, l, b.failed)
	}
	return stackOr(b.c, s, l, b.failed)
}
