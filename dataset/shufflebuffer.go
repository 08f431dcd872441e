package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/infer-prep/infer-prep/rng"
)

// ShuffleBuffer mixes the samples of a dataset without an index. It keeps a
// buffer, returns a random sample of it, and puts the next sample in its place.
//
// Above batches, and above other nodes whose samples cannot be found again one
// by one, it returns all of its buffer in a random order before it fills it
// again. Build mixes whole batches then. A resumed run reads the batches of the
// buffer again. The states of ranks that are within a buffer cannot be merged.
type ShuffleBuffer struct {
	Size int `json:"size"` // samples or batches, 1 to 16,777,216
}

func init() {
	Register(Info{Name: "shuffle_buffer", Version: 1, New: func() Node { return &ShuffleBuffer{Size: 1} }, Doc: "samples mixed within a buffer"})
}

// ShuffleBuffer mixes samples within a buffer of size samples, 1 to 16,777,216.
// Prefer Shuffle where the dataset has an index.
func (d *Dataset) ShuffleBuffer(size int) *Dataset { return d.then(&ShuffleBuffer{size}) }

// maxBuffer bounds the size of a buffer.
const maxBuffer = 1 << 24

// Validate requires a size of 1 to 16,777,216.
func (n *ShuffleBuffer) Validate() error {
	if n.Size < 1 || n.Size > maxBuffer {
		return paramErr("a buffer of %d samples, want 1 to %d", n.Size, maxBuffer)
	}
	return nil
}

func (n *ShuffleBuffer) traits() traits { return traits{} }

func (n *ShuffleBuffer) build(_ *Built, s *step) error {
	s.columns = s.in[0].columns
	if s.requireRefillable() != nil {
		s.state = true
		s.traits.lockstep = true
	}
	return nil
}

// requireRefillable returns an error if a resumed run could not refill a buffer
// above s, because single samples cannot be found again: above a batch, for
// example.
func (s *step) requireRefillable() error {
	flats := 0
	var look func(x *step) error
	look = func(x *step) error {
		if x.indexed {
			return nil
		}
		if why := x.traits.unrefillable; why != "" {
			return defErr(why, x.path)
		}
		if x.traits.several {
			if flats++; flats > 1 {
				return defErr("a buffer above several nodes that each make several samples of one (%s), want one such node at most", x.path)
			}
		}
		for _, in := range x.in {
			if err := look(in); err != nil {
				return err
			}
		}
		return nil
	}
	return look(s.in[0])
}

func (n *ShuffleBuffer) length(b *Built, s *step) int64 { return b.lenOf(s.in[0]) }

func (n *ShuffleBuffer) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	if ofBlocks(s) {
		return n.streamBlocks(o, s, epoch)
	}
	it := &buffered{size: n.Size, key: rng.NewKey(o.b.options.Seed, epoch, s.path)}
	var held []held
	if o.state != nil {
		it.given = o.state.upTo(maxPlace, "the number of samples returned")
		held = o.b.loadHeld(o.state, s.in[0], n.Size)
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	var err error
	if it.in, err = o.open(s.in[0], epoch); err != nil {
		return nil, err
	}
	it.refill = o.newRefill(s.in[0], held)
	it.full = len(held) > 0
	it.log.held, it.log.at = held, it.given
	it.number = o.logs.add(s.path, &it.log)
	return it, nil
}

func (n *ShuffleBuffer) trace(ctx context.Context, t *tracer, s *scope) error { return nil }

func (n *ShuffleBuffer) merge(m *merger, s *step, epoch uint64) error {
	if ofBlocks(s) {
		return n.mergeBlocks(m, s, epoch)
	}
	m.largest()
	m.drain(s, n.Size)
	return m.inputs(s, epoch)
}

type buffered struct {
	in      iterator
	size    int
	key     rng.Key
	samples []*Sample
	given   int64 // samples returned
	full    bool  // was filled once
	ended   bool
	before  []int64 // the state of in before it was filled
	log     heldLog
	number  int64   // of the log
	put     []held  // samples that this Next appended
	refill  *refill // nil unless a resumed run has yet to find its samples
}

func (b *buffered) Next(ctx context.Context, s *Sample) error {
	if b.refill != nil {
		l, err := b.refill.read(ctx)
		if err != nil {
			return err
		}
		b.samples, b.refill = l, nil
	}
	if !b.full && len(b.samples) == 0 {
		b.before = b.in.Save(b.before[:0])
	}
	b.put = b.put[:0]
	for !b.ended && len(b.samples) < b.size && (!b.full || len(b.samples) == b.size-1) {
		x := &Sample{}
		if n := len(b.samples); n < cap(b.samples) { // reuse the buffers of a returned sample
			if old := b.samples[:n+1][n]; old != nil {
				x = old
			}
		}
		err := pull(ctx, b.in, x)
		if err == io.EOF {
			b.ended = true
			break
		}
		if err != nil {
			return err
		}
		b.samples = append(b.samples, x)
		b.put = append(b.put, heldOf(x))
	}
	b.full = true
	n := len(b.samples)
	if n == 0 {
		return io.EOF
	}
	r := b.key.At(uint64(b.given))
	i := r.IntN(n)
	b.given++
	b.log.next(b.put, i)
	*s, *b.samples[i] = *b.samples[i], *s
	// The last sample takes the place of the returned one.
	b.samples[i], b.samples[n-1] = b.samples[n-1], b.samples[i]
	b.samples = b.samples[:n-1]
	return nil
}

func (b *buffered) Save(w []int64) []int64 {
	w = append(w, b.given)
	if !b.full && len(b.samples) > 0 { // an error while filling: a resumed run would take it as full
		return append(saveHeld(w, nil), b.before...)
	}
	if len(b.samples) == 0 && b.refill == nil {
		w = saveHeld(w, nil)
	} else {
		w = reference(w, b.number, b.given)
	}
	return b.in.Save(w)
}

func (b *buffered) Close() error { return b.in.Close() }

// held identifies a sample in a buffer, so that a resumed run can read it
// again.
type held struct {
	origin
	ordinal uint64
}

func saveHeld(w []int64, l []*Sample) []int64 {
	w = append(w, int64(len(l)))
	for _, x := range l {
		w = append(x.origin.save(w), int64(x.Ordinal))
	}
	return w
}

func appendHeld(w []int64, l []held) []int64 {
	w = append(w, int64(len(l)))
	for _, h := range l {
		w = append(h.origin.save(w), int64(h.ordinal))
	}
	return w
}

// loadHeld reads the list of a buffer above s with room for size samples.
func (b *Built) loadHeld(r *stateReader, s *step, size int) []held {
	var l []held
	for range r.count(5) {
		h := held{origin: loadOrigin(r), ordinal: uint64(r.int())}
		if r.err != nil {
			return nil
		}
		if h.root < s.first || h.root >= s.last {
			r.fail("a buffered sample of root %d, want %d to %d", h.root, s.first, s.last-1)
			return nil
		}
		if n := b.roots[h.root].size; n >= 0 && h.k >= n {
			r.fail("a buffered sample at place %d of %s, which has %d", h.k, b.roots[h.root].path, n)
			return nil
		}
		l = append(l, h)
	}
	if len(l) > size {
		r.fail("%d samples in a buffer of %d", len(l), size)
	}
	return l
}

// refill reads the samples that waited in a buffer when its state was saved.
// The buffer's first Next calls read, so that the samples are read with its
// ctx.
type refill struct {
	o *opener
	s *step // the buffer's input
	l []held
}

// newRefill returns a refill of a buffer above s, or nil if no samples waited.
func (o *opener) newRefill(s *step, l []held) *refill {
	if len(l) == 0 {
		return nil
	}
	return &refill{o, s, l}
}

// read returns the samples in the order of r.l.
func (r *refill) read(ctx context.Context) ([]*Sample, error) {
	o, s, l := r.o, r.s, r.l
	found := make([]*Sample, len(l))
	// Read each epoch and root once, in the order of places: a stream restarts
	// for an earlier place.
	type pass struct {
		root  int32
		epoch uint64
	}
	passes := map[pass]map[int64][]int{}
	var order []pass
	for i, h := range l {
		p := pass{h.root, h.epoch}
		if passes[p] == nil {
			passes[p] = map[int64][]int{}
			order = append(order, p)
		}
		passes[p][h.k] = append(passes[p][h.k], i)
	}
	in := *o
	in.state = nil
	in.stage = inline
	in.bad, in.lenient = &badList{}, true // other samples may be bad
	for _, p := range order {
		if err := in.refindPass(ctx, s, p.root, p.epoch, l, passes[p], found); err != nil {
			return nil, err
		}
	}
	for i, x := range found {
		if x != nil {
			continue
		}
		for _, e := range in.bad.l {
			if e.Epoch == l[i].epoch && e.Ordinal == l[i].ordinal {
				return nil, fmt.Errorf("%w: a buffered sample is bad now: %w", ErrState, e)
			}
		}
		return nil, fmt.Errorf("%w: buffered sample %d of root %d is missing: the data changed", ErrState, l[i].k, l[i].root)
	}
	return found, nil
}

func (o *opener) refindPass(ctx context.Context, s *step, root int32, epoch uint64, l []held, want map[int64][]int, found []*Sample) (err error) {
	r := *o
	r.replay = &replay{root: root, places: sortedKeys(want)}
	it, err := r.open(s, epoch)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for {
		x := &Sample{}
		err := pull(ctx, it, x)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for _, i := range want[x.origin.k] {
			if h := l[i]; found[i] == nil && h.origin == x.origin {
				x.Ordinal = h.ordinal
				found[i] = x
				break
			}
		}
	}
}
