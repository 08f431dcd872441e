package dataset

import (
	"context"
	"errors"
	"io"
)

// Zip joins one sample of each input into a sample with all their columns. It
// ends with its shortest input. The names of the columns must be unique.
type Zip struct{}

func init() {
	Register(Info{Name: "zip", Version: 1, New: func() Node { return &Zip{} }, Doc: "samples of several datasets side by side"})
}

// NewZip returns the dataset whose samples have the columns of all d side by
// side. It ends with the shortest.
func NewZip(d ...*Dataset) *Dataset { return Of(&Zip{}, d...) }

// Validate returns nil: there are no parameters.
func (n *Zip) Validate() error { return nil }

func (n *Zip) traits() traits {
	return traits{
		joins: true, unrefillable: "a buffer above a Zip of datasets without an index (%s); put it below",
	}
}

func (n *Zip) build(_ *Built, s *step) error {
	s.size, s.indexed = Endless, true
	for _, in := range s.in {
		s.columns = append(s.columns, in.columns...)
		s.indexed = s.indexed && in.indexed
		if in.size == Unknown || s.size == Unknown {
			s.size = Unknown
		} else {
			s.size = min(s.size, in.size)
		}
	}
	if !s.indexed {
		s.size = Unknown
	}
	return nil
}

// stream zips inputs of which some have no index. Every rank makes all samples,
// so that the pairs do not depend on the ranks, and keeps its part.
func (n *Zip) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	z := &zipped{samples: make([]Sample, len(s.in))}
	p, err := o.part()
	if err != nil {
		return nil, err
	}
	p.in = z
	for _, in := range s.in {
		it, err := o.singleRank().open(in, epoch)
		if err != nil {
			return nil, errors.Join(err, z.Close())
		}
		z.in = append(z.in, it)
	}
	return p, nil
}

func (n *Zip) trace(ctx context.Context, t *tracer, s *scope) error { return nil }

func (n *Zip) merge(m *merger, s *step, epoch uint64) error { return m.parted(s, 0, epoch) }

func (n *Zip) index(o *opener, s *step, f feed) (iterator, error) {
	z := &zipped{indexed: true, samples: make([]Sample, len(s.in))}
	for _, in := range s.in {
		it, err := o.openIndexed(in, f.fresh(o))
		if err != nil {
			return nil, errors.Join(err, z.Close())
		}
		z.in = append(z.in, it)
	}
	return z, nil
}

// zipped is the iterator.
type zipped struct {
	in      []iterator
	samples []Sample
	before  []int64 // the state before the last sample, without an index
	ended   bool    // by an error
	done    bool    // by the end of an input
	indexed bool    // the inputs have an index, and no state
}

func (z *zipped) Next(ctx context.Context, s *Sample) error {
	if z.done {
		return io.EOF
	}
	if !z.indexed {
		z.before = z.save(z.before[:0])
	}
	err := z.zip(ctx, s)
	z.done = err == io.EOF
	z.ended = err != nil && !z.done
	return err
}

func (z *zipped) zip(ctx context.Context, s *Sample) error {
	s.Resize(0)
	dropped := false
	s.bad, s.judged = nil, false
	for i, it := range z.in {
		x := &z.samples[i]
		err := it.Next(ctx, x)
		for err == nil && x.dropped && !z.indexed { // with an index, all inputs stay at the same place
			err = it.Next(ctx, x)
		}
		if err != nil {
			return err
		}
		dropped = dropped || x.dropped
		if bad, judged := s.bad, s.judged; i == 0 {
			s.identity(x)
		} else if s.bad == nil {
			s.bad, s.judged = x.bad, x.judged
		} else {
			s.bad, s.judged = bad, judged
		}
	}
	s.dropped = dropped
	if dropped {
		return nil
	}
	n := 0
	for i := range z.samples {
		n += len(z.samples[i].Values)
	}
	s.Resize(n)
	n = 0
	for i := range z.samples {
		for j := range z.samples[i].Values {
			// Swap, so that both keep a buffer.
			s.Values[n], z.samples[i].Values[j] = z.samples[i].Values[j], s.Values[n]
			n++
		}
	}
	return nil
}

func (z *zipped) Save(w []int64) []int64 {
	if z.ended {
		return append(w, z.before...)
	}
	return z.save(w)
}

func (z *zipped) save(w []int64) []int64 {
	for _, it := range z.in {
		w = it.Save(w)
	}
	return w
}

func (z *zipped) Close() error { return closeAll(z.in) }
