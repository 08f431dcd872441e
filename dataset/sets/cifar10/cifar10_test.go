package cifar10

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
)

const testdata = "../../../testdata/datasets/cifar10/"

func TestAsReferences(t *testing.T) {
	for _, reference := range []string{"torchvision", "mindspore"} {
		n := sourcetest.Golden(t, testdata+reference+".json")
		t.Logf("%s: %d rows", reference, n)
	}
}

func TestValidate(t *testing.T) {
	require.ErrorIs(t, (&CIFAR10{"x", "valid"}).Validate(), dataset.ErrParam)
}

func TestBadFiles(t *testing.T) {
	record := make([]byte, 3073)
	for _, c := range []struct {
		name string
		file []byte
		meta string
		want string
	}{
		{"missing", nil, "", "o such file"},
		{"empty", []byte{}, "", "test_batch.bin at byte 0: the file has 0 bytes, want records of 3073"},
		{"cut", record[:3072], "", "at byte 0: the file has 3072 bytes"},
		{"cut in the second", append(record[:3073:3073], 1, 2), "", "at byte 3073: the file has 3075 bytes"},
		{"names twice", record, "a\nb\na\n", "batches.meta.txt:3: class \"a\""},
		{"too many names", record, "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n", "has 11 names, want at most 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.file != nil {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "test_batch.bin"), c.file, 0o600))
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "batches.meta.txt"), []byte(c.meta), 0o600))
			_, err := (&CIFAR10{dir, "test"}).Open(t.Context(), store.Local)
			require.ErrorContains(t, err, c.want)
			if c.file != nil {
				require.ErrorIs(t, err, dataset.ErrData)
			}
		})
	}
	dir := t.TempDir()
	record[0] = 10
	require.NoError(t, os.WriteFile(filepath.Join(dir, "test_batch.bin"), append(make([]byte, 3073), record...), 0o600))
	d, err := (&CIFAR10{dir, "test"}).Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	require.Empty(t, d.(dataset.ClassIndexed).ClassIndex(), "no file with names")
	require.NoError(t, d.(dataset.Rows).Read(t.Context(), 0, dataset.NewSample(d.Columns())))
	err = d.(dataset.Rows).Read(t.Context(), 1, dataset.NewSample(d.Columns()))
	require.ErrorIs(t, err, dataset.ErrData)
	require.ErrorContains(t, err, "test_batch.bin at byte 3073: label 10, want one of 10 classes")
	_, err = d.(dataset.Classed).Class(1)
	require.ErrorIs(t, err, dataset.ErrData)
}

func FuzzOpen(f *testing.F) {
	f.Add(make([]byte, 2*3073), []byte("a\nb\n"))
	f.Add(make([]byte, 3074), []byte("a\xff\n\n"))
	f.Fuzz(func(t *testing.T, file, names []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "test_batch.bin"), file, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "batches.meta.txt"), names, 0o600))
		d, err := (&CIFAR10{dir, "test"}).Open(t.Context(), store.Local)
		if err != nil {
			require.ErrorIs(t, err, dataset.ErrData)
			return
		}
		defer d.Close()
		r := d.(dataset.Rows)
		s := dataset.NewSample(d.Columns())
		for i := range r.Len() {
			if err := r.Read(t.Context(), i, s); err != nil {
				require.ErrorIs(t, err, dataset.ErrData)
			}
		}
	})
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, testdata, func(dir string) dataset.Source { return &CIFAR10{dir, "all"} })
}
