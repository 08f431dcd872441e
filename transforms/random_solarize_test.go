package transforms

import (
	"fmt"
	"testing"
)

func TestRandomSolarize(t *testing.T) {
	refusesParam(t, "threshold is -1 to 3", NewRandomSolarize(-1, 3))
	refusesParam(t, "threshold is 4 to 256", NewRandomSolarize(4, 256))
	refusesParam(t, "want whole numbers", &RandomSolarize{Range{0.5, 2}})
	refusesInput(t, "want dtype", NewRandomSolarize(1, 3), rgb32)
}

func ExampleRandomSolarize() {
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(NewRandomSolarize(0, 255), sample))
	}
	// Output:
	// [{"op":"solarize","version":1,"params":{"threshold":[113,128]}}]
	// [{"op":"solarize","version":1,"params":{"threshold":[19,108]}}]
}
