package dtd

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "dtd", func(dir string) dataset.Source { return New(dir) }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*DTD{{"x", "valid", 1}, {"x", "val", 0}, {"x", "val", 11}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "dtd", "labels/train1.txt", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "labels/train1.txt", "banded/a.jpg\nbanded\n", "labels/train1.txt:2: \"banded\", want CLASS/NAME"},
		{func(dir string) dataset.Source { return New(dir) }, "labels/train1.txt", "a/b/c.jpg", "labels/train1.txt:1: \"a/b/c.jpg\", want CLASS/NAME"},
		{func(dir string) dataset.Source { return New(dir) }, "labels/train1.txt", "", "no images of this usage"},
	} {
		settest.Refuses(t, "dtd", c.file, c.content, c.want, c.source)
	}
}

func FuzzTrain1Txt(f *testing.F) {
	settest.Fuzz(f, "dtd", "labels/train1.txt", func(dir string) dataset.Source { return New(dir) })
}
