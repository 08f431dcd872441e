package stl10

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "stl10", func(dir string) dataset.Source { return &STL10{dir, "all", -1} }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*STL10{{"x", "valid", -1}, {"x", "train", 10}, {"x", "test", 1}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "stl10", "train_y.bin", func(dir string) dataset.Source { return New(dir) })
	settest.Mutate(t, "stl10", "fold_indices.txt", func(dir string) dataset.Source { return &STL10{dir, "train+unlabeled", 3} })
	settest.Mutate(t, "stl10", "train_X.bin.gz", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "train_y.bin", "\x01\x02\x0b", "train_y.bin at byte 2: label 11, want 1 to 10"},
		{func(dir string) dataset.Source { return New(dir) }, "train_y.bin", "\x01\x02", "train_y.bin at byte 0: 2 labels, want 3, the number of images"},
		{func(dir string) dataset.Source { return New(dir) }, "train_X.bin", "\x01\x02", "train_X.bin at byte 0: the file has 2 bytes, want images of 27648"},
		{func(dir string) dataset.Source { return &STL10{dir, "train", 1} }, "fold_indices.txt", "0 1\n2 3\n", "fold_indices.txt:2: image \"3\", want 0 to 2"},
		{func(dir string) dataset.Source { return &STL10{dir, "train", 5} }, "fold_indices.txt", "0 1\n2\n", "no fold 5"},
	} {
		settest.Refuses(t, "stl10", c.file, c.content, c.want, c.source)
	}
}

func FuzzTrainYBin(f *testing.F) {
	settest.Fuzz(f, "stl10", "train_y.bin", func(dir string) dataset.Source { return New(dir) })
}

func FuzzFoldIndicesTxt(f *testing.F) {
	settest.Fuzz(f, "stl10", "fold_indices.txt", func(dir string) dataset.Source { return &STL10{dir, "train+unlabeled", 3} })
}

func FuzzTrainXBinGz(f *testing.F) {
	settest.Fuzz(f, "stl10", "train_X.bin.gz", func(dir string) dataset.Source { return New(dir) })
}
