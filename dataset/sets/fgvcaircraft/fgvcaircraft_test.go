package fgvcaircraft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "fgvcaircraft", func(dir string) dataset.Source { return New(dir) }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*FGVCAircraft{{"x", "valid", "variant"}, {"x", "val", "model"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "fgvcaircraft", "data/images_variant_trainval.txt", func(dir string) dataset.Source { return New(dir) })
	settest.Mutate(t, "fgvcaircraft", "data/variants.txt", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "data/images_variant_trainval.txt", "1 707-320\n2 x y\n", "data/images_variant_trainval.txt:2: class \"x y\" of image \"2\", want one of variants.txt"},
	} {
		settest.Refuses(t, "fgvcaircraft", c.file, c.content, c.want, c.source)
	}
}

func FuzzImagesVariantTrainvalTxt(f *testing.F) {
	settest.Fuzz(f, "fgvcaircraft", "data/images_variant_trainval.txt", func(dir string) dataset.Source { return New(dir) })
}

func FuzzVariantsTxt(f *testing.F) {
	settest.Fuzz(f, "fgvcaircraft", "data/variants.txt", func(dir string) dataset.Source { return New(dir) })
}
