package lfw

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "lfw", func(dir string) dataset.Source { return &LFW{dir, "pairs", "all", "funneled"} }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*LFW{{"x", "people", "valid", "funneled"}, {"x", "faces", "all", "funneled"}, {"x", "people", "all", "aligned"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "lfw", "people.txt", func(dir string) dataset.Source { return New(dir) })
	settest.Mutate(t, "lfw", "pairs.txt", func(dir string) dataset.Source { return &LFW{dir, "pairs", "10fold", "funneled"} })
	settest.Mutate(t, "lfw", "pairsDevTest.txt", func(dir string) dataset.Source { return &LFW{dir, "pairs", "test", "funneled"} })
	settest.Mutate(t, "lfw", "lfw-names.txt", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "people.txt", "2\n1\nAaron_Eckhart\t1\n", "people.txt: the list ends, want more lines as its counts state"},
		{func(dir string) dataset.Source { return New(dir) }, "people.txt", "1\n1\nNobody\t1\n", "people.txt:3: \"Nobody\\t1\", want a person of lfw-names.txt"},
		{func(dir string) dataset.Source { return New(dir) }, "people.txt", "1\n1\nAaron_Eckhart\t99999999\n", "people.txt:3: \"99999999\", want a number from 0 to"},
		{func(dir string) dataset.Source { return &LFW{dir, "people", "train", "funneled"} }, "peopleDevTrain.txt", "-1\n", "peopleDevTrain.txt:1: \"-1\", want a number from 0 to"},
		{func(dir string) dataset.Source { return &LFW{dir, "pairs", "10fold", "funneled"} }, "pairs.txt", "2\n", "pairs.txt:1: \"2\", want 2 numbers"},
		{func(dir string) dataset.Source { return &LFW{dir, "pairs", "10fold", "funneled"} }, "pairs.txt", "1\t1\na\t1\t2\na\t1\tb\n", "pairs.txt:3: \"a\\t1\\tb\", want 4 fields"},
	} {
		settest.Refuses(t, "lfw", c.file, c.content, c.want, c.source)
	}
}

func FuzzPeopleTxt(f *testing.F) {
	settest.Fuzz(f, "lfw", "people.txt", func(dir string) dataset.Source { return New(dir) })
}

func FuzzPairsTxt(f *testing.F) {
	settest.Fuzz(f, "lfw", "pairs.txt", func(dir string) dataset.Source { return &LFW{dir, "pairs", "10fold", "funneled"} })
}

func FuzzPairsDevTestTxt(f *testing.F) {
	settest.Fuzz(f, "lfw", "pairsDevTest.txt", func(dir string) dataset.Source { return &LFW{dir, "pairs", "test", "funneled"} })
}

func FuzzLfwNamesTxt(f *testing.F) {
	settest.Fuzz(f, "lfw", "lfw-names.txt", func(dir string) dataset.Source { return New(dir) })
}
