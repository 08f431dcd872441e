package webdataset

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
)

// zeroReader reads as zeros.
type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// allocated returns the bytes that f allocates.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestLargeMember: a large member of a shard that is not in memory is held
// once. Its memory grew by doubling, which took twice its size.
func TestLargeMember(t *testing.T) {
	const size = 70 << 20
	w, err := NewTarWriter(io.Discard, TarOptions{})
	require.NoError(t, err)
	head := func(name string, size int) io.Reader {
		w.head(name, size)
		return bytes.NewReader(bytes.Clone(w.buf))
	}
	var parts []io.Reader
	for _, key := range []string{"a", "b", "c"} {
		parts = append(parts, head(key+".bin", size), io.LimitReader(zeroReader{}, size),
			head(key+".cls", 1), io.LimitReader(zeroReader{}, block))
	}
	parts = append(parts, io.LimitReader(zeroReader{}, record))
	r, err := NewReader(io.MultiReader(parts...), Options{})
	require.NoError(t, err)
	sample := func() {
		s, err := r.Next()
		require.NoError(t, err)
		require.Len(t, s.Fields, 2)
		require.Len(t, s.Fields[0].Data, size)
		require.Len(t, s.Fields[1].Data, 1)
	}
	first := allocated(sample)
	require.Less(t, first, int64(size)*9/8, "the first sample")
	second := allocated(sample)
	require.Less(t, second, int64(1<<20), "the second sample reuses the memory of the first")
	third := allocated(sample)
	require.Less(t, third, int64(1<<20))
	_, err = r.Next()
	require.Equal(t, io.EOF, err)
	t.Logf("allocated %d, %d and %d bytes for samples of %d", first, second, third, size)
}

// TestClaimedMember: memory grows with the bytes of a member, not with the
// length that its header claims.
func TestClaimedMember(t *testing.T) {
	w, err := NewTarWriter(io.Discard, TarOptions{})
	require.NoError(t, err)
	for _, c := range []struct{ have, most int64 }{{1000, 3 << 20}, {2 << 20, 20 << 20}} {
		w.head("a.bin", 1<<30)
		r, err := NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(w.buf)), io.LimitReader(zeroReader{}, c.have)), Options{})
		require.NoError(t, err)
		got := allocated(func() { _, err = r.Next() })
		require.ErrorIs(t, err, records.ErrCorrupt)
		require.Less(t, got, c.most)
	}
}

// TestFieldMemory: fields of one sample never share memory, whatever the sizes
// of earlier samples were, and small samples soon need no new memory.
func TestFieldMemory(t *testing.T) {
	var b []byte
	var want []int
	size := uint32(1)
	for i := range 300 {
		for k := range i%7 + 1 {
			size = size*1664525 + 1013904223
			n := int(size >> 8 % (1 + 40000*uint32(i%3)))
			if i == 100 && k == 2 {
				n = 3 << 20
			}
			b = tarMember(t, b, string(rune('a'+i%26))+"."+string(rune('a'+k)), string(bytes.Repeat([]byte{byte(n + k)}, n)))
			want = append(want, n)
		}
	}
	b = append(b, make([]byte, 2*block)...)
	read := func(r *Reader) (sizes []int) {
		for {
			s, err := r.Next()
			if err == io.EOF {
				return sizes
			}
			require.NoError(t, err)
			for k, f := range s.Fields { // after all fields were read
				n := len(f.Data)
				require.True(t, bytes.Equal(bytes.Repeat([]byte{byte(n + k)}, n), f.Data))
				require.Equal(t, n, cap(f.Data))
				sizes = append(sizes, n)
			}
		}
	}
	r, err := NewReader(bytes.NewReader(b), Options{})
	require.NoError(t, err)
	require.Equal(t, want, read(r))
	held := 0
	for _, block := range r.memory.blocks {
		held += cap(block)
	}
	require.Less(t, held, 16<<20)
}
