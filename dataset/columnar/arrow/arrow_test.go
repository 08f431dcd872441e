package arrow

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const golden = "../testdata/"

func TestReferences(t *testing.T) {
	require.Equal(t, 5+5+3+3, sourcetest.Golden(t, golden+"datasets_arrow.json"))
	require.Equal(t, 14, sourcetest.Golden(t, golden+"pyarrow_arrow.json"))
	// The key is one allocation; the library allocates for a list's elements.
	src := New(golden + "saved")
	src.Columns = []string{"image", "label", "caption"}
	require.LessOrEqual(t, sourcetest.Allocs(t, src), 2.0)
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, golden+"saved", func(dir string) dataset.Source { return New(dir) })
}

func TestOdd(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "odd.arrow")
	numbers := arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int64))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "ragged", Type: numbers, Nullable: true},
		{Name: "words", Type: arrow.ListOf(arrow.BinaryTypes.String)},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Int32Builder).AppendValues([]int32{7, 0, 9}, []bool{true, false, true})
	l := b.Field(1).(*array.ListBuilder)
	in := l.ValueBuilder().(*array.ListBuilder)
	l.Append(true)
	for k := range 2 {
		in.Append(true)
		in.ValueBuilder().(*array.Int64Builder).AppendValues(make([]int64, k+1), nil)
	}
	l.Append(true)
	in.Append(true)
	in.ValueBuilder().(*array.Int64Builder).Append(5)
	l.Append(true)
	for range 3 {
		b.Field(2).(*array.ListBuilder).Append(true)
	}
	f, err := os.Create(name)
	require.NoError(t, err)
	w := ipc.NewWriter(f, ipc.WithSchema(schema))
	require.NoError(t, w.Write(b.NewRecordBatch()))
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())

	src := New(name)
	_, err = src.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, records.ErrUnsupported)
	require.ErrorContains(t, err, `column "words" is a list of strings or of bytes: choose other columns`)
	src.Columns = []string{"none"}
	_, err = src.Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrParam)
	src.Columns = []string{"x", "ragged"}
	d, err := src.Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	r, s := d.(dataset.Rows), dataset.NewSample(d.Columns())
	err = r.Read(t.Context(), 0, s)
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, `row 0: column "ragged": lists of 1 and 2 elements`)
	require.ErrorContains(t, r.Read(t.Context(), 1, s), `row 1: column "x": it has no value`)
	require.NoError(t, r.Read(t.Context(), 2, s))
	require.Equal(t, []int32{9}, tensor.View[int32](&s.Values[0].Tensor))
	require.Equal(t, tensor.Dims(0, 0), s.Values[1].Shape)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "state.json"), []byte(`{"_data_files": [{"filename": "../odd.arrow"}]}`), 0o600))
	_, err = New(dir).Open(t.Context(), store.Local)
	require.ErrorContains(t, err, "want a path within the folder")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "state.json"), []byte(`{"_data_files": [{"filename": "none.arrow"}]}`), 0o600))
	_, err = New(dir).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// readAll reads every row of a file.
func readAll(t testing.TB, b []byte) error {
	name := filepath.Join(t.TempDir(), "x.arrow")
	require.NoError(t, os.WriteFile(name, b, 0o600))
	s, err := openSet(t.Context(), store.Local, []string{name}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	to := dataset.NewSample(s.Columns())
	for i := range min(s.Len(), 1000) {
		f, row := s.Place(i)
		if err := s.read(t.Context(), f, row, to); err != nil {
			return err
		}
	}
	return nil
}

func TestDamage(t *testing.T) {
	b, err := os.ReadFile(golden + "numbers.arrow")
	require.NoError(t, err)
	require.NoError(t, readAll(t, b))
	for n := 8; n < len(b)-8; n += 1 + len(b)/40 {
		require.ErrorIs(t, readAll(t, b[:n]), records.ErrCorrupt, "cut to %d bytes", n)
	}
	for n := range 200 { // no panic
		c := append([]byte{}, b...)
		c[n*len(c)/200] ^= 0xff
		_ = readAll(t, c)
	}
	require.ErrorIs(t, readAll(t, []byte("ARROW1\x00\x00")), records.ErrUnsupported)
}

func FuzzRead(f *testing.F) {
	l, err := filepath.Glob(golden + "*/*.arrow")
	require.NoError(f, err)
	for _, name := range append(l, golden+"numbers.arrow") {
		b, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { _ = readAll(t, b) })
}
