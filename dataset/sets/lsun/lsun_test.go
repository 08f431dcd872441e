package lsun

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
	"github.com/infer-prep/infer-prep/store"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "lsun", func(dir string) dataset.Source { return &LSUN{dir, []string{"bedroom_train", "bridge_val"}} }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, c := range [][]string{{"valid"}, {"bedroom"}, {"bedroom_valid"}, {"cat_train"}, {"train", "val"}, {"tower_val", "bedroom_val", "tower_val"}, {"../x_train"}} {
		require.ErrorIs(t, (&LSUN{"x", c}).Validate(), dataset.ErrParam, "%q", c)
	}
	for _, c := range [][]string{{"train"}, {"val"}, {"test"}, {"tower_val", "church_outdoor_train"}, {}, nil} {
		require.NoError(t, (&LSUN{"x", c}).Validate(), "%q", c)
	}
	require.Len(t, New("x").classes(), 10)
}

func one(dir string) dataset.Source { return &LSUN{dir, []string{"bridge_val"}} }

func TestMutations(t *testing.T) {
	settest.Mutate(t, "lsun", "bridge_val_lmdb/data.mdb", one)
	settest.Mutate(t, "lsun", "bedroom_train_lmdb/data.mdb", func(dir string) dataset.Source { return &LSUN{dir + "/bedroom_train_lmdb", nil} })
}

func TestBadFiles(t *testing.T) {
	settest.Refuses(t, "lsun", "bridge_val_lmdb/data.mdb", "", "bridge_val_lmdb/data.mdb: invalid data: invalid LMDB file: page 0 (offset 0): the file ends after 0 bytes", one)
	empty, err := os.ReadFile("../../../internal/lmdb/testdata/empty.mdb")
	require.NoError(t, err)
	settest.Refuses(t, "lsun", "bridge_val_lmdb/data.mdb", string(empty), "bridge_val_lmdb/data.mdb: invalid data: no images", one)
	// train needs the files of ten categories.
	_, err = New(settest.Dir+"lsun").Open(t.Context(), store.Local)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "lsun: ")
	require.ErrorContains(t, err, "bridge_train_lmdb")
}

func FuzzLSUN(f *testing.F) { settest.Fuzz(f, "lsun", "bridge_val_lmdb/data.mdb", one) }
