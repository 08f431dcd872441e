package eurosat

import (
	"testing"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/sets/internal/settest"
)

func TestAsReferences(t *testing.T) {
	settest.Check(t, "eurosat", func(dir string) dataset.Source { return New(dir) }, "torchvision")
}
