package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftSepia(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 4, 100, 0, 0, 9, 255, 255, 255, 0)
	// 39.3, 34.9 and 27.2 % of red; white is clipped to 239 in blue: 93.7 %.
	require.Equal(t, []byte{39, 35, 27, 9, 255, 255, 239, 0}, applyOne(t, NewGiftSepia(100), x).Data)
	require.Equal(t, x.Data, applyOne(t, NewGiftSepia(0), x).Data)
	sameAsGift(t, true, func(r *rand.Rand) (Op, gift.Filter) {
		p := float32(100 * r.Float64())
		return NewGiftSepia(float64(p)), gift.Sepia(p)
	})

	refusesParam(t, "percentage is 101, want 0 to 100", NewGiftSepia(101))
	refusesInput(t, "want [1 3 4] channels", NewGiftSepia(1), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
}

func ExampleGiftSepia() {
	image := exampleBytes(1, 1, 3, 200, 150, 100)
	fmt.Println(exampleRun(NewGiftSepia(100), image)[0].Data)
	// Output: [213 190 148]
}
