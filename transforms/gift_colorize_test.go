package transforms

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/disintegration/gift"
	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestGiftColorize(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.CHW, 1, 1, 4, 100, 0, 50, 9)
	// Lightness 50 of 255; full blue of it is 0 0 100.
	require.Equal(t, []byte{0, 0, 100, 9}, applyOne(t, NewGiftColorize(240, 100), x).Data)
	require.Equal(t, []byte{50, 50, 50, 9}, applyOne(t, NewGiftColorize(240, 0), x).Data)
	require.Equal(t, []byte{50, 0, 75, 9}, applyOne(t, &GiftColorize{-120, 100, 50}, x).Data)
	require.Equal(t, x.Data, applyOne(t, &GiftColorize{240, 100, 0}, x).Data)
	sameAsGift(t, true, func(r *rand.Rand) (Op, gift.Filter) {
		h, s, p := float32(720*r.Float64()-360), float32(100*r.Float64()), float32(100*r.Float64())
		return &GiftColorize{float64(h), float64(s), float64(p)}, gift.Colorize(h, s, p)
	})

	refusesParam(t, "hue is 361, want -360 to 360", NewGiftColorize(361, 0))
	refusesParam(t, "saturation is -1, want 0 to 100", NewGiftColorize(0, -1))
	refusesParam(t, "percentage is 101, want 0 to 100", &GiftColorize{0, 0, 101})
	refusesInput(t, "want [1 3 4] channels", NewGiftColorize(1, 1), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 2))
}

func ExampleGiftColorize() {
	image := exampleBytes(1, 2, 3, 200, 150, 100, 0, 40, 255)
	fmt.Println(exampleRun(NewGiftColorize(240, 50), image)[0].Data)
	// Output: [98 98 203 64 64 191]
}
