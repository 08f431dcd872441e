package remote

import (
	"bytes"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/store"
)

// inOrder reads a file in steps of 100,000 bytes, up to its end or an error.
func inOrder(f store.File) ([]byte, error) {
	var all []byte
	b := make([]byte, 100_000)
	for {
		n, err := f.ReadAt(b, int64(len(all)))
		all = append(all, b[:n]...)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// TestBody: a file that is read in order takes one request, and no more of its
// answer is read than is asked for.
func TestBody(t *testing.T) {
	s, want := newService(), content(40<<20+5)
	s.put("mem://a", want)
	r := open(t, s, 0, Options{})
	f, err := r.Open(t.Context(), "mem://a")
	require.NoError(t, err)
	require.Never(t, func() bool { return r.Stats().Received > small }, 50*time.Millisecond, 10*time.Millisecond)
	r.slow.Store(true) // has no effect on an open file
	got, err := inOrder(f)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
	require.NoError(t, f.Close())
	require.EqualValues(t, len(want), r.Stats().Received)
	require.Equal(t, 1, s.count())
	require.Equal(t, request{s.requests[0].ctx, "mem://a", 0, math.MaxInt64}, s.requests[0])
}

// TestScattered: after a file that is read at random, files are opened with a
// range, until one is read in order.
func TestScattered(t *testing.T) {
	s, want := newService(), content(20<<20)
	s.put("mem://a", want)
	r := open(t, s, 0, Options{})
	last := func() int64 { return s.requests[s.count()-1].n }
	use := func(read func(store.File)) {
		s.put("mem://a", want) // another version, so that nothing of it is here
		f, err := r.Open(t.Context(), "mem://a")
		require.NoError(t, err)
		read(f)
		require.NoError(t, f.Close())
	}
	opened := func(want int64) func(store.File) {
		return func(store.File) { require.Equal(t, want, last()) }
	}
	use(func(f store.File) {
		require.EqualValues(t, int64(math.MaxInt64), last())
		for _, off := range []int64{15 << 20, 3 << 20, 9 << 20} {
			b := make([]byte, 1000)
			_, err := f.ReadAt(b, off)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want[off:off+1000], b))
		}
		require.LessOrEqual(t, r.Stats().Received, int64(small+3*4*r.memory.size))
	})
	use(opened(small))
	use(func(f store.File) {
		opened(small)(f)
		got, err := inOrder(f)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
	})
	use(opened(math.MaxInt64))
	use(opened(small)) // nobody read the one before
}

// slowly is a Body of a slow connection.
type slowly struct{ io.Reader }

func (b slowly) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	time.Sleep(time.Duration(n) * time.Second / (fastEnough / 4))
	return n, err
}

func (b slowly) Close() error { return nil }

// TestSlowConnection: a slow connection is left for several ranges.
func TestSlowConnection(t *testing.T) {
	s, want := newService(), content(30<<20)
	s.put("mem://a", want)
	s.get = func(_ int, _ request, o *Object) error {
		o.Body = slowly{o.Body}
		return nil
	}
	r := open(t, s, 0, Options{})
	r.fast = fastEnough
	f, err := r.Open(t.Context(), "mem://a")
	require.NoError(t, err)
	got, err := inOrder(f)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
	require.NoError(t, f.Close())
	require.Greater(t, s.count(), 1)
	require.False(t, r.readsOn())
}

// TestBodyCut: ranges bring what a body does not.
func TestBodyCut(t *testing.T) {
	for _, at := range []int64{0, 1, small - 1, small, small + 1, 2<<20 + 77, 9 << 20} {
		s, want := newService(), content(12<<20)
		s.put("mem://a", want)
		s.get = func(n int, _ request, o *Object) error {
			if n == 1 {
				cut(o, at, io.EOF)
			}
			return nil
		}
		r := open(t, s, 0, Options{})
		f, err := r.Open(t.Context(), "mem://a")
		require.NoError(t, err)
		got, err := inOrder(f)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
		require.NoError(t, f.Close())
		require.EqualValues(t, len(want), r.Stats().Received, "cut at %d", at)
		require.EqualValues(t, 1, r.Stats().Retries)
	}
}

// TestChecksumOfAll: the checksum of a large object is compared at its end. An
// object that does not match is not used again.
func TestChecksumOfAll(t *testing.T) {
	for _, bad := range []int{0, 5_000_000, 12<<20 - 1} {
		s, want := newService(), content(12<<20)
		damaged := bytes.Clone(want)
		damaged[bad] ^= 1
		s.put("mem://a", want)
		s.get = func(n int, r request, o *Object) error {
			withSum(o, want[r.off:r.off+o.Length])
			if n == 1 {
				o.Body = io.NopCloser(bytes.NewReader(damaged))
			}
			return nil
		}
		r := open(t, s, 0, Options{})
		f, err := r.Open(t.Context(), "mem://a")
		require.NoError(t, err)
		got, err := inOrder(f)
		require.ErrorIs(t, err, ErrChecksum)
		require.ErrorContains(t, err, "mem://a: bytes 0 to 12582912")
		require.Less(t, len(got), len(want))
		_, err = f.ReadAt(make([]byte, 1), 0)
		require.ErrorIs(t, err, ErrChecksum, "it stays")
		require.NoError(t, f.Close())

		f, err = r.Open(t.Context(), "mem://a")
		require.NoError(t, err)
		got, err = inOrder(f)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got))
		require.NoError(t, f.Close())
	}
}
