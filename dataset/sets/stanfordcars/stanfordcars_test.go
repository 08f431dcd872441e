package stanfordcars

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "stanfordcars", func(dir string) dataset.Source { return New(dir) }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*StanfordCars{{"x", "val"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "stanfordcars", "devkit/cars_train_annos.mat", func(dir string) dataset.Source { return New(dir) })
	settest.Mutate(t, "stanfordcars", "devkit/cars_meta.mat", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "devkit/cars_meta.mat", "", "cars_meta.mat: in the array at byte 0"},
	} {
		settest.Refuses(t, "stanfordcars", c.file, c.content, c.want, c.source)
	}
}

func FuzzCarsTrainAnnosMat(f *testing.F) {
	settest.Fuzz(f, "stanfordcars", "devkit/cars_train_annos.mat", func(dir string) dataset.Source { return New(dir) })
}

func FuzzCarsMetaMat(f *testing.F) {
	settest.Fuzz(f, "stanfordcars", "devkit/cars_meta.mat", func(dir string) dataset.Source { return New(dir) })
}
