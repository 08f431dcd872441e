package cifar100

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sourcetest"
	"github.com/infer-prep/infer-prep/store"
)

const testdata = "../../../testdata/datasets/cifar100/"

func TestAsReferences(t *testing.T) {
	for _, reference := range []string{"torchvision", "mindspore"} {
		n := sourcetest.Golden(t, testdata+reference+".json")
		t.Logf("%s: %d rows", reference, n)
	}
}

func TestValidate(t *testing.T) {
	require.ErrorIs(t, (&CIFAR100{"x", "valid"}).Validate(), dataset.ErrParam)
}

// TestClass checks that the class is the fine label.
func TestClass(t *testing.T) {
	d, err := (&CIFAR100{testdata, "train"}).Open(t.Context(), store.Local)
	require.NoError(t, err)
	defer d.Close()
	for i, want := range []int64{99, 66, 33} {
		got, err := d.(dataset.Classed).Class(int64(i))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestBadLabels(t *testing.T) {
	for at, want := range []string{"at byte 0: coarse_label 255, want one of 20 classes", "at byte 1: fine_label 255, want one of 100 classes"} {
		dir := t.TempDir()
		b := make([]byte, 3074)
		b[at] = 255
		require.NoError(t, os.WriteFile(filepath.Join(dir, "train.bin"), b, 0o600))
		d, err := New(dir).Open(t.Context(), store.Local)
		require.NoError(t, err)
		err = d.(dataset.Rows).Read(t.Context(), 0, dataset.NewSample(d.Columns()))
		require.ErrorIs(t, err, dataset.ErrData)
		require.ErrorContains(t, err, want)
		require.NoError(t, d.Close())
	}
}

func TestStore(t *testing.T) {
	sourcetest.Store(t, testdata, func(dir string) dataset.Source { return &CIFAR100{dir, "all"} })
}
