package parquet

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const golden = "../testdata/parquet/"

func TestReferences(t *testing.T) {
	require.Equal(t, 14, sourcetest.Golden(t, "../testdata/pyarrow_parquet.json"))
	require.Equal(t, 5+3+3, sourcetest.Golden(t, "../testdata/datasets_parquet.json"))
}

// TestHub reads a snapshot of the hub's cache, whose files are links to blobs.
func TestHub(t *testing.T) {
	dir := t.TempDir()
	snapshot := filepath.Join(dir, "snapshots", "0b1e", "data")
	require.NoError(t, os.MkdirAll(snapshot, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "blobs"), 0o700))
	l, err := filepath.Glob("../testdata/hub/data/*.parquet")
	require.NoError(t, err)
	for i, name := range l {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		blob := string(rune('b' - i)) // the links' names decide about the order
		require.NoError(t, os.WriteFile(filepath.Join(dir, "blobs", blob), b, 0o600))
		if err := os.Symlink("../../../blobs/"+blob, filepath.Join(snapshot, filepath.Base(name))); err != nil {
			t.Skip(err) // Windows without the right to make links
		}
	}
	want := sourcetest.Samples(t, New("../testdata/hub"))
	got := sourcetest.Samples(t, New(filepath.Dir(snapshot)))
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Values[0].Data, got[i].Values[0].Data)
	}
}

// TestEncodings compares files of every encoding and compression with the one
// that is compared with pyarrow.
func TestEncodings(t *testing.T) {
	want := sourcetest.Samples(t, New(golden+"plain.parquet"))
	for _, name := range []string{"snappy", "gzip", "zstd", "brotli", "lz4", "delta"} {
		src := New(golden + name + ".parquet")
		if name == "zstd" || name == "snappy" { // several groups of rows and pages
			sourcetest.Run(t, src)
		}
		got := sourcetest.Samples(t, src)
		require.Len(t, got, len(want), name)
		for i := range want {
			for k := range want[i].Values {
				require.Equal(t, want[i].Values[k].Desc, got[i].Values[k].Desc, "%s: row %d, column %d", name, i, k)
				require.True(t, bytes.Equal(want[i].Values[k].Data, got[i].Values[k].Data), "%s: row %d, column %d", name, i, k)
			}
		}
	}
}

func TestFiles(t *testing.T) {
	one, all := New(golden+"plain.parquet"), New(golden)
	one.Columns, all.Columns = []string{"text", "objects.box"}, []string{"text", "objects.box"}
	sourcetest.Spec(t, all)
	require.Len(t, sourcetest.Samples(t, all), 7*14)
	require.Len(t, sourcetest.Samples(t, New(golden+"*z*.parquet", golden+"plain.parquet")), 4*14)
	// 1 allocation is the key.
	require.LessOrEqual(t, sourcetest.Allocs(t, one), 1.0)
	d, err := all.Open(t.Context(), store.Local)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 14, 28, 42, 56, 70, 84}, d.(dataset.Sharded).Shards())
	require.NoError(t, d.Close())
	sourcetest.Store(t, filepath.Clean(golden), func(dir string) dataset.Source {
		src := New(dir + "/snappy.parquet")
		src.Columns = []string{"text", "matrix", "uint64"}
		return src
	})
}

func TestOdd(t *testing.T) {
	read := func(column string, row int64) (*dataset.Sample, error) {
		src := New(golden + "odd.parq")
		src.Columns = []string{column}
		d, err := src.Open(t.Context(), store.Local)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		s := dataset.NewSample(d.Columns())
		return s, d.(dataset.Rows).Read(t.Context(), row, s)
	}
	for _, c := range []struct {
		column string
		row    int64
		want   string // the error
	}{
		{"x", 1, `odd.parq@1: column "x" has no value`},
		{"list", 1, `odd.parq@1: column "list" has no value`},
		{"ragged", 0, "lists of 1 and 2 elements, want equal lengths in a row"},
		{"inner", 0, "null within a list"},
		{"words", 0, `not supported: column "words" is a list of strings or of bytes`},
	} {
		_, err := read(c.column, c.row)
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, c.want)
	}
	_, err := read("none", 0)
	require.ErrorIs(t, err, dataset.ErrParam)
	require.ErrorContains(t, err, `column "none", want one of ["x" "list"`)
	for _, column := range []string{"x", "when"} {
		s, err := read(column, 2)
		require.NoError(t, err)
		require.Equal(t, []int64{3}, tensor.View[int64](&s.Values[0].Tensor))
	}
	s, err := read("list", 2)
	require.NoError(t, err)
	require.Equal(t, tensor.Dims(0), s.Values[0].Shape)
	s, err = read("ragged", 2)
	require.NoError(t, err)
	require.Equal(t, tensor.Dims(1, 0), s.Values[0].Shape)

	_, err = New(golden+"odd.parq").Open(t.Context(), store.Local)
	require.ErrorIs(t, err, records.ErrUnsupported)
	_, err = New(golden+"odd.parq", golden+"plain.parquet").Open(t.Context(), store.Local)
	require.ErrorIs(t, err, records.ErrCorrupt)
	_, err = New(filepath.Join(t.TempDir(), "none.parquet")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorIs(t, New().Validate(), dataset.ErrParam)
}

// readAll reads every value of a file.
func readAll(t testing.TB, b []byte) error {
	name := filepath.Join(t.TempDir(), "x.parquet")
	require.NoError(t, os.WriteFile(name, b, 0o600))
	s, err := openSet(t.Context(), store.Local, []string{name}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	var v dataset.Value
	for i := range min(s.Len(), 1000) {
		f, row := s.Place(i)
		for k := range s.Wanted {
			if _, err := s.value(f, row, k, &v); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestDamage(t *testing.T) {
	b, err := os.ReadFile(golden + "snappy.parquet")
	require.NoError(t, err)
	require.NoError(t, readAll(t, b))
	for n := 0; n < len(b); n += 1 + len(b)/50 {
		err := readAll(t, b[:n])
		require.Error(t, err, "cut to %d bytes", n)
		if n >= 12 {
			require.ErrorIs(t, err, records.ErrCorrupt, "cut to %d bytes", n)
		}
	}
}

func TestThrift(t *testing.T) {
	for _, c := range []struct {
		text string
		want int // -1 for an error
	}{
		{"\x00rest", 1},
		{"\x15\x02\x18\x03abc\x19\x25\x01\x02\x11\x00", 13}, // i32, binary, a list of two i32, true
		{"\x19\xfc\xff\xff\xff\xff\x07\x00\x00", -1},        // a list of 2^31 structs
		{"\x1b\x02\x85\x01a\x02b\x00", -1}, {"\x1d\x00", -1}, {"\x18\x09abc", -1},
	} {
		n, err := checkThrift([]byte(c.text))
		if c.want < 0 {
			require.Error(t, err, "%q", c.text)
			continue
		}
		require.NoError(t, err, "%q", c.text)
		require.Equal(t, c.want, n, "%q", c.text)
	}
}

func FuzzRead(f *testing.F) {
	l, err := filepath.Glob(golden + "*.parq*")
	require.NoError(f, err)
	for _, name := range l {
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { _ = readAll(t, b) })
}

// TestConvert writes records and reads them again, in this package and as the
// real reader's rows.
func TestConvert(t *testing.T) {
	for _, name := range []string{"plain", "snappy"} {
		in, err := records.Lookup("parquet")
		require.NoError(t, err)
		r, err := in.Open(t.Context(), store.Local, []string{golden + name + ".parquet"}, records.ReadOptions{})
		require.NoError(t, err)
		out := filepath.Join(t.TempDir(), "out.parquet")
		w, err := in.Create(t.Context(), store.Local, out, records.WriteOptions{Keys: name == "snappy"})
		require.NoError(t, err)
		var m records.Record
		for {
			if err := r.Next(&m); err == io.EOF {
				break
			}
			require.NoError(t, w.Write(&m))
		}
		require.NoError(t, r.Close())
		require.NoError(t, w.Close())
		x, err := in.Open(t.Context(), store.Local, []string{golden + name + ".parquet"}, records.ReadOptions{})
		require.NoError(t, err)
		y, err := in.Open(t.Context(), store.Local, []string{out}, records.ReadOptions{})
		require.NoError(t, err)
		for {
			var a, b records.Record
			err := x.Next(&a)
			require.Equal(t, err, y.Next(&b))
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			a.File, b.File = "", ""
			require.Equal(t, a, b)
		}
		require.NoError(t, x.Close())
		require.NoError(t, y.Close())
	}
}

func TestWriter(t *testing.T) {
	dir := t.TempDir()
	create := func(name string) records.Writer {
		f, err := records.Lookup("parquet")
		require.NoError(t, err)
		w, err := f.Create(t.Context(), store.Local, filepath.Join(dir, name), records.WriteOptions{})
		require.NoError(t, err)
		return w
	}
	record := func(key string, names ...string) *records.Record {
		r := &records.Record{Key: key}
		for _, n := range names {
			r.AddBytes(n, []byte(n))
		}
		return r
	}
	w := create("a.parquet")
	require.ErrorIs(t, w.Write(record("0", "x", "x")), records.ErrField)
	require.ErrorIs(t, w.Write(record("0")), records.ErrField)
	require.NoError(t, w.Write(record("0", "x", "y")))
	require.NoError(t, w.Write(record("1", "y"))) // x has no value
	require.ErrorIs(t, w.Write(record("2", "x", "z")), records.ErrField)
	require.ErrorIs(t, w.Write(record("key", "x")), records.ErrField)
	text := record("2", "x")
	text.Fields[0].Text = true
	require.ErrorIs(t, w.Write(text), records.ErrField)
	require.NoError(t, w.Close())
	src := New(filepath.Join(dir, "a.parquet"))
	src.Columns = []string{"y"}
	l := sourcetest.Samples(t, src)
	require.Len(t, l, 2)
	require.Equal(t, "y", string(l[1].Values[0].Data))

	w = create("b.parquet")
	require.ErrorIs(t, w.Close(), records.ErrField)
	w = create("c.parquet")
	require.NoError(t, w.Write(record("0", "x")))
	require.NoError(t, w.Abort())
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "only a complete file appears")
}

// TestPaths: an image that is a path is read in the table's folder alone, and
// its stamp changes with the file.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../testdata/paths")))
	image := filepath.Join(dir, "images", "1.jpg")
	d, err := New(filepath.Join(dir, "data.parquet")).Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	r, s := d.(dataset.Stamped), dataset.NewSample(d.Columns())
	var stamps [3][]byte
	for i := range stamps {
		stamps[i], err = r.Stamp(t.Context(), int64(i), nil)
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(image, []byte("other"), 0o600))
	for i := range stamps {
		b, err := r.Stamp(t.Context(), int64(i), nil)
		require.NoError(t, err)
		require.Equal(t, i > 0, string(b) == string(stamps[i]), "row %d", i)
	}
	require.NoError(t, r.Read(t.Context(), 0, s))
	require.Equal(t, "other", string(s.Column("image").Data))

	// The folder of images leads out of the table's folder.
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "1.jpg"), []byte("secret"), 0o600))
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "images")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "images")))
	err = r.Read(t.Context(), 0, s)
	require.ErrorIs(t, err, store.ErrOutside)
	require.ErrorIs(t, err, dataset.ErrData)
	require.NoError(t, r.Read(t.Context(), 1, s), "the row with bytes")
	all, err := New(filepath.Join(dir, "data.parquet")).Open(t.Context(), store.AllowOutside(store.Local))
	require.NoError(t, err)
	defer all.Close()
	require.NoError(t, all.(dataset.Rows).Read(t.Context(), 0, s))
	require.Equal(t, "secret", string(s.Column("image").Data))
}
