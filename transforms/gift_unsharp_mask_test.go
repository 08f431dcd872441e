package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftUnsharpMask(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 6, 1, 100, 100, 100, 200, 200, 200)
	// The blur weighs 0.107, 0.786 and 0.107, and little beyond. It moves 10.7
	// of the edge of 100 to either side.
	require.Equal(t, []byte{100, 100, 89, 211, 200, 200}, applyOne(t, NewGiftUnsharpMask(0.5, 1), x).Data)
	require.Equal(t, x.Data, applyOne(t, &GiftUnsharpMask{0.5, 1, 0.2}, x).Data)
	require.Equal(t, x.Data, applyOne(t, NewGiftUnsharpMask(0.5, 0), x).Data)
	sameAsGift(t, true, func(r *rand.Rand) (Op, gift.Filter) {
		s, a, h := float32(0.01+3*r.Float64()), float32(4*r.Float64()-1), float32(0.1*r.Float64())
		if r.IntN(2) == 0 {
			h = 0
		}
		return &GiftUnsharpMask{float64(s), float64(a), float64(h)}, gift.UnsharpMask(s, a, h)
	})

	refusesParam(t, "sigma is 0, want 0.01 to 100", NewGiftUnsharpMask(0, 1))
	refusesParam(t, "amount is 101, want -100 to 100", NewGiftUnsharpMask(1, 101))
	refusesParam(t, "threshold is -1, want 0 to 1", &GiftUnsharpMask{1, 1, -1})
	refusesInput(t, "want [1 3 4] channels", NewGiftUnsharpMask(1, 1), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
}

func ExampleGiftUnsharpMask() {
	image := exampleBytes(1, 6, 1, 100, 100, 100, 200, 200, 200)
	fmt.Println(exampleRun(NewGiftUnsharpMask(1, 1), image)[0].Data)
	// Output: [100 94 70 230 206 200]
}
