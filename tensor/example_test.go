package tensor_test

import (
	"bytes"
	"fmt"
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// An image becomes planar, and NumPy's format keeps it.
func Example() {
	image, err := tensor.New(tensor.Image(tensor.Float32, tensor.HWC, 2, 4, 3))
	if err != nil {
		fmt.Println(err)
		return
	}
	tensor.View[float32](image)[5] = 0.5 // row 0, column 1, blue
	planar, err := image.Transposed()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(planar.Desc)

	var file bytes.Buffer
	if err := tensor.WriteNPY(&file, planar); err != nil {
		fmt.Println(err)
		return
	}
	back, err := tensor.ReadNPY(&file, math.MaxInt64)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.Desc, tensor.View[float32](back)[2*8+1])
	// Output:
	// float32 CHW (3, 2, 4)
	// float32 (3, 2, 4) 0.5
}
