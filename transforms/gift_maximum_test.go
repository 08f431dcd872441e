package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftMaximum(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 3, 3, 1,
		1, 2, 3,
		4, 5, 6,
		7, 8, 200)
	require.Equal(t, []byte{5, 6, 6, 8, 200, 200, 8, 200, 200}, applyOne(t, NewGiftMaximum(3), x).Data)
	// The disk of 3 x 3 is a cross.
	require.Equal(t, []byte{4, 5, 6, 7, 8, 200, 8, 200, 200}, applyOne(t, &GiftMaximum{Size: 3, Disk: true}, x).Data)
	sameAsGift(t, false, func(r *rand.Rand) (Op, gift.Filter) {
		size, disk := 1+2*r.IntN(8), r.IntN(2) == 0
		return &GiftMaximum{size, disk}, gift.Maximum(size, disk)
	})
	refusesParam(t, "size is 4, want an odd number of 1 to 255", NewGiftMaximum(4))
	refusesInput(t, "want [1 3 4] channels", NewGiftMaximum(3), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
}

func ExampleGiftMaximum() {
	image := exampleBytes(1, 7, 1, 10, 10, 200, 10, 50, 60, 70)
	fmt.Println(exampleRun(NewGiftMaximum(3), image)[0].Data)
	// Output: [10 200 200 200 60 70 70]
}
