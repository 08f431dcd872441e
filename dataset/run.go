package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/internal/engine"
)

// Run is a run of a Built. Programs get one from pullpipe.New or pipeline.New.
// One goroutine uses it at a time; only Close, Skipped, Panics, Quarantined,
// Weights and SetWeights are safe for concurrent use. Next and NextEpoch detect
// a second goroutine and return ErrConcurrent.
type Run struct {
	use     sync.Mutex  // held during Next, NextEpoch and Close
	closing atomic.Bool // Close was called

	built    *Built
	stage    placer
	top      placer
	bytes    int64 // see engine.Config
	it       iterator
	epoch    uint64
	steps    int64   // of the epoch
	ended    error   // io.EOF, or the error that ended the run
	last     *State  // the state at Close; nil before
	before   []int64 // the state before the last sample, with AllDone
	rollback bool    // before is the state to resume from
	sample   Sample
	dropped  badList // dropped samples to report
	logs     *heldLogs
	watches  *[]*watching // of the epoch
	marked   []int64      // for heldLogs.trim

	mu     sync.Mutex
	bad    []*SampleError
	known  map[badSample]bool // the samples of bad
	count  int64
	panics int64
	// The weights that the training set for feedback policies: of the epoch,
	// and of the next one. The maps do not change.
	weights, next map[string][]float64
	begun         bool // the epoch has its weights
}

// badSample identifies a bad sample in all epochs.
type badSample struct{ path, key string }

// maxQuarantined bounds Run.Quarantined.
const maxQuarantined = 1 << 16

// NewRun starts a run of b from a state, or from the start of epoch 0 if s is
// nil. It is for the engines of this module: programs call pullpipe.New or
// pipeline.New.
func NewRun(b *Built, s *State, c engine.Config[*Sample]) (*Run, error) {
	r := &Run{built: b, stage: c.Stage, top: c.Top, bytes: c.Bytes}
	if s == nil {
		return r, nil
	}
	switch {
	case !knownVersion(uint64(s.Version)):
		return nil, versionError(uint64(s.Version))
	case s.Fingerprint != b.fingerprint:
		return nil, fmt.Errorf("%w: made with another definition or seed", ErrState)
	case s.World < 1 || int64(s.World) > maxRanks || s.Rank < 0 || s.Rank >= s.World || s.Step < 0:
		return nil, fmt.Errorf("%w: rank %d of %d, step %d", ErrState, s.Rank, s.World, s.Step)
	case hasReference(s.Words):
		return nil, fmt.Errorf("%w: a reference to a buffer", ErrState)
	case s.World == b.options.World && s.Rank != b.options.Rank && s.World > 1 && !b.top.lockstep():
		return nil, fmt.Errorf("%w: made by rank %d, this is rank %d", ErrState, s.Rank, b.options.Rank)
	case s.World != b.options.World && !s.Merged && !b.top.lockstep():
		return nil, fmt.Errorf("%w: made by one of %d ranks, this is one of %d: Merge the states of all ranks, since lengths depend on the data",
			ErrState, s.World, b.options.World)
	}
	if err := b.checkSources(s.Sources); err != nil {
		return nil, err
	}
	if err := r.loadWeights(s); err != nil {
		return nil, err
	}
	r.epoch, r.steps = s.Epoch, s.Step
	words := &stateReader{words: s.Words}
	if len(s.Words) == 0 { // the start of an epoch
		return r, nil
	}
	if err := r.open(words); err != nil {
		return nil, err
	}
	if len(words.words) > 0 {
		return nil, errors.Join(fmt.Errorf("%w: %d words too many", ErrState, len(words.words)), r.Close())
	}
	return r, nil
}

// lockstep reports whether all ranks have equal states after equally many
// samples.
func (s *step) lockstep() bool {
	if s.indexed {
		return true
	}
	_, one := s.node.(oneToOne)
	return (one || s.traits.lockstep) && !slices.ContainsFunc(s.in, func(in *step) bool { return !in.lockstep() })
}

func (r *Run) open(words *stateReader) error {
	o := &opener{b: r.epochBuilt(), stage: r.stage, bytes: r.bytes, state: words, bad: &r.dropped, logs: newHeldLogs(), watches: new([]*watching)}
	r.logs, r.watches = o.logs, o.watches
	below := o
	if r.top != nil {
		below = o.below()
	}
	it, err := below.open(r.built.top, r.epoch)
	if err != nil {
		return err
	}
	if r.top != nil {
		top, err := r.top(stage{In: it, Drain: below.bad.drainTo(&r.dropped), Dropped: func(s *Sample) bool {
			s.columns = r.built.top.columns // for the engine's own work
			return s.dropped
		}})
		if err != nil {
			return errors.Join(err, it.Close())
		}
		it = top
	}
	r.it = it
	return nil
}

// report counts the samples that Next dropped, and passes them to OnSkip.
func (r *Run) report() {
	for _, e := range r.dropped.take() {
		r.mu.Lock()
		r.count++
		if _, ok := errors.AsType[*PanicError](e); ok {
			r.panics++
		}
		if id := (badSample{e.Path, e.Key}); r.built.options.OnError == QuarantineOnError && !r.known[id] && len(r.bad) < maxQuarantined {
			if r.known == nil {
				r.known = map[badSample]bool{}
			}
			r.known[id] = true
			r.bad = append(r.bad, e)
		}
		r.mu.Unlock()
		if r.built.options.OnSkip != nil {
			r.built.options.OnSkip(e)
		}
	}
}

// Skipped returns the number of bad samples that were skipped or replaced so
// far, panics included. It is safe for concurrent use.
func (r *Run) Skipped() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count
}

// Panics returns how many of these bad samples made a user's function or a
// source panic. It is safe for concurrent use.
func (r *Run) Panics() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.panics
}

// Quarantined returns the bad samples so far, if OnError is QuarantineOnError.
// It has the first error of each sample at each node, told apart by SampleError
// Path and Key, and so does not grow when later epochs meet the same samples.
// It holds at most 65,536. It is safe for concurrent use.
func (r *Run) Quarantined() []*SampleError {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.bad)
}

// Next returns the next sample or batch. Its values are valid until the next
// call of Next, NextEpoch or Close. At the end of an epoch Next returns io.EOF
// itself, until NextEpoch. The error of a sample is a *SampleError. After an
// error, or a ctx that ends before or during Next, the run has ended: Next
// returns the same error, ctx.Err() for a ctx, until NextEpoch, and State
// returns where to resume.
//
// While another goroutine is in Next, NextEpoch or Close, Next returns
// ErrConcurrent or ErrClosed at once, and no sample is lost. If Close is called
// during Next, Next returns its sample or ErrClosed.
func (r *Run) Next(ctx context.Context) (*Sample, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.use.Unlock()
	if r.ended != nil {
		return nil, r.ended
	}
	if r.last != nil || r.closing.Load() {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, r.end(err)
	}
	if r.it == nil {
		if err := r.open(nil); err != nil {
			return nil, r.end(err)
		}
	}
	s := &r.sample
	all := r.built.options.AllDone
	if all != nil {
		r.before = r.it.Save(r.before[:0])
	}
	err := pull(ctx, r.it, s)
	r.report()
	if err != nil && err != io.EOF {
		return nil, r.end(err)
	}
	if all != nil {
		done, hookErr := all(ctx, err == io.EOF)
		if hookErr != nil {
			r.rollback = true
			return nil, r.end(hookErr)
		}
		if done {
			err = io.EOF
		} else if err == io.EOF {
			return nil, r.end(errors.New("dataset: AllDone returned false, but this rank is done"))
		}
	}
	if err != nil {
		return nil, r.end(r.finish(ctx))
	}
	if r.steps++; r.steps%trimSteps == 0 && !r.logs.empty() {
		r.marked = r.it.Save(r.marked[:0])
		r.logs.trim(r.marked)
	}
	s.columns = r.built.top.columns
	return s, nil
}

// All returns the rest of the epoch. A sample is valid until the next one. An
// error comes with a nil sample, and is the last element.
func (r *Run) All(ctx context.Context) iter.Seq2[*Sample, error] {
	return func(yield func(*Sample, error) bool) {
		for {
			s, err := r.Next(ctx)
			if err == io.EOF || !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// trimSteps is the number of samples or batches between two cuts of the logs
// of buffers.
const trimSteps = 16

// finish ends an epoch, and returns io.EOF or the error of an EpochEnd. A Watch
// below a node that needs no more samples has not seen the end of its input.
func (r *Run) finish(ctx context.Context) error {
	if !slices.ContainsFunc(*r.watches, (*watching).isOpen) {
		return io.EOF
	}
	r.before = r.it.Save(r.before[:0])
	err := r.closeIterator() // no other goroutine uses a Watch afterwards
	for _, w := range *r.watches {
		if err == nil && w.isOpen() {
			err = w.finish(ctx)
		}
	}
	if r.rollback = err != nil; r.rollback {
		return err
	}
	return io.EOF
}

func (r *Run) end(err error) error {
	r.ended = err
	return err
}

// enter locks r.use, or returns why it is locked.
func (r *Run) enter() error {
	switch {
	case r.use.TryLock():
		return nil
	case r.closing.Load():
		return ErrClosed
	}
	return ErrConcurrent
}

// NextEpoch starts the next epoch, also before the end of this one. It returns
// ErrConcurrent while another goroutine is in Next.
func (r *Run) NextEpoch() error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.use.Unlock()
	if r.last != nil || r.closing.Load() {
		return ErrClosed
	}
	err := r.closeIterator()
	r.epoch++
	r.steps, r.ended, r.rollback = 0, nil, false
	r.endEpoch()
	return err
}

// Epoch returns the number of the epoch, from 0.
func (r *Run) Epoch() uint64 { return r.epoch }

// Step returns the number of samples or batches of this epoch that Next
// returned.
func (r *Run) Step() int64 { return r.steps }

// State returns the place after the last sample of Next. Samples that were
// prefetched do not count. At the end of an epoch it is the start of the next
// one.
func (r *Run) State() *State {
	if r.last != nil {
		return r.last
	}
	s := &State{
		Version: stateVersion, Fingerprint: r.built.fingerprint, Epoch: r.epoch, Step: r.steps,
		Rank: r.built.options.Rank, World: r.built.options.World, Sources: r.built.sourceWords(),
	}
	r.saveWeights(s, r.ended == io.EOF)
	switch {
	case r.ended == io.EOF:
		s.Epoch, s.Step = r.epoch+1, 0
	case r.rollback:
		s.Words = r.logs.resolve(r.before)
	case r.it != nil:
		s.Words = r.logs.resolve(r.it.Save(nil))
	}
	return s
}

func (r *Run) closeIterator() error {
	if r.it == nil {
		return nil
	}
	err := r.it.Close()
	r.it = nil
	return err
}

// Close ends the run and waits for its goroutines, including running reads and
// user functions, and for a Next of another goroutine. State stays valid, and
// the Built stays open. A second Close does nothing. A function that the run
// calls must not call Close.
func (r *Run) Close() error {
	r.closing.Store(true)
	r.use.Lock()
	defer r.use.Unlock()
	if r.last == nil {
		r.last = r.State()
	}
	return r.closeIterator()
}

// ErrClosed reports the use of a closed run.
var ErrClosed = errors.New("dataset: the run is closed")

// ErrConcurrent reports a call of Next or NextEpoch while another goroutine is
// in one of them.
var ErrConcurrent = errors.New("dataset: another goroutine is in Next or NextEpoch: want one goroutine at a time")
