package transforms

import (
	"fmt"
	"testing"
)

func TestRandomGray(t *testing.T) {
	refusesParam(t, "probability", NewRandomGray(1.1))
	refusesInput(t, "want dtype", NewRandomGray(0.5), rgb8)
	refusesInput(t, "want [3] channels", NewRandomGray(0.5), rgb32.WithChannels(1))
}

func ExampleRandomGray() {
	fmt.Println(floatDraw(NewRandomGray(1)))
	// Output: [{"op":"color_matrix","version":1,"params":{"matrix":[0.21,0.72,0.07,0.21,0.72,0.07,0.21,0.72,0.07]}}]
}
