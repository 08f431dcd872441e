package dataset

import (
	"context"
	"io"
)

// Watch calls a user's functions before and after each sample is made at its
// place in the definition. In a parallel pipeline that happens ahead of the
// training.
type Watch struct{ c Callback }

// Callback is the functions that Watch calls. All are optional. An error ends
// the run. Watch calls one at a time, on the goroutine that passes the samples.
// ctx is the ctx of the engine, which ends when the run is closed.
type Callback struct {
	// Every selects every Every-th step, starting with the first. Default: 1.
	Every int64
	// EpochBegin is called before the first sample of an epoch is made,
	// EpochEnd after the last. If nodes above the Watch need no more samples
	// (take, zip), that is when the epoch ends for the run.
	EpochBegin, EpochEnd func(ctx context.Context, at Progress) error
	// StepBegin is called before a sample or batch is made, StepEnd after.
	StepBegin, StepEnd func(ctx context.Context, at Progress) error
	// Answers, if not nil, makes every selected step except the first of the
	// run wait for an answer of the training, which StepBegin gets in Progress.
	// So the next samples can depend on the progress of the training. All below
	// then runs on the goroutine of the Watch, without read-ahead: nothing of a
	// step is made before its StepBegin.
	Answers *Answers
}

// Progress is the place of a run at a Watch.
type Progress struct {
	Epoch  uint64 // from 0
	Step   int64  // of the epoch, from 1; 0 in EpochBegin, the number of samples made in EpochEnd
	Answer any    // the training's answer, in StepBegin
}

// Answers carries the training's answers to a Watch. It is safe for concurrent
// use.
type Answers struct{ c chan any }

// NewAnswers returns an empty queue of up to 65,536 answers.
func NewAnswers() *Answers { return &Answers{make(chan any, 1<<16)} }

// Give adds an answer. It blocks while the queue is full.
func (a *Answers) Give(answer any) { a.c <- answer }

// Watch calls c's functions as samples pass. Such a definition has no written
// form.
func (d *Dataset) Watch(c Callback) *Dataset { return d.then(&Watch{c}) }

// Validate requires Every to be 0 or more.
func (n *Watch) Validate() error {
	if n.c.Every < 0 {
		return paramErr("every %d steps, want 0 or more", n.c.Every)
	}
	return nil
}

func (n *Watch) traits() traits { return traits{} }

func (n *Watch) build(_ *Built, s *step) error {
	s.columns = s.in[0].columns
	return nil
}

func (n *Watch) length(b *Built, s *step) int64 { return b.lenOf(s.in[0]) }

func (n *Watch) stream(o *opener, s *step, epoch uint64) (iterator, error) {
	w := &watching{c: n.c, epoch: epoch}
	if w.c.Every == 0 {
		w.c.Every = 1
	}
	if o.state != nil {
		w.step = o.state.upTo(maxPlace, "the number of steps")
		if o.state.err != nil {
			return nil, o.state.err
		}
		w.begun = w.step > 0
	}
	if w.c.Answers != nil {
		alone := *o
		alone.stage = inline
		o = &alone
	}
	var err error
	w.in, err = o.open(s.in[0], epoch)
	if o.watches != nil {
		*o.watches = append(*o.watches, w)
	}
	return w, err
}

func (n *Watch) trace(ctx context.Context, t *tracer, s *scope) error { return nil }

func (n *Watch) merge(m *merger, s *step, epoch uint64) error {
	m.largest()
	return m.inputs(s, epoch)
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
			if err := w.finish(ctx); err != nil {
				return err
			}
		}
		return err
	}
	if counts {
		err = w.call(ctx, w.c.StepEnd, Progress{})
		w.failed = err != nil // the sample was made, but is not returned
	}
	return err
}

// isOpen reports whether the epoch was begun, and not ended.
func (w *watching) isOpen() bool { return w.begun && !w.ended }

func (w *watching) finish(ctx context.Context) error {
	w.ended = true
	return w.call(ctx, w.c.EpochEnd, Progress{})
}

func (w *watching) Save(words []int64) []int64 {
	if w.failed {
		return append(words, w.before...)
	}
	return w.in.Save(append(words, w.step))
}

func (w *watching) Close() error { return w.in.Close() }
