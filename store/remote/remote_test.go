package remote

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/store/storetest"
)

func content(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Config{Store: open(t, newService(), 0, Options{}), Folder: "mem://host/test"})
	s := newService()
	s.plain = true
	storetest.Run(t, storetest.Config{Store: open(t, s, 4<<10, Options{Memory: 1 << 20, Cache: t.TempDir()}), Folder: "mem://host/test"})
}

// TestOneRequest: a small object takes one request.
func TestOneRequest(t *testing.T) {
	for _, n := range []int{0, 1, 1000, small} {
		s, want := newService(), content(n)
		s.put("mem://a", want)
		r := open(t, s, 0, Options{})
		f, err := r.Open(t.Context(), "mem://a")
		require.NoError(t, err)
		require.Equal(t, want, store.MappedBytes(f))
		b, err := store.ReadAll(f, nil)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, b))
		require.NoError(t, f.Close())
		require.Nil(t, store.MappedBytes(f))
		_, err = f.ReadAt(make([]byte, 1), 0)
		require.ErrorIs(t, err, fs.ErrClosed)
		require.ErrorIs(t, f.Close(), fs.ErrClosed)
		require.Equal(t, 1, s.count())
		require.Equal(t, Stats{Requests: 1, Received: int64(n), Served: int64(n)}, r.Stats())
	}
}

// TestFaults: what a service does, what reading an object then returns, and how
// many requests it takes.
func TestFaults(t *testing.T) {
	whole := content(5000)
	reset := errors.New("connection reset")
	for name, c := range map[string]struct {
		get      func(n int, r request, o *Object) error
		want     error
		text     string
		requests int
		stalls   int
	}{
		"none":     {nil, nil, "", 1, 0},
		"busy":     {func(n int, _ request, _ *Object) error { return unless(n == 6, errBusy) }, nil, "", 6, 0},
		"too busy": {func(int, request, *Object) error { return errBusy }, errBusy, "open mem://a: 6 attempts: 503 service unavailable", 6, 0},
		"broken":   {func(int, request, *Object) error { return reset }, reset, "open mem://a: connection reset", 1, 0},
		"end": {func(n int, r request, o *Object) error {
			return &TemporaryError{Err: fmt.Errorf("read: %w", io.EOF)}
		}, io.ErrUnexpectedEOF, "open mem://a: 6 attempts: unexpected EOF: read: EOF", 6, 0},
		"denied": {func(int, request, *Object) error { return fs.ErrPermission }, fs.ErrPermission, "open mem://a: permission denied", 1, 0},
		"cut":    {func(n int, _ request, o *Object) error { cut(o, 700, io.EOF); return nil }, nil, "", 8, 0},
		"cut, and another error": {func(n int, _ request, o *Object) error {
			cut(o, 2000, reset)
			return nil
		}, nil, "", 3, 0},
		"cut always": {func(n int, r request, o *Object) error { cut(o, 3000-r.off, io.EOF); return nil }, io.ErrUnexpectedEOF,
			"open mem://a: at byte 3000: 6 attempts: unexpected EOF", 1 + 5, 0},
		"cut and busy": {func(n int, r request, o *Object) error {
			if n%5 != 0 {
				return errBusy
			}
			cut(o, 1000, io.EOF)
			return nil
		}, nil, "", 25, 0},
		"length too small": {func(n int, _ request, o *Object) error {
			o.Length = 10
			cut(o, 10, io.EOF)
			return unless(n < 50, errBusy)
		}, errBusy, "at byte 490: 6 attempts: 503", 49 + 5, 0},
		"length too large": {func(n int, _ request, o *Object) error { o.Length = 6000; return nil }, nil,
			"open mem://a: 6 attempts: the service announces 6000 bytes where 5000 were requested", 6, 0},
		"length unknown": {func(n int, _ request, o *Object) error { o.Length = -1; return nil }, nil, "", 1, 0},
		"size unknown":   {func(n int, _ request, o *Object) error { o.Size = -1; return nil }, nil, "open mem://a: the service does not tell the object's size", 1, 0},
		"changed": {func(n int, r request, o *Object) error {
			cut(o, 1000, io.EOF)
			if n == 2 {
				o.Version = "v2"
			}
			return nil
		}, ErrChanged, "open mem://a: at byte 1000: the object has changed since it was opened: version v1 is now v2", 2, 0},
		"changed size": {func(n int, r request, o *Object) error {
			cut(o, 1000, io.EOF)
			o.Version = ""
			o.Size += int64(n)
			return nil
		}, ErrChanged, "open mem://a: at byte 1000: the object has changed since it was opened: 5001 bytes are now 5002", 2, 0},
		"changed time": {func(n int, r request, o *Object) error {
			cut(o, 1000, io.EOF)
			o.Version = ""
			o.Modified = time.Unix(int64(n), 0)
			return nil
		}, ErrChanged, "it was modified at", 2, 0},
		"corrupt": {func(n int, r request, o *Object) error {
			withSum(o, whole[r.off:])
			if n < 6 {
				o.Body = io.NopCloser(bytes.NewReader(content(5001)[:5000-r.off]))
			}
			return nil
		}, nil, "", 6, 0},
		"always corrupt": {func(n int, r request, o *Object) error {
			withSum(o, content(5000-int(r.off)+1))
			return nil
		}, ErrChecksum, "open mem://a: at byte 0: 6 attempts: the checksum does not match", 6, 0},
		"corrupt and cut": {func(n int, r request, o *Object) error {
			if n == 1 {
				o.Body = io.NopCloser(bytes.NewReader(make([]byte, 1000)))
			}
			withSum(o, whole[r.off:])
			return nil
		}, nil, "", 3, 0}, // cut, resumed, and again because of the first
		"no progress": {func(n int, r request, o *Object) error {
			o.Body = io.NopCloser(empty{})
			return nil
		}, io.ErrNoProgress, "6 attempts", 6, 0},
		"silent body": {func(n int, r request, o *Object) error {
			if n < 4 {
				o.Body = &silent{io.LimitReader(o.Body, 1000), r.ctx}
			}
			return nil
		}, nil, "", 4, 3},
		"always silent": {func(n int, r request, o *Object) error {
			<-r.ctx.Done()
			return r.ctx.Err()
		}, errStalled, "open mem://a: 6 attempts: the service sent nothing for 100ms", 6, 6},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService()
			s.put("mem://a", whole)
			s.get = c.get
			o := Options{}
			if c.stalls > 0 {
				o.Stall = 100 * time.Millisecond
			}
			r := open(t, s, 0, o)
			f, err := r.Open(t.Context(), "mem://a")
			if c.text == "" {
				require.NoError(t, err)
				require.True(t, bytes.Equal(whole, store.MappedBytes(f)))
				require.NoError(t, f.Close())
			} else {
				require.ErrorContains(t, err, c.text)
				require.NotErrorIs(t, err, io.EOF)
				var pe *fs.PathError
				require.ErrorAs(t, err, &pe)
				if c.want != nil {
					require.ErrorIs(t, err, c.want)
				}
			}
			require.Equal(t, c.requests, s.count())
			st := r.Stats()
			require.EqualValues(t, c.requests, st.Requests)
			require.EqualValues(t, c.requests-1, st.Retries)
			require.EqualValues(t, c.stalls, st.Stalls)
		})
	}
}

func unless(ok bool, err error) error {
	if ok {
		return nil
	}
	return err
}

type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, nil }

func withSum(o *Object, of []byte) {
	m := md5.Sum(of)
	o.Sum, o.NewHash = m[:], md5.New
}

// TestSlow: a body that sends a byte now and then does not stall.
func TestSlow(t *testing.T) {
	s := newService()
	s.put("mem://a", content(20))
	s.get = func(_ int, _ request, o *Object) error {
		o.Body = io.NopCloser(&slow{o.Body})
		return nil
	}
	r := open(t, s, 0, Options{Stall: 200 * time.Millisecond})
	f, err := r.Open(t.Context(), "mem://a")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Zero(t, r.Stats().Stalls)
}

type slow struct{ io.Reader }

func (s *slow) Read(p []byte) (int, error) {
	time.Sleep(15 * time.Millisecond)
	return s.Reader.Read(p[:1])
}

func TestStatAndList(t *testing.T) {
	s := newService()
	s.put("mem://d/a", content(20))
	s.other = func(n int) error { return unless(n%3 == 0, errBusy) }
	r := open(t, s, 0, Options{})
	i, err := r.Stat(t.Context(), "mem://d/a")
	require.NoError(t, err)
	require.EqualValues(t, 20, i.Size)
	l, err := r.List(t.Context(), "mem://d")
	require.NoError(t, err)
	require.Len(t, l, 1)
	require.Equal(t, Stats{Requests: 6, Retries: 4}, r.Stats())
	s.other = func(int) error { return errBusy }
	_, err = r.Stat(t.Context(), "mem://d/a")
	require.EqualError(t, err, "stat mem://d/a: 6 attempts: 503 service unavailable")
	_, err = r.List(t.Context(), "mem://d")
	require.EqualError(t, err, "list mem://d: 6 attempts: 503 service unavailable")
	_, err = r.Create(t.Context(), "mem://d/b")
	require.EqualError(t, err, "create mem://d/b: 503 service unavailable")
}

// TestAlive: a call that takes longer than the limit for silence goes on while
// answers come.
func TestAlive(t *testing.T) {
	r := open(t, newService(), 0, Options{Stall: 300 * time.Millisecond, Attempts: 1})
	wait := func(n int, alive bool) error {
		_, err := try(t.Context(), r, func(ctx context.Context) (int, error) {
			for range n {
				select {
				case <-ctx.Done():
					return 0, ctx.Err()
				case <-time.After(30 * time.Millisecond):
				}
				if alive {
					Alive(ctx)
				}
			}
			return 0, nil
		})
		return err
	}
	require.NoError(t, wait(12, true))
	require.ErrorIs(t, wait(12, false), errStalled)
	Alive(t.Context()) // does nothing
}

// TestPause: the pauses are below the bounds, and at least what the service
// asks for.
func TestPause(t *testing.T) {
	for made, longest := range map[int]time.Duration{1: 100, 2: 200, 3: 400, 7: 6400, 8: 10000, 99: 10000} {
		var sum time.Duration
		for range 1000 {
			d := pause(made, 0)
			require.Less(t, d, longest*time.Millisecond)
			sum += d
		}
		require.InDelta(t, float64(longest)/2, float64(sum.Milliseconds())/1000, float64(longest)/20)
		require.Equal(t, maxAfter, pause(made, time.Hour))
		require.GreaterOrEqual(t, pause(made, 20*time.Second), 20*time.Second)
	}
}

// TestDeadline: an operation ends with its context, whatever the service does.
func TestDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		get  func(n int, r request, o *Object) error
		wait time.Duration
	}{
		"silent": {func(_ int, r request, o *Object) error {
			o.Body = &silent{io.LimitReader(o.Body, 1000), r.ctx}
			return nil
		}, 0},
		"no answer":  {func(_ int, r request, _ *Object) error { <-r.ctx.Done(); return r.ctx.Err() }, 0},
		"busy":       {func(int, request, *Object) error { return errBusy }, 7 * time.Millisecond},
		"long pause": {func(int, request, *Object) error { return errBusy }, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService()
			s.put("mem://a", content(5000))
			s.get = c.get
			r := open(t, s, 0, Options{Attempts: 100})
			r.wait = func(int, time.Duration) time.Duration { return c.wait }
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err := r.Open(ctx, "mem://a")
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Less(t, time.Since(start), time.Second)
		})
	}
}

// TestReadDeadline: ReadAt ends with the context of Open, and with Close.
func TestReadDeadline(t *testing.T) {
	s := newService()
	s.put("mem://a", content(3<<20))
	s.get = func(n int, r request, o *Object) error {
		if n > 1 {
			o.Body = &silent{io.LimitReader(o.Body, 1000), r.ctx}
		}
		return nil
	}
	r := open(t, s, 0, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	f, err := r.Open(ctx, "mem://a")
	require.NoError(t, err)
	start := time.Now()
	_, err = f.ReadAt(make([]byte, 10), 2<<20)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(start), time.Second)
	require.NoError(t, f.Close())

	f, err = r.Open(t.Context(), "mem://a")
	require.NoError(t, err)
	failed := make(chan error)
	go func() {
		_, err := f.ReadAt(make([]byte, 10), 2<<20)
		failed <- err
	}()
	time.Sleep(10 * time.Millisecond)
	require.NoError(t, f.Close())
	require.ErrorIs(t, <-failed, fs.ErrClosed)
	_, err = f.ReadAt(make([]byte, 10), 0)
	require.ErrorIs(t, err, fs.ErrClosed)
}

// TestShared: several files of an object fetch a block once. A file that is
// closed in between does not fail the others.
func TestShared(t *testing.T) {
	s, want := newService(), content(8<<20)
	s.put("mem://a", want)
	var held atomic.Bool
	hold := make(chan struct{})
	s.get = func(_ int, r request, o *Object) error {
		if r.off >= 4<<20 && held.Load() {
			o.Body = &held1{o.Body, hold, r.ctx}
		}
		return nil
	}
	r := open(t, s, 0, Options{})
	var files [8]store.File
	for i := range files {
		var err error
		files[i], err = r.Open(t.Context(), "mem://a")
		require.NoError(t, err)
	}
	_, err := files[0].ReadAt(make([]byte, 100), 0)
	require.NoError(t, err)
	before := s.count()
	held.Store(true)
	var wg sync.WaitGroup
	var bad atomic.Int64
	for i := range files {
		wg.Go(func() {
			var b [100]byte
			_, err := files[i].ReadAt(b[:], 5<<20)
			if i == 0 && !errors.Is(err, fs.ErrClosed) || i > 0 && (err != nil || !bytes.Equal(b[:], want[5<<20:5<<20+100])) {
				bad.Add(1)
			}
		})
		time.Sleep(5 * time.Millisecond)
	}
	require.NoError(t, files[0].Close()) // its request is that of all
	time.Sleep(10 * time.Millisecond)
	close(hold)
	wg.Wait()
	require.Zero(t, bad.Load())
	require.Equal(t, before+2, s.count())
	for _, f := range files[1:] {
		require.NoError(t, f.Close())
	}
}

// held1 is a Body that waits for hold.
type held1 struct {
	io.Reader
	hold chan struct{}
	ctx  context.Context
}

func (h *held1) Read(p []byte) (int, error) {
	select {
	case <-h.hold:
		return h.Reader.Read(p)
	case <-h.ctx.Done():
		return 0, h.ctx.Err()
	}
}

func (h *held1) Close() error { return nil }

// TestRandomReads: reads at random places fetch little more than they need.
func TestRandomReads(t *testing.T) {
	s, want := newService(), content(64<<20)
	s.put("mem://a", want)
	r := open(t, s, 0, Options{Memory: 16 << 20})
	f, err := r.Open(t.Context(), "mem://a")
	require.NoError(t, err)
	rnd := rand.New(rand.NewPCG(1, 2))
	reads, n := 200, 110<<10
	for range reads {
		// A record: its head, then its content.
		off := rnd.Int64N(int64(len(want) - n))
		b := make([]byte, n)
		for _, p := range [][]byte{b[:8], b[8:]} {
			at := off
			if len(p) > 8 {
				at += 8
			}
			_, err := f.ReadAt(p, at)
			require.NoError(t, err)
		}
		require.True(t, bytes.Equal(want[off:off+int64(n)], b))
	}
	require.NoError(t, f.Close())
	st := r.Stats()
	t.Logf("%d records of %d bytes: %+v", reads, n, st)
	require.Less(t, st.Received, int64(2*reads*n)+small)
	require.LessOrEqual(t, st.Requests, int64(2*reads+1))
}

// TestSequential: a reader in order gets larger and larger requests, in
// parallel, each byte once, and memory stays within its bound.
func TestSequential(t *testing.T) {
	s, want := newService(), content(48<<20+123)
	s.put("mem://a", want)
	r := open(t, s, 0, Options{Memory: 32 << 20})
	for _, step := range []int{1000, 64 << 10, 256 << 10, 3 << 20} {
		before := r.Stats()
		s.put("mem://a", want) // another version
		f, err := r.Open(t.Context(), "mem://a")
		require.NoError(t, err)
		b := make([]byte, step)
		for off := int64(0); off < int64(len(want)); off += int64(step) {
			n, err := f.ReadAt(b, off)
			if err != io.EOF {
				require.NoError(t, err)
			}
			require.True(t, bytes.Equal(want[off:off+int64(n)], b[:n]))
		}
		require.NoError(t, f.Close())
		now := r.Stats()
		require.EqualValues(t, len(want), now.Received-before.Received, "step %d", step)
		t.Logf("step %d: %d requests", step, now.Requests-before.Requests)
		require.Less(t, now.Requests-before.Requests, int64(30))
		require.LessOrEqual(t, r.memory.used, r.memory.limit)
	}
}

// TestProperty: reads of any kind, of an object that is served with faults,
// equal the bytes of the object.
func TestProperty(t *testing.T) {
	for seed := range uint64(short.Rounds(t, 60, 6)) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		size := []int{1, 1000, small, small + 1, 3 << 20, 9 << 20}[rnd.IntN(6)]
		s, want := newService(), content(size)
		s.put("mem://a", want)
		s.plain = seed%3 == 0
		faults := rand.New(rand.NewPCG(seed, 8)) // used under s.mu
		s.get = func(n int, r request, o *Object) error {
			if n%5 == 0 { // so that six attempts never fail
				return nil
			}
			switch faults.IntN(8) {
			case 0:
				return errBusy
			case 1:
				cut(o, faults.Int64N(o.Length+1), io.EOF)
			case 2:
				cut(o, faults.Int64N(o.Length+1), errors.New("reset"))
			case 3:
				if o.Length > 0 && !(r.n == math.MaxInt64 && size > small) { // see TestChecksumOfAll
					part := want[r.off : r.off+o.Length]
					withSum(o, part)
					bad := bytes.Clone(part)
					bad[faults.IntN(len(bad))] ^= 1
					o.Body = io.NopCloser(bytes.NewReader(bad))
				}
			case 4:
				o.Length = -1
			case 5:
				o.Body = &silent{io.LimitReader(o.Body, faults.Int64N(o.Length+1)), r.ctx}
			}
			return nil
		}
		o := Options{Stall: 5 * time.Millisecond, Attempts: 100, Memory: 1 << 20 << rnd.IntN(6)}
		if seed%4 == 1 {
			o.Cache, o.CacheSize = t.TempDir(), 2e6
		}
		r := open(t, s, 1<<(10+rnd.IntN(9)), o)
		for range 3 {
			f, err := r.Open(t.Context(), "mem://a")
			require.NoError(t, err)
			var wg sync.WaitGroup
			errs := make([]error, 4)
			for g := range errs {
				rnd := rand.New(rand.NewPCG(seed, uint64(g)))
				wg.Go(func() { errs[g] = readSome(f, want, rnd) })
			}
			wg.Wait()
			require.NoError(t, errors.Join(errs...), "seed %d", seed)
			require.NoError(t, f.Close())
		}
		r.memory.mu.Lock()
		require.LessOrEqual(t, r.memory.used, max(r.memory.limit, 8*perRead*r.memory.size), "seed %d", seed)
		require.Zero(t, r.memory.ahead)
		require.Zero(t, r.memory.streams)
		r.memory.mu.Unlock()
	}
}

// readSome reads some parts of a file, at random or in order.
func readSome(f store.File, want []byte, rnd *rand.Rand) error {
	b := make([]byte, min(len(want), 1<<(4+rnd.IntN(18))))
	off := int64(0)
	for range 30 {
		if rnd.IntN(4) == 0 {
			off = rnd.Int64N(int64(len(want)))
		}
		p := b[:1+rnd.IntN(len(b))]
		n, err := f.ReadAt(p, off)
		has := min(len(p), len(want)-int(off))
		if n != has || err != nil && err != io.EOF || (err == io.EOF) != (has < len(p)) {
			return fmt.Errorf("%d bytes at %d: got %d, %v", len(p), off, n, err)
		}
		if !bytes.Equal(p[:n], want[off:off+int64(n)]) {
			return fmt.Errorf("%d bytes at %d differ", len(p), off)
		}
		off += int64(n)
		if off == int64(len(want)) {
			off = 0
		}
	}
	return nil
}

// TestCloseWhileRead: memory of a small object is used again only when nobody
// reads it.
func TestCloseWhileRead(t *testing.T) {
	s := newService()
	objects := [][]byte{content(100_000), bytes.Repeat([]byte{7}, 90_000)}
	s.put("mem://0", objects[0])
	s.put("mem://1", objects[1])
	r := open(t, s, 0, Options{})
	for i := range short.Rounds(t, 400, 40) {
		want := objects[i%2]
		f, err := r.Open(t.Context(), []string{"mem://0", "mem://1"}[i%2])
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, store.MappedBytes(f)))
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				b := make([]byte, len(want))
				if n, err := f.ReadAt(b, 0); err != nil {
					assert.ErrorIs(t, err, fs.ErrClosed)
				} else {
					assert.True(t, bytes.Equal(want, b[:n]))
				}
			})
		}
		require.NoError(t, f.Close())
		wg.Wait()
		require.Nil(t, store.MappedBytes(f))
	}
}
