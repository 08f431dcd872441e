package mindrecord

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// goldens unpacks the files that MindSpore wrote.
func goldens(t testing.TB) string { return unpackArchive(t, "files.tar.gz") }

// unpackArchive unpacks an archive of testdata/mindrecord.
func unpackArchive(t testing.TB, archive string) string {
	dir := t.TempDir()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "mindrecord", archive))
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return dir
		}
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, h.Name), b, 0o600))
	}
}

// value is a value in rows.json.
type value struct {
	DType  string `json:"dtype"`
	Shape  []int  `json:"shape"`
	SHA256 string `json:"sha256"`
}

func valueOf(f Field, t *tensor.Tensor) value {
	h := sha256.New()
	if t.DType == tensor.Bytes {
		h.Write(t.Data)
	} else if err := tensor.WriteRaw(h, t); err != nil {
		panic(err)
	}
	return value{f.kind(), t.Shape.Slice(), hex.EncodeToString(h.Sum(nil)[:8])}
}

func expected(t testing.TB) map[string][]map[string]value {
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "mindrecord", "rows.json"))
	require.NoError(t, err)
	var m map[string][]map[string]value
	require.NoError(t, json.Unmarshal(b, &m))
	return m
}

// rowsOf reads all rows of a set.
func rowsOf(t testing.TB, names ...string) (l []map[string]value) {
	s, err := Open(names)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var r Row
	for i := range s.Len() {
		require.NoError(t, s.Read(i, &r), "row %d", i)
		m := map[string]value{}
		for k, f := range s.Columns() {
			m[f.Name] = valueOf(f, &r.Values[k])
		}
		l = append(l, m)
	}
	return l
}

// sets maps the sets of testdata/mindrecord to a name that opens them.
func sets(m map[string][]map[string]value) (l []string) {
	for n := range m {
		l = append(l, n)
	}
	slices.Sort(l)
	return l
}

// TestGoldens compares the rows of MindSpore's files with those that MindSpore
// reads.
func TestGoldens(t *testing.T) {
	dir, want := goldens(t), expected(t)
	total := 0
	for _, name := range sets(want) {
		got := rowsOf(t, filepath.Join(dir, name))
		require.Len(t, got, len(want[name]), name)
		for i := range got {
			require.Equal(t, want[name][i], got[i], "%s: row %d", name, i)
			total++
		}
	}
	t.Logf("%d rows of %d sets", total, len(want))
	require.Equal(t, want["shards0"], rowsOf(t, filepath.Join(dir, "shards")))
	require.Equal(t, want["shards0"], rowsOf(t, filepath.Join(dir, "shards1")))
	require.Equal(t, want["shards0"][4:], rowsOf(t, filepath.Join(dir, "shards1"), filepath.Join(dir, "shards2")))
	require.Equal(t, want["many00"], rowsOf(t, "file://"+filepath.Join(dir, "many")))
}

// copySet writes the rows of a set again.
func copySet(t testing.TB, from, to string, o WriterOptions) {
	s, err := Open([]string{from})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	w, err := Create(to, s.Schema(), o)
	require.NoError(t, err)
	add(t, w, s, 0, s.Len())
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	require.Error(t, w.Write(nil))
}

func add(t testing.TB, w *Writer, s *Set, from, to int64) {
	var r Row
	for i := from; i < to; i++ {
		require.NoError(t, s.Read(i, &r))
		require.NoError(t, w.Write(r.Values))
	}
}

var small = WriterOptions{HeaderSize: minHeader, PageSize: minPage}

// equalFiles requires equal data files, apart from the unused ends of pages.
func equalFiles(t testing.TB, want, got string) (slack int) {
	a, err := os.ReadFile(want)
	require.NoError(t, err)
	b, err := os.ReadFile(got)
	require.NoError(t, err)
	require.Equal(t, len(a), len(b), want)
	d, err := openData(disk, want)
	require.NoError(t, err)
	defer d.Close()
	require.Equal(t, string(bytes.TrimRight(a[:min(d.h.size, int64(len(a)))], "\x00")), string(bytes.TrimRight(b[:min(d.h.size, int64(len(b)))], "\x00")))
	for i, p := range d.h.pages {
		at := d.h.at(i)
		require.Equal(t, hex.Dump(a[at:at+p.used]), hex.Dump(b[at:at+p.used]), "%s: page %d", want, i)
	}
	for i := range a {
		if a[i] != b[i] {
			slack++
		}
	}
	return slack
}

// TestSameBytes compares data files with MindSpore's, written with one row per
// call.
func TestSameBytes(t *testing.T) {
	dir := goldens(t)
	for _, name := range []string{"scalars", "bytes", "arrays", "packed", "index", "empty", "shards"} {
		t.Run(name, func(t *testing.T) {
			out := t.TempDir()
			o := small
			files := []string{name}
			if name == "shards" {
				o.Rows = 4
				files = []string{"shards0", "shards1", "shards2"}
			}
			copySet(t, filepath.Join(dir, name), filepath.Join(out, name), o)
			for _, f := range files {
				slack := equalFiles(t, filepath.Join(dir, f), filepath.Join(out, f))
				t.Logf("%s: %d bytes behind pages differ", f, slack)
				require.Equal(t, dump(t, filepath.Join(dir, f)), dump(t, filepath.Join(out, f)))
			}
			left, err := os.ReadDir(out)
			require.NoError(t, err)
			require.Len(t, left, 2*len(files))
		})
	}
	t.Run("appended", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "appended")
		s, err := Open([]string{filepath.Join(dir, "appended")})
		require.NoError(t, err)
		defer s.Close()
		w, err := Create(out, s.Schema(), small)
		require.NoError(t, err)
		add(t, w, s, 0, 25)
		require.NoError(t, w.Close())
		w, err = Append(out)
		require.NoError(t, err)
		add(t, w, s, 25, s.Len())
		require.NoError(t, w.Close())
		t.Logf("%d bytes behind pages differ", equalFiles(t, filepath.Join(dir, "appended"), out))
		require.Equal(t, dump(t, filepath.Join(dir, "appended")), dump(t, out))
	})
}

// TestAppendAnywhere tests that appending after any row gives the same bytes as
// writing all rows at once.
func TestAppendAnywhere(t *testing.T) {
	dir := goldens(t)
	s, err := Open([]string{filepath.Join(dir, "bytes")})
	require.NoError(t, err)
	defer s.Close()
	all := filepath.Join(t.TempDir(), "bytes")
	copySet(t, filepath.Join(dir, "bytes"), all, small)
	want, err := os.ReadFile(all)
	require.NoError(t, err)
	for n := range s.Len() + 1 {
		out := filepath.Join(t.TempDir(), "bytes")
		w, err := Create(out, s.Schema(), small)
		require.NoError(t, err)
		add(t, w, s, 0, n)
		require.NoError(t, w.Close())
		w, err = Append(out)
		require.NoError(t, err)
		add(t, w, s, n, s.Len())
		require.NoError(t, w.Close())
		got, err := os.ReadFile(out)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "appended at row %d", n)
	}
	// Append to the last of several files.
	out := filepath.Join(t.TempDir(), "x")
	o := small
	o.Rows = 25
	copySet(t, all, out, o)
	w, err := Append(out)
	require.NoError(t, err)
	add(t, w, s, 0, 3)
	require.NoError(t, w.Close())
	rows := rowsOf(t, all)
	require.Equal(t, append(rows, rows[:3]...), rowsOf(t, out))
}

var checkDir = flag.String("dir", "", "write files for testdata/gen/records/mindrecord_check.py there")

// TestWriteForCheck writes sets of all kinds into the folder of -dir. Its file
// EXPECTED lists the rows that MindSpore must read.
func TestWriteForCheck(t *testing.T) {
	out := *checkDir
	if out == "" {
		out = t.TempDir()
	}
	dir, want := goldens(t), expected(t)
	names := map[string]string{} // of the written sets, by the files that open them
	for i, name := range sets(want) {
		s, err := Open([]string{filepath.Join(dir, name)})
		require.NoError(t, err)
		for _, rows := range []int64{0, 5} { // in one file, and in several
			o := small
			if o.Rows = rows; i%2 == 1 {
				o.HeaderSize, o.PageSize = 1<<15, 1<<16
			}
			schema := s.Schema()
			if rows > 0 {
				schema.Index = nil
			}
			to := fmt.Sprintf("%s_%d_", strings.TrimRight(name, "0"), rows)
			w, err := Create(filepath.Join(out, to), schema, o)
			require.NoError(t, err)
			add(t, w, s, 0, s.Len()/2)
			require.NoError(t, w.Close())
			w, err = Append(filepath.Join(out, to))
			require.NoError(t, err)
			add(t, w, s, s.Len()/2, s.Len())
			require.NoError(t, w.Close())
			require.Equal(t, want[name], append([]map[string]value{}, rowsOf(t, filepath.Join(out, to))...))
			files, err := Open([]string{filepath.Join(out, to)})
			require.NoError(t, err)
			names[filepath.Base(files.Files()[0])] = name
			require.NoError(t, files.Close())
		}
		require.NoError(t, s.Close())
	}
	// Rows whose only blob is empty, which MindSpore does not write.
	w, err := Create(filepath.Join(out, "zero"), Schema{Fields: []Field{{Name: "data", Desc: tensor.Encoded()}, {Name: "n", Desc: tensor.Desc{DType: tensor.Int64}}}}, small)
	require.NoError(t, err)
	for i := range 5 {
		require.NoError(t, w.Write([]tensor.Tensor{*tensor.FromBytes(make([]byte, i%2*3)), scalar(t, tensor.Int64, int64(i))}))
	}
	require.NoError(t, w.Close())
	names["zero"] = "zero"
	want["zero"] = rowsOf(t, filepath.Join(out, "zero"))
	require.Equal(t, value{"bytes", []int{}, "e3b0c44298fc1c14"}, want["zero"][4]["data"]) // SHA-256 of no bytes
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, set := range slices.Sorted(maps.Keys(names)) {
		for i, row := range want[names[set]] {
			require.NoError(t, e.Encode(map[string]any{"set": set, "row": i, "fields": row}))
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(out, "EXPECTED"), b.Bytes(), 0o600))
}
