package tfrecord

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
	"github.com/infer-prep/infer-prep/records"
)

func write(t testing.TB, written ...string) []byte {
	var b bytes.Buffer
	w := NewWriter(&b, 0)
	for _, r := range written {
		require.EqualValues(t, b.Len(), w.Offset())
		require.NoError(t, w.Write([]byte(r)))
	}
	return b.Bytes()
}

func readAll(r *Reader) (l []string, err error) {
	for {
		b, err := r.Next()
		if err != nil {
			return l, err
		}
		l = append(l, string(b))
	}
}

func TestRoundTrip(t *testing.T) {
	written := []string{"first", "", strings.Repeat("x", 3<<20), "last"}
	b := write(t, written...)
	for _, r := range []*Reader{NewReader(bytes.NewReader(b), Options{}), NewReader(iotest.HalfReader(bytes.NewReader(b)), Options{}), NewBytes(b, Options{})} {
		got, err := readAll(r)
		require.Equal(t, io.EOF, err)
		require.Equal(t, written, got)
	}
	// TFRecordWriter of the tfrecord package 1.14.6 writes these bytes.
	require.Equal(t, "0300000000000000b099490e6162636e57f121", hex.EncodeToString(write(t, "abc")))
}

// both reads b as a stream, in memory, and at the offsets of Scan. The results
// must be equal.
func both(t testing.TB, b []byte, o Options) ([]string, error) {
	one, err1 := readAll(NewReader(bytes.NewReader(b), o))
	two, err2 := readAll(NewBytes(b, o))
	require.Equal(t, one, two)
	require.Equal(t, err1, err2)
	at, err := Scan(bytes.NewReader(b), int64(len(b)), o)
	if err != nil {
		require.Error(t, err1)
		return one, err1
	}
	var three []string
	err3 := error(io.EOF)
	for i := range len(at) - 1 {
		p := o
		p.Offset = at[i]
		got, err := readAll(NewBytes(b[at[i]:at[i+1]], p))
		three = append(three, got...)
		if err != io.EOF {
			err3 = err
			break
		}
	}
	require.Equal(t, one, three)
	require.Equal(t, err1, err3)
	return one, err1
}

// TestEveryDamage tests that every truncation and every changed bit is an error
// at its record.
func TestEveryDamage(t *testing.T) {
	written := []string{"first", "", "the third"}
	b := write(t, written...)
	starts := []int{0, 21, 37, len(b)}
	record := func(at int) (k int) {
		for at >= starts[k+1] {
			k++
		}
		return k
	}
	for n := range b {
		got, err := both(t, b[:n], Options{Name: "f"})
		k := record(n)
		require.Equal(t, written[:k], append([]string{}, got...))
		if n == starts[k] {
			require.Equal(t, io.EOF, err)
			continue
		}
		var e *records.CorruptionError
		require.ErrorAs(t, err, &e)
		require.EqualValues(t, starts[k], e.Offset)
	}
	for at := range b {
		for bit := range 8 {
			x := bytes.Clone(b)
			x[at] ^= 1 << bit
			got, err := both(t, x, Options{})
			require.ErrorIs(t, err, records.ErrCorrupt)
			require.Equal(t, written[:record(at)], append([]string{}, got...))
		}
	}
	r := NewBytes(b[:3], Options{})
	_, err := r.Next()
	_, again := r.Next()
	require.Equal(t, err, again)
}

func TestErrors(t *testing.T) {
	gone := errors.New("gone")
	b := write(t, "abcdef")
	for n := range len(b) {
		_, err := readAll(NewReader(io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(gone)), Options{}))
		require.ErrorIs(t, err, gone)
	}
	_, err := readAll(NewReader(bytes.NewReader(b), Options{Limit: 5}))
	require.ErrorIs(t, err, records.ErrTooLarge)
	w := NewWriter(iotest.TruncateWriter(io.Discard, 0), 0)
	require.NoError(t, w.Write([]byte("a"))) // TruncateWriter drops bytes silently
	require.EqualValues(t, 17, w.Offset())
	w = NewWriter(short{}, 0)
	require.ErrorIs(t, w.Write([]byte("a")), io.ErrShortWrite)
	require.ErrorIs(t, w.Write(nil), io.ErrShortWrite)
}

type short struct{}

func (short) Write(b []byte) (int, error) { return len(b) - 1, nil }

func FuzzReader(f *testing.F) {
	f.Add(write(f, "first", "", "the third"))
	f.Add([]byte("0"))
	f.Add([]byte("\x03\x00\x00\x00\x00\x00\x00\x00\xb0\x99\x49\x0eabc\x6e\x57\xf1\x21")) // the tfrecord package's
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := both(t, b, Options{Limit: 1 << 20})
		again := write(t, got...)
		require.Equal(t, string(b[:len(again)]), string(again))
		require.Equal(t, err == io.EOF, len(again) == len(b))
	})
}

// TestFormat writes the example of docs/format/tfrecord.md and reads it.
func TestFormat(t *testing.T) {
	b := hexdoc.Read(t, filepath.Join("..", ".."), "tfrecord")
	require.Equal(t, hex.Dump(b), hex.Dump(write(t, "abc", "")))
	got, err := readAll(NewReader(bytes.NewReader(b), Options{}))
	require.Equal(t, io.EOF, err)
	require.Equal(t, []string{"abc", ""}, got)
}
