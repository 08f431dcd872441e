package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/golden"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
)

const testdata = "../../testdata/datasets/manifest/"

func TestMindSpore(t *testing.T) {
	for _, c := range golden.Load(t, testdata+"mindspore.json") {
		t.Run(c.Name, func(t *testing.T) {
			s := c.Specs(t, func() dataset.Node { return New("") }).(*Manifest)
			s.File = testdata + s.File
			vector := func(r map[string]golden.Value) bool { return len(r["label"].Shape) == 1 }
			if slices.ContainsFunc(c.Rows, vector) {
				// MindSpore makes scalars of single labels even beside vectors.
				for _, r := range c.Rows {
					v := r["label"]
					v.Shape = []int{len(v.Data)}
					r["label"] = v
				}
			} else {
				data, err := s.Open(t.Context(), store.Local)
				require.NoError(t, err)
				for i, r := range c.Rows {
					class, err := data.(dataset.Classed).Class(int64(i))
					require.NoError(t, err)
					require.Equal(t, r["label"].Data, []string{fmt.Sprint(class)})
				}
			}
			c.Compare(t, s)
		})
	}
}

func TestUnlikeMindSpore(t *testing.T) {
	dir := t.TempDir()
	o := New(filepath.Join(dir, "x.manifest"))
	o.Usage = "Holdout"
	image := filepath.Join(dir, "image")
	require.NoError(t, os.WriteFile(image, []byte("no JPEG"), 0o600))
	text := fmt.Sprintf("\n\n {\"usage\": \"holdOUT\", \"annotation\": [{\"name\": \"a\"}], \"source\": %q} \r\n\n", image) +
		`{"usage": "other"}` + "\n" + `{"usage": "holdout", "annotation": [{"name": "b"}], "source": "gone.jpg"}`
	require.NoError(t, os.WriteFile(o.File, []byte(text), 0o600))
	data, err := o.Open(t.Context(), store.Local)
	require.NoError(t, err)
	d := data.(dataset.Classed)
	require.EqualValues(t, 2, d.Len())
	s := dataset.NewSample(d.Columns())
	require.NoError(t, d.Read(t.Context(), 0, s))
	require.Equal(t, "no JPEG", string(s.Column("image").Data))
	require.ErrorIs(t, d.Read(t.Context(), 1, s), os.ErrNotExist)
	require.Equal(t, "gone.jpg", s.Key)
}

func TestErrors(t *testing.T) {
	require.ErrorIs(t, (&Manifest{}).Validate(), dataset.ErrParam)
	_, err := (&Manifest{}).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, dataset.ErrParam)
	_, err = New(filepath.Join(t.TempDir(), "none")).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
	good := `{"source": "a", "usage": "train", "annotation": [{"name": "x"}]}` + "\n"
	for x, want := range map[string]string{
		"": "no image for usage",
		`{"source": "a", "usage": "train", "annotation": []}`:          "no image for usage",
		good + `{"source": "a", "annotation": []}`:                     `line 2: invalid data: offset 33: no "usage"`,
		good + `{"usage": "train", "annotation": []}`:                  `no "source"`,
		good + `{"usage": "train", "source": "a"}`:                     `no "annotation"`,
		good + `{"usage": "train", "source": "a", "annotation": [{}]}`: "an annotation without a name",
		good + `{"usage": "train", "source": "a", "annotation": {}}`:   "array begins with '{'",
		good + `{"usage": "train", "usage": "train"}`:                  `"usage" is there twice`,
		good + `{"usage": 1}`:                                          "want a string",
		good + `{"usage": "train"`:                                     "the text ends",
		good + good[:len(good)-1] + good:                               "after the end",
		"\n\n[]":                                                       "line 3: invalid data: offset 0: object begins",
		`{"x": ` + strings.Repeat("[", 1000):                           "nested deeper",
		good + strings.Repeat(" ", maxLine+1):                          "line 2: invalid data: more than 16777216 bytes",
	} {
		_, err := parse(strings.NewReader(x), "train", nil)
		require.ErrorIs(t, err, dataset.ErrData, x)
		require.ErrorContains(t, err, want)
	}
	_, err = parse(strings.NewReader(good), "train", map[string]int32{"y": 1})
	require.ErrorContains(t, err, "no image for usage")
}

func FuzzParse(f *testing.F) {
	for _, n := range []string{"one", "many", "crlf"} {
		b, err := os.ReadFile(testdata + n + ".manifest")
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := parse(strings.NewReader(string(b)), "train", nil)
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrData)
			return
		}
		require.Positive(t, d.Len())
		require.Len(t, d.start, len(d.sources)+1)
		for i := range d.sources {
			require.Less(t, d.start[i], d.start[i+1])
		}
		for _, l := range d.labels {
			require.True(t, 0 <= l && int(l) < len(d.classes))
		}
	})
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, testdata, func(dir string) dataset.Source { return New(dir + "/many.manifest") })
}
