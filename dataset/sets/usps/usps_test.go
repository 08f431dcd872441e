package usps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "usps", func(dir string) dataset.Source { return &USPS{dir, "all"} }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*USPS{{"x", "valid"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "usps", "usps", func(dir string) dataset.Source { return New(dir) })
	settest.Mutate(t, "usps", "usps.t", func(dir string) dataset.Source { return &USPS{dir, "test"} })
}

func TestBadLists(t *testing.T) {
	for _, c := range []struct {
		source              func(dir string) dataset.Source
		file, content, want string
	}{
		{func(dir string) dataset.Source { return New(dir) }, "usps", "1 1:0.5\n", "usps:1: 2 fields, want a label and 256 pixels"},
		{func(dir string) dataset.Source { return New(dir) }, "usps", "\n", "has no images of this usage"},
	} {
		settest.Refuses(t, "usps", c.file, c.content, c.want, c.source)
	}
}

func FuzzUsps(f *testing.F) {
	settest.Fuzz(f, "usps", "usps", func(dir string) dataset.Source { return New(dir) })
}

func FuzzUspsT(f *testing.F) {
	settest.Fuzz(f, "usps", "usps.t", func(dir string) dataset.Source { return &USPS{dir, "test"} })
}
