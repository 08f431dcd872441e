package transforms

import (
	"fmt"
	"math"
	"testing"
)

func TestRandomHorizontalFlip(t *testing.T) {
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		refusesParam(t, "probability", &RandomHorizontalFlip{p})
		refusesParam(t, "probability", &RandomVerticalFlip{p})
		refusesParam(t, "probability", &RandomGrayscale{Probability: p})
		refusesParam(t, "probability", &RandomErasing{Probability: p})
		refusesParam(t, "probability", NewRandomApply(p, NewInvert()))
	}
	refusesInput(t, "want an image", NewRandomHorizontalFlip(), vector)
}

func ExampleRandomHorizontalFlip() {
	for sample := range uint64(3) {
		fmt.Println(exampleDraw(NewRandomHorizontalFlip(), sample))
	}
	// Output:
	// []
	// [{"op":"horizontal_flip","version":1,"params":{}}]
	// [{"op":"horizontal_flip","version":1,"params":{}}]
}
