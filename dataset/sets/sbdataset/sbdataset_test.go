package sbdataset

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

const annotation = "cls/2008_000002.mat"

func edges(dir string) dataset.Source { return New(dir) }

func segmentation(dir string) dataset.Source { return &SBDataset{dir, "all", "segmentation"} }

func TestAsReferences(t *testing.T) {
	settest.Check(t, "sbdataset", edges, "torchvision", "mindspore")
	settest.Check(t, "sbdataset", segmentation)
}

func TestValidate(t *testing.T) {
	for _, o := range []*SBDataset{{"x", "test", "boundaries"}, {"x", "all", "Boundaries"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}

func TestMutations(t *testing.T) {
	settest.Mutate(t, "sbdataset", "train.txt", edges)
	settest.Mutate(t, "sbdataset", annotation, edges)
	settest.Mutate(t, "sbdataset", "cls/2008_000003.mat", segmentation) // is not packed
	settest.Mutate(t, "sbdataset", "cls/2008_000003.mat", func(dir string) dataset.Source { return &SBDataset{dir, "val", "boundaries"} })
}

func TestBadLists(t *testing.T) {
	settest.Refuses(t, "sbdataset", "train.txt", "\n", "has no images of this usage", edges)
}

func FuzzTrainTxt(f *testing.F) { settest.Fuzz(f, "sbdataset", "train.txt", edges) }

func FuzzAnnotation(f *testing.F) { settest.Fuzz(f, "sbdataset", annotation, edges) }

func FuzzPlainAnnotation(f *testing.F) {
	settest.Fuzz(f, "sbdataset", "cls/2008_000003.mat", func(dir string) dataset.Source { return &SBDataset{dir, "val", "boundaries"} })
}
