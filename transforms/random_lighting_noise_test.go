package transforms

import (
	"fmt"
	"math"
	"testing"
)

func TestRandomLightingNoise(t *testing.T) {
	for _, sd := range []float64{-0.1, 1.1e5, math.NaN()} {
		refusesParam(t, "sd", NewRandomLightingNoise(sd))
	}
	refusesParam(t, "backend is torch", &RandomLightingNoise{1, Torch})
	refusesInput(t, "want [3] channels", NewRandomLightingNoise(1), rgb8.WithChannels(1))
}

func ExampleRandomLightingNoise() {
	fmt.Println(exampleDraw(NewRandomLightingNoise(0.1), 0))
	// Output: [{"op":"lighting_noise","version":1,"params":{"alpha":[-0.11080008000135422,-0.007211545016616583,-0.12429369240999222],"backend":"mxnet"}}]
}
