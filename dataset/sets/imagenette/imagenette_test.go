package imagenette

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "imagenette", func(dir string) dataset.Source { return New(dir) }, "torchvision")
}

func TestValidate(t *testing.T) {
	for _, o := range []*Imagenette{{"x", "test"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}
