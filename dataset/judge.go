package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// judge ends a run in which too many samples are bad. It counts the samples
// that pass one place of the definition in one epoch. A nil judge counts
// nothing.
type judge struct {
	path   string
	most   int64 // in succession
	share  float64
	whole  bool // counts from the start of the epoch
	good   int64
	bad    int64
	streak int64 // bad samples in succession
	panics int64
	first  []*SampleError
}

// The defaults of Options.MaxSkips and MaxSkipShare.
const (
	maxSkips     = 1000
	maxSkipShare = 0.5
	// shareFrom is the number of samples from which on the share counts.
	shareFrom = 1000
	// shownErrors is the number of bad samples that an error shows.
	shownErrors = 3
)

// judge returns a judge of the samples of s, or nil if bad samples are not
// skipped or skips have no bound.
func (o *opener) judge(s *step) *judge {
	p := &o.b.options
	if p.OnError == FailOnError || p.MaxSkips < 0 || o.strict || o.lenient {
		return nil
	}
	return &judge{path: s.path, most: p.MaxSkips, share: p.MaxSkipShare, whole: o.state == nil}
}

// count counts a sample. It returns an error if too many were bad.
func (j *judge) count(s *Sample) error {
	switch {
	case j == nil || s.judged:
		return nil
	case s.bad == nil:
		j.good++
		j.streak = 0
		return nil
	}
	s.judged = true // the places above do not count it again
	j.bad++
	j.streak++
	if _, ok := errors.AsType[*PanicError](s.bad); ok {
		j.panics++
	}
	if len(j.first) < shownErrors {
		j.first = append(j.first, s.bad)
	}
	switch n := j.good + j.bad; {
	case j.streak >= j.most:
		return j.errorf("%d bad samples in succession, want fewer than %d (Options.MaxSkips)", j.streak, j.most)
	case n >= shareFrom && float64(j.bad) > float64(j.share*float64(n)):
		return j.errorf("%d of %d samples are bad, want a share of at most %v (Options.MaxSkipShare)", j.bad, n, j.share)
	}
	return nil
}

// end returns io.EOF, or an error if all samples of the epoch were bad.
func (j *judge) end() error {
	if j == nil || !j.whole || j.good > 0 || j.bad == 0 {
		return io.EOF
	}
	return j.errorf("all %d samples of the epoch are bad", j.bad)
}

func (j *judge) errorf(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if j.panics > 0 {
		text += fmt.Sprintf("; %d are panics", j.panics)
	}
	err := fmt.Errorf("dataset: %w: %s: %s; the first are", ErrData, j.path, text)
	for _, e := range j.first {
		err = fmt.Errorf("%w\n%w", err, e)
	}
	return err
}

// judged is an iterator outside indexed trees with a judge of its samples.
type judged struct {
	iterator
	j *judge
}

// judged returns it with a judge. A node with bad samples of its own calls it.
func (o *opener) judged(s *step, it iterator) iterator {
	if j := o.judge(s); j != nil {
		return &judged{it, j}
	}
	return it
}

func (d *judged) Next(ctx context.Context, s *Sample) error {
	err := d.iterator.Next(ctx, s)
	switch err {
	case nil:
		return d.j.count(s)
	case io.EOF:
		return d.j.end()
	}
	return err
}
