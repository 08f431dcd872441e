package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"

	"github.com/infer-prep/infer-prep/internal/engine"
	"github.com/infer-prep/infer-prep/tensor"
)

// The contract with the engines, see package engine.
type (
	iterator = engine.Iterator[*Sample]
	worker   = engine.Worker[*Sample]
	stage    = engine.Stage[*Sample]
	placer   = func(stage) (iterator, error)
)

// inline places a stage without goroutines.
var inline placer = engine.Inline[*Sample]

// badList collects the errors of dropped samples. It belongs to the goroutine
// that calls Next of the iterators that fill it.
type badList struct{ l []*SampleError }

func (b *badList) take() []*SampleError {
	l := b.l
	b.l = nil
	return l
}

// drainTo returns the Drain of a stage that reports to another list.
func (b *badList) drainTo(to *badList) func() (report func()) {
	return func() func() {
		l := b.take()
		if l == nil {
			return nil
		}
		return func() { to.l = append(to.l, l...) }
	}
}

func isDropped(s *Sample) bool { return s.dropped }

// guardedWorker is the worker of a stage: it ignores dropped samples and
// returns a panic as a *PanicError.
type guardedWorker struct {
	make func() (worker, error)
	w    worker
}

// guardWorker returns a guardedWorker of the workers that make returns.
func guardWorker(make func() (worker, error)) (worker, error) {
	w, err := make()
	if err != nil {
		return nil, err
	}
	return &guardedWorker{make, w}, nil
}

func (g *guardedWorker) Do(ctx context.Context, s *Sample) (err error) {
	if s.dropped {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
			if w, e := g.make(); e == nil { // the old one may be in any state
				g.w = w
			}
		}
	}()
	return g.w.Do(ctx, s)
}

// opener makes the iterators of an epoch.
type opener struct {
	b     *Built
	stage placer
	bytes int64        // see engine.Config
	state *stateReader // nil for the start of the epoch
	// replay restricts one root to some places; nil for all of an epoch.
	replay *replay
	bad    *badList // collects the errors of dropped samples
	strict bool     // every bad sample is an error, for the enclosing stage to judge
	// lenient drops every bad sample, since only some samples are wanted.
	lenient bool
	rooted  bool // within an indexed tree, whose root can replace bad samples
	logs    *heldLogs
	watches *[]*watching // nil where no epoch ends, as in a replay
}

// below returns o for the inputs of a stage, whose iterators another goroutine
// may call.
func (o *opener) below() *opener {
	b := *o
	b.bad = &badList{}
	return &b
}

// failed decides about a bad sample: it drops s and returns nil, or returns the
// error that ends the run.
func (o *opener) failed(path string, s *Sample, err error) error {
	if o.strict {
		return &nodeFailure{path, err}
	}
	e := &SampleError{Path: path, Key: s.Key, Epoch: s.Epoch, Ordinal: s.Ordinal, Err: err}
	if isDeviceError(err) {
		return e
	}
	if p := o.b.options.OnError; !o.lenient && (p == FailOnError || p == ReplaceOnError && !o.rooted) {
		return e
	}
	s.dropped, s.bad, s.judged = true, e, false
	o.bad.l = append(o.bad.l, e)
	return nil
}

// replay is some places of a root.
type replay struct {
	root   int32
	places []int64
}

// open makes the iterator of a step outside indexed trees, or of a root.
func (o *opener) open(s *step, epoch uint64) (iterator, error) {
	if s.indexed {
		return o.openRoot(s, epoch)
	}
	if s.data != nil {
		return o.openStream(s, epoch)
	}
	switch n := s.node.(type) {
	case streamer:
		if o.replay != nil && !s.traits.several {
			// The replayed samples passed this node before. Only nodes that
			// change samples matter now.
			for i, in := range s.in {
				if in.first <= o.replay.root && o.replay.root < in.last {
					it, err := o.open(in, epoch)
					if s.traits.joins {
						return &tagged{it, i}, err
					}
					return it, err
				}
			}
		}
		return n.stream(o, s, epoch)
	case mapper:
		below := o.below()
		in, err := below.open(s.in[0], epoch)
		if err != nil {
			return nil, err
		}
		it, err := o.work(s, in, below.bad, func() (worker, error) { return n.worker(o.b, s) })
		if err != nil {
			return nil, err
		}
		return o.judged(s, it), nil
	}
	return nil, fmt.Errorf("dataset: %s has no iterator", s.path)
}

// tagged gives samples the ordinals that they have above a node with several
// inputs.
type tagged struct {
	iterator
	in int
}

func (t *tagged) Next(ctx context.Context, s *Sample) error {
	err := t.iterator.Next(ctx, s)
	s.Ordinal = ofInput(s.Ordinal, t.in)
	return err
}

// bytes returns the size of the step's samples, 0 if it is not known.
func (s *step) bytes() (n int64) {
	for _, c := range s.columns {
		size := c.Desc.Size()
		if c.Desc.DType == tensor.Bytes || size < 0 || size > math.MaxInt64-n {
			return 0
		}
		n += size
	}
	return n
}

// work places a stage. in collects its bad samples in below.
func (o *opener) work(s *step, in iterator, below *badList, newWorker func() (worker, error)) (iterator, error) {
	place := o.stage
	if s.traits.selects {
		place = inline
	}
	it, err := place(stage{
		Path: s.path, In: in, New: func() (worker, error) { return guardWorker(newWorker) },
		Failed: func(x *Sample, err error) error {
			path, err := failedNode(s.path, err)
			return o.failed(path, x, err)
		},
		Drain: below.drainTo(o.bad), Dropped: isDropped, Stateless: s.indexed, Bytes: s.bytes(),
	})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return it, nil
}

// root is the iterator of an indexed tree. Its cursor follows the samples of
// the tree.
type root struct {
	in      iterator
	cursor  cursor
	judge   *judge
	replace *replacer // nil unless bad samples are replaced
	bad     *badList  // the opener's
}

func (o *opener) openRoot(s *step, epoch uint64) (iterator, error) {
	c := o.b.cursor(s)
	switch {
	case o.replay != nil && o.replay.root == s.root:
		c = cursor{n: 0, holes: o.replay.places, world: 1}
	case o.state != nil:
		if c.load(o.state); o.state.err != nil {
			return nil, o.state.err
		}
	}
	below := *o
	below.rooted = true
	in, err := below.openIndexed(s, feed{root: s.root, cursor: c, epoch: epoch})
	if err != nil {
		return nil, err
	}
	return &root{in: in, cursor: c, judge: o.judge(s), replace: o.replacer(s, epoch), bad: o.bad}, nil
}

func (r *root) Next(ctx context.Context, s *Sample) error {
	for {
		k, ok := r.cursor.next()
		if !ok {
			return r.judge.end()
		}
		reported := len(r.bad.l)
		if err := r.in.Next(ctx, s); err != nil {
			r.cursor.j--
			return err
		}
		if s.origin.k != k {
			return fmt.Errorf("dataset: sample %d, want %d", s.origin.k, k)
		}
		if err := r.judge.count(s); err != nil || !s.dropped {
			return err
		}
		if r.replace != nil {
			err := r.replace.into(ctx, s, k, r.bad.l[reported:])
			if err != nil { // the run ends, and its state has this sample next
				r.bad.l = r.bad.l[:reported]
				r.cursor.j--
			}
			if err != nil || !s.dropped {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

func (r *root) Save(w []int64) []int64 { return r.cursor.save(w) }

func (r *root) Close() error {
	if r.replace != nil {
		return errors.Join(r.in.Close(), r.replace.Close())
	}
	return r.in.Close()
}

// feed returns the rows that one source of an indexed tree must read. It maps
// the cursor's places through the routers above the source, and skips places
// that lead to another source. It is a value: every source has its own copy.
type feed struct {
	cursor cursor
	epoch  uint64
	root   int32
	routes []route
	// one is the only place, returned every time, for a cache; nil for the
	// cursor's.
	one *place
	err error // why next returned no place; nil at the end
}

type place struct {
	k, pos int64
	epoch  uint64
}

type route struct {
	of     *step
	locate func(epoch uint64, k int64) (in int, e uint64, pos int64)
	in     int // the input that leads to the source
}

// fresh returns f for another goroutine, with its own locators.
func (f feed) fresh(o *opener) feed {
	routes := make([]route, len(f.routes), len(f.routes)+1)
	for i, r := range f.routes {
		routes[i] = route{r.of, r.of.node.(router).locator(o.b, r.of), r.in}
	}
	f.routes = routes
	return f
}

// through returns f for an input of a router.
func (f feed) through(o *opener, s *step, in int) feed {
	f = f.fresh(o)
	f.routes = append(f.routes, route{s, s.node.(router).locator(o.b, s), in})
	return f
}

// end returns why next returned no place: io.EOF, or an error.
func (f *feed) end() error {
	if f.err != nil {
		return f.err
	}
	return io.EOF
}

// next returns the next place that leads to the source.
func (f *feed) next() (k int64, epoch uint64, pos int64, ok bool) {
next:
	for {
		if f.one != nil {
			k, epoch, pos = f.one.k, f.one.epoch, f.one.pos
		} else {
			if k, ok = f.cursor.next(); !ok {
				return 0, 0, 0, false
			}
			epoch, pos = f.epoch, k
		}
		for i := range f.routes {
			r := &f.routes[i]
			var in int
			in, epoch, pos = r.locate(epoch, pos)
			if pos == noRow {
				f.err = r.of.node.(refusing).refusal(r.of, epoch)
				return 0, 0, 0, false
			}
			if in != r.in {
				continue next
			}
		}
		return k, epoch, pos, true
	}
}

// openIndexed makes the iterator of a step within an indexed tree.
func (o *opener) openIndexed(s *step, f feed) (iterator, error) {
	if s.data != nil {
		rows := s.data.(Rows)
		return o.work(s, &feeder{f}, &badList{}, func() (worker, error) { return &reading{rows, s.columns}, nil })
	}
	switch n := s.node.(type) {
	case router:
		if len(s.in) == 1 {
			return o.openIndexed(s.in[0], f.through(o, s, 0))
		}
		j := &joined{feed: f, locate: n.locator(o.b, s)}
		for i, in := range s.in {
			it, err := o.openIndexed(in, f.through(o, s, i))
			if err != nil {
				return nil, errors.Join(err, j.Close())
			}
			j.in = append(j.in, it)
		}
		return j, nil
	case indexer:
		return n.index(o, s, f)
	case mapper:
		below := o.below()
		in, err := below.openIndexed(s.in[0], f)
		if err != nil {
			return nil, err
		}
		return o.work(s, in, below.bad, func() (worker, error) { return n.worker(o.b, s) })
	}
	return nil, fmt.Errorf("dataset: %s has no index", s.path)
}

// feeder returns empty samples with the row to read.
type feeder struct{ feed }

func (f *feeder) Next(_ context.Context, s *Sample) error {
	k, epoch, pos, ok := f.feed.next()
	if !ok {
		return f.feed.end()
	}
	s.begin(epoch, origin{root: f.root, k: k, epoch: f.epoch})
	s.row = pos
	return nil
}

func (f *feeder) Save(w []int64) []int64 { return w }

func (f *feeder) Close() error { return nil }

// reading is the worker that reads rows.
type reading struct {
	rows    Rows
	columns []Column
}

func (r *reading) Do(ctx context.Context, s *Sample) error {
	s.reset(r.columns)
	return r.rows.Read(ctx, s.row, s)
}

// joined is the iterator of a router with several inputs: it takes each sample
// from the input that has it.
type joined struct {
	feed   feed
	locate func(epoch uint64, k int64) (int, uint64, int64)
	in     []iterator
}

func (j *joined) Next(ctx context.Context, s *Sample) error {
	_, epoch, pos, ok := j.feed.next()
	if !ok {
		return j.feed.end()
	}
	i, _, _ := j.locate(epoch, pos)
	return j.in[i].Next(ctx, s)
}

func (j *joined) Save(w []int64) []int64 { return w }

func (j *joined) Close() error { return closeAll(j.in) }

func closeAll(l []iterator) error {
	var errs []error
	for _, it := range l {
		errs = append(errs, it.Close())
	}
	return errors.Join(errs...)
}

// streamed is the iterator of a stream source. Every rank reads all of the
// stream and keeps its part.
type streamed struct {
	stream  Stream
	reader  Reader
	epoch   uint64
	root    int32
	columns []Column
	cursor  cursor
	at      int64 // samples read
	errors  int   // consecutive bad samples
	judge   *judge
	failed  func(s *Sample, err error) error
}

func (o *opener) openStream(s *step, epoch uint64) (iterator, error) {
	c := o.b.cursor(s)
	c.n, c.drop = Unknown, true
	switch {
	case o.replay != nil && o.replay.root == s.root:
		c = cursor{n: 0, holes: o.replay.places, world: 1}
	case o.state != nil:
		if c.load(o.state); o.state.err != nil {
			return nil, o.state.err
		}
	}
	it := &streamed{
		stream: s.data.(Stream), epoch: epoch, root: s.root, columns: s.columns, cursor: c, judge: o.judge(s),
		failed: func(x *Sample, err error) error { return o.failed(s.path, x, err) },
	}
	return it, nil
}

func (t *streamed) Next(ctx context.Context, s *Sample) error {
	for {
		k, ok := t.cursor.next()
		if !ok {
			return t.judge.end()
		}
		if t.reader == nil || k < t.at {
			if err := t.restart(ctx); err != nil {
				return err
			}
		}
		for {
			if err := ctx.Err(); err != nil {
				t.cursor.j--
				return err
			}
			s.reset(t.columns)
			s.begin(t.epoch, origin{root: t.root, k: t.at, epoch: t.epoch})
			err := t.read(ctx, s)
			if errors.Is(err, io.EOF) {
				t.cursor.j--
				return t.judge.end()
			}
			if ended := ctx.Err(); err != nil && ended != nil { // the reading was interrupted
				t.cursor.j--
				return ended
			}
			t.at++
			if err != nil && t.at > k {
				if err := t.failed(s, err); err != nil {
					t.cursor.j--
					return err
				}
				if err := t.judge.count(s); err != nil {
					return err
				}
				if t.errors++; t.errors == maxErrors && t.judge == nil {
					return fmt.Errorf("dataset: %d consecutive samples of a stream are bad: %w", maxErrors, err)
				}
				break // dropped
			}
			t.errors = 0
			if t.at > k {
				return t.judge.count(s)
			}
		}
	}
}

// maxErrors consecutive bad samples end a stream without a judge, since a
// broken Reader could return errors forever.
const maxErrors = 1000

// read reads a sample and returns a panic as an error.
func (t *streamed) read(ctx context.Context, s *Sample) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	err = t.reader.Next(ctx, s)
	if err == io.EOF {
		return err
	}
	if errors.Is(err, io.EOF) { // a truncated file is not the end of the stream
		err = fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err)
	}
	return err
}

func (t *streamed) restart(ctx context.Context) error {
	if err := t.Close(); err != nil {
		return err
	}
	var r Reader
	err := guard(func() (err error) {
		r, err = t.stream.Start(ctx, t.epoch)
		return err
	})
	if err != nil {
		return err
	}
	t.reader, t.at = r, 0
	return nil
}

func (t *streamed) Save(w []int64) []int64 { return t.cursor.save(w) }

func (t *streamed) Close() error {
	if t.reader == nil {
		return nil
	}
	r := t.reader
	t.reader = nil
	return guard(r.Close)
}

// pull returns the next sample that is not dropped.
func pull(ctx context.Context, it iterator, s *Sample) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := it.Next(ctx, s); err != nil || !s.dropped {
			return err
		}
	}
}
