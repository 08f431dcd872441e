package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deadline is the time after which a test counts as hanging.
const deadline = 2 * time.Minute

// within fails the test unless f returns before the deadline.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(deadline):
		b := make([]byte, 1<<20)
		t.Fatalf("it hangs:\n%s", b[:runtime.Stack(b, true)])
	}
}

// source is a source of n numbers of bytes bytes each. It calls at for each
// number.
type source struct {
	n, bytes int64
	stream   bool
	at       func(i int64) error
	start    func()
	read     atomic.Int64 // rows read
}

var column = []dataset.Column{{Name: "x", Desc: tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(tensor.Unknown)}}}

func (s *source) Validate() error { return nil }

func (s *source) Open(context.Context, store.Opener) (dataset.Data, error) {
	if s.stream {
		return sourceStream{s}, nil
	}
	return sourceRows{s}, nil
}

func (s *source) put(i int64, x *dataset.Sample) error {
	s.read.Add(1)
	x.Key = fmt.Sprint("sample ", i)
	if s.at != nil {
		if err := s.at(i); err != nil {
			return err
		}
	}
	if err := x.Column("x").Reset(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(int(max(s.bytes, 1)))}); err != nil {
		return err
	}
	x.Column("x").Data[0] = byte(i)
	return nil
}

type sourceRows struct{ s *source }

func (r sourceRows) Columns() []dataset.Column                                { return column }
func (r sourceRows) Len() int64                                               { return r.s.n }
func (r sourceRows) Read(_ context.Context, i int64, x *dataset.Sample) error { return r.s.put(i, x) }
func (r sourceRows) Close() error                                             { return nil }

type sourceStream struct{ s *source }

func (r sourceStream) Columns() []dataset.Column { return column }
func (r sourceStream) Close() error              { return nil }
func (r sourceStream) Start(_ context.Context, _ uint64) (dataset.Reader, error) {
	if r.s.start != nil {
		r.s.start()
	}
	return &sourceReader{s: r.s}, nil
}

type sourceReader struct {
	s *source
	i int64
}

func (r *sourceReader) Next(_ context.Context, x *dataset.Sample) error {
	if r.i == r.s.n {
		return io.EOF
	}
	r.i++
	return r.s.put(r.i-1, x)
}

func (r *sourceReader) Close() error { return nil }

func build(t *testing.T, d *dataset.Dataset, o dataset.Options) *dataset.Built {
	t.Helper()
	b, err := dataset.Build(t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func open(t *testing.T, b *dataset.Built, o Options) *Pipeline {
	t.Helper()
	p, err := New(b, o, nil)
	require.NoError(t, err)
	return p
}

// drain reads to the end and returns the number of samples.
func drain(p *Pipeline) (n int, err error) {
	for {
		_, err := p.Next(context.Background())
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n++
	}
}

// each calls f on every sample, with its first byte.
func each(f func(i int) error) dataset.MapFunc {
	return func(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		if err := f(int(src[0].Data[0])); err != nil {
			return err
		}
		if err := dst[0].Reset(src[0].Desc); err != nil {
			return err
		}
		copy(dst[0].Data, src[0].Data)
		return nil
	}
}

var x = []string{"x"}

// theUsersFunction panics. The stack of the error must contain its name.
func theUsersFunction(i int) error {
	if i == 7 {
		panic("of the user's")
	}
	return nil
}

// TestPanic checks that a panic in a user's function is an error with the
// sample and the stack.
func TestPanic(t *testing.T) {
	flat := func(_ *dataset.Call, i int, dst []*dataset.Value, src []*tensor.Tensor) (bool, error) {
		if i > 0 {
			return false, nil
		}
		return true, each(theUsersFunction)(nil, dst, src)
	}
	predicate := func(_ *dataset.Call, src []*tensor.Tensor) (bool, error) {
		return true, theUsersFunction(int(src[0].Data[0]))
	}
	batch := func(_ *dataset.Call, l []*dataset.Sample) error {
		return theUsersFunction(int(l[0].Column("x").Data[0]))
	}
	at := func(i int64) error { return theUsersFunction(int(i)) }
	for _, c := range []struct {
		name   string
		d      *dataset.Dataset
		o      Options
		before int    // samples before the error
		key    string // of the error
	}{
		{"map", dataset.Of(&source{n: 20}).MapFunc(each(theUsersFunction), x, column...), Options{}, 7, "sample 7"},
		{"two maps", dataset.Of(&source{n: 20}).MapFunc(each(theUsersFunction), x, column...).MapFunc(each(theUsersFunction), x, column...), Options{}, 7, "sample 7"},
		{"map of a stream", dataset.Of(&source{n: 20, stream: true}).MapFunc(each(theUsersFunction), x, column...), Options{}, 7, "sample 7"},
		{"map below a batch", dataset.Of(&source{n: 20}).MapFunc(each(theUsersFunction), x, column...).Batch(2), Options{}, 3, "sample 7"},
		{"filter", dataset.Of(&source{n: 20}).Filter(predicate, "x"), Options{}, 7, "sample 7"},
		{"flat map", dataset.Of(&source{n: 20}).FlatMap(flat, x, column...), Options{}, 7, "sample 7"},
		{"flat map below a map", dataset.Of(&source{n: 20}).FlatMap(flat, x, column...).MapFunc(each(func(int) error { return nil }), x, column...), Options{}, 7, "sample 7"},
		{"per batch", dataset.Of(&source{n: 21}).BatchFunc(7, batch), Options{}, 1, "sample 7"},
		{"rows", dataset.Of(&source{n: 20, at: at}), Options{}, 7, "sample 7"},
		{"stream", dataset.Of(&source{n: 20, at: at, stream: true}), Options{}, 7, "sample 7"},
		{"start of a stream", dataset.Of(&source{n: 20, stream: true, start: func() { _ = theUsersFunction(7) }}), Options{}, 0, ""},
		{"below a cache", dataset.Of(&source{n: 20}).MapFunc(each(theUsersFunction), x, column...).Cache(1 << 20), Options{}, 7, "sample 7"},
		{"upload", dataset.Of(&source{n: 20}), Options{Upload: func(_ context.Context, s *dataset.Sample) error {
			return theUsersFunction(int(s.Column("x").Data[0]))
		}}, 7, "sample 7"},
	} {
		for _, workers := range []int{1, 2, 8} {
			t.Run(fmt.Sprint(c.name, ", ", workers, " workers"), func(t *testing.T) {
				o := c.o
				o.Workers = workers
				p := open(t, build(t, c.d, dataset.Options{}), o)
				within(t, func() {
					n, err := drain(p)
					require.Equal(t, c.before, n)
					var panicked *dataset.PanicError
					require.ErrorAs(t, err, &panicked)
					require.Equal(t, "of the user's", panicked.Value)
					require.Contains(t, string(panicked.Stack), "theUsersFunction")
					if c.key != "" {
						var bad *dataset.SampleError
						require.ErrorAs(t, err, &bad)
						require.Equal(t, c.key, bad.Key)
						require.Contains(t, err.Error(), c.key)
					}
					_, again := p.Next(t.Context())
					require.Equal(t, err, again)
					require.NoError(t, p.Close())
				})
				require.Zero(t, p.budget.used, "bytes after Close")
			})
		}
	}
}

// TestGoexit checks that a function that ends its goroutine, like FailNow,
// fails its sample alone.
func TestGoexit(t *testing.T) {
	f := func(i int) error {
		if i == 7 {
			runtime.Goexit()
		}
		return nil
	}
	flat := func(_ *dataset.Call, i int, dst []*dataset.Value, src []*tensor.Tensor) (bool, error) {
		if i > 0 {
			return false, nil
		}
		return true, each(f)(nil, dst, src)
	}
	for _, workers := range []int{1, 2} {
		p := open(t, build(t, dataset.Of(&source{n: 20}).MapFunc(each(f), x, column...), dataset.Options{OnError: dataset.SkipOnError}), Options{Workers: workers})
		within(t, func() {
			n, err := drain(p)
			require.NoError(t, err)
			require.Equal(t, 19, n)
			require.EqualValues(t, 1, p.Skipped())
			require.NoError(t, p.Close())
		})
		p = open(t, build(t, dataset.Of(&source{n: 20}).FlatMap(flat, x, column...), dataset.Options{}), Options{Workers: workers})
		within(t, func() {
			n, err := drain(p)
			require.ErrorIs(t, err, errGoexit)
			require.Equal(t, 7, n)
			require.NoError(t, p.Close())
		})
	}
}

// TestWorkerAfterPanic checks that a stage survives a panic when bad samples
// are skipped.
func TestWorkerAfterPanic(t *testing.T) {
	f := func(i int) error {
		if i%3 == 1 {
			panic(i)
		}
		return nil
	}
	for _, policy := range []dataset.ErrorPolicy{dataset.SkipOnError, dataset.QuarantineOnError} {
		p := open(t, build(t, dataset.Of(&source{n: 100}).MapFunc(each(f), x, column...), dataset.Options{OnError: policy}), Options{Workers: 2})
		within(t, func() {
			n, err := drain(p)
			require.NoError(t, err)
			require.Equal(t, 67, n)
			require.EqualValues(t, 33, p.Skipped())
			require.EqualValues(t, 33, p.Stats()[1].Errors)
			if policy == dataset.QuarantineOnError {
				require.Len(t, p.Quarantined(), 33)
				require.Equal(t, "sample 4", p.Quarantined()[1].Key)
			}
			require.NoError(t, p.Close())
		})
	}
}

// TestSourceFails checks, for every k, a source that fails at sample k: the run
// fails there, and a resumed run loses no sample.
func TestSourceFails(t *testing.T) {
	const n, batch = 12, 3
	broken := errors.New("broken disk")
	for _, stream := range []bool{false, true} {
		for k := range int64(n) {
			var fail atomic.Bool
			fail.Store(true)
			s := &source{n: n, stream: stream, at: func(i int64) error {
				if i == k && fail.Load() {
					return broken
				}
				return nil
			}}
			b := build(t, dataset.Of(s).MapFunc(each(func(int) error { return nil }), x, column...).Batch(batch), dataset.Options{})
			for _, workers := range []int{1, 2, 8} {
				for _, ahead := range []int{-1, 2} {
					fail.Store(true)
					p := open(t, b, Options{Workers: workers, Prefetch: ahead})
					within(t, func() {
						got, err := drain(p)
						require.ErrorIs(t, err, broken)
						require.EqualValues(t, k/batch, got)
						var bad *dataset.SampleError
						require.ErrorAs(t, err, &bad)
						require.EqualValues(t, k, bad.Ordinal)
						require.Equal(t, fmt.Sprint("sample ", k), bad.Key)
						require.NoError(t, p.Close())
						fail.Store(false)
						q, err := New(b, Options{Workers: workers}, p.State())
						require.NoError(t, err)
						first, err := q.Next(t.Context())
						require.NoError(t, err)
						require.EqualValues(t, k/batch*batch, first.Column("x").Data[0], "the first sample of the batch that failed")
						got, err = drain(q)
						require.NoError(t, err)
						require.EqualValues(t, n/batch-k/batch-1, got)
						require.NoError(t, q.Close())
					})
				}
			}
		}
	}
}

// TestUploadFails checks that a failed upload ends the run and names the
// sample.
func TestUploadFails(t *testing.T) {
	full := errors.New("device memory is full")
	p := open(t, build(t, dataset.Of(&source{n: 20}).Batch(1), dataset.Options{OnError: dataset.SkipOnError}), Options{
		Workers: 2, Upload: func(_ context.Context, s *dataset.Sample) error {
			if s.Column("x").Data[0] == 5 {
				return full
			}
			return nil
		},
	})
	within(t, func() {
		n, err := drain(p)
		require.Equal(t, 5, n)
		require.ErrorIs(t, err, full, "the policy is for samples, not for the device")
		require.ErrorContains(t, err, `sending: sample "sample 5"`)
		require.EqualValues(t, 5, p.State().Step)
		require.NoError(t, p.Close())
	})
}

// TestUploadIsCancelled checks that Close and NextEpoch end the ctx of a
// blocked upload.
func TestUploadIsCancelled(t *testing.T) {
	for _, epoch := range []bool{false, true} {
		var blocks atomic.Bool
		entered := make(chan struct{}, 1)
		p := open(t, build(t, dataset.Of(&source{n: 200}), dataset.Options{}), Options{
			Prefetch: 4, Upload: func(ctx context.Context, s *dataset.Sample) error {
				if s.Column("x").Data[0] == 5 && blocks.Load() {
					entered <- struct{}{}
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			},
		})
		blocks.Store(true)
		within(t, func() {
			for range 3 {
				_, err := p.Next(t.Context())
				require.NoError(t, err)
			}
			<-entered
			if epoch {
				blocks.Store(false)
				require.NoError(t, p.NextEpoch())
				n, err := drain(p)
				require.NoError(t, err)
				require.Equal(t, 200, n)
			}
			require.NoError(t, p.Close())
		})
	}
}

// TestSlowConsumer checks that the queues bound the samples read ahead.
func TestSlowConsumer(t *testing.T) {
	s := &source{n: 10000}
	p := open(t, build(t, dataset.Of(s).MapFunc(each(func(int) error { return nil }), x, column...).Batch(2), dataset.Options{}), Options{
		Workers: 2, Queue: 4, Prefetch: 2,
	})
	within(t, func() {
		for i := range 10 {
			_, err := p.Next(t.Context())
			require.NoError(t, err)
			for last := int64(-1); last != s.read.Load(); time.Sleep(20 * time.Millisecond) { // until reading stops
				last = s.read.Load()
			}
			// One batch returned, two ready and one in progress; four samples
			// in each of two stages.
			require.LessOrEqual(t, s.read.Load(), int64(2*(i+1)+2*3+2*4))
			for _, x := range p.Stats() {
				require.LessOrEqual(t, x.Ready+x.AtWork, x.Queue, x.Path)
				require.LessOrEqual(t, x.In-x.Out, int64(x.Queue), x.Path)
			}
		}
		require.NoError(t, p.Close())
	})
}

// TestBudget checks that the memory of all queues stays within the limit plus
// one sample for each stage, and that the run never stalls.
func TestBudget(t *testing.T) {
	const size = 1 << 16
	for _, limit := range []int64{1, size, 3 * size, 10 * size} {
		for _, workers := range []int{1, 2, 8} {
			none := each(func(int) error { return nil })
			d := dataset.Of(&source{n: 200, bytes: size})
			for range 4 {
				d = d.MapFunc(none, x, column...)
			}
			b := build(t, d.Batch(3), dataset.Options{})
			p := open(t, b, Options{Workers: workers, Bytes: limit})
			within(t, func() {
				n, err := drain(p)
				require.NoError(t, err)
				require.Equal(t, 67, n)
				// Five stages, and the top stage with batches of three samples.
				// Before the size of samples is known, each stage may have one
				// for each worker. A function has its input, its output and
				// spare buffers.
				stages := int64(5*workers*2*size + 2*3*size)
				require.NoError(t, p.NextEpoch())
				require.LessOrEqual(t, p.budget.peak, limit+stages)
				require.Zero(t, p.budget.used, "bytes between epochs")
				_, err = p.Next(t.Context())
				require.NoError(t, err)
				require.NoError(t, p.Close())
				require.Zero(t, p.budget.used, "bytes after Close")
				for _, s := range p.Stats() {
					require.Zero(t, s.Bytes, s.Path)
					require.Zero(t, s.Workers, s.Path)
					require.Zero(t, s.Ready, s.Path)
					require.Zero(t, s.AtWork, s.Path)
				}
			})
		}
	}
}

// TestBudgetSteady checks long queues of growing samples: memory stays at the
// limit once their size is known.
func TestBudgetSteady(t *testing.T) {
	const size = 1 << 16
	grow := func(_ *dataset.Call, dst []*dataset.Value, src []*tensor.Tensor) error {
		if err := dst[0].Reset(tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(size)}); err != nil {
			return err
		}
		dst[0].Data[0] = src[0].Data[0]
		return nil
	}
	b := build(t, dataset.Of(&source{n: 3000}).MapFunc(grow, x, column...), dataset.Options{})
	p := open(t, b, Options{Workers: 2, Queue: 500, Bytes: 20 * size})
	within(t, func() {
		for i := 0; ; i++ {
			_, err := p.Next(t.Context())
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if i%100 == 0 { // let it read ahead
				time.Sleep(5 * time.Millisecond)
			}
		}
		require.NoError(t, p.Close())
		require.LessOrEqual(t, p.budget.peak, int64(20+3*2)*size*5/4, "a queue of 500 would have 500")
		require.Zero(t, p.budget.used)
	})
}

// TestCloseWaits checks that Close waits for a blocked read and a blocked
// function, and for nothing else.
func TestCloseWaits(t *testing.T) {
	for _, where := range []string{"rows", "stream", "function"} {
		release, entered := make(chan struct{}), make(chan struct{}, 100)
		block := func(i int64) error {
			if i == 5 {
				entered <- struct{}{}
				<-release
			}
			return nil
		}
		s := &source{n: 20, stream: where == "stream"}
		d := dataset.Of(s)
		if where == "function" {
			d = d.MapFunc(each(func(i int) error { return block(int64(i)) }), x, column...)
		} else {
			s.at = block
		}
		p := open(t, build(t, d, dataset.Options{}), Options{Workers: 2})
		within(t, func() {
			for range 5 {
				_, err := p.Next(t.Context())
				require.NoError(t, err)
			}
			<-entered
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			_, err := p.Next(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded, "Next itself does not wait for it")
			cancel()
			require.EqualValues(t, 5, p.State().Step)
			closed := make(chan error)
			go func() { closed <- p.Close() }()
			select {
			case <-closed:
				require.Fail(t, "Close did not wait")
			case <-time.After(20 * time.Millisecond):
			}
			close(release)
			require.NoError(t, <-closed)
		})
	}
}

// TestBuffersOfEpochs checks that an epoch uses the buffers of the one before,
// also if that was left half-way, and that a closed run keeps none.
func TestBuffersOfEpochs(t *testing.T) {
	b := build(t, dataset.Of(&source{n: 60}).MapFunc(each(func(int) error { return nil }), x, column...).Batch(2), dataset.Options{})
	p := open(t, b, Options{Workers: 2})
	seen := map[*byte]bool{}
	epoch := func(n int) {
		for range n {
			s, err := p.Next(t.Context())
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			seen[&s.Column("x").Tensor.Data[0]] = true
		}
		require.NoError(t, p.NextEpoch())
	}
	epoch(100)
	first := len(seen)
	require.LessOrEqual(t, first, 2+1, "those of sending and of Next")
	for range 5 {
		epoch(100)
		epoch(5)
	}
	require.Len(t, seen, first)
	_, err := p.Next(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.Close())
	for path, c := range p.past {
		require.Empty(t, c.kept, path)
	}
	require.Zero(t, p.budget.used)
}

// TestNothingStarted checks that a run starts nothing before its first Next.
func TestNothingStarted(t *testing.T) {
	s := &source{n: 10}
	before := goleak.IgnoreCurrent()
	p := open(t, build(t, dataset.Of(s).Batch(2), dataset.Options{}), Options{AutoTune: true})
	require.NoError(t, goleak.Find(before))
	require.Zero(t, s.read.Load())
	require.Empty(t, p.Stats())
	require.NoError(t, p.NextEpoch())
	require.EqualValues(t, 1, p.Epoch())
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	_, err := p.Next(t.Context())
	require.ErrorIs(t, err, dataset.ErrClosed)
}

func TestOptions(t *testing.T) {
	b := build(t, dataset.Of(&source{n: 10}), dataset.Options{})
	for _, o := range []Options{
		{Workers: -1}, {Workers: 1 << 20}, {Queue: -1}, {Queue: 1 << 30}, {Bytes: -1}, {Prefetch: -2}, {Prefetch: 1 << 30},
		{MaxWorkers: -1}, {Interval: -1}, {StageWorkers: map[string]int{"x": 0}},
		{StageQueue: map[string]int{"x": 0}}, {StageQueue: map[string]int{"x": 1 << 17}}, {StageQueue: map[string]int{"sending": 3}},
	} {
		_, err := New(b, o, nil)
		require.ErrorIs(t, err, dataset.ErrParam, "%+v", o)
	}
	// Longer queues than the tuner chooses.
	p := open(t, b, Options{Workers: 2000, Queue: 5000, Prefetch: 3000})
	within(t, func() {
		n, err := drain(p)
		require.NoError(t, err)
		require.Equal(t, 10, n)
		require.NoError(t, p.Close())
	})
}

// TestNoWorker checks that a stage whose workers cannot all be made fails, and
// leaks none.
func TestNoWorker(t *testing.T) {
	b := build(t, dataset.Of(&source{n: 10}), dataset.Options{})
	for _, fails := range []int{0, 1, 2} {
		p := open(t, b, Options{Workers: 3})
		none, made := errors.New("no worker"), 0
		s, err := p.stage(stageSpec{
			Path: "test", In: empty{}, Drain: func() func() { return nil },
			New: func() (worker, error) {
				if made++; made > fails {
					return nil, none
				}
				return &uploading{}, nil
			},
		})
		if fails == 0 {
			require.ErrorIs(t, err, none)
			require.Nil(t, s)
			require.NoError(t, p.Close())
			continue
		}
		require.NoError(t, err)
		within(t, func() {
			var x dataset.Sample
			require.ErrorIs(t, s.Next(t.Context(), &x), none)
			require.ErrorIs(t, s.Next(t.Context(), &x), none)
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
			require.NoError(t, p.Close())
		})
	}
}

// empty is an iterator without samples.
type empty struct{}

func (empty) Next(context.Context, *dataset.Sample) error { return io.EOF }
func (empty) Save(w []int64) []int64                      { return w }
func (empty) Close() error                                { return nil }

func TestPin(t *testing.T) {
	p := open(t, build(t, dataset.Of(&source{n: 100}), dataset.Options{}), Options{Workers: 3, Pin: true})
	within(t, func() {
		n, err := drain(p)
		require.NoError(t, err)
		require.Equal(t, 100, n)
		require.NoError(t, p.Close())
	})
}

// slow returns a dataset of three maps, of which the second takes a while.
func slow(n int64, took time.Duration) *dataset.Dataset {
	none := each(func(int) error { return nil })
	return dataset.Of(&source{n: n}).MapFunc(none, x, column...).MapFunc(each(func(int) error {
		time.Sleep(took) // sleeping, so that more workers help on any machine
		return nil
	}), x, column...).MapFunc(none, x, column...)
}

// TestAutoTune checks that the slow stage gets the workers, up to MaxWorkers,
// that the next epoch keeps the choice, and that the order does not change.
func TestAutoTune(t *testing.T) {
	const most = 9
	var mu sync.Mutex
	var log []string
	p := open(t, build(t, slow(1500, 2*time.Millisecond), dataset.Options{}), Options{
		AutoTune: true, MaxWorkers: most, Interval: 15 * time.Millisecond,
		Log: func(s string) {
			mu.Lock()
			log = append(log, s)
			mu.Unlock()
		},
	})
	within(t, func() {
		for i := range 1500 {
			s, err := p.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, byte(i), s.Column("x").Data[0])
			total := 0
			for _, x := range p.Stats() {
				if x.Path != sending {
					total += x.Workers
				}
			}
			require.LessOrEqual(t, total, most)
		}
		stats := p.Stats()
		require.Len(t, stats, 5)
		slowest := stats[2]
		require.Greater(t, slowest.Workers, 2, "%v", log)
		for i, s := range stats {
			if i != 2 {
				require.Less(t, s.Workers, slowest.Workers, "%v", s)
			}
		}
		mu.Lock()
		require.NotEmpty(t, log)
		require.Contains(t, strings.Join(log, "\n"), "pipeline: "+slowest.Path+": 2 workers, queue of ")
		mu.Unlock()
		require.NoError(t, p.NextEpoch())
		_, err := p.Next(t.Context())
		require.NoError(t, err)
		require.Greater(t, p.Stats()[2].Workers, 1, "what was chosen before")
		require.NoError(t, p.Close())
	})
}

// TestAutoTuneMemory checks the bound of what AutoTune adds to the queues. The
// test makes the queues longer as the tuner does when they are too short, since
// when that happens depends on the machine.
func TestAutoTuneMemory(t *testing.T) {
	const size = 4 << 20
	copied := each(func(int) error { return nil })
	p := open(t, build(t, dataset.Of(&source{n: 100, bytes: size}).MapFunc(copied, x, column...), dataset.Options{}), Options{
		AutoTune: true, MaxWorkers: 2, Interval: time.Hour, // one worker for each stage
	})
	within(t, func() {
		for range 5 {
			_, err := p.Next(t.Context())
			require.NoError(t, err)
		}
		// The queues without AutoTune hold this many samples.
		base := queueOf(runtime.GOMAXPROCS(0))
		tuned, extra := 0, int64(0)
		for _, s := range p.running() {
			if s.st.Path == sending {
				continue
			}
			tuned++
			_, start := s.size()
			for range 100 {
				p.tuner.lengthen(s)
			}
			_, queue := s.size()
			if tuned == 1 {
				require.Greater(t, queue, start)
			}
			extra += int64(max(queue-base, 0)) * size
		}
		require.Equal(t, 2, tuned)
		require.LessOrEqual(t, extra, int64(extraBytes))
		if most := longest*queueOf(1) - base; most*size > extraBytes {
			require.Greater(t, extra, int64(extraBytes-size), "there is room for another sample")
		}
		require.NoError(t, p.Close())
	})
}

// TestAutoTuneShrinks checks that more workers than MaxWorkers are reduced.
func TestAutoTuneShrinks(t *testing.T) {
	p := open(t, build(t, slow(100000, time.Millisecond), dataset.Options{}), Options{
		Workers: 6, AutoTune: true, MaxWorkers: 8, Interval: 2 * time.Millisecond,
	})
	within(t, func() {
		for i := 0; ; i++ {
			s, err := p.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, byte(i), s.Column("x").Data[0])
			total := 0
			for _, x := range p.Stats() {
				if x.Path != sending {
					total += x.Workers
				}
			}
			if total <= 8 {
				break
			}
		}
		require.NoError(t, p.Close())
	})
}

// TestResizeAndClose runs the tuner and Close at the same time.
func TestResizeAndClose(t *testing.T) {
	b := build(t, slow(1000, 10*time.Microsecond), dataset.Options{})
	within(t, func() {
		for i := range 60 {
			p := open(t, b, Options{AutoTune: true, MaxWorkers: 50, Interval: 20 * time.Microsecond})
			for range 3 {
				for range i {
					_, err := p.Next(t.Context())
					require.NoError(t, err)
				}
				require.NoError(t, p.NextEpoch())
			}
			require.NoError(t, p.Close())
			require.Zero(t, p.budget.used)
		}
	})
}

// TestStats checks that the figures add up, and that Stats may run at any time.
func TestStats(t *testing.T) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	bad := each(func(i int) error {
		time.Sleep(100 * time.Microsecond)
		if i%10 == 3 {
			return errors.New("bad")
		}
		return nil
	})
	p := open(t, build(t, dataset.Of(&source{n: 200, bytes: 1000}).MapFunc(bad, x, column...).Batch(4), dataset.Options{OnError: dataset.SkipOnError}), Options{Workers: 2})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				for _, s := range p.Stats() {
					if s.Ready < 0 || s.AtWork < 0 || s.Busy < 0 || s.Waited < 0 || s.Full < 0 || s.Starved < 0 {
						panic(fmt.Sprintf("%+v", s))
					}
				}
			}
		}
	}()
	within(t, func() {
		n, err := drain(p)
		require.NoError(t, err)
		require.Equal(t, 45, n)
		close(stop)
		<-stopped
		l := p.Stats()
		require.Len(t, l, 3)
		require.Equal(t, sending, l[2].Path)
		for i, want := range []StageStats{{In: 200, Out: 200}, {In: 200, Out: 200, Errors: 20}, {In: 45, Out: 45}} {
			require.Equal(t, [3]int64{want.In, want.Out, want.Errors}, [3]int64{l[i].In, l[i].Out, l[i].Errors}, l[i].Path)
		}
		require.GreaterOrEqual(t, l[1].Busy, 20*time.Millisecond, "200 times 100 microseconds")
		require.Positive(t, l[1].Bytes)
		require.NoError(t, p.NextEpoch())
		require.EqualValues(t, 200, p.Stats()[1].In, "the figures of all epochs")
		require.NoError(t, p.Close())
	})
	b, err := json.Marshal(p.Stats())
	require.NoError(t, err)
	require.Contains(t, string(b), `"busy_ns":`)
}

// TestMeter checks that running activities count.
func TestMeter(t *testing.T) {
	var m meter
	a := m.begin()
	time.Sleep(2 * time.Millisecond)
	total, active := m.read()
	require.Equal(t, 1, active)
	require.GreaterOrEqual(t, total, 2*time.Millisecond)
	b := m.begin()
	time.Sleep(2 * time.Millisecond)
	took := m.end(a)
	require.GreaterOrEqual(t, took, 4*time.Millisecond)
	tookB := m.end(b)
	total, active = m.read()
	require.Zero(t, active)
	require.Equal(t, took+tookB, total)
}

func TestBottleneck(t *testing.T) {
	const second = time.Second
	l := []StageStats{
		{Path: "a", Workers: 2, Busy: second, Waited: second / 2},
		{Path: "b", Workers: 1, Busy: second, Waited: second / 2},
		{Path: sending, Workers: 1, Busy: second, Waited: second},
	}
	require.Equal(t, 1, Bottleneck(nil, l, second))
	require.Equal(t, 0, Bottleneck([]StageStats{{Path: "b", Busy: second}}, l, second), "what it did since")
	l[0].Waited, l[1].Waited = 0, 0
	require.Equal(t, -1, Bottleneck(nil, l, second), "nobody waits")
	require.Equal(t, -1, Bottleneck(nil, nil, second))
}

// TestBatchBytes checks that a batch above the limit ends the run before its
// memory is allocated, and so do samples that wait for their batches.
func TestBatchBytes(t *testing.T) {
	const size = 1 << 22
	pad := dataset.PadColumn{Column: "x", Shape: []int{-1}}
	for name, c := range map[string]struct {
		d    func(*dataset.Dataset) *dataset.Dataset
		most int64 // that is enough
	}{
		"batch":  {func(d *dataset.Dataset) *dataset.Dataset { return d.Batch(2) }, 2 * size},
		"padded": {func(d *dataset.Dataset) *dataset.Dataset { return d.BatchPadded(2, pad) }, 2 * size},
		"padding": {func(d *dataset.Dataset) *dataset.Dataset {
			return d.BatchPadded(2, dataset.PadColumn{Column: "x", Shape: []int{size}})
		}, 2 * size},
		"huge": {func(d *dataset.Dataset) *dataset.Dataset {
			return d.BatchPadded(1, dataset.PadColumn{Column: "x", Shape: []int{1 << 60}})
		}, 0},
		"many samples": {func(d *dataset.Dataset) *dataset.Dataset { return d.Batch(1 << 20) }, 0},
		"buckets": {func(d *dataset.Dataset) *dataset.Dataset {
			return d.BucketBatch("x", []int{size / 2}, []int{2, 2}, pad)
		}, 2 * size},
		"budget": {func(d *dataset.Dataset) *dataset.Dataset { return d.BudgetBatch("x", 2*size, pad) }, 2 * size},
	} {
		t.Run(name, func(t *testing.T) {
			for _, onError := range []dataset.ErrorPolicy{dataset.FailOnError, dataset.SkipOnError} {
				b := build(t, c.d(dataset.Of(&source{n: 4, bytes: size})), dataset.Options{OnError: onError})
				p := open(t, b, Options{Workers: 1, BatchBytes: 2*size - 1})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := drain(p)
				runtime.ReadMemStats(&after)
				var node *dataset.NodeError
				require.ErrorAs(t, err, &node)
				require.ErrorContains(t, err, "want at most 8388607")
				require.NoError(t, p.Close())
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(6*size), "no batch")
			}
			if c.most > 0 {
				p := open(t, build(t, c.d(dataset.Of(&source{n: 4, bytes: size})), dataset.Options{}), Options{Workers: 1, BatchBytes: c.most})
				n, err := drain(p)
				require.NoError(t, err)
				require.Equal(t, 2, n)
				require.NoError(t, p.Close())
			}
		})
	}
}

// known is a source of samples of a known size.
type known struct{ *source }

func (k known) Open(context.Context, store.Opener) (dataset.Data, error) {
	return knownRows{sourceRows{k.source}}, nil
}

type knownRows struct{ sourceRows }

func (k knownRows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "x", Desc: tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(int(k.s.bytes))}}}
}

// TestBudgetKnown checks that samples of a known size are counted before the
// first of them is there.
func TestBudgetKnown(t *testing.T) {
	const size = 1 << 20
	p := open(t, build(t, dataset.Of(known{&source{n: 20, bytes: size}}), dataset.Options{}), Options{Workers: 8, Bytes: size})
	within(t, func() {
		n, err := drain(p)
		require.NoError(t, err)
		require.Equal(t, 20, n)
		require.LessOrEqual(t, p.budget.peak, int64(3*size))
		require.NoError(t, p.Close())
	})
}
