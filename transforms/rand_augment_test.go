package transforms

import "fmt"

func ExampleRandAugment() {
	for sample := range uint64(2) {
		for _, op := range exampleDraw(NewRandAugment(2, 9), sample) {
			fmt.Println(sample, InfoOf(op).Name)
		}
	}
	// Output:
	// 0 adjust_saturation
	// 0 affine
	// 1 affine
	// 1 affine
}
