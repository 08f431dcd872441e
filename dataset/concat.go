package dataset

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"sort"
)

// Concat returns its inputs one after another. The inputs must have equal
// columns, except for sizes.
type Concat struct{}

func init() {
	Register(Info{Name: "concat", Version: 1, New: func() Node { return &Concat{} }, Doc: "datasets one after another"})
}

// Concat returns d followed by the others.
func (d *Dataset) Concat(others ...*Dataset) *Dataset {
	return Of(&Concat{}, append([]*Dataset{d}, others...)...)
}

// Validate returns nil: there are no parameters.
func (n *Concat) Validate() error { return nil }

func (n *Concat) traits() traits { return traits{joins: true, lockstep: true} }

func (n *Concat) build(_ *Built, s *step) error {
	if err := s.sameColumns(); err != nil {
		return err
	}
	s.size, s.indexed = 0, true
	for i, in := range s.in {
		s.indexed = s.indexed && in.indexed
		if !s.indexed {
			continue
		}
		if s.size == Endless {
			return defErr("input %d follows an endless input, want that one last", i)
		}
		if in.size == Endless {
			s.size = Endless
			continue
		}
		if in.size > math.MaxInt64-1-s.size {
			return defErr("too many samples, want fewer than 2^63")
		}
		s.size += in.size
	}
	if !s.indexed {
		s.size = Unknown
	}
	return nil
}

// sameColumns gives s the columns of all inputs. Differing sizes become
// Unknown.
func (s *step) sameColumns() error {
	s.columns = slices.Clone(s.in[0].columns)
	for i, in := range s.in[1:] {
		if len(in.columns) != len(s.columns) {
			return defErr("input %d has %d columns, want %d as input 0 has", i+1, len(in.columns), len(s.columns))
		}
		for j, c := range in.columns {
			d, ok := common(s.columns[j].Desc, c.Desc)
			if c.Name != s.columns[j].Name || !ok {
				return defErr("column %d of input %d is %q %v, want that of input 0, %q %v", j, i+1, c.Name, c.Desc, s.columns[j].Name, s.columns[j].Desc)
			}
			s.columns[j].Desc = d
		}
	}
	return nil
}

func (n *Concat) locator(_ *Built, s *step) func(uint64, int64) (int, uint64, int64) {
	ends := make([]int64, len(s.in))
	at := int64(0)
	for i, in := range s.in {
		if in.size == Endless {
			at = Endless
		} else {
			at += in.size
		}
		ends[i] = at
	}
	return func(epoch uint64, k int64) (int, uint64, int64) {
		i := sort.Search(len(ends), func(i int) bool { return ends[i] > k })
		if i > 0 {
			k -= ends[i-1]
		}
		return i, epoch, k
	}
}

func (n *Concat) length(b *Built, s *step) int64 {
	l := int64(0)
	for _, in := range s.in {
		switch k := b.lenOf(in); {
		case k == Unknown || k == Endless:
			return k
		default:
			l += k
		}
	}
	return l
}

// stream concatenates inputs of which some have no index. Each rank reads its
// part of each input.
func (n *Concat) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	c := &concatenated{}
	if o.state != nil {
		c.at = int(o.state.upTo(int64(len(s.in)), "the number of an input"))
		if o.state.err != nil {
			return nil, o.state.err
		}
	}
	for _, in := range s.in {
		it, err := o.open(in, epoch)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.in = append(c.in, it)
	}
	return c, nil
}

func (n *Concat) trace(ctx context.Context, t *tracer, s *scope) error {
	s.either = true
	return nil
}

func (n *Concat) merge(m *merger, s *step, epoch uint64) error {
	m.put(0) // buffered samples may be of any input; a finished input ends again at once
	return m.inputs(s, epoch)
}

type concatenated struct {
	in []iterator
	at int
}

func (c *concatenated) Next(ctx context.Context, s *Sample) error {
	for ; c.at < len(c.in); c.at++ {
		if err := pull(ctx, c.in[c.at], s); err != io.EOF {
			s.Ordinal = ofInput(s.Ordinal, c.at)
			return err
		}
	}
	return io.EOF
}

// ofInput returns an ordinal that is unique among the inputs.
func ofInput(ordinal uint64, in int) uint64 { return ordinal ^ uint64(in)<<48 }

func (c *concatenated) Save(w []int64) []int64 {
	w = append(w, int64(c.at))
	for _, it := range c.in {
		w = it.Save(w)
	}
	return w
}

func (c *concatenated) Close() error { return closeAll(c.in) }
