package recordio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/hexdoc"
	"github.com/infer-prep/infer-prep/records"
)

// m is the magic word as a string.
var m = string(magicBytes)

func write(t testing.TB, written ...string) []byte {
	var b bytes.Buffer
	w, err := NewWriter(&b, 0)
	require.NoError(t, err)
	for _, r := range written {
		require.EqualValues(t, b.Len(), w.Offset())
		require.NoError(t, w.Write([]byte(r)))
	}
	require.Zero(t, b.Len()%align)
	return b.Bytes()
}

// readAll reads all records, and returns them with the final error.
func readAll(r *Reader) (l []string, err error) {
	for {
		b, err := r.Next()
		if err != nil {
			return l, err
		}
		l = append(l, string(b))
	}
}

// readers returns one reader of b for each way to read it.
func readers(b []byte, o Options) map[string]*Reader {
	return map[string]*Reader{
		"bytes":  NewBytes(b, o),
		"stream": NewReader(bytes.NewReader(b), o),
		"by one": NewReader(iotest.OneByteReader(bytes.NewReader(b)), o),
		"at end": NewReader(iotest.DataErrReader(bytes.NewReader(b)), o),
	}
}

func requireRecords(t testing.TB, want []string, b []byte) {
	t.Helper()
	for name, r := range readers(b, Options{}) {
		got, err := readAll(r)
		require.Equal(t, io.EOF, err, name)
		require.Equal(t, want, got, name)
	}
}

// TestParts tests the parts of the format's own examples.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		payload string
		parts   [][2]int
	}{
		{"", [][2]int{{0, 0}}},
		{m, [][2]int{{1, 0}, {3, 0}}},
		{m + m, [][2]int{{1, 0}, {2, 0}, {3, 0}}},
		{"abcd" + m + "efgh", [][2]int{{1, 4}, {3, 4}}},
		{"abc" + m + "x", [][2]int{{0, 8}}},
		{m + "a", [][2]int{{1, 0}, {3, 1}}},
		{"a", [][2]int{{0, 1}}},
		{"abcd" + m[:3], [][2]int{{0, 7}}},
	} {
		b := write(t, c.payload)
		requireRecords(t, []string{c.payload}, b)
		for _, p := range c.parts {
			require.Equal(t, uint32(Magic), word(b))
			kind, n := split(word(b[4:]))
			require.Equal(t, p, [2]int{kind, n}, "%q", c.payload)
			b = b[header+padded(n):]
		}
		require.Empty(t, b)
	}
}

// drawn returns a random record in which many words are the magic word or close
// to it.
func drawn(r *rand.Rand) string {
	var b []byte
	for range r.IntN(12) {
		switch r.IntN(4) {
		case 0:
			b = append(b, m...)
		case 1:
			b = append(b, m[:r.IntN(4)]...)
		default:
			b = append(b, byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256)))
		}
	}
	if r.IntN(20) == 0 {
		b = append(b, make([]byte, r.IntN(400000))...)
	}
	return string(b)
}

func TestRoundTrip(t *testing.T) {
	requireRecords(t, nil, nil)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var l []string
		for range r.IntN(20) {
			l = append(l, drawn(r))
		}
		requireRecords(t, l, write(t, l...))
	}
}

func TestFindMagic(t *testing.T) {
	for n := range 100 {
		for at := -1; at+4 <= n; at++ {
			b := bytes.Repeat([]byte{0x0a}, n)
			want := -1
			if at >= 0 {
				copy(b[at:], m)
				if at%4 == 0 {
					want = at
				}
			}
			require.Equal(t, want, findMagic(b), "%d of %d", at, n)
		}
	}
	// Words that exceed a neighbouring magic word by 1 show a borrow between
	// words.
	b := []byte(m + "\x0b\x23\xd7\xce" + m)
	require.Equal(t, 0, findMagic(b))
	require.Equal(t, 4, findMagic(b[4:]))
}

// corruptions lists files that dmlc-core accepts, or silently loses records
// from, with the expected errors.
func TestStrict(t *testing.T) {
	part := func(kind, n int, data string) string {
		l := uint32(kind)<<29 | uint32(n)
		return m + string([]byte{byte(l), byte(l >> 8), byte(l >> 16), byte(l >> 24)}) + data
	}
	good := part(0, 4, "good")
	for _, c := range []struct {
		file string
		at   int64
		what string
	}{
		{good + m[:3], 12, "the file ends 3 bytes into a part's head of 8"},
		{good + "junk" + good, 12, "6a 75 6e 6b, want the magic 0a 23 d7 ce"},
		{good + part(0, 8, "abcd"), 12, "the file ends 12 bytes into a part of 16"},
		{good + part(0, 3, "abc"), 12, "the file ends 11 bytes into a part of 12"}, // only the padding is missing
		{good + part(2, 4, "abcd"), 12, "a part of kind 2, want the beginning of a record (0 or 1)"},
		{good + part(3, 4, "abcd"), 12, "a part of kind 3, want the beginning of a record (0 or 1)"},
		{good + part(1, 4, "abcd") + good, 24, "a part of kind 0, want one that goes on (2 or 3)"},
		{good + part(1, 4, "abcd") + part(1, 4, "efgh"), 24, "a part of kind 1, want one that goes on (2 or 3)"},
		{good + part(7, 4, "abcd"), 12, "a part of kind 7, want 0 to 3"},
		{good + part(1, 4, "abcd") + part(5, 4, "efgh"), 24, "a part of kind 5, want 0 to 3"},
		{good + part(1, 4, "abcd"), 12, "the file ends within a record of several parts"},
		{good + part(1, 3, "abc\x00") + part(3, 0, ""), 12, "3 bytes before the next part, want a multiple of 4"},
		{good + part(0, 12, m+"abcdefgh"), 12, "the magic word 0 bytes into the data, where no writer leaves it: the length is wrong, or the next head"},
		{good + part(0, 1<<29-1, "abcd"), 12, "the file ends 12 bytes into a part of 536870920"},
	} {
		for name, r := range readers([]byte(c.file), Options{Name: "f.rec"}) {
			got, err := readAll(r)
			require.Equal(t, []string{"good"}, got, "%s: %q", name, c.file)
			var e *records.CorruptionError
			require.ErrorAs(t, err, &e, name)
			require.ErrorIs(t, err, records.ErrCorrupt)
			require.Equal(t, &records.CorruptionError{Format: "recordio", File: "f.rec", Offset: c.at, Detail: c.what}, e, name)
			_, again := r.Next()
			require.Equal(t, err, again)
		}
	}
	// The reader skips and counts padding that is not zero.
	r := NewBytes([]byte(part(0, 3, "abcX")+good), Options{})
	got, err := readAll(r)
	require.Equal(t, io.EOF, err)
	require.Equal(t, []string{"abc", "good"}, got)
	require.EqualValues(t, 1, r.dirty)
}

func TestLimit(t *testing.T) {
	b := write(t, "abcd", "abcdefgh", "efgh")
	for _, r := range readers(b, Options{Limit: 7}) {
		got, err := readAll(r)
		require.ErrorIs(t, err, records.ErrTooLarge)
		require.Equal(t, []string{"abcd"}, got)
	}
	b = write(t, "abcd", "ab"+"cd"+m+"efgh")
	for _, r := range readers(b, Options{Limit: 11}) {
		_, err := readAll(r)
		require.ErrorIs(t, err, records.ErrTooLarge)
	}
	w, err := NewWriter(io.Discard, 0)
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(make([]byte, MaxRecord+1)), records.ErrTooLarge)
	require.NoError(t, w.Write(nil), "nothing was written")
	_, err = NewWriter(io.Discard, 3)
	require.ErrorContains(t, err, "multiple of 4")
}

// TestEveryDamage truncates a file everywhere and changes every byte. The
// reader must return the records before the damage, then an error. The format
// has no checksum, so a change within a payload may instead change that record
// alone.
func TestEveryDamage(t *testing.T) {
	written := []string{"first", "", "abcd" + m + "efg", m + m, "the last"}
	b := write(t, written...)
	var starts []int64
	r := NewBytes(b, Options{})
	for {
		if _, err := r.Next(); err != nil {
			break
		}
		starts = append(starts, r.Offset())
	}
	require.Len(t, starts, len(written))
	before := func(at int) (n int) { // number of records that end at or before a position
		for n < len(starts) && int(append(starts[1:], int64(len(b)))[n]) <= at {
			n++
		}
		return n
	}
	for n := range b {
		for name, r := range readers(b[:n], Options{}) {
			got, err := readAll(r)
			require.Equal(t, written[:before(n)], append([]string{}, got...), "%s: %d bytes", name, n)
			if slices.Contains(starts, int64(n)) {
				require.Equal(t, io.EOF, err)
			} else {
				require.ErrorIs(t, err, records.ErrCorrupt, "%s: %d bytes", name, n)
			}
		}
	}
	silent := 0
	for at := range b {
		for bit := range 8 {
			x := bytes.Clone(b)
			x[at] ^= 1 << bit
			got, err := readAll(NewBytes(x, Options{}))
			k := before(at)
			if err != io.EOF {
				require.ErrorIs(t, err, records.ErrCorrupt)
				// A part that is wrongly marked as a whole record is detected
				// at the next part.
				require.GreaterOrEqual(t, len(got), k, "byte %d bit %d", at, bit)
				require.LessOrEqual(t, len(got), k+1, "byte %d bit %d", at, bit)
				require.Equal(t, written[:k], append([]string{}, got[:k]...))
				continue
			}
			silent++
			require.Len(t, got, len(written), "byte %d bit %d: no record lost or split", at, bit)
			for i := range got {
				if i != k {
					require.Equal(t, written[i], got[i], "byte %d bit %d: another record", at, bit)
				}
			}
		}
	}
	require.NotZero(t, silent)
}

func TestLenient(t *testing.T) {
	written := []string{"first", "second", "third record", "abcd" + m + "efg", "last"}
	b := write(t, written...)
	read := func(b []byte) ([]string, Skipped) {
		var want []string
		var skipped Skipped
		for name, r := range readers(b, Options{Lenient: true}) {
			got, err := readAll(r)
			require.Equal(t, io.EOF, err, name)
			if want == nil {
				want, skipped = got, r.Skipped()
			}
			require.Equal(t, want, got, name)
			require.Equal(t, skipped, r.Skipped(), name)
		}
		return want, skipped
	}
	got, s := read(b)
	require.Equal(t, written, got)
	require.Zero(t, s)

	x := bytes.Clone(b)
	x[17] ^= 0xff // the second record's magic
	got, s = read(x)
	require.Equal(t, slices.Delete(slices.Clone(written), 1, 2), got)
	require.Equal(t, Skipped{1, 16, s.First}, s)
	require.EqualValues(t, 16, s.First.Offset)

	got, s = read(append([]byte("junk"), b[:len(b)-2]...)) // the last record is incomplete too
	require.Equal(t, written[:4], got)
	require.EqualValues(t, 2, s.Places)
	require.EqualValues(t, 4+header+2, s.Bytes)

	got, s = read(write(t, "a")[:header+1]) // without the padding
	require.Equal(t, []string{"a"}, got)
	require.Zero(t, s)

	// Much damage must not take unbounded memory.
	got, s = read(slices.Concat(bytes.Repeat([]byte("junk"), 1<<20), b))
	require.Equal(t, written, got)
	require.EqualValues(t, 4<<20, s.Bytes)
}

func TestReaderErrors(t *testing.T) {
	b := write(t, "abcd", "efgh")
	gone := errors.New("gone")
	r := NewReader(io.MultiReader(bytes.NewReader(b[:15]), iotest.ErrReader(gone)), Options{Name: "f", Lenient: true})
	got, err := readAll(r)
	require.Equal(t, []string{"abcd"}, got)
	require.ErrorIs(t, err, gone)
	require.ErrorContains(t, err, "at byte 15")
}

// failing is a writer that fails after a number of bytes.
type failing int

func (f *failing) Write(b []byte) (int, error) {
	n := min(len(b), int(*f))
	if *f -= failing(n); n < len(b) {
		return n, errors.New("full")
	}
	return n, nil
}

func TestWriterErrors(t *testing.T) {
	for n := range 24 {
		f := failing(n)
		w, err := NewWriter(&f, 8)
		require.NoError(t, err)
		err = w.Write([]byte("abc" + "d" + m + "ef"))
		require.ErrorContains(t, err, "full", n)
		require.Equal(t, err, w.Write(nil))
		require.EqualValues(t, 8+n, w.Offset())
	}
}

// TestAllocs tests that reading a record allocates nothing, mapped or not.
func TestAllocs(t *testing.T) {
	b := write(t, slices.Repeat([]string{"abcdefgh", m + "x"}, 1000)...)
	r := NewBytes(b, Options{})
	r.Next()
	r.Next()
	require.Zero(t, testing.AllocsPerRun(900, func() { r.Next() }))
	r = NewReader(bytes.NewReader(b), Options{})
	r.Next()
	r.Next()
	require.Zero(t, testing.AllocsPerRun(900, func() { r.Next() }))
}

func FuzzReader(f *testing.F) {
	f.Add(write(f, "first", "", "abcd"+m+"efg", m+m), false)
	f.Add([]byte(m), true)
	for _, name := range []string{"a.rec", "b.rec", "c.rec"} {
		b, err := os.ReadFile(mxnetFile(name))
		require.NoError(f, err)
		f.Add(b, name == "b.rec")
	}
	f.Fuzz(func(t *testing.T, b []byte, lenient bool) {
		var want []string
		var end string
		for _, name := range []string{"bytes", "stream", "by one", "at end"} {
			r := readers(b, Options{Lenient: lenient})[name]
			got, err := readAll(r)
			if name == "bytes" {
				want, end = got, err.Error()
			}
			require.Equal(t, want, got, name)
			require.Equal(t, end, err.Error(), name)
			if err == io.EOF && !lenient {
				// Writing the records that were read without an error restores
				// the file, apart from padding.
				if again := write(t, got...); r.dirty == 0 && !bytes.Equal(b, again) {
					require.Equal(t, fmt.Sprintf("%x", b), fmt.Sprintf("%x", again))
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	data := write(b, slices.Repeat([]string{string(bytes.Repeat([]byte{0x0a, 0x23, 1, 2, 3}, 20000))}, 100)...)
	for _, c := range []struct {
		name string
		r    func() *Reader
	}{
		{"bytes", func() *Reader { return NewBytes(data, Options{}) }},
		{"stream", func() *Reader { return NewReader(bytes.NewReader(data), Options{}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r := c.r()
				for n := 0; ; n++ {
					if _, err := r.Next(); err != nil {
						break
					}
				}
			}
		})
	}
}

// TestFormat writes the example of docs/format/recordio.md and reads it.
func TestFormat(t *testing.T) {
	want := []string{"first", "abcd" + m + "ef", ""}
	b := hexdoc.Read(t, "..", "recordio")
	require.Equal(t, b, write(t, want...))
	requireRecords(t, want, b)
}
