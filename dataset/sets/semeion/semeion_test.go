package semeion

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "semeion", func(dir string) dataset.Source { return New(dir) }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*SEMEION{{"x", 2}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "semeion", "semeion.data", func(dir string) dataset.Source { return New(dir) })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "semeion.data", "1 0\n", "semeion.data:1: 2 numbers, want 256 pixels and 10 classes"},
	} {
		settest.Refuses(t, "semeion", c.file, c.content, c.want, c.source)
	}
}

func FuzzSemeionData(f *testing.F) {
	settest.Fuzz(f, "semeion", "semeion.data", func(dir string) dataset.Source { return New(dir) })
}
