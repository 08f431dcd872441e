package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestScaleFeatures(t *testing.T) {
	refusesParam(t, "div", &ScaleFeatures{Mul: 1})
	refusesParam(t, "range", &ScaleFeatures{Range: -1, Div: 1})
	refusesParam(t, "sub", NewScaleFeatures(math.NaN(), 1))
	refusesInput(t, "want float32", NewScaleFeatures(0, 1), rgb32)
	refusesInput(t, "want float32", NewScaleFeatures(0, 1), vector)
}

func ExampleScaleFeatures() {
	o := NewScaleFeatures(-4, 4)
	o.Range = 8
	fmt.Println(tensor.View[float32](exampleRun(o, waveform(-10, -2, 2))[0]))
	// Output: [-0.5 0.5 1.5]
}
