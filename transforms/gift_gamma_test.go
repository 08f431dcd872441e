package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftGamma(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 3, 1, 0, 64, 255)
	// sqrt(64*255) = 127.7; 64^2/255 = 16.06.
	require.Equal(t, []byte{0, 128, 255}, applyOne(t, NewGiftGamma(2), x).Data)
	require.Equal(t, []byte{0, 16, 255}, applyOne(t, NewGiftGamma(0.5), x).Data)
	require.Equal(t, x.Data, applyOne(t, NewGiftGamma(1), x).Data)
	sameAsGift(t, true, func(r *rand.Rand) (Op, gift.Filter) {
		g := float32(0.01 + 4*r.Float64())
		return NewGiftGamma(float64(g)), gift.Gamma(g)
	})

	refusesParam(t, "gamma is 0, want 0.01 to 100", NewGiftGamma(0))
	refusesInput(t, "want [1 3 4] channels", NewGiftGamma(1), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
}

func ExampleGiftGamma() {
	image := exampleBytes(1, 2, 3, 200, 150, 100, 0, 40, 255)
	fmt.Println(exampleRun(NewGiftGamma(2.2), image)[0].Data)
	// Output: [228 200 167 0 110 255]
}
