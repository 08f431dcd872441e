package cityscapes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func fresh(dir string) dataset.Source { return New(dir) }

func TestAsReferences(t *testing.T) {
	settest.Check(t, "cityscapes", fresh, "torchvision", "mindspore")
}

func TestValidate(t *testing.T) {
	for _, o := range []dataset.Source{&Cityscapes{"x", "train_extra", "fine", "color"}, &Cityscapes{"x", "train", "good", "color"}, &Cityscapes{"x", "train", "fine", "mask"}} {
		require.ErrorIs(t, o.Validate(), dataset.ErrParam, "%+v", o)
	}
}
