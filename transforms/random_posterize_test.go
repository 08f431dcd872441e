package transforms

import (
	"fmt"
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRandomPosterize(t *testing.T) {
	refusesParam(t, "bits is -1 to 3", NewRandomPosterize(-1, 3))
	refusesParam(t, "bits is 4 to 3", NewRandomPosterize(4, 3))
	refusesParam(t, "want whole numbers", &RandomPosterize{Range{1, 2.5}})
	refusesInput(t, "want dtype", NewRandomPosterize(1, 3), tensor.Image(tensor.Uint16, tensor.HWC, 2, 2, 3))
}

func ExampleRandomPosterize() {
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(NewRandomPosterize(2, 8), sample))
	}
	// Output:
	// [{"op":"posterize","version":1,"params":{"bits":5}}]
	// [{"op":"posterize","version":1,"params":{"bits":2}}]
}
