package recordio

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/short"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// unmapped is store.Local with files that are not in memory.
type unmapped struct{ store.Opener }

func (u unmapped) Open(ctx context.Context, name string) (store.File, error) {
	f, err := u.Opener.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return struct{ store.File }{f}, nil
}

func put(t testing.TB, dir, name string, data []byte) string {
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, data, 0o666))
	return path
}

// next reads all records of an epoch.
func next(t testing.TB, s *Split) (l []string) {
	t.Helper()
	for {
		b, err := s.Next()
		if err == io.EOF {
			return l
		}
		require.NoError(t, err)
		l = append(l, string(b))
	}
}

func openSplit(t testing.TB, o store.Opener, name string, options SplitOptions) *Split {
	t.Helper()
	s, err := OpenSplit(t.Context(), o, []string{name}, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// TestPartition draws sets of files and numbers of parts. Every record must be
// in exactly one part, in order, by all ways of reading.
func TestPartition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range short.Rounds(t, 200, 20) {
		dir := t.TempDir()
		text := n%2 == 1
		var all []string
		for f := range 1 + r.IntN(4) {
			var l []string
			for range r.IntN(30) {
				if text {
					l = append(l, strings.Repeat("x", r.IntN(9))+fmt.Sprint(r.IntN(1000)))
				} else {
					l = append(l, drawn(r))
				}
			}
			data := write(t)
			if text {
				for i, s := range l {
					data = append(data, s...)
					if i < len(l)-1 || r.IntN(2) == 0 {
						data = append(data, []string{"\n", "\r\n", "\n\n", "\r"}[r.IntN(4)]...)
					}
				}
			} else {
				data = write(t, l...)
			}
			put(t, dir, fmt.Sprintf("%02d.rec", f), data)
			all = append(all, l...)
		}
		if len(all) == 0 {
			continue
		}
		most := 20
		if n%10 < 2 {
			most = 400
		}
		for _, parts := range []int{1, 2, 3, 1 + r.IntN(most)} {
			var o store.Opener = store.Local
			if r.IntN(2) == 0 {
				o = unmapped{store.Local}
			}
			var got []string
			for k := range parts {
				s, err := OpenSplit(t.Context(), o, []string{dir}, SplitOptions{Part: k, Parts: parts, Text: text, Chunk: 1 + r.IntN(500)})
				require.NoError(t, err)
				l := next(t, s)
				s.Reset()
				require.Equal(t, l, next(t, s), "the second epoch")
				require.NoError(t, s.Close())
				got = append(got, l...)
			}
			require.Equal(t, all, got, "%d parts", parts)
		}
		if text {
			continue
		}
		// Pieces return the same records in another order.
		want := slices.Sorted(slices.Values(all))
		var got []string
		for k := range 3 {
			s, err := OpenSplit(t.Context(), store.Local, []string{dir}, SplitOptions{Part: k, Parts: 3, Pieces: 4, Seed: 7})
			require.NoError(t, err)
			got = append(got, next(t, s)...)
			require.NoError(t, s.Close())
		}
		require.Equal(t, want, slices.Sorted(slices.Values(got)))
	}
}

// TestUpstreamParts repeats dmlc-core's test of lines divided in two: 6 lines
// in the first file, and 1 in each of four others.
func TestUpstreamParts(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "0", []byte(strings.Repeat("1 1:1\n", 6)))
	for i := range 4 {
		put(t, dir, fmt.Sprint(i+1), []byte("2 2:2\n"))
	}
	require.Len(t, next(t, openSplit(t, store.Local, dir, SplitOptions{Text: true, Parts: 2})), 6)
	require.Len(t, next(t, openSplit(t, store.Local, dir, SplitOptions{Text: true, Part: 1, Parts: 2})), 4)
}

func TestIndexedSplit(t *testing.T) {
	dir := t.TempDir()
	var want []string
	var files, index strings.Builder
	place := int64(0)
	for f := range 2 {
		w, err := NewIndexedWriter(&files, &index, place)
		require.NoError(t, err)
		for i := range 25 {
			want = append(want, fmt.Sprintf("record %d of %d%s", i, f, strings.Repeat(m, i%3)))
			require.NoError(t, w.WriteKey(int64(100-i), []byte(want[len(want)-1])))
		}
		put(t, dir, fmt.Sprintf("%d.rec", f), []byte(files.String()))
		place = w.Offset()
		files.Reset()
	}
	idx := put(t, dir, "idx", []byte(index.String()))
	names := filepath.Join(dir, `\d\.rec`)
	for _, o := range []store.Opener{store.Local, unmapped{store.Local}} {
		for _, parts := range []int{1, 2, 3, 7, 50, 60} {
			var got, random []string
			for k := range parts {
				l := next(t, openSplit(t, o, names, SplitOptions{Part: k, Parts: parts, Index: idx}))
				require.LessOrEqual(t, len(l), (50+parts-1)/parts)
				got = append(got, l...)
				s := openSplit(t, o, names, SplitOptions{Part: k, Parts: parts, Index: idx, Random: true})
				r := next(t, s)
				require.Equal(t, slices.Sorted(slices.Values(l)), slices.Sorted(slices.Values(r)))
				random = append(random, r...)
				s.Reset()
				if again := next(t, s); parts == 1 {
					require.NotEqual(t, r, again, "another order in each epoch")
				}
			}
			require.Equal(t, want, got)
			if parts < 7 {
				require.NotEqual(t, want, random)
			}
		}
	}
	// Random access across the files.
	files2, err := store.Files(t.Context(), store.Local, []string{names}, false)
	require.NoError(t, err)
	s, err := NewStream(t.Context(), store.Local, files2, 4)
	require.NoError(t, err)
	defer s.Close()
	entries, err := ReadIndex("idx", strings.NewReader(index.String()))
	require.NoError(t, err)
	x, err := s.Indexed(entries, Options{})
	require.NoError(t, err)
	require.Equal(t, 50, x.Len())
	found, err := s.Index(Options{})
	require.NoError(t, err)
	for i := range found {
		require.Equal(t, Entry{int64(i), entries[i].Offset}, found[i])
	}
	var buf Buffer
	for _, i := range rand.Perm(50) {
		b, shared, err := x.Record(i, &buf)
		require.NoError(t, err)
		require.False(t, shared && findMagic([]byte(want[i])) >= 0, "a record of several parts is no view")
		require.Equal(t, want[i], string(b))
		require.EqualValues(t, 100-i%25, x.Key(i))
	}
	// The index belongs to other files.
	entries[3].Offset += 4
	x, err = s.Indexed(entries, Options{Name: "f"})
	require.NoError(t, err)
	_, _, err = x.Record(2, &buf)
	require.ErrorIs(t, err, records.ErrCorrupt)
	_, _, err = x.Record(3, &buf)
	require.ErrorIs(t, err, records.ErrCorrupt)
	entries[3].Offset = s.Size()
	_, err = s.Indexed(entries, Options{Name: "f"})
	require.ErrorIs(t, err, records.ErrCorrupt)
	for _, bad := range []string{"", "\n", "1\n", "1 2 3\n", "a\t0\n", "1\t-4\n", "1\t3\n", "1\t99999999999999999999\n"} {
		_, err = ReadIndex("f.idx", strings.NewReader(bad))
		require.ErrorIs(t, err, records.ErrCorrupt, "%q", bad)
	}
}

func TestSplitErrors(t *testing.T) {
	dir := t.TempDir()
	b := write(t, "first", "second")
	put(t, dir, "a.rec", b)
	put(t, dir, "odd/a.rec", b[:len(b)-1])
	put(t, dir, "empty/a.rec", nil)
	put(t, dir, "damaged/a.rec", append(slices.Clone(b), "junkjunkjunk"...))
	for _, c := range []struct {
		names string
		o     SplitOptions
		is    error
		want  string
	}{
		{"a.rec", SplitOptions{Part: 2, Parts: 2}, nil, "part 2 of 2"},
		{"a.rec", SplitOptions{Part: -1}, nil, "part -1 of 1"},
		{"a.rec", SplitOptions{Random: true}, nil, "without an index"},
		{"a.rec", SplitOptions{Text: true, Index: "x"}, nil, "an index of text"},
		{"a.rec", SplitOptions{Index: "x", Pieces: 3}, nil, "use Random"},
		{"a.rec", SplitOptions{Index: filepath.Join(dir, "none")}, fs.ErrNotExist, "none"},
		{"b.rec", SplitOptions{}, fs.ErrNotExist, "b.rec"},
		{"b(.rec", SplitOptions{}, fs.ErrNotExist, "b(.rec"},
		{"empty", SplitOptions{}, fs.ErrNotExist, "all files are empty or missing"},
		{"odd", SplitOptions{}, records.ErrCorrupt, "31 bytes, want a multiple of 4"},
	} {
		_, err := OpenSplit(t.Context(), store.Local, []string{filepath.Join(dir, c.names)}, c.o)
		require.ErrorContains(t, err, c.want)
		if c.is != nil {
			require.ErrorIs(t, err, c.is)
		}
	}
	_, err := OpenSplit(t.Context(), store.Local, []string{"s3://a/b"}, SplitOptions{})
	require.ErrorContains(t, err, "store: s3://a/b: no store for s3:// here: want a path or file://")

	s := openSplit(t, unmapped{store.Local}, filepath.Join(dir, "damaged"), SplitOptions{Chunk: 8})
	for range 2 {
		for _, want := range []string{"first", "second"} {
			b, err := s.Next()
			require.NoError(t, err)
			require.Equal(t, want, string(b))
		}
		_, err = s.Next()
		require.ErrorIs(t, err, records.ErrCorrupt)
		require.ErrorContains(t, err, filepath.Join(dir, "damaged", "a.rec")+": at byte 32")
		_, again := s.Next()
		require.Equal(t, err, again)
		s.Reset()
	}
	s = openSplit(t, unmapped{store.Local}, filepath.Join(dir, "damaged"), SplitOptions{Chunk: 8, Lenient: true})
	require.Equal(t, []string{"first", "second"}, next(t, s))
	require.EqualValues(t, 12, s.Skipped().Bytes)

	// A file is shortened after it was listed.
	s = openSplit(t, unmapped{store.Local}, filepath.Join(dir, "a.rec"), SplitOptions{})
	require.NoError(t, os.Truncate(filepath.Join(dir, "a.rec"), 8))
	_, err = s.Next()
	require.ErrorContains(t, err, "it had 32 before")
}

func TestURI(t *testing.T) {
	u, err := ParseURI("data.csv?format=csv&label_column=0&delimiter=,#cache.bin")
	require.NoError(t, err)
	require.Equal(t, URI{"data.csv", map[string]string{"format": "csv", "label_column": "0", "delimiter": ","}, "cache.bin"}, u)
	u, err = ParseURI("s3://bucket/a;b")
	require.NoError(t, err)
	require.Equal(t, URI{"s3://bucket/a;b", map[string]string{}, ""}, u)
	for _, bad := range []string{"", "?a=b", "#c", "a#", "a#b#c", "a?", "a?b", "a?b=", "a?=b", "a?b=c&b=d", "a?b=c?d=e", "a?b=c&"} {
		_, err := ParseURI(bad)
		require.ErrorIs(t, err, ErrURI, "%q", bad)
	}
}

// TestChunkParts divides a chunk among goroutines.
func TestChunkParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var l []string
		for range r.IntN(20) {
			l = append(l, drawn(r))
		}
		c := Chunk{Data: write(t, l...), limit: MaxRecord}
		for _, n := range []int{1, 2, 3, 7, 40} {
			var got []string
			for k := range n {
				part := c.Part(k, n)
				for {
					b, err := part.Next()
					if err == io.EOF {
						break
					}
					require.NoError(t, err)
					got = append(got, string(b))
				}
			}
			require.Equal(t, l, got)
		}
	}
}

func TestLines(t *testing.T) {
	l := newLines([]byte("\n\na b\r\n\r\nc\rd\n"), 100)
	for _, c := range []struct {
		s  string
		at int64
	}{{"a b", 102}, {"c", 109}, {"d", 111}} {
		b, err := l.Next()
		require.NoError(t, err)
		require.Equal(t, c.s, string(b))
		require.Equal(t, c.at, l.Offset())
	}
	_, err := l.Next()
	require.Equal(t, io.EOF, err)
}

// TestIndexPart compares the records of a part, of a stream and of an index,
// with those of a Split.
func TestIndexPart(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range short.Rounds(t, 10, 4) {
		dir := t.TempDir()
		for f := range 1 + r.IntN(3) {
			var l []string
			for range r.IntN(12) {
				l = append(l, drawn(r))
			}
			put(t, dir, fmt.Sprint(f, ".rec"), write(t, append(l, "x")...))
		}
		for _, o := range []store.Opener{store.Local, unmapped{store.Local}} {
			files, err := store.Files(t.Context(), o, []string{dir}, false)
			require.NoError(t, err)
			s, err := NewStream(t.Context(), o, files, align)
			require.NoError(t, err)
			all, err := s.Index(Options{})
			require.NoError(t, err)
			var text []byte
			for _, e := range all {
				text, err = e.AppendText(text)
				require.NoError(t, err)
			}
			index := put(t, t.TempDir(), "x.idx", text)
			for parts := 1; parts < 9; parts++ {
				for k := range parts {
					for _, index := range []string{"", index} {
						part, end, err := s.IndexPart(k, parts, Options{})
						if index != "" {
							part, end, err = s.PartIndex(all, k, parts, Options{})
						}
						require.NoError(t, err)
						x, err := s.IndexedTo(end, part, Options{})
						require.NoError(t, err)
						var got []string
						for i := range part {
							b, _, err := x.Record(i, &Buffer{})
							require.NoError(t, err)
							got = append(got, string(b))
						}
						want := openSplit(t, o, dir, SplitOptions{Part: k, Parts: parts, Index: index})
						require.Equal(t, next(t, want), got, "part %d of %d", k, parts)
					}
				}
			}
			require.NoError(t, s.Close())
		}
	}
}
