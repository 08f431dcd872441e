package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

const (
	// firstWait is the longest pause before the second attempt. It doubles
	// from attempt to attempt, up to maxWait. These are the values of AWS's
	// "Exponential Backoff And Jitter", with full jitter: the pause is drawn
	// between 0 and the longest, so that many workers do not return at once.
	firstWait = 100 * time.Millisecond
	maxWait   = 10 * time.Second
	// maxAfter bounds the pause that a service can ask for.
	maxAfter = time.Minute
)

// errStalled reports an attempt that brought no byte for Options.Stall.
var errStalled = errors.New("the service sent nothing")

// attempts counts the attempts of one operation since its last progress.
type attempts struct {
	s    *Store
	made int
}

// again waits before another attempt, after one that ended with err. If there
// is to be none, it returns the error of the operation.
func (a *attempts) again(ctx context.Context, err error) error {
	a.made++
	if ctx.Err() != nil {
		return ended(ctx, err)
	}
	var t *TemporaryError
	if !errors.As(err, &t) {
		return err
	}
	if a.made >= a.s.o.Attempts {
		if a.made == 1 {
			return err
		}
		return fmt.Errorf("%d attempts: %w", a.made, err)
	}
	wait := a.s.wait(a.made, t.After)
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return fmt.Errorf("%d attempts, and no time for another: %w: %w", a.made, context.DeadlineExceeded, err)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ended(ctx, err)
	case <-timer.C:
	}
	a.s.counters.retries.Add(1)
	return nil
}

// ended returns the error of an operation whose context has ended, after an
// attempt that ended with err.
func ended(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if err == nil || errors.Is(err, cause) {
		return cause
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return cause
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// pause returns how long to wait after a number of attempts, at least after.
func pause(made int, after time.Duration) time.Duration {
	longest := maxWait
	if made < 8 {
		longest = min(maxWait, firstWait<<(made-1))
	}
	return max(rand.N(longest), min(after, maxAfter))
}

// attempt is the time limit of one attempt. Every sign of life starts it anew.
type attempt struct {
	s      *Store
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// begin starts an attempt below ctx. The caller ends it.
func (s *Store) begin(ctx context.Context) *attempt {
	s.counters.requests.Add(1)
	a := &attempt{s: s}
	ctx, a.cancel = context.WithCancelCause(ctx)
	a.ctx = context.WithValue(ctx, attemptKey{}, a)
	a.timer = time.AfterFunc(s.o.Stall, func() { a.cancel(errStalled) })
	return a
}

// attemptKey is the key of the attempt in its context.
type attemptKey struct{}

// Alive reports that the service has answered. A Backend calls it with the
// context that it was given, where a call takes several answers: without it the
// call ends after Options.Stall.
func Alive(ctx context.Context) {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		a.alive()
	}
}

// alive restarts the time limit: bytes came, or the wait for them begins.
func (a *attempt) alive() { a.timer.Reset(a.s.o.Stall) }

// idle stops the time limit until the next call of alive.
func (a *attempt) idle() { a.timer.Stop() }

func (a *attempt) end() {
	a.timer.Stop()
	a.cancel(context.Canceled)
}

// explain returns the error of the attempt: if it stalled, that is a
// TemporaryError. io.EOF, as clients return it for a broken connection, becomes
// io.ErrUnexpectedEOF, since readers take io.EOF for the end of the file.
func (a *attempt) explain(err error) error {
	if errors.Is(err, io.EOF) {
		cut := fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err)
		if t, ok := errors.AsType[*TemporaryError](err); ok {
			cut = &TemporaryError{cut, t.After}
		}
		err = cut
	}
	if err != nil && context.Cause(a.ctx) == errStalled {
		a.s.counters.stalls.Add(1)
		return &TemporaryError{Err: fmt.Errorf("%w for %v", errStalled, a.s.o.Stall)}
	}
	return err
}

// try calls do until it succeeds, fails for good, or all attempts are made.
func try[T any](ctx context.Context, s *Store, do func(ctx context.Context) (T, error)) (T, error) {
	tries := attempts{s: s}
	for {
		a := s.begin(ctx)
		x, err := do(a.ctx)
		err = a.explain(err)
		a.end()
		if err == nil {
			return x, nil
		}
		if err := tries.again(ctx, err); err != nil {
			return x, err
		}
	}
}
