package dataset

import (
	"context"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/rng"
)

// blocks is the iterator of a ShuffleBuffer above a node whose samples cannot
// be found one by one, such as a Batch. It fills its buffer with a block of
// samples, and returns them in a random order before it reads more. Its state
// is that of the input before the block, which a resumed run reads again.
type blocks struct {
	in      iterator
	size    int
	path    string
	key     rng.Key
	number  int64 // of the block
	given   int64 // samples of the block that were returned
	samples []*Sample
	n       int64 // samples of the block; 0 before it is read
	order   rng.Permutation
	before  []int64 // the state of in before the block
	err     error   // of reading the block
}

// ofBlocks reports whether the buffer of s is read in blocks.
func ofBlocks(s *step) bool { return s.state != nil }

func (n *ShuffleBuffer) streamBlocks(o *opener, s *step, epoch uint64) (iterator, error) {
	b := &blocks{size: n.Size, path: s.path, key: rng.NewKey(o.b.options.Seed, epoch, s.path)}
	if o.state != nil {
		b.number = o.state.upTo(maxPlace, "the number of blocks")
		b.given = o.state.upTo(int64(n.Size-1), "the number of samples returned of a block")
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	var err error
	b.in, err = o.open(s.in[0], epoch)
	return b, err
}

func (n *ShuffleBuffer) mergeBlocks(m *merger, s *step, epoch uint64) error {
	m.largest()
	for _, given := range m.each() {
		if given > 0 {
			return m.fail("%s has returned a part of its buffer: want states between two buffers of %d", s.path, n.Size)
		}
	}
	m.out = append(m.out, 0)
	return m.inputs(s, epoch)
}

func (b *blocks) Next(ctx context.Context, s *Sample) error {
	if b.n == 0 {
		if b.err = b.fill(ctx); b.err != nil {
			return b.err
		}
	}
	i := b.order.At(uint64(b.given))
	*s, *b.samples[i] = *b.samples[i], *s
	if b.given++; b.given == b.n {
		b.number, b.given, b.n = b.number+1, 0, 0
	}
	return nil
}

// fill reads a block.
func (b *blocks) fill(ctx context.Context) error {
	b.before = b.in.Save(b.before[:0])
	n := 0
	for ; n < b.size; n++ {
		if n == len(b.samples) {
			b.samples = append(b.samples, &Sample{})
		}
		err := pull(ctx, b.in, b.samples[n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if n == 0 && b.given == 0 {
		return io.EOF
	}
	if b.given >= int64(n) {
		return fmt.Errorf("%w: %s: a block of %d samples, of which %d were returned: the data changed", ErrState, b.path, n, b.given)
	}
	b.n = int64(n)
	b.order = permutation(b.n, b.key.At(uint64(b.number)))
	return nil
}

func (b *blocks) Save(w []int64) []int64 {
	w = append(w, b.number, b.given)
	if b.n == 0 && (b.err == nil || b.err == io.EOF) {
		return b.in.Save(w)
	}
	return append(w, b.before...)
}

func (b *blocks) Close() error { return b.in.Close() }
