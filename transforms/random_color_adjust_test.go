package transforms

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandomColorAdjust(t *testing.T) {
	require.Equal(t, &RandomColorAdjust{Range{0.6, 1.4}, Range{0, 3}, Range{1, 1}, Range{-0.1, 0.1}, Pillow}, NewRandomColorAdjust(0.4, 2, 0, 0.1))
	refusesParam(t, "brightness", &RandomColorAdjust{Brightness: Range{-0.1, 1}})
	refusesParam(t, "contrast", &RandomColorAdjust{Contrast: Range{2, 1}})
	refusesParam(t, "saturation", &RandomColorAdjust{Saturation: Range{0, math.Inf(1)}})
	refusesParam(t, "hue", &RandomColorAdjust{Hue: Range{-0.6, 0.1}})
	refusesParam(t, "backend", &RandomColorAdjust{Backend: 9})
	refusesParam(t, "hue", &RandomColorAdjust{Hue: Range{0, 0.1}, Backend: MXNet})
	refusesParam(t, "contrast", &RandomColorAdjust{Contrast: Range{-1, 1}, Backend: OpenCV})
	mx := NewRandomColorAdjust(0.4, 0, 0, 0)
	mx.Backend = MXNet
	require.NoError(t, mx.Validate())
	require.Equal(t, MXNet, exampleDraw(mx, 0)[0].(*AdjustBrightness).Backend)
	refusesInput(t, "want dtype", NewRandomColorAdjust(0.1, 0, 0, 0), rgb32)
	for _, o := range exampleDraw(&RandomColorAdjust{Range{0, 2}, Range{0, 2}, Range{0, 2}, Range{-0.5, 0.5}, Torch}, 0) {
		require.Equal(t, "torch", reflect.ValueOf(o).Elem().FieldByName("Backend").Interface().(Backend).String())
	}
}

func ExampleRandomColorAdjust() {
	for _, op := range exampleDraw(NewRandomColorAdjust(0.4, 0.4, 0.4, 0.1), 0) {
		fmt.Printf("%T %+[1]v\n", op)
	}
	// Output:
	// *transforms.AdjustHue &{Factor:-0.05168201364678058 Backend:pillow}
	// *transforms.AdjustBrightness &{Factor:0.8179867551703852 Backend:pillow}
	// *transforms.AdjustContrast &{Factor:1.0642593140319603 Backend:pillow}
	// *transforms.AdjustSaturation &{Factor:1.043117918816905 Backend:pillow}
}
