package transforms

import (
	"fmt"
	"testing"
)

func TestRandomVerticalFlip(t *testing.T) {
	refusesInput(t, "want an image", NewRandomVerticalFlip(), vector)
}

func ExampleRandomVerticalFlip() {
	for sample := range uint64(3) {
		fmt.Println(exampleDraw(NewRandomVerticalFlip(), sample))
	}
	// Output:
	// []
	// [{"op":"vertical_flip","version":1,"params":{}}]
	// [{"op":"vertical_flip","version":1,"params":{}}]
}
