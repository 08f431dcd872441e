package imagenet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "imagenet", func(dir string) dataset.Source { return New(dir) }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*ImageNet{{"x", "test"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "imagenet", "ILSVRC2012_devkit_t12/data/meta.mat", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "ILSVRC2012_devkit_t12/data/meta.mat", "", "meta.mat: in the array at byte 0"},
	} {
		settest.Refuses(t, "imagenet", c.file, c.content, c.want, c.source)
	}
}

func FuzzMetaMat(f *testing.F) {
	settest.Fuzz(f, "imagenet", "ILSVRC2012_devkit_t12/data/meta.mat", func(dir string) dataset.Source { return New(dir) })
}
