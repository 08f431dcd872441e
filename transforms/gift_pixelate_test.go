package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftPixelate(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 3, 3, 1,
		0, 10, 20,
		30, 40, 50,
		60, 71, 80)
	// Means of four, two, two (half up) and one pixel.
	require.Equal(t, []byte{20, 20, 35, 20, 20, 35, 66, 66, 80}, applyOne(t, NewGiftPixelate(2), x).Data)
	require.Equal(t, x.Data, applyOne(t, NewGiftPixelate(1), x).Data)
	sameAsGift(t, true, func(r *rand.Rand) (Op, gift.Filter) {
		n := 1 + r.IntN(25)
		return NewGiftPixelate(n), gift.Pixelate(n)
	})
	refusesParam(t, "size is 0, want 1 to 4096", NewGiftPixelate(0))
	refusesParam(t, "size is 4097", NewGiftPixelate(4097))
	refusesInput(t, "want [1 3 4] channels", NewGiftPixelate(3), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 5))
}

func ExampleGiftPixelate() {
	image := exampleBytes(1, 6, 1, 10, 20, 30, 40, 50, 60)
	fmt.Println(exampleRun(NewGiftPixelate(4), image)[0].Data)
	// Output: [25 25 25 25 55 55]
}
