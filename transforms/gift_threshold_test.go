package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftThreshold(t *testing.T) {
	// Lumas of 29.9, 58.7 and 11.4 %.
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 3, 4, 255, 0, 0, 9, 0, 255, 0, 255, 0, 0, 255, 0)
	require.Equal(t, []byte{0, 0, 0, 9, 255, 255, 255, 255, 0, 0, 0, 0}, applyOne(t, NewGiftThreshold(50), x).Data)
	require.Equal(t, []byte{255, 255, 255, 9, 255, 255, 255, 255, 0, 0, 0, 0}, applyOne(t, NewGiftThreshold(20), x).Data)
	gray := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 4, 1, 0, 50, 52, 255)
	require.Equal(t, []byte{0, 0, 255, 255}, applyOne(t, NewGiftThreshold(20), gray).Data, "20 % are 51")
	sameAsGift(t, true, func(r *rand.Rand) (Op, gift.Filter) {
		p := float32(100 * r.Float64())
		return NewGiftThreshold(float64(p)), gift.Threshold(p)
	})

	refusesParam(t, "percentage is 101, want 0 to 100", NewGiftThreshold(101))
	refusesInput(t, "want [1 3 4] channels", NewGiftThreshold(1), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
	refusesInput(t, "want dtype", NewGiftThreshold(1), rgb32)
}

func ExampleGiftThreshold() {
	image := exampleBytes(1, 2, 3, 200, 150, 100, 90, 120, 130)
	fmt.Println(exampleRun(NewGiftThreshold(50), image)[0].Data)
	// Output: [255 255 255 0 0 0]
}
