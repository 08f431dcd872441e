package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftColorBalance(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 4, 100, 100, 100, 7, 200, 200, 200, 255)
	require.Equal(t, []byte{150, 50, 0, 7, 255, 100, 0, 255}, applyOne(t, NewGiftColorBalance(50, -50, -100), x).Data)
	// The luma of a gray pixel that loses its blue: 88.6 %.
	gray := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 1, 1, 100)
	require.Equal(t, []byte{89}, applyOne(t, NewGiftColorBalance(0, 0, -100), gray).Data)
	sameAsGift(t, true, func(r *rand.Rand) (Op, gift.Filter) {
		v := [3]float32{}
		for i := range v {
			v[i] = float32(600*r.Float64() - 100)
		}
		return NewGiftColorBalance(float64(v[0]), float64(v[1]), float64(v[2])), gift.ColorBalance(v[0], v[1], v[2])
	})

	refusesParam(t, "red is -101, want -100 to 500", NewGiftColorBalance(-101, 0, 0))
	refusesParam(t, "green is 501, want -100 to 500", NewGiftColorBalance(0, 501, 0))
	refusesParam(t, "blue is 501, want -100 to 500", NewGiftColorBalance(0, 0, 501))
	refusesInput(t, "want [1 3 4] channels", NewGiftColorBalance(1, 1, 1), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
}

func ExampleGiftColorBalance() {
	image := exampleBytes(1, 2, 3, 200, 150, 100, 0, 40, 255)
	fmt.Println(exampleRun(NewGiftColorBalance(20, -20, 0), image)[0].Data)
	// Output: [240 120 100 0 32 255]
}
