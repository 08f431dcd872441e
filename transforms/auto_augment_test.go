package transforms

import "fmt"

func ExampleAutoAugment() {
	for sample := range uint64(2) {
		for _, op := range exampleDraw(NewAutoAugment(PolicyImageNet), sample) {
			fmt.Println(sample, InfoOf(op).Name)
		}
	}
	// Output:
	// 0 equalize
	// 1 solarize
	// 1 auto_contrast
}
