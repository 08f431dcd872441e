package celeba

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
)

const testdata = "../../../testdata/datasets/celeba/"

func TestAsReferences(t *testing.T) {
	for _, reference := range []string{"torchvision", "mindspore"} {
		n := sourcetest.Golden(t, testdata+reference+".json")
		t.Logf("%s: %d rows", reference, n)
	}
}

func TestValidate(t *testing.T) {
	for _, o := range []*CelebA{{"x", "", "val"}, {"x", "../x", "all"}, {"x", "/x", "all"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestBadLists(t *testing.T) {
	const attr = "2\nBald Young\n1.jpg -1 1\n2.jpg  1 1\n"
	const part = "1.jpg 0\n2.jpg 2\n"
	for _, c := range []struct{ name, attr, part, want string }{
		{"good", attr, part, ""},
		{"good, other ends of lines", strings.ReplaceAll(attr, "\n", " \r\n"), part + "\n\n", ""},
		{"empty", "", part, "list_attr_celeba.txt:0: the list ends"},
		{"no number", attr[2:], part, "list_attr_celeba.txt:1: \"Bald Young\", want the number of photos"},
		{"names only", "0\nBald\n", "", "no photos of usage train"},
		{"too many claimed", "1000000000000" + attr[1:], part, "list_attr_celeba.txt:4: the list ends after 2 photos, want 1000000000000"},
		{"too few claimed", "1" + attr[1:], part, "list_attr_celeba.txt:4: the list ends after 2 photos, want 1"},
		{"a value less", strings.Replace(attr, "-1 1", "-1", 1), part, "list_attr_celeba.txt:3: 1 values, want 2"},
		{"another value", strings.Replace(attr, "-1 1", "-1 0", 1), part, "list_attr_celeba.txt:3: attribute 1 is \"0\", want 1 or -1"},
		{"parts end", attr, part[:8], "list_eval_partition.txt:1: the list ends, want more lines"},
		{"more parts", attr, part + "3.jpg 1\n", "list_eval_partition.txt:3: \"3.jpg\", want the end"},
		{"another photo", attr, strings.Replace(part, "2.jpg", "3.jpg", 1), "list_eval_partition.txt:2: \"3.jpg 2\", want \"2.jpg\" and its partition"},
		{"another part", attr, strings.Replace(part, "2.jpg 2", "2.jpg 3", 1), "list_eval_partition.txt:2: partition \"3\", want 0, 1 or 2"},
		{"a long line", attr + strings.Repeat("x", 1<<20+1), part, "list_attr_celeba.txt:5: bufio.Scanner: token too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, s := range map[string]string{"list_attr_celeba.txt": c.attr, "list_eval_partition.txt": c.part, "1.jpg": "one", "2.jpg": "two"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600))
			}
			o := &CelebA{dir, "", "train"}
			if c.want == "" {
				sourcetest.Run(t, o)
				require.Len(t, sourcetest.Samples(t, o), 1)
				return
			}
			_, err := o.Open(t.Context(), store.Local)
			require.ErrorIs(t, err, dataset.ErrData)
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	_, err := New(dir).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "list_attr_celeba.txt"), []byte("1\na\n1.jpg 1\n"), 0o600))
	_, err = New(dir).Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist, "the list of parts")
	d, err := (&CelebA{dir, "", "all"}).Open(t.Context(), store.Local)
	require.NoError(t, err)
	require.ErrorIs(t, d.(dataset.Rows).Read(t.Context(), 0, dataset.NewSample(d.Columns())), os.ErrNotExist)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("2\nBald Young\n1.jpg -1 1\n2.jpg  1 1\n"), []byte("1.jpg 0\n2.jpg 2\n"))
	f.Add([]byte("99999999999\na\n1.jpg 1\n"), []byte("1.jpg 0 0\n"))
	f.Fuzz(func(t *testing.T, attr, part []byte) {
		d, err := parse("", "train", newList("attr", bytes.NewReader(attr)), newList("part", bytes.NewReader(part)))
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrData)
			return
		}
		require.Len(t, d.attrs, len(d.keys)*d.attributes)
	})
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, testdata, func(dir string) dataset.Source { return New(dir) })
}
