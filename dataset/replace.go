package dataset

import (
	"context"
	"fmt"
	"strconv"

	"github.com/infer-prep/infer-prep/rng"
)

// replacer makes the samples that replace bad ones of a root; see
// ReplaceOnError. The goroutine that calls the root's Next uses it.
type replacer struct {
	o     opener
	s     *step
	epoch uint64
	draw  func(epoch uint64, k int64) rng.Stream
	in    iterator // makes the sample of place; nil before the first bad sample
	place place
}

// maxReplaced is the number of other places that are tried for a bad sample.
// With half of all samples bad, which is the most that MaxSkipShare allows by
// default, all of them are bad once in 2^100 times.
const maxReplaced = 100

// replacedFrom bounds the places that replace samples of an endless root: they
// are of the same 1,048,576 places, so that few passes of a Repeat are needed.
const replacedFrom = 1 << 20

// replacer returns the replacer of a root, or nil if bad samples are not
// replaced.
func (o *opener) replacer(s *step, epoch uint64) *replacer {
	if o.b.options.OnError != ReplaceOnError || o.strict {
		return nil
	}
	r := &replacer{o: *o, s: s, epoch: epoch, draw: drawn(o.b.options.Seed, "replacement/"+strconv.Itoa(int(s.root)))}
	r.o.stage, r.o.state, r.o.strict = inline, nil, true
	return r
}

// into replaces s, the bad sample of place k, and notes the key of the
// replacement in bad, its errors.
func (r *replacer) into(ctx context.Context, s *Sample, k int64, bad []*SampleError) (err error) {
	e := *s.bad
	if r.in == nil {
		if r.in, err = r.o.openIndexed(r.s, feed{root: r.s.root, epoch: r.epoch, one: &r.place}); err != nil {
			return err
		}
	}
	first, n := int64(0), r.s.size
	if n == Endless {
		first, n = k&^(replacedFrom-1), replacedFrom
	}
	order := permutation(n, r.draw(r.epoch, k))
	tried := 0
	for i := int64(0); i < n && tried < maxReplaced; i++ {
		at := first + int64(order.At(uint64(i)))
		if at == k {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		r.place = place{k: k, pos: at, epoch: r.epoch}
		err := r.in.Next(ctx, s)
		if err == nil {
			for _, b := range bad {
				b.Replacement = s.Key
			}
			return nil
		}
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		if isDeviceError(err) {
			path, err := failedNode(r.s.path, err)
			return &SampleError{Path: path, Key: s.Key, Epoch: s.Epoch, Ordinal: s.Ordinal, Err: err}
		}
		tried++
	}
	if r.o.lenient { // the place may be one that is not wanted
		s.dropped = true
		return nil
	}
	e.Err = fmt.Errorf("%w; no sample replaces it: %d others are bad too", e.Err, tried)
	return &e
}

func (r *replacer) Close() error {
	if r.in == nil {
		return nil
	}
	return r.in.Close()
}
