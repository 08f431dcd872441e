package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestCutOut(t *testing.T) {
	// Squares are drawn independently. A square of 3 x 3 has 7 x 7 places
	// around a 3 x 3 image, and 5 x 5 of them meet it.
	d := &drawing{op: &CutOut{Length: 3, Patches: 2}, in: tensor.Image(tensor.Uint8, tensor.CHW, 3, 3, 3), draw: NewDraw(newContext())}
	counts := [3]int{}
	for n := range uint64(2000) {
		ops, err := d.at(rng.Key{1}, n)
		require.NoError(t, err)
		counts[len(ops)]++
	}
	require.InDelta(t, 2000*24./49*24/49, counts[0], 100)
	require.InDelta(t, 2000*25./49*25/49, counts[2], 100)

	refusesInput(t, "want at least 4 x 4", NewCutOut(4), tensor.Image(tensor.Uint8, tensor.HWC, 3, 5, 3))
	refusesInput(t, "want an image", NewCutOut(4), vector)
	refusesParam(t, "length is 0, want 1", NewCutOut(0))
	refusesParam(t, "patches is 0, want 1 to 1024", &CutOut{Length: 1})
}

func ExampleCutOut() {
	fmt.Println(exampleDraw(&CutOut{Length: 3, Patches: 1}, 0))
	// Output: [{"op":"erase","version":1,"params":{"top":2,"left":2,"height":3,"width":3,"value":[0]}}]
}
