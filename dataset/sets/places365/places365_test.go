package places365

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "places365", func(dir string) dataset.Source { return &Places365{dir, "val", true} }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*Places365{{"x", "train", true}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "places365", "places365_train_standard.txt", func(dir string) dataset.Source { return New(dir) })
	settest.Mutate(t, "places365", "categories_places365.txt", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "places365_train_standard.txt", "/a/1.jpg 3\n", "places365_train_standard.txt:1: class \"3\", want 0 to 2"},
		{func(dir string) dataset.Source { return New(dir) }, "places365_train_standard.txt", "/a/1.jpg\n", "places365_train_standard.txt:1: 1 fields, want an image and its class"},
		{func(dir string) dataset.Source { return &Places365{dir, "test", true} }, "places365_test.txt", "/a/1.jpg 1\n", "places365_test.txt:1: several fields"},
		{func(dir string) dataset.Source { return New(dir) }, "categories_places365.txt", "/a/b 0\n/a/b 1\n", "categories_places365.txt:2: class \"/a/b\" a second time"},
		{func(dir string) dataset.Source { return New(dir) }, "categories_places365.txt", "\n", "places365_train_standard.txt:1: class \"2\", want none"},
		{func(dir string) dataset.Source { return New(dir) }, "categories_places365.txt", "/a/b 99999\n", "categories_places365.txt:1: class \"99999\", want 0 to 65535"},
	} {
		settest.Refuses(t, "places365", c.file, c.content, c.want, c.source)
	}
}

func FuzzPlaces365TrainStandardTxt(f *testing.F) {
	settest.Fuzz(f, "places365", "places365_train_standard.txt", func(dir string) dataset.Source { return New(dir) })
}

func FuzzCategoriesPlaces365Txt(f *testing.F) {
	settest.Fuzz(f, "places365", "categories_places365.txt", func(dir string) dataset.Source { return New(dir) })
}
