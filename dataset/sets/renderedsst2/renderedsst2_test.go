package renderedsst2

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "renderedsst2", func(dir string) dataset.Source { return &RenderedSST2{dir, "all"} }, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []*RenderedSST2{{"x", "valid"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}
