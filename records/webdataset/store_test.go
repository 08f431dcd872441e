package webdataset

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// memory is a store of files in memory that are not mapped.
type memory struct {
	files map[string][]byte
	moved time.Duration
}

func (m *memory) time() time.Time { return time.Unix(1_700_000_000, 5).Add(m.moved) }

type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }

func (m *memory) Open(_ context.Context, name string) (store.File, error) {
	b, ok := m.files[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return memoryFile{bytes.NewReader(b)}, nil
}

func (m *memory) Stat(_ context.Context, name string) (store.Info, error) {
	b, ok := m.files[name]
	if !ok {
		return store.Info{}, fs.ErrNotExist
	}
	return store.Info{Name: name, Size: int64(len(b)), Modified: m.time()}, nil
}

func (m *memory) List(context.Context, string) ([]store.Info, error) { return nil, fs.ErrNotExist }

func (m *memory) Create(_ context.Context, name string) (store.NewFile, error) {
	return &memoryNew{m: m, name: name}, nil
}

type memoryNew struct {
	bytes.Buffer
	m    *memory
	name string
}

func (f *memoryNew) Close() error { f.m.files[f.name] = f.Bytes(); return nil }
func (f *memoryNew) Abort() error { return nil }

func numbered(n int) *Sample {
	return sample(fmt.Sprintf("%06d", n), "cls", fmt.Sprint(n), "txt", strings.Repeat("t", n%700))
}

func TestWriter(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		pattern string
		o       WriterOptions
		n       int
		want    []string
	}{
		{"data-%05d.tar", WriterOptions{Count: 10}, 25, []string{"data-00000.tar", "data-00001.tar", "data-00002.tar"}},
		{"%d.tar", WriterOptions{Count: 10, Index: true}, 20, []string{"0.tar", "1.tar"}},
		{"100%%-%03d.tgz", WriterOptions{Start: 7, Size: 1}, 2, []string{"100%-007.tgz", "100%-008.tgz"}},
		{"x%d.tar.zst", WriterOptions{}, 30, []string{"x0.tar.zst"}},
		{"x%d.tar.gz", WriterOptions{}, 0, nil},
	} {
		m := &memory{files: map[string][]byte{}}
		for range 2 { // both must give the same bytes
			before := m.files
			m.files = map[string][]byte{}
			w, err := NewWriter(ctx, m, c.pattern, c.o)
			require.NoError(t, err)
			for i := range c.n {
				require.NoError(t, w.Write(numbered(i)))
			}
			require.ErrorIs(t, w.Write(sample("", "x", "")), ErrName)
			require.NoError(t, w.Close())
			require.Error(t, w.Close())
			var names []string
			total := 0
			for _, s := range w.Shards() {
				names = append(names, s.Name)
				total += s.Samples
			}
			require.Equal(t, c.want, names)
			require.Equal(t, c.n, total)
			if len(before) > 0 {
				require.Equal(t, before, m.files)
			}
		}
		at := 0
		for _, name := range c.want {
			r, err := Open(ctx, m, name, Options{})
			require.NoError(t, err)
			l, err := readAll(r)
			require.Equal(t, io.EOF, err)
			require.NoError(t, r.Close())
			for _, s := range l {
				require.Equal(t, name, s.Shard)
				require.Equal(t, plain([]*Sample{numbered(at)}), plain([]*Sample{s}))
				at++
			}
			if c.o.Index {
				require.NoError(t, Verify(ctx, m, name, Options{}))
				want, err := MakeIndex(ctx, m, name, Options{})
				require.NoError(t, err)
				got, err := LoadIndex(ctx, m, name)
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
		}
		require.Equal(t, c.n, at)
	}
	for _, p := range []string{"x.tar", "%d%d", "%s", "%5d", "%", "%0", "%0100d", "%x"} {
		_, err := NewWriter(ctx, store.Local, p, WriterOptions{})
		require.ErrorIs(t, err, ErrPattern, p)
	}
	for _, o := range []WriterOptions{{Start: -1}, {Count: -1}, {Size: -1}, {TarOptions: TarOptions{ModTime: -1}}} {
		_, err := NewWriter(ctx, store.Local, "%d", o)
		require.Error(t, err)
	}
	_, err := NewWriter(ctx, store.Local, "%d.tgz", WriterOptions{Index: true})
	require.Error(t, err)
}

// TestAbort tests that an incomplete shard never appears.
func TestAbort(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	for _, end := range []string{"tar", "tar.gz", "tar.zst"} {
		w, err := NewWriter(ctx, store.Local, filepath.ToSlash(dir)+"/%d."+end, WriterOptions{Count: 2})
		require.NoError(t, err)
		for i := range 3 {
			require.NoError(t, w.Write(numbered(i)))
		}
		require.NoError(t, w.Abort())
		require.Error(t, w.Write(numbered(4)))
		l, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, l, 1)
		require.Equal(t, "0."+end, l[0].Name())
		require.NoError(t, os.Remove(filepath.Join(dir, "0."+end)))
	}
	w, err := NewWriter(ctx, store.Local, filepath.Join(dir, "none", "%d.tar"), WriterOptions{})
	require.NoError(t, err)
	require.ErrorIs(t, w.Write(numbered(0)), fs.ErrNotExist)
	require.ErrorIs(t, w.Close(), fs.ErrNotExist)
}

func TestIndex(t *testing.T) {
	ctx := context.Background()
	for _, o := range []store.Opener{store.Local, &memory{files: map[string][]byte{}}} {
		name := filepath.Join(t.TempDir(), "s.tar")
		f, err := o.Create(ctx, name)
		require.NoError(t, err)
		l := append([]*Sample{sample(strings.Repeat("l\n", 90), "txt", "long")}, three...)
		b := write(t, TarOptions{}, l...)
		_, err = f.Write(b)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		_, err = OpenIndexed(ctx, o, name, Options{})
		require.ErrorIs(t, err, fs.ErrNotExist)
		x, err := MakeIndex(ctx, o, name, Options{})
		require.NoError(t, err)
		require.EqualValues(t, len(b), x.Size)
		require.NoError(t, SaveIndex(ctx, o, name, x))
		r, err := OpenIndexed(ctx, o, name, Options{})
		require.NoError(t, err)
		require.Equal(t, 4, r.Len())
		for _, i := range []int{2, 0, 3, 1, 0} {
			s, err := r.Sample(i)
			require.NoError(t, err)
			require.Equal(t, l[i].Key, r.Key(i))
			require.Equal(t, plain(l[i:i+1]), plain([]*Sample{s}))
			require.Equal(t, x.Entries[i].Offset, s.Offset)
		}
		require.NoError(t, r.Close())
		// An index without checksums has the same offsets.
		scanned, err := Scan(ctx, o, name, Options{})
		require.NoError(t, err)
		require.Equal(t, x.Modified, scanned.Modified)
		require.Equal(t, x.Size, scanned.Size)
		for i, e := range x.Entries {
			e.CRC = 0
			require.Equal(t, e, scanned.Entries[i])
		}
		r, err = scanned.Open(ctx, o, name, Options{})
		require.NoError(t, err)
		var m Buffer
		for _, i := range []int{2, 0, 3, 1, 0} {
			s, shared, err := r.Read(i, &m)
			require.NoError(t, err)
			require.False(t, shared && o != store.Local)
			require.Equal(t, plain(l[i:i+1]), plain([]*Sample{s}))
		}
		require.NoError(t, r.Close())
		require.Error(t, SaveIndex(ctx, o, name, scanned))
		require.NoError(t, Verify(ctx, o, name, Options{}))
		r, err = OpenIndexed(ctx, o, name, Options{Limit: 10})
		require.NoError(t, err)
		_, err = r.Sample(2)
		require.ErrorIs(t, err, records.ErrTooLarge)
		require.NoError(t, r.Close())
		for _, y := range []Index{{Size: x.Size + 512, Modified: x.Modified, Entries: x.Entries}, {Size: x.Size, Modified: x.Modified.Add(1), Entries: x.Entries}} {
			require.NoError(t, SaveIndex(ctx, o, name, &y))
			_, err = OpenIndexed(ctx, o, name, Options{})
			require.ErrorIs(t, err, ErrStale)
		}
		// One index lacks the last sample, one has other offsets. Both are
		// otherwise valid.
		y := Index{Size: x.Size, Modified: x.Modified, Entries: x.Entries[:3]}
		require.NoError(t, SaveIndex(ctx, o, name, &y))
		require.ErrorIs(t, Verify(ctx, o, name, Options{}), records.ErrCorrupt)
		y.Entries = []Entry{{x.Entries[0].Key, x.Entries[0].Offset, x.Entries[0].Size + 512, x.Entries[0].CRC}}
		require.NoError(t, SaveIndex(ctx, o, name, &y))
		require.ErrorIs(t, Verify(ctx, o, name, Options{}), records.ErrCorrupt)
		y.Entries = []Entry{{"other", x.Entries[0].Offset, x.Entries[0].Size, x.Entries[0].CRC}}
		require.NoError(t, SaveIndex(ctx, o, name, &y))
		require.ErrorIs(t, Verify(ctx, o, name, Options{}), records.ErrCorrupt)
	}
	// Truncate the index everywhere and change every bit.
	b, err := (&Index{Size: 10240, Modified: time.Unix(5, 0), Entries: []Entry{{"a", 0, 1024, 1}, {"b\n", 1024, 512, 0xfedcba98}}}).AppendText(nil)
	require.NoError(t, err)
	require.Equal(t, "infer-prep webdataset index 1\nsize 10240\nmodified 5000000000\nsamples 2\n0 1024 00000001 \"a\"\n1024 512 fedcba98 \"b\\n\"\ncrc 03c25ccc\n", string(b))
	for n := range b {
		_, err := ReadIndex("i", bytes.NewReader(b[:n]))
		require.ErrorIs(t, err, records.ErrCorrupt)
		for bit := range 8 {
			c := bytes.Clone(b)
			c[n] ^= 1 << bit
			_, err := ReadIndex("i", bytes.NewReader(c))
			require.ErrorIs(t, err, records.ErrCorrupt)
		}
	}
	_, err = ReadIndex("i", bytes.NewReader(append(b, '\n')))
	require.ErrorIs(t, err, records.ErrCorrupt)
	_, err = MakeIndex(ctx, store.Local, filepath.Join(tests, "writer.tar.bz2"), Options{})
	require.ErrorContains(t, err, "compressed")
}

func TestWildcards(t *testing.T) {
	ctx, dir := context.Background(), filepath.ToSlash(t.TempDir())
	for _, name := range []string{"a/x-1.tar", "a/x-2.tar", "a/x-2.tar.index", "a/y.tgz", "b/x-1.tar", "b/.x-3.tar", ".c/x-1.tar", "a/q[1].tar", "10:50/deep/x-9.tar.zst"} {
		if strings.Contains(name, ":") && !colons {
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	for p, want := range map[string][]string{
		"*/x-*.tar":         {"a/x-1.tar", "a/x-2.tar", "b/x-1.tar"},
		"a/x-?.tar":         {"a/x-1.tar", "a/x-2.tar"},
		"{b,a}/x-*.tar":     {"b/x-1.tar", "a/x-1.tar", "a/x-2.tar"},
		"a/*":               {"a/q[1].tar", "a/x-1.tar", "a/x-2.tar", "a/y.tgz"},
		"a/[!x]*.t*":        {"a/q[1].tar", "a/y.tgz"},
		"a/x-[2-9].tar":     {"a/x-2.tar"},
		"a/q[[]1].tar":      {"a/q[1].tar"},
		"b/.x*":             {"b/.x-3.tar"},
		"nothing-{1..2}":    {"nothing-1", "nothing-2"},
		"[ab]/x-1.tar::b/n": {"a/x-1.tar", "b/x-1.tar", "b/n"},
	} {
		full := []string{}
		for _, w := range want {
			full = append(full, dir+"/"+w)
		}
		list := dir + "/" + strings.ReplaceAll(p, "::", "::"+dir+"/")
		got, err := Shards(ctx, store.Local, list, nil)
		require.NoError(t, err, p)
		require.Equal(t, full, got, p)
	}
	_, err := Shards(ctx, store.Local, dir+"/z*", nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Shards(ctx, store.Local, dir+"/none/z*", nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Shards(ctx, store.Local, dir+"/a/[", nil)
	require.ErrorIs(t, err, ErrPattern)
	_, err = Shards(ctx, store.Local, "pipe:cat {1..2}", nil)
	require.ErrorContains(t, err, "pipes are refused")
	got, err := Shards(ctx, store.Local, "s3://b/x.tar?v={1,2}", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"s3://b/x.tar?v=1", "s3://b/x.tar?v=2"}, got)
}

// colons reports whether file names may contain colons.
var colons = filepath.Separator == '/'
