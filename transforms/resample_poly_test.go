package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestResamplePoly(t *testing.T) {
	in := floats([]float32{1, 2, 3, 4}, 2, 2)
	require.Equal(t, in.Data, applyOne(t, NewResamplePoly(8000, 8000), in).Data)
	require.Equal(t, tensor.Dims(2, 4), applyOne(t, NewResamplePoly(8000, 16000), in).Shape)
	require.Equal(t, tensor.Dims(2, 1), applyOne(t, NewResamplePoly(44100, 16000), in).Shape)

	refusesParam(t, "from_rate is 0 Hz", NewResamplePoly(0, 1))
	refusesParam(t, "to_rate is 16777217 Hz", NewResamplePoly(1, 1<<24+1))
	refusesParam(t, "whose filter has more than 16777216 taps", NewResamplePoly(999983, 1000003))
	refusesInput(t, "want a sound: float32 (samples) or (channels, samples)", NewResamplePoly(1, 2), vector)
	refusesInput(t, "want a sound", NewResamplePoly(1, 2), rgb32)
}

func ExampleResamplePoly() {
	y := exampleRun(NewResamplePoly(16000, 8000), floats(make([]float32, 5), 5))[0]
	fmt.Println(y.Desc)
	// Output: float32 (3,)
}

// TestResampleSizes resamples short sounds between many rates. A constant sound
// stays one in its middle.
func TestResampleSizes(t *testing.T) {
	for from := 1; from <= 12; from++ {
		for to := 1; to <= 12; to++ {
			for _, n := range []int{0, 1, 2, 3, 10, 300} {
				in := floats(make([]float32, n), n)
				for i := range n {
					tensor.View[float32](in)[i] = 1
				}
				for _, op := range []Op{NewResamplePoly(from, to), NewResampleSinc(from, to)} {
					y := applyOne(t, op, in)
					require.Equal(t, (n*to+from-1)/from, y.Shape.At(0), "%d samples from %d to %d", n, from, to)
					if v := tensor.View[float32](y); len(v) > 24*to {
						require.InDelta(t, 1, v[len(v)/2], 0.01, "from %d to %d", from, to)
					}
				}
			}
		}
	}
}
