package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestCountPatches(t *testing.T) {
	refusesParam(t, "patch", NewCountPatches(0))
	refusesParam(t, "axis", &CountPatches{Patch: 1, Axis: 3, Divisor: 1})
	refusesParam(t, "divisor", &CountPatches{Patch: 1})
	refusesInput(t, "want an image", NewCountPatches(1), vector)
	refusesInput(t, "multiples of 4", NewCountPatches(4), tensor.Image(tensor.Uint8, tensor.HWC, 8, 9, 3))
	x := randomImage(t, tensor.Uint8, tensor.CHW, 6, 9, 3)
	for want, op := range map[int64]CountPatches{
		6: {Patch: 3, Divisor: 1}, 1: {Patch: 3, Divisor: 4}, 2: {Patch: 3, Divisor: 1, Axis: PatchRows}, 3: {Patch: 3, Divisor: 1, Axis: PatchColumns},
		9: {Patch: 1, Divisor: 1, Axis: PatchColumns},
	} {
		require.Equal(t, []int64{want}, tensor.View[int64](applyOne(t, &op, x)))
	}
}

func ExampleCountPatches() {
	out := exampleRun(NewCountPatches(2), exampleBytes(2, 4, 1, make([]byte, 8)...))
	fmt.Println(tensor.View[int64](out[0]))
	// Output: [2]
}
