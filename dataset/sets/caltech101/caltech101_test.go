package caltech101

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "caltech101", func(dir string) dataset.Source { return New(dir) }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*Caltech101{{"x", "label"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "caltech101", "Annotations/Faces_2/annotation_0001.mat", func(dir string) dataset.Source { return &Caltech101{dir, "all"} })
	settest.Mutate(t, "caltech101", "Annotations/Faces_2/annotation_0002.mat", func(dir string) dataset.Source { return &Caltech101{dir, "annotation"} })
}

func FuzzAnnotation0001Mat(f *testing.F) {
	settest.Fuzz(f, "caltech101", "Annotations/Faces_2/annotation_0001.mat", func(dir string) dataset.Source { return &Caltech101{dir, "all"} })
}

func FuzzAnnotation0002Mat(f *testing.F) {
	settest.Fuzz(f, "caltech101", "Annotations/Faces_2/annotation_0002.mat", func(dir string) dataset.Source { return &Caltech101{dir, "annotation"} })
}
