package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/infer-prep/infer-prep/dataset"
)

// returnBound is the time within which Next and Close return after a cancel or
// a Close. The work of one sample takes milliseconds; the rest is for a busy
// machine.
const returnBound = 10 * time.Second

// The ways in which a trial ends a run.
const (
	cancelCtx = iota
	deadline
	closeBetween
	closeDuring
	cancelAndClose
)

var endings = []string{
	cancelCtx:      "the ctx is cancelled",
	deadline:       "the ctx's deadline passes",
	closeBetween:   "Close between two Next",
	closeDuring:    "Close from another goroutine",
	cancelAndClose: "both at the same time",
}

// subject is a definition to disturb.
type subject struct {
	name  string
	d     *dataset.Dataset
	batch bool // its samples are batches
	alike bool // all ranks have equal states after equally many samples
}

// subjects returns definitions over all sources of the corpus.
func (c *corpus) subjects() []subject {
	return []subject{
		{"images", c.folder().Shuffle().Map(augment(24)), false, true},
		{"images, repeated, in batches", c.folder().Shuffle().Repeat(2).Map(augment(24)).Batch(4), true, true},
		{"RecordIO, in batches", c.recordFile().Shuffle().Map(augment(24)).Batch(5), true, true},
		{"tar, shuffle buffer, in batches", c.tar().Map(augment(24)).ShuffleBuffer(20).Batch(3), true, false},
		{"images, shuffle buffer", c.folder().Map(augment(24)).ShuffleBuffer(16), false, false},
	}
}

// cancelTally counts the trials of one kind.
type cancelTally struct {
	trials, inside int
	longest        time.Duration
	left           usage
}

// undisturbed is an epoch that nothing ended.
type undisturbed struct {
	l     []item
	steps int // samples or batches
	took  time.Duration
}

// cancels ends runs at random moments.
func cancels(ctx context.Context, s *settings) (*section, error) {
	x := &section{Title: "Cancels and closes"}
	c, err := newCorpus(ctx, s, 400)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(s.Seed, 2))
	subjects := c.subjects()
	want := make([]undisturbed, len(subjects))
	for i, sub := range subjects {
		start := time.Now()
		l, err := whole(ctx, sub, dataset.Options{Seed: s.Seed}, 0)
		if err != nil {
			return nil, err
		}
		want[i] = undisturbed{l: l, took: time.Since(start)}
		b, err := dataset.Build(ctx, sub.d, dataset.Options{})
		if err != nil {
			return nil, err
		}
		want[i].steps = int(b.Len()) // unknown to a run that skips bad samples
		if err := b.Close(); err != nil {
			return nil, err
		}
	}
	tallies := map[[2]string]*cancelTally{}
	n := s.trials(1000)
	trials, inside := 0, 0
	// A run may reach its end first: a sample takes less than a millisecond.
	for ; inside < n && trials < 3*n; trials++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if trials%100 == 99 {
			progress("cancel: %d of %d", inside, n)
		}
		i, e, how := r.IntN(len(subjects)), randomEngine(r), r.IntN(len(endings))
		o := dataset.Options{Seed: s.Seed, OnError: dataset.ErrorPolicy(r.IntN(3))}
		t := tallies[[2]string{endings[how], e.name()}]
		if t == nil {
			t = &cancelTally{}
			tallies[[2]string{endings[how], e.name()}] = t
		}
		t.trials++
		inside -= t.inside
		err := t.disturb(r, subjects[i], e, o, how, want[i])
		inside += t.inside
		if err != nil {
			x.failf("trial %d: %s, %v, %s: %v", trials, subjects[i].name, e, endings[how], err)
			if errors.Is(err, errHangs) || x.tooMany() {
				return x, nil // its goroutines disturb the next trials
			}
		}
	}
	if inside < n {
		x.failf("%d of %d runs ended within the epoch, want %d", inside, trials, n)
	}
	x.textf("%s runs of %d definitions over an image folder, a RecordIO file and tar shards ended at a random moment. Each run had a random "+
		"engine, 1 to 8 workers and a random OnError. \"Within the epoch\" counts the runs that had not reached its end, %s in all. Next and Close had to "+
		"return within %v with the documented errors, the samples before had to be right, and the state had to resume at the next sample. "+
		"Goroutines and files had to be gone within %v.", thousands(int64(trials)), len(subjects), thousands(int64(inside)), returnBound, settleTime)
	out := table{Head: []string{"how", "engine", "runs", "within the epoch", "longest wait", "goroutines left", "files left"}}
	for _, how := range endings {
		for _, e := range []string{"pullpipe", "pipeline"} {
			if t := tallies[[2]string{how, e}]; t != nil {
				out.add(how, e, t.trials, t.inside, t.longest.Round(time.Millisecond), t.left.goroutines, t.left.files)
			}
		}
	}
	x.Tables = append(x.Tables, out)
	return x, nil
}

// whole returns the items of an epoch of one rank.
func whole(ctx context.Context, sub subject, o dataset.Options, epoch int) (l []item, err error) {
	b, err := dataset.Build(ctx, sub.d, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	p, err := engine{}.start(b, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for range epoch {
		if err := p.NextEpoch(); err != nil {
			return nil, err
		}
	}
	return readAll(ctx, p, sub.batch)
}

var errHangs = errors.New("hangs")

// within calls f and returns how long it took, or errHangs after returnBound.
func within(what string, f func() error) (time.Duration, error) {
	start := time.Now()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return time.Since(start), err
	case <-time.After(returnBound):
		return returnBound, fmt.Errorf("%s %w\n%s", what, errHangs, stacks())
	}
}

// disturb starts a run, ends it in the given way at a random moment, and checks
// what is documented about it.
func (t *cancelTally) disturb(r *rand.Rand, sub subject, e engine, o dataset.Options, how int, whole undisturbed) (err error) {
	want := whole.l
	before := used()
	defer func() {
		if errors.Is(err, errHangs) {
			return
		}
		left := settled(before)
		t.left.goroutines += left.goroutines
		t.left.files += left.files
		if left != (usage{}) {
			err = errors.Join(err, fmt.Errorf("%d goroutines and %d files are left\n%s", left.goroutines, left.files, stacks()))
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b, err := dataset.Build(ctx, sub.d, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	p, err := e.start(b, nil)
	if err != nil {
		return err
	}
	// The moment is a random one of the work on a few samples after sample k.
	k := r.IntN(whole.steps)
	moment := time.Duration(3 * r.Float64() * float64(whole.took) / float64(whole.steps))
	var got []item
	var ended error
	reached, consumed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(consumed)
		got, ended = read(ctx, p, k, sub.batch)
		close(reached)
		if ended != nil || how == closeBetween {
			return
		}
		ctx := ctx
		if how == deadline {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, moment)
			defer stop()
		}
		var l []item
		l, ended = read(ctx, p, -1, sub.batch)
		got = append(got, l...)
	}()
	if _, err := within("Next", func() error { <-reached; return nil }); err != nil {
		return err
	}
	if how != closeBetween && how != deadline {
		time.Sleep(moment)
	}
	wait, err := within("Next or Close", func() error {
		var closed error
		switch how {
		case cancelCtx:
			cancel()
		case closeDuring:
			closed = p.Close()
		case cancelAndClose:
			go cancel()
			closed = p.Close()
		}
		<-consumed
		if how == closeBetween {
			closed = p.Close()
		}
		return closed
	})
	t.longest = max(t.longest, wait)
	if err != nil {
		return err
	}
	var allowed []error
	switch how {
	case cancelCtx:
		allowed = []error{context.Canceled}
	case deadline:
		allowed = []error{context.DeadlineExceeded}
	case closeBetween:
		allowed = []error{nil}
	case closeDuring:
		allowed = []error{dataset.ErrClosed}
	case cancelAndClose:
		allowed = []error{context.Canceled, dataset.ErrClosed}
	}
	if ended != io.EOF || how == closeBetween {
		t.inside++
		if !slices.Contains(allowed, ended) { // documented as these values, not wrapped
			return fmt.Errorf("from Next: got %v, want %v", ended, allowed)
		}
	}
	if d := differ(got, want[:min(len(got), len(want))]); d != "" || ended == io.EOF && len(got) != len(want) {
		return fmt.Errorf("before the end: %s (%d of %d)", d, len(got), len(want))
	}
	if _, err := p.Next(context.Background()); err != ended && err != dataset.ErrClosed {
		return fmt.Errorf("the next Next returned %v, want %v", err, ended)
	}
	if _, err := within("Close", p.Close); err != nil {
		return err
	}
	if err := p.NextEpoch(); err != dataset.ErrClosed {
		return fmt.Errorf("after Close, NextEpoch returned %v, want %v", err, dataset.ErrClosed)
	}
	if ended == io.EOF {
		return nil
	}
	q, err := randomEngine(r).start(b, p.State())
	if err != nil {
		return err
	}
	next, err := read(context.Background(), q, 1, sub.batch)
	if err == io.EOF {
		err = nil
	}
	rest := want[len(got):]
	if err == nil {
		if d := differ(next, rest[:min(len(next), len(rest))]); d != "" || (len(next) == 0) != (len(rest) == 0) {
			err = fmt.Errorf("resumed after %d of %d: %d samples: %s", len(got), len(want), len(next), d)
		}
	}
	return errors.Join(err, q.Close())
}
