package numpyslices

import (
	"testing"

	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

func TestAsReferences(t *testing.T) {
	t.Logf("%d rows", sourcetest.Golden(t, "../../testdata/datasets/numpyslices/mindspore.json"))
}
