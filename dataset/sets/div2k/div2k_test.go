package div2k

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func fresh(dir string) dataset.Source { return New(dir) }

func TestAsReferences(t *testing.T) {
	settest.Check(t, "div2k", fresh, "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []dataset.Source{&DIV2K{"x", "test", "bicubic", 2}, &DIV2K{"x", "train", "blur", 2}, &DIV2K{"x", "train", "unknown", 8}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}
