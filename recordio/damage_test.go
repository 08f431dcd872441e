package recordio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// memoryFiles is a store of files in memory that are not mapped.
type memoryFiles map[string][]byte

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func (m memoryFiles) Open(_ context.Context, name string) (store.File, error) {
	b, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return memoryFile{bytes.NewReader(b)}, nil
}

func (m memoryFiles) Stat(_ context.Context, name string) (store.Info, error) {
	b, ok := m[name]
	if !ok {
		return store.Info{}, fs.ErrNotExist
	}
	return store.Info{Name: name, Size: int64(len(b))}, nil
}

func (m memoryFiles) List(context.Context, string) ([]store.Info, error) { return nil, fs.ErrNotExist }

func (m memoryFiles) Create(_ context.Context, name string) (store.NewFile, error) {
	return &memoryNew{m: m, name: name}, nil
}

type memoryNew struct {
	bytes.Buffer
	m    memoryFiles
	name string
}

func (f *memoryNew) Close() error { f.m[f.name] = f.Bytes(); return nil }
func (f *memoryNew) Abort() error { return nil }

func memoryStream(t testing.TB, b []byte) *Stream {
	s, err := NewStream(context.Background(), memoryFiles{"a": b}, []store.Info{{Name: "a", Size: int64(len(b))}}, 4)
	require.NoError(t, err)
	return s
}

// eachDamage calls f with every truncation of b and with every bit of b
// changed.
func eachDamage(b []byte, f func(what string, b []byte)) {
	for n := range b {
		f(fmt.Sprintf("cut to %d bytes", n), b[:n])
	}
	for at := range b {
		for bit := range 8 {
			x := bytes.Clone(b)
			x[at] ^= 1 << bit
			f(fmt.Sprintf("byte %d bit %d", at, bit), x)
		}
	}
}

// TestIndexDamage truncates an index and changes it. Reading the index or a
// record must then fail, or return all records, with other keys at most. A
// line's key is the only part without redundancy.
func TestIndexDamage(t *testing.T) {
	written := []string{"first", "", "abcd" + m + "efg", m + m, "the last"}
	var rec, idx bytes.Buffer
	w, err := NewIndexedWriter(&rec, &idx, 0)
	require.NoError(t, err)
	for i, r := range written {
		require.NoError(t, w.WriteKey(int64(7*i), []byte(r)))
	}
	s := memoryStream(t, rec.Bytes())
	quiet, found := 0, 0
	eachDamage(idx.Bytes(), func(what string, b []byte) {
		var buf Buffer
		l, err := ReadIndex("i", bytes.NewReader(b))
		var x *Indexed
		if err == nil {
			x, err = s.Indexed(l, Options{})
		}
		for i := 0; err == nil && i < x.Len(); i++ {
			var r []byte
			if r, _, err = x.Record(i, &buf); err == nil {
				require.Contains(t, written, string(r), what)
			}
		}
		if err != nil {
			require.ErrorIs(t, err, records.ErrCorrupt, what)
			found++
			return
		}
		quiet++
		require.Equal(t, len(written), x.Len(), what)
		for i := range written {
			r, _, err := x.Record(i, &buf)
			require.NoError(t, err)
			require.Equal(t, written[i], string(r), what)
		}
	})
	require.NotZero(t, quiet)
	require.Greater(t, found, 4*quiet)
}

// TestSumsDamage truncates checksums and changes them. They must then be
// invalid, or differ from the file's, or be other spellings of the same values.
func TestSumsDamage(t *testing.T) {
	s := memoryStream(t, write(t, "first", "", m+"x", "the last"))
	want, err := s.Sums(Options{})
	require.NoError(t, err)
	var text []byte
	for _, x := range want {
		text, _ = x.AppendText(text)
	}
	eachDamage(text, func(what string, b []byte) {
		sums, err := ReadSums("s", bytes.NewReader(b))
		if err != nil {
			require.ErrorIs(t, err, records.ErrCorrupt, what)
			return
		}
		bad := 0
		require.NoError(t, s.Verify(sums, Options{}, func(*records.CorruptionError) { bad++ }))
		if bad == 0 {
			require.Equal(t, want, sums, what)
		}
	})
}

// TestCacheDamage tests that a cache of a Split is rejected if it is truncated,
// longer, or has any changed bit.
func TestCacheDamage(t *testing.T) {
	files := memoryFiles{"a": write(t, "first", m+"x"), "b": write(t, "", "the last")}
	open := func() *Cached {
		c, err := OpenCached(t.Context(), files, []string{"a", "b"}, "cache", SplitOptions{Chunk: 20})
		require.NoError(t, err)
		return c
	}
	c := open()
	want := nextCached(t, c)
	require.Len(t, want, 4)
	require.NoError(t, c.Close())
	good := files["cache"]
	require.NotEmpty(t, good)
	check := func(b []byte) bool {
		ok, err := c.check(memoryFile{bytes.NewReader(b)})
		require.NoError(t, err)
		return ok
	}
	require.True(t, check(good))
	eachDamage(good, func(what string, b []byte) { require.False(t, check(b), what) })
	require.False(t, check(append(bytes.Clone(good), 0)))
	// The cache is written again.
	files["cache"] = good[:len(good)-1]
	c = open()
	require.Equal(t, want, nextCached(t, c))
	require.NoError(t, c.Close())
	require.Equal(t, good, files["cache"])
}

func FuzzIndex(f *testing.F) {
	for _, name := range []string{"a.idx", "b.idx", "c.idx"} {
		b, err := os.ReadFile(mxnetFile(name))
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte("1 0\r\n\n-7\t28"))
	rec, err := os.ReadFile(mxnetFile("a.rec"))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ReadIndex("i", bytes.NewReader(b))
		if err != nil {
			return
		}
		var text []byte
		for _, e := range l {
			text, _ = e.AppendText(text)
		}
		again, err := ReadIndex("i", bytes.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, l, again)
		x, err := memoryStream(t, rec).Indexed(l, Options{})
		if err != nil {
			require.ErrorIs(t, err, records.ErrCorrupt)
			return
		}
		var buf Buffer
		for i := range x.Len() {
			if _, _, err := x.Record(i, &buf); err != nil {
				require.ErrorIs(t, err, records.ErrCorrupt)
			}
		}
	})
}

func FuzzSums(f *testing.F) {
	rec, err := os.ReadFile(mxnetFile("a.rec"))
	require.NoError(f, err)
	sums, err := memoryStream(f, rec).Sums(Options{})
	require.NoError(f, err)
	var text []byte
	for _, x := range sums {
		text, _ = x.AppendText(text)
	}
	f.Add(text)
	f.Add([]byte("0\t5\t0123aBcD\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ReadSums("s", bytes.NewReader(b))
		if err != nil {
			return
		}
		var text []byte
		for _, x := range l {
			text, _ = x.AppendText(text)
		}
		again, err := ReadSums("s", bytes.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, l, again)
		bad := 0
		require.NoError(t, memoryStream(t, rec).Verify(l, Options{}, func(*records.CorruptionError) { bad++ }))
		if bad == 0 {
			require.Equal(t, sums, l)
		}
	})
}

// FuzzCache tests arbitrary content of a cache with a valid checksum.
func FuzzCache(f *testing.F) {
	files := memoryFiles{"a": write(f, "first", m+"x")}
	open := func(t testing.TB) *Cached {
		c, err := OpenCached(context.Background(), files, []string{"a"}, "cache", SplitOptions{})
		require.NoError(t, err)
		return c
	}
	c := open(f)
	head := c.header()
	require.Len(f, nextCached(f, c), 2)
	require.NoError(f, c.Close())
	good := files["cache"][len(head) : len(files["cache"])-4]
	f.Add(bytes.Clone(good))
	f.Add(bytes.Clone(good[:len(good)-splitChunk])) // without an end
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := append(bytes.Clone(head), b...)
		files["cache"] = binary.LittleEndian.AppendUint32(whole, crc32.Checksum(whole, castagnoli))
		c := open(t)
		defer c.Close()
		if c.file == nil {
			require.Less(t, len(b), splitChunk)
			return
		}
		var err error
		for range 1 + len(b) { // there are at most as many records as bytes
			if _, err = c.Next(); err != nil {
				break
			}
		}
		require.Error(t, err)
		if err != io.EOF {
			require.True(t, errors.Is(err, records.ErrCorrupt) || errors.Is(err, records.ErrTooLarge), "%v", err)
		}
	})
}
