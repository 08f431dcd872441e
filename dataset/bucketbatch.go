package dataset

import (
	"context"
	"fmt"
	"io"
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
	for i, b := range n.Boundaries {
		if b < 1 || i > 0 && b <= n.Boundaries[i-1] {
			return paramErr("boundaries %v, want ascending lengths of 1 or more", n.Boundaries)
		}
	}
	for _, s := range n.Sizes {
		if s < 1 || s > maxBatch {
			return paramErr("batches of %v, want 1 to %d", n.Sizes, maxBatch)
		}
	}
	return validatePad(n.Pad)
}

func (n *BucketBatch) build(_ *Built, s *step) error {
	in, err := s.one()
	if err != nil {
		return err
	}
	i, err := in.column(n.Column)
	if err != nil {
		return err
	}
	if in.columns[i].Desc.Shape.Rank() == 0 {
		return defErr("column %q is %v, which has no first axis", n.Column, in.columns[i].Desc)
	}
	c, err := newCollator(in, n.Pad)
	if err != nil {
		return err
	}
	s.state = bucketState{i, c}
	if s.columns, err = c.columnsOf(tensor.Unknown); err != nil {
		return err
	}
	return s.refindable()
}

type bucketState struct {
	column int
	c      *collator
}

func (n *BucketBatch) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	st := s.state.(bucketState)
	it := &bucketed{n: n, column: st.column, c: st.c.clone(), buckets: make([][]*Sample, len(n.Sizes))}
	it.failed = func(x *Sample, err error) error { return o.failed(s.path, x, err) }
	var l []held
	if o.state != nil {
		if last := o.state.int(); last < -1 || last > int64(len(n.Sizes)) {
			o.state.fail("bucket %d, want -1 to %d", last, len(n.Sizes))
		} else {
			it.last = int(last)
		}
		room := 0
		for _, size := range n.Sizes {
			room += size - 1
		}
		l = o.b.loadHeld(o.state, s.in[0], room)
		if o.state.err != nil {
			return nil, o.state.err
		}
	} else {
		it.last = -1
	}
	var err error
	if it.in, err = o.open(s.in[0], epoch); err != nil {
		return nil, err
	}
	it.refill = o.refilling(s.in[0], l)
	return it, nil
}

type bucketed struct {
	in      iterator
	n       *BucketBatch
	column  int
	c       *collator
	buckets [][]*Sample
	free    []*Sample
	last    int // at the end of the input, the last bucket returned; -1 before
	failed  func(*Sample, error) error
	refill  *refill // nil unless a resumed run has yet to find its samples
}

// bucket returns the number of a sample's bucket.
func (b *bucketed) bucket(x *Sample) int {
	length := 0
	if s := x.Values[b.column].Shape; s.Rank() > 0 {
		length = s.At(0)
	}
	i, found := slices.BinarySearch(b.n.Boundaries, length)
	if found {
		i++
	}
	return i
}

func (b *bucketed) Next(ctx context.Context, s *Sample) error {
	if b.refill != nil {
		l, err := b.refill.find(ctx)
		if err != nil {
			return err
		}
		b.buckets = make([][]*Sample, len(b.n.Sizes))
		for _, x := range l {
			i := b.bucket(x)
			if len(b.buckets[i]) == b.n.Sizes[i]-1 {
				return fmt.Errorf("%w: a full bucket of %d samples", ErrState, b.n.Sizes[i])
			}
			b.buckets[i] = append(b.buckets[i], x)
		}
		b.refill = nil
	}
	for b.last < 0 {
		x := &Sample{}
		if n := len(b.free); n > 0 {
			x, b.free = b.free[n-1], b.free[:n-1]
		}
		err := pull(ctx, b.in, x)
		if err == io.EOF {
			b.last = 0
			break
		}
		if err != nil {
			return err
		}
		i := b.bucket(x)
		b.buckets[i] = append(b.buckets[i], x)
		if len(b.buckets[i]) == b.n.Sizes[i] {
			return b.flush(s, i)
		}
	}
	if b.n.DropRemainder {
		return io.EOF
	}
	for ; b.last < len(b.buckets); b.last++ {
		if len(b.buckets[b.last]) > 0 {
			return b.flush(s, b.last)
		}
	}
	return io.EOF
}

// flush stacks bucket i.
func (b *bucketed) flush(s *Sample, i int) error {
	l := b.buckets[i]
	b.buckets[i] = nil
	b.free = append(b.free, l...)
	if b.n.PadToBoundary {
		if i == len(b.n.Boundaries) {
			s.identity(l[0])
			return b.failed(s, defErr("length %d or more: the last bucket has no upper boundary for PadToBoundary", b.n.Boundaries[len(b.n.Boundaries)-1]))
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
		if err := c.stack(s, l); err != nil {
			return b.failed(s, err)
		}
		return nil
	}
	if err := b.c.stack(s, l); err != nil {
		return b.failed(s, err)
	}
	return nil
}

func (b *bucketed) Save(w []int64) []int64 {
	if b.refill != nil {
		return b.in.Save(appendHeld(append(w, int64(b.last)), b.refill.l))
	}
	var l []*Sample
	for _, x := range b.buckets {
		l = append(l, x...)
	}
	return b.in.Save(saveHeld(append(w, int64(b.last)), l))
}

func (b *bucketed) Close() error { return b.in.Close() }
