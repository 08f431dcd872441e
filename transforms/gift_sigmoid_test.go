package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftSigmoid(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 5, 1, 0, 51, 102, 153, 255)
	// Contrast grows around the midpoint, 127.5.
	require.Equal(t, []byte{0, 32, 91, 164, 255}, applyOne(t, NewGiftSigmoid(5), x).Data)
	// A negative factor undoes it, but for rounding.
	require.Equal(t, []byte{0, 51, 102, 153, 255}, applyOne(t, NewGiftSigmoid(-5), applyOne(t, NewGiftSigmoid(5), x)).Data)
	require.Equal(t, x.Data, applyOne(t, NewGiftSigmoid(0), x).Data)
	sameAsGift(t, true, func(r *rand.Rand) (Op, gift.Filter) {
		m, f := float32(r.Float64()), float32(20*r.IntN(1000)-9999)/1000
		return &GiftSigmoid{float64(m), float64(f)}, gift.Sigmoid(m, f)
	})

	refusesParam(t, "midpoint is -1, want 0 to 1", &GiftSigmoid{-1, 1})
	refusesParam(t, "factor is 0.0001, want 0, 0.001 to 1000, or -1000 to -0.001", NewGiftSigmoid(0.0001))
	refusesParam(t, "factor is -2000", NewGiftSigmoid(-2000))
	refusesInput(t, "want [1 3 4] channels", NewGiftSigmoid(1), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
}

func ExampleGiftSigmoid() {
	image := exampleBytes(1, 2, 3, 200, 150, 100, 0, 40, 255)
	fmt.Println(exampleRun(NewGiftSigmoid(5), image)[0].Data)
	// Output: [219 160 88 0 23 255]
}
