package metadatafolder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const data = "../../testdata/datasets/metadatafolder/"

func TestReferences(t *testing.T) {
	require.Equal(t, 3+1+3+1, sourcetest.Golden(t, data+"datasets.json"))
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, data+"jsonl", func(dir string) dataset.Source { return New(dir) })
	sourcetest.Store(t, data+"csv", func(dir string) dataset.Source { return New(dir) })
}

// folder writes a folder with an image and metadata.
func folder(t testing.TB, name, metadata string) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.jpg"), []byte("image"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(metadata), 0o600))
	return dir
}

func open(t testing.TB, o *MetadataFolder) dataset.Rows {
	d, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d.(dataset.Rows)
}

// TestBadRows: a row with an error leaves the others as they are.
func TestBadRows(t *testing.T) {
	d := open(t, New(folder(t, "metadata.jsonl", `{"file_name": "a.jpg", "x": [[1], [2]]}
{"file_name": "../a.jpg", "x": [[1]]}
{"file_name": "/a.jpg", "x": [[1]]}
{"file_name": "file:///a.jpg", "x": [[1]]}
{"file_name": "none.jpg", "x": [[1]]}
{"file_name": "", "x": [[1]]}
{"x": [[1]]}
{"file_name": "a.jpg", "x": [[1], [2, 3]]}
{"file_name": "a.jpg", "x": [[1], [null]]}
{"file_name": "a.jpg", "x": null}
{"file_name": "a.jpg", "x": []}
`)))
	s := dataset.NewSample(d.Columns())
	for i, want := range []string{
		"", "outside the folder", "outside the folder", "outside the folder", "none.jpg", "an empty name of a file",
		`column "file_name": invalid data: it has no value`, `column "x": invalid data: lists of different lengths`, "null within a list", "it has no value", "",
	} {
		err := d.Read(t.Context(), int64(i), s)
		if want == "" {
			require.NoError(t, err, "row %d", i)
			require.Equal(t, "a.jpg", s.Key)
			require.Equal(t, "image", string(s.Column("image").Data))
			continue
		}
		require.ErrorContains(t, err, want, "row %d", i)
		require.ErrorContains(t, err, "metadata.jsonl@", "row %d", i)
	}
	require.Equal(t, tensor.Dims(0, 0), s.Column("x").Shape)
}

// TestMissing: pandas reads whole numbers with a gap as floats.
func TestMissing(t *testing.T) {
	d := open(t, New(folder(t, "metadata.csv", "file_name,n,mixed\na.jpg,1,True\na.jpg,NA,7\na.jpg,inf,x\n")))
	s := dataset.NewSample(d.Columns())
	require.NoError(t, d.Read(t.Context(), 0, s))
	require.Equal(t, []float64{1}, tensor.View[float64](&s.Column("n").Tensor))
	require.Equal(t, "True", string(s.Column("mixed").Data))
	require.ErrorContains(t, d.Read(t.Context(), 1, s), `column "n": invalid data: it has no value`)
	require.NoError(t, d.Read(t.Context(), 2, s))
}

func TestErrors(t *testing.T) {
	for _, o := range []*MetadataFolder{{Split: "dev"}, {Columns: []string{""}}, {Columns: []string{"a", "a"}}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam)
	}
	row := `{"file_name": "a.jpg", "l": ["a"], "o": [{"a": 1}], "n": null, "image": 1, "s_file_names": ["a.jpg"]}` + "\n"
	for _, c := range []struct {
		file, text, split string
		columns           []string
		want              string
	}{
		{"metadata.jsonl", strings.Replace(row, `"image": 1, `, "", 1), "", nil, `column "l" is a list of texts: choose other columns`},
		{"metadata.jsonl", row, "", []string{"o"}, `column "o" is a list of objects, or of elements of several types`},
		{"metadata.jsonl", row, "", []string{"n"}, `column "n" is without a value in any row`},
		{"metadata.jsonl", row, "", []string{"image"}, `two columns of the metadata are the column "image"`},
		{"metadata.jsonl", row, "", []string{"s_file_names"}, `column "s_file_names" is a list of files`},
		{"metadata.jsonl", row, "", []string{"z"}, `no column "z", want one of`},
		{"metadata.jsonl", row, "train", nil, "no metadata.jsonl or metadata.csv in a folder of the split train; image_folder reads"},
		{"metadata.jsonl", `{"x": 1}`, "", nil, `the metadata has the columns ["x"], want file_name`},
		{"metadata.jsonl", `{"x": 1` + "\n", "", nil, "metadata.jsonl@0: the line ends within an object"},
		{"metadata.jsonl", "[]\n", "", nil, "it begins with [, want an object"},
		{"metadata.jsonl", `{"x": 1} 2`, "", nil, "text after the object"},
		{"metadata.jsonl", `{"x": 1, "x": 2}`, "", nil, `two members "x"`},
		{"metadata.jsonl", "{\"x\": 1}\n{\"x\": \"a\"}\n", "", nil, `column "x" is text, and a number in earlier rows`},
		{"metadata.jsonl", "{\"x\": [1]}\n{\"x\": 1}\n", "", nil, `lists of another depth`},
		{"metadata.jsonl", `{"x": 1e999}`, "", nil, "1e999 overflows"},
		{"metadata.jsonl", strings.Repeat(`{"x":`, 200), "", nil, "objects more than 100 deep"},
		{"metadata.jsonl", `{"x":` + strings.Repeat(`[`, 200), "", nil, "lists more than 100 deep"},
		{"metadata.parquet", "", "", nil, "metadata.parquet is not read: want metadata.jsonl"},
	} {
		o := New(folder(t, c.file, c.text))
		if o.Split = c.split; c.columns != nil {
			o.Columns = c.columns
		}
		_, err := o.Open(t.Context(), store.Local)
		require.ErrorContains(t, err, c.want)
	}
	dir := folder(t, "metadata.jsonl", row)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.csv"), []byte("file_name\n"), 0o600))
	_, err := New(dir).Open(t.Context(), store.Local)
	require.ErrorContains(t, err, "want files of one kind")
}

func FuzzRow(f *testing.F) {
	f.Add([]byte(`{"a": [[1, 2.5], []], "b": {"c": "x", "d": [null, true]}, "e": [{"f": []}]}`))
	f.Add([]byte(`{"a": [1, [2]], "b": -1e5}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r row
		ty := &types{at: map[string]int{}}
		if r.json(b) != nil || ty.add(&r) != nil {
			return
		}
		var v dataset.Value
		for _, c := range ty.columns() {
			if c.bad == "" {
				_ = r.find(c.from).set(&v, c.desc)
			}
		}
	})
}
