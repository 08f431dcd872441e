package omniglot

import (
	"testing"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func fresh(dir string) dataset.Source { return New(dir) }

func TestAsReferences(t *testing.T) {
	settest.Check(t, "omniglot", fresh, "torchvision", "mindspore")
}
