package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftMinimum(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 3, 3, 1,
		1, 2, 3,
		4, 5, 6,
		7, 8, 200)
	require.Equal(t, []byte{1, 1, 2, 1, 1, 2, 4, 4, 5}, applyOne(t, NewGiftMinimum(3), x).Data)
	// The disk of 3 x 3 is a cross.
	require.Equal(t, []byte{1, 1, 2, 1, 2, 3, 4, 5, 6}, applyOne(t, &GiftMinimum{Size: 3, Disk: true}, x).Data)
	sameAsGift(t, false, func(r *rand.Rand) (Op, gift.Filter) {
		size, disk := 1+2*r.IntN(8), r.IntN(2) == 0
		return &GiftMinimum{size, disk}, gift.Minimum(size, disk)
	})
	refusesParam(t, "size is 4, want an odd number of 1 to 255", NewGiftMinimum(4))
	refusesInput(t, "want [1 3 4] channels", NewGiftMinimum(3), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
}

func ExampleGiftMinimum() {
	image := exampleBytes(1, 7, 1, 10, 10, 200, 10, 50, 60, 70)
	fmt.Println(exampleRun(NewGiftMinimum(3), image)[0].Data)
	// Output: [10 10 10 10 10 50 60]
}
