package celeba

import (
	"testing"

	"github.com/infer-prep/infer-prep/dataset/sourcetest"
)

func TestAsReferences(t *testing.T) {
	for _, reference := range []string{"torchvision", "mindspore"} {
		n := sourcetest.Golden(t, "../../testdata/datasets/celeba/"+reference+".json")
		t.Logf("%s: %d rows", reference, n)
	}
}
