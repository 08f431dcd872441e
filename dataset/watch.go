package dataset

import (
	"context"
	"io"
)

// Watch calls functions of the user's as samples pass: where it stands, before
// they are made and after. In a parallel pipeline that is ahead of the training.
type Watch struct{ c Callback }

// Callback is what Watch calls. Functions that are nil are not called. An error
// ends the run. They are called one at a time, by the goroutine that passes
// samples on; ctx is that of the run, and is cancelled when it is closed.
type Callback struct {
	// Every says which steps count: each Every-th, from the first on. Default: 1.
	Every int64
	// EpochBegin is called before the first sample of an epoch is made, EpochEnd
	// when there are no more.
	EpochBegin, EpochEnd func(ctx context.Context, at Progress) error
	// StepBegin is called before a sample (or batch, where batches pass) is made,
	// StepEnd after.
	StepBegin, StepEnd func(ctx context.Context, at Progress) error
	// Answers, if it is not nil, makes every step that counts, but for the first of
	// the run, wait until the training has given an answer, which Progress brings to
	// StepBegin: the next samples can then follow from how the training goes.
	Answers *Answers
}

// Progress is where a run stands at a Watch.
type Progress struct {
	Epoch  uint64 // from 0
	Step   int64  // of the epoch, from 1; of EpochBegin 0, of EpochEnd the number of samples
	Answer any    // of the training, in StepBegin
}

// Answers brings the training's answers to a Watch. It may be used by several goroutines.
type Answers struct{ c chan any }

// NewAnswers makes a queue of answers, in which as many wait as are given.
func NewAnswers() *Answers { return &Answers{make(chan any, 1<<16)} }

// Give gives an answer. It does not wait, unless 65,536 answers wait.
func (a *Answers) Give(answer any) { a.c <- answer }

// Watch calls c's functions as samples pass. Such a definition cannot be written.
func (d *Dataset) Watch(c Callback) *Dataset { return d.then(&Watch{c}) }

// Validate wants a number of steps.
func (n *Watch) Validate() error {
	if n.c.Every < 0 {
		return paramErr("every %d steps", n.c.Every)
	}
	return nil
}

func (n *Watch) build(_ *Built, s *step) error {
	in, err := s.one()
	if err == nil {
		s.columns = in.columns
	}
	return err
}

func (n *Watch) length(b *Built, s *step) int64 { return b.lenOf(s.in[0]) }

func (n *Watch) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	w := &watching{c: n.c, epoch: epoch}
	if w.c.Every == 0 {
		w.c.Every = 1
	}
	if o.state != nil {
		if w.step = o.state.int(); w.step < 0 {
			o.state.fail("step %d", w.step)
		}
		if o.state.err != nil {
			return nil, o.state.err
		}
		w.begun = w.step > 0
	}
	var err error
	w.in, err = o.open(s.in[0], epoch)
	return w, err
}

type watching struct {
	in    iterator
	c     Callback
	epoch uint64
	step  int64
	begun bool
	ended bool
	// before is the state before the last sample, where StepEnd failed.
	before []int64
	failed bool
}

func (w *watching) call(ctx context.Context, f func(context.Context, Progress) error, p Progress) error {
	if f == nil {
		return nil
	}
	p.Epoch, p.Step = w.epoch, w.step
	return guard(func() error { return f(ctx, p) })
}

func (w *watching) Next(ctx context.Context, s *Sample) error {
	if !w.begun {
		if err := w.call(ctx, w.c.EpochBegin, Progress{}); err != nil {
			return err
		}
		w.begun = true
	}
	w.step++
	counts := (w.step-1)%w.c.Every == 0
	if counts {
		var p Progress
		if w.c.Answers != nil && (w.step > 1 || w.epoch > 0) {
			select {
			case p.Answer = <-w.c.Answers.c:
			case <-ctx.Done():
				w.step--
				return ctx.Err()
			}
		}
		if err := w.call(ctx, w.c.StepBegin, p); err != nil {
			w.step--
			return err
		}
	}
	if counts && w.c.StepEnd != nil {
		w.before = w.in.Save(append(w.before[:0], w.step-1))
	}
	err := pull(ctx, w.in, s)
	if err != nil {
		w.step--
		if err == io.EOF && !w.ended {
			w.ended = true
			if err := w.call(ctx, w.c.EpochEnd, Progress{}); err != nil {
				return err
			}
		}
		return err
	}
	if counts {
		err = w.call(ctx, w.c.StepEnd, Progress{})
		w.failed = err != nil // the sample was made, and is not given
	}
	return err
}

func (w *watching) Save(words []int64) []int64 {
	if w.failed {
		return append(words, w.before...)
	}
	return w.in.Save(append(words, w.step))
}

func (w *watching) Close() error { return w.in.Close() }
