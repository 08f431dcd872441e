package oxfordpet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "oxfordpet", func(dir string) dataset.Source { return &OxfordPet{dir, "trainval", "all"} }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*OxfordPet{{"x", "train", "category"}, {"x", "test", "species"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "oxfordpet", "annotations/trainval.txt", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "annotations/trainval.txt", "a_1 1 1\n", "trainval.txt:1: 3 fields, want ID"},
		{func(dir string) dataset.Source { return New(dir) }, "annotations/trainval.txt", "a_1 0 1 1\n", "trainval.txt:1: breed \"0\", want 1 to"},
		{func(dir string) dataset.Source { return New(dir) }, "annotations/trainval.txt", "a_1 1 3 1\n", "trainval.txt:1: species \"3\", want 1 or 2"},
		{func(dir string) dataset.Source { return New(dir) }, "annotations/trainval.txt", "a_1 1 1 1\na_2 2 1 1\n", "trainval.txt:2: breed 2 of A, want 1 as above"},
	} {
		settest.Refuses(t, "oxfordpet", c.file, c.content, c.want, c.source)
	}
}

func FuzzTrainvalTxt(f *testing.F) {
	settest.Fuzz(f, "oxfordpet", "annotations/trainval.txt", func(dir string) dataset.Source { return New(dir) })
}
