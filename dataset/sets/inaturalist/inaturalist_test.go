package inaturalist

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "inaturalist", func(dir string) dataset.Source { return &INaturalist{dir + "/2018", "2018", "super"} }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*INaturalist{{"x", "2020", "full"}, {"x", "2018", "genus"}, {"x", "2021_valid", "super"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}
