package transforms

import "fmt"

func ExampleTrivialAugmentWide() {
	for sample := range uint64(2) {
		for _, op := range exampleDraw(NewTrivialAugmentWide(), sample) {
			fmt.Println(sample, InfoOf(op).Name)
		}
	}
	// Output:
	// 0 adjust_saturation
	// 1 affine
}
