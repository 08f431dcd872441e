package flowers102

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "flowers102", func(dir string) dataset.Source { return New(dir) }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*Flowers102{{"x", "val", false}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "flowers102", "setid.mat", func(dir string) dataset.Source { return New(dir) })
	settest.Mutate(t, "flowers102", "imagelabels.mat", func(dir string) dataset.Source { return &Flowers102{dir, "all", true} })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "setid.mat", "", "setid.mat: in the array at byte 0: the data ends, want a header of 128 bytes"},
	} {
		settest.Refuses(t, "flowers102", c.file, c.content, c.want, c.source)
	}
}

func FuzzSetidMat(f *testing.F) {
	settest.Fuzz(f, "flowers102", "setid.mat", func(dir string) dataset.Source { return New(dir) })
}

func FuzzImagelabelsMat(f *testing.F) {
	settest.Fuzz(f, "flowers102", "imagelabels.mat", func(dir string) dataset.Source { return &Flowers102{dir, "all", true} })
}
