package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestJPEG(t *testing.T) {
	// Quality 1 divides the DC coefficient, 8*(40-128), by 255 and rounds: -3,
	// which is 128 - 3*255/8.
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 1, 40, 40)
	require.Equal(t, []byte{32, 32}, applyOne(t, NewJPEG(1), x).Data)
	require.Equal(t, []byte{40, 40}, applyOne(t, NewJPEG(100), x).Data)

	// A file of half the width and height of colour has one value for these.
	x = pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 3, 255, 0, 0, 0, 0, 255)
	full := applyOne(t, &JPEG{100, codec.Chroma444}, x).Data
	half := applyOne(t, NewJPEG(100), x).Data
	require.InDelta(t, 255, full[0], 3)
	require.InDelta(t, 255, full[5], 3)
	require.Less(t, half[0], uint8(200))

	for _, q := range []int{0, -1, 101} {
		refusesParam(t, "want 1 to 100", NewJPEG(q))
	}
	refusesParam(t, "chroma is default", &JPEG{Quality: 50})
	refusesParam(t, "want 420", &JPEG{50, 9})
	refusesInput(t, "want dtype", NewJPEG(50), rgb32)
	refusesInput(t, "want layout HWC", NewJPEG(50), tensor.Image(tensor.Uint8, tensor.CHW, 2, 2, 3))
	refusesInput(t, "want [1 3] channels", NewJPEG(50), tensor.Image(tensor.Uint8, tensor.HWC, 2, 2, 4))
	refusesInput(t, "want sides of 1 to 65500", NewJPEG(50), tensor.Image(tensor.Uint8, tensor.HWC, 65501, 2, 3))
	refusesInput(t, "want an image", NewJPEG(50), vector)
}

// TestJPEGLimits checks that limits for the files of others do not apply.
func TestJPEGLimits(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 2, 1, 40, 40)
	got, err := run(NewContext(codec.Limits{Pixels: 1, Bytes: 1}), NewJPEG(100), x)
	require.NoError(t, err)
	require.Equal(t, []byte{40, 40}, got[0].Data)
}

func ExampleJPEG() {
	fmt.Println(exampleRun(NewJPEG(10), exampleBytes(1, 2, 3, 200, 150, 100, 63, 64, 255))[0].Data)
	// Output: [145 151 249 88 94 192]
}
