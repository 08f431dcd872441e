package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftMedian(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 3, 3, 1,
		1, 2, 3,
		4, 5, 6,
		7, 8, 200)
	// The corner's window is 1 1 2, 1 1 2, 4 4 5; the centre's is the image.
	require.Equal(t, []byte{2, 3, 3, 4, 5, 6, 7, 7, 8}, applyOne(t, NewGiftMedian(3), x).Data)
	// The disk of 3 x 3 is a cross: 1 1 1 2 4 at the corner.
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6, 7, 8, 200}, applyOne(t, &GiftMedian{Size: 3, Disk: true}, x).Data)
	require.Equal(t, x.Data, applyOne(t, NewGiftMedian(1), x).Data)
	sameAsGift(t, false, func(r *rand.Rand) (Op, gift.Filter) {
		size, disk := 1+2*r.IntN(8), r.IntN(2) == 0
		return &GiftMedian{size, disk}, gift.Median(size, disk)
	})

	refusesParam(t, "size is 4, want an odd number of 1 to 255", NewGiftMedian(4))
	refusesParam(t, "size is -1", NewGiftMedian(-1))
	refusesParam(t, "size is 257", NewGiftMedian(257))
	refusesInput(t, "want dtype", NewGiftMedian(3), rgb32)
	refusesInput(t, "want [1 3 4] channels", NewGiftMedian(3), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
	refusesInput(t, "want an image", NewGiftMedian(3), vector)
}

func ExampleGiftMedian() {
	image := exampleBytes(1, 7, 1, 10, 10, 200, 10, 50, 60, 70)
	fmt.Println(exampleRun(NewGiftMedian(3), image)[0].Data)
	// Output: [10 10 10 50 50 60 70]
}
