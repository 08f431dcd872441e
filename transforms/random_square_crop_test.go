package transforms

import (
	"fmt"
	"testing"
)

func TestRandomSquareCrop(t *testing.T) {
	refusesParam(t, "width", NewRandomSquareCrop(1, 0, 1, 1))
	refusesParam(t, "min_side", NewRandomSquareCrop(1, 1, 0, 1))
	refusesParam(t, "max_side is 2", NewRandomSquareCrop(1, 1, 3, 2))
	refusesParam(t, "max_side", NewRandomSquareCrop(1, 1, 3, maxSide+1))
	op := NewRandomSquareCrop(1, 1, 1, 1)
	op.Interpolation = Box
	refusesParam(t, "interpolation", op)
	refusesInput(t, "sides of at least 5", NewRandomSquareCrop(1, 1, 1, 5), rgb8)
}

func ExampleRandomSquareCrop() {
	op := NewRandomSquareCrop(224, 224, 2, 6)
	op.Centered = true
	fmt.Println(exampleDraw(op, 0))
	// Output: [{"op":"resized_crop","version":1,"params":{"top":1,"left":2,"height":4,"width":4,"out_height":224,"out_width":224,"interpolation":"bilinear","backend":"opencv","no_antialias":false}}]
}
