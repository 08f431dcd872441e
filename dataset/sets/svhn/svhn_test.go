package svhn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "svhn", func(dir string) dataset.Source { return &SVHN{dir, "all"} }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*SVHN{{"x", "valid"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "svhn", "train_32x32.mat", func(dir string) dataset.Source { return New(dir) })
	settest.Mutate(t, "svhn", "test_32x32.mat", func(dir string) dataset.Source { return &SVHN{dir, "test"} })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "train_32x32.mat", "x", "train_32x32.mat: in the array at byte 0: the data ends, want a header of 128 bytes"},
	} {
		settest.Refuses(t, "svhn", c.file, c.content, c.want, c.source)
	}
}

func FuzzTrain32x32Mat(f *testing.F) {
	settest.Fuzz(f, "svhn", "train_32x32.mat", func(dir string) dataset.Source { return New(dir) })
}

func FuzzTest32x32Mat(f *testing.F) {
	settest.Fuzz(f, "svhn", "test_32x32.mat", func(dir string) dataset.Source { return &SVHN{dir, "test"} })
}
