package food101

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "food101", func(dir string) dataset.Source { return New(dir) }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*Food101{{"x", "val", "json"}, {"x", "train", "xml"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "food101", "meta/train.json", func(dir string) dataset.Source { return New(dir) })
	settest.Mutate(t, "food101", "meta/train.txt", func(dir string) dataset.Source { return &Food101{dir, "train", "txt"} })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "meta/train.json", "{\"a\": [\"a/1\"], \"a\": [\"a/2\"]}", "class \"a\" a second time"},
		{func(dir string) dataset.Source { return New(dir) }, "meta/train.json", "{\"a\": {}}", "meta/train.json: invalid data"},
		{func(dir string) dataset.Source { return New(dir) }, "meta/train.json", "{}", "no images of this usage"},
		{func(dir string) dataset.Source { return New(dir) }, "meta/train.json", "{\"a\": []} x", "meta/train.json"},
		{func(dir string) dataset.Source { return &Food101{dir, "train", "txt"} }, "meta/train.txt", "waffles/1\n\npizza/2\n", "meta/train.txt:3: \"pizza/2\", want CLASS/ID with a class of classes.txt"},
		{func(dir string) dataset.Source { return &Food101{dir, "train", "txt"} }, "meta/classes.txt", "waffles\nwaffles\n", "meta/classes.txt:2: class \"waffles\", want distinct names"},
	} {
		settest.Refuses(t, "food101", c.file, c.content, c.want, c.source)
	}
}

func FuzzTrainJson(f *testing.F) {
	settest.Fuzz(f, "food101", "meta/train.json", func(dir string) dataset.Source { return New(dir) })
}

func FuzzTrainTxt(f *testing.F) {
	settest.Fuzz(f, "food101", "meta/train.txt", func(dir string) dataset.Source { return &Food101{dir, "train", "txt"} })
}
