package pcam

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "pcam", func(dir string) dataset.Source { return New(dir) }, "torchvision")
}

func TestValidate(t *testing.T) {
	require.ErrorIs(t, (&PCAM{"x", "valid"}).Validate(), dataset.ErrParam)
}

const (
	imagesFile = "camelyonpatch_level_2_split_train_x.h5"
	labelsFile = "camelyonpatch_level_2_split_train_y.h5"
	contiguous = "camelyonpatch_level_2_split_valid_x.h5"
)

func train(dir string) dataset.Source { return New(dir) }

func val(dir string) dataset.Source { return &PCAM{dir, "val"} }

func TestMutations(t *testing.T) {
	settest.Mutate(t, "pcam", imagesFile, train)
	settest.Mutate(t, "pcam", labelsFile, train)
	settest.Mutate(t, "pcam", contiguous, val)
}

func FuzzImages(f *testing.F) { settest.Fuzz(f, "pcam", imagesFile, train) }

func FuzzLabels(f *testing.F) { settest.Fuzz(f, "pcam", labelsFile, train) }
