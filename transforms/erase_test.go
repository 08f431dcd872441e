package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestErase(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 2, 2, 1, 2, 3, 4, 5, 6, 7, 8)
	op := &Erase{Top: 0, Left: 1, Height: 2, Width: 1, Value: []float64{10, 20}}
	require.Equal(t, []byte{1, 2, 10, 20, 5, 6, 10, 20}, applyOne(t, op, x).Data)
	y := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 2, 2, 1, 2, 3, 4)
	op = &Erase{Height: 1, Width: 1, Value: []float64{0.5, -1}}
	require.Equal(t, []float32{0.5, 2, -1, 4}, tensor.View[float32](applyOne(t, op, y)))

	refusesParam(t, "top", NewErase(-1, 0, 1, 1))
	refusesParam(t, "height", NewErase(0, 0, 0, 1))
	refusesParam(t, "value", &Erase{Height: 1, Width: 1})
	refusesInput(t, "want at least 5 x 1", NewErase(4, 0, 1, 1), rgb8)
	refusesInput(t, "cannot hold value[0]", &Erase{Height: 1, Width: 1, Value: []float64{0.5}}, rgb8)
	refusesInput(t, "2 values", &Erase{Height: 1, Width: 1, Value: []float64{1, 2}}, rgb8)
}

func ExampleErase() {
	fmt.Println(exampleRun(NewErase(0, 1, 1, 2), exampleBytes(1, 4, 1, 1, 2, 3, 4))[0].Data)
	// Output: [1 0 0 4]
}
