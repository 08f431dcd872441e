package caltech256

import (
	"testing"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "caltech256", func(dir string) dataset.Source { return New(dir + "/256_ObjectCategories") }, "torchvision", "mindspore")
}
