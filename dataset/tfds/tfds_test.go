package tfds

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/records/tfexample"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const data = "../../testdata/datasets/tfds/"

func TestReferences(t *testing.T) {
	require.Equal(t, 7+3+4, sourcetest.Golden(t, data+"tensorflow-datasets.json"))
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, data+"pictures/1.0.0", func(dir string) dataset.Source { return New(dir) })
}

// TestErrors: what the folder and the parameters may lack.
func TestErrors(t *testing.T) {
	require.ErrorIs(t, New("").Validate(), nil)
	require.ErrorIs(t, (&TFDS{}).Validate(), dataset.ErrParam)
	require.ErrorIs(t, (&TFDS{Split: "a", Columns: []string{"a", "a"}}).Validate(), dataset.ErrParam)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(data+"pictures/1.0.0")))
	open := func(split string, columns ...string) error {
		d, err := (&TFDS{Dir: dir, Split: split, Columns: columns}).Open(t.Context(), store.Local)
		if err == nil {
			require.NoError(t, d.Close())
		}
		return err
	}
	require.NoError(t, open("train"))
	require.ErrorContains(t, open("none"), `split "none", want one of ["train" "test"]`)
	require.ErrorContains(t, open("train", "x"), `no column "x", want one of ["id" "image" "label" "text"]`)

	name := filepath.Join(dir, "dataset_info.json")
	was, err := os.ReadFile(name)
	require.NoError(t, err)
	for old, c := range map[string]struct{ now, want string }{
		`"2",`:                      {`"1",`, "pictures-train.tfrecord-00000-of-00003 has 2 records, want the 1 of dataset_info.json"},
		`"tfrecord"`:                {`"array_record"`, `files of the format "array_record", want tfrecord: prepare`},
		"{DATASET}-":                {"../{DATASET}-", "want a path within the folder"},
		`{SPLIT}.`:                  {`{OTHER}.`, "want a path within the folder"},
		`"fileFormat": "tfrecord",`: {"", ""},
		"{":                         {"", "dataset_info.json: invalid character"},
	} {
		text := string(was)
		require.Contains(t, text, old)
		require.NoError(t, os.WriteFile(name, []byte(strings.Replace(text, old, c.now, 1)), 0o600))
		if err := open("train"); c.want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.want)
		}
	}
	require.NoError(t, os.WriteFile(name, was, 0o600))
	require.NoError(t, os.Remove(filepath.Join(dir, "pictures-train.tfrecord-00001-of-00003")))
	require.ErrorIs(t, open("train"), dataset.ErrData)
	require.NoError(t, open("test"))

	_, err = (&TFDS{Dir: data + "numbers/2.1.0", Split: "validation"}).Open(t.Context(), store.Local)
	require.ErrorContains(t, err, `column "words" is a sequence of texts or of images: choose other columns`)
}

// parse returns the columns of features.json.
func parse(t testing.TB, text string) []column {
	var f feature
	require.NoError(t, json.Unmarshal([]byte(text), &f))
	l, err := f.columns()
	require.NoError(t, err)
	return l
}

// TestFeatures: features that are refused, and records that do not fit.
func TestFeatures(t *testing.T) {
	for text, want := range map[string]string{
		`{"pythonClassName": "a.b.Video"}`:                                                              `of the type "Video"`,
		`{"tensor": {"dtype": "complex64"}}`:                                                            `of the type "complex64"`,
		`{"tensor": {"dtype": "int8", "encoding": "lz"}}`:                                               `encoded as "lz"`,
		`{"tensor": {"dtype": "int8", "shape": {"dimensions": ["-1", "-1"]}}}`:                          `of the shape [-1 -1], whose sizes are unknown`,
		`{"tensor": {"dtype": "int8", "shape": {"dimensions": ["x"]}}}`:                                 `of a shape with "x"`,
		`{"tensor": {"dtype": "int8", "shape": {"dimensions": ["1","1","1","1","1","1","1","1","1"]}}}`: "of 9 axes, want at most 8",
		`{"audio": {"dtype": "int64", "lazyDecode": true}}`:                                             "encoded sound",
		`{"sequence": {"feature": {"image": {}}}}`:                                                      "a sequence of texts or of images",
		`{"sequence": {"feature": {"tensor": {"dtype": "int8", "encoding": "zlib"}}}}`:                  "a sequence of encoded tensors",
	} {
		l := parse(t, `{"featuresDict": {"features": {"x": `+text+`}}}`)
		require.Len(t, l, 1)
		require.Equal(t, want, l[0].bad, text)
	}
	for _, text := range []string{`{}`, `{"featuresDict": {"features": {"x": null}}}`, `{"featuresDict": {"features": {"": {"text": {}}}}}`,
		strings.Repeat(`{"featuresDict": {"features": {"x": `, 40) + `{"text": {}}` + strings.Repeat("}}}", 40)} {
		var f feature
		require.NoError(t, json.Unmarshal([]byte(text), &f))
		_, err := f.columns()
		require.Error(t, err, text)
	}

	ints := func(name string, l ...int64) tfexample.Feature {
		return tfexample.Feature{Name: name, Kind: tfexample.Int64, Ints: l}
	}
	text := func(name, b string) tfexample.Feature {
		return tfexample.Feature{Name: name, Kind: tfexample.Bytes, Bytes: [][]byte{[]byte(b)}}
	}
	nested := `{"sequence": {"length": "-1", "feature": {"sequence": {"length": "-1", "feature": {"tensor": {"dtype": "int32"}}}}}}`
	zlib := `{"tensor": {"dtype": "int16", "encoding": "zlib", "shape": {"dimensions": ["-1", "-1"]}}}`
	raw := `{"tensor": {"dtype": "uint64", "encoding": "bytes", "shape": {"dimensions": ["1"]}}}`
	for _, c := range []struct {
		feature, want string
		record        []tfexample.Feature
	}{
		{`{"classLabel": {}}`, `the record has no feature "x"`, nil},
		{`{"classLabel": {}}`, "2 elements, want a shape of []", []tfexample.Feature{ints("x", 1, 2)}},
		{`{"classLabel": {}}`, "a list of kind 1, want 3", []tfexample.Feature{text("x", "a")}},
		{`{"text": {}}`, "0 byte strings, want 1", []tfexample.Feature{ints("x", 1)}},
		{`{"tensor": {"dtype": "uint64"}}`, "18446744073709551615, want at most", []tfexample.Feature{ints("x", -1)}},
		{`{"tensor": {"dtype": "int8", "shape": {"dimensions": ["-1", "2"]}}}`, "3 elements, want", []tfexample.Feature{ints("x", 1, 2, 3)}},
		{`{"tensor": {"dtype": "int8", "shape": {"dimensions": ["2000000000", "2000000000"]}}}`, "a shape of", []tfexample.Feature{ints("x", 1)}},
		{nested, "sequences of 1 and 2 elements", []tfexample.Feature{ints("x/ragged_flat_values", 1, 2, 3), ints("x/ragged_row_lengths_0", 1, 2)}},
		{nested, "3 elements, want", []tfexample.Feature{ints("x/ragged_flat_values", 1, 2, 3), ints("x/ragged_row_lengths_0", 1, 1)}},
		{zlib, "zlib: invalid header", []tfexample.Feature{ints("x/shape", 1, 1), text("x/value", "abcd")}},
		{zlib, "a shape of 1 sizes, want 2", []tfexample.Feature{ints("x/shape", 1), text("x/value", "abcd")}},
		{zlib, "a shape of [1 -1]", []tfexample.Feature{ints("x/shape", 1, -1), text("x/value", "abcd")}},
		{raw, "3 bytes, want numbers of 8", []tfexample.Feature{text("x", "abc")}},
		{raw, "a number above", []tfexample.Feature{text("x", "\xff\xff\xff\xff\xff\xff\xff\xff")}},
	} {
		l := parse(t, `{"featuresDict": {"features": {"x": `+c.feature+`}}}`)
		require.Empty(t, l[0].bad)
		var v dataset.Value
		require.ErrorContains(t, l[0].set(&v, c.record), c.want)
	}
	var v dataset.Value
	l := parse(t, `{"featuresDict": {"features": {"x": `+nested+`}}}`)
	require.NoError(t, l[0].set(&v, []tfexample.Feature{ints("x/ragged_flat_values"), ints("x/ragged_row_lengths_0")}))
	require.Equal(t, tensor.Dims(0, 0), v.Shape)
}

func FuzzFeatures(f *testing.F) {
	for _, name := range []string{"pictures/1.0.0", "numbers/2.1.0"} {
		b, err := os.ReadFile(data + name + "/features.json")
		require.NoError(f, err)
		f.Add(b, []byte("\n\x12\n\x10\n\x01x\x12\x0b\x1a\t\n\a\x01\x02\x03\x04\x05\x06\x07"))
	}
	f.Fuzz(func(t *testing.T, b, record []byte) {
		var x feature
		if json.Unmarshal(b, &x) != nil {
			return
		}
		l, err := x.columns()
		if err != nil {
			return
		}
		r, _ := tfexample.Parse(record)
		for i := range l {
			if l[i].bad == "" {
				require.NoError(t, l[i].Desc.Validate())
				_ = l[i].set(new(dataset.Value), r)
			}
		}
	})
}
