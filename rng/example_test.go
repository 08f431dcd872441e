package rng_test

import (
	"fmt"

	"github.com/infer-prep/infer-prep/rng"
)

// The numbers of a sample depend on seed, epoch, op and ordinal alone, so any
// worker can draw them, in any order.
func Example() {
	key := rng.NewKey(1, 0, "random_crop")
	for _, ordinal := range []uint64{2, 0, 2} {
		s := key.At(ordinal)
		fmt.Println(ordinal, s.IntN(100), s.IntN(100))
	}

	// A shuffled order of ten samples, without a table.
	order := rng.NewPermutation(10, rng.NewKey(1, 0, "shuffle"))
	for i := range uint64(10) {
		fmt.Print(order.At(i), " ")
	}
	fmt.Println()
	// Output:
	// 2 13 31
	// 0 25 27
	// 2 13 31
	// 3 6 7 9 8 1 2 4 5 0
}
