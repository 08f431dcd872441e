package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestWindowTiles(t *testing.T) {
	refusesParam(t, "size", NewWindowTiles(0, 504))
	refusesParam(t, "window", NewWindowTiles(728, 0))
	r := NewWindowTiles(728, 504)
	r.MaxSide = 1<<24 + 1
	refusesParam(t, "max_side", r)

	for _, r := range readSizeRules[[8]int](t, "window_tiles", "sizes.json") {
		op, err := UnmarshalParams("window_tiles", 1, r.Params)
		require.NoError(t, err)
		for _, s := range r.Sizes {
			p, err := op.(*WindowTiles).plan(s[0], s[1])
			if s[2] == 0 {
				require.ErrorIs(t, err, ErrInput, "%s %v", r.Params, s)
				continue
			}
			require.NoError(t, err, "%s %v", r.Params, s)
			crop := [2]int{p.cropH, p.cropW}
			if p.count() == 0 {
				crop = [2]int{p.wholeH, p.wholeW}
			}
			require.Equal(t, s, [8]int{s[0], s[1], p.wholeH, p.wholeW, crop[0], crop[1], p.rows, p.columns}, "%s %v", r.Params, s)
		}
	}
	var out [2]tensor.Desc
	require.ErrorIs(t, NewWindowTiles(1, 1).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 100, 100, 3)}), ErrInput, "10,000 windows")
}

func ExampleWindowTiles() {
	for _, w := range []int{4, 9} {
		out := exampleRun(NewWindowTiles(8, 3), exampleBytes(4, w, 1, make([]byte, 4*w)...))
		fmt.Println(out[0].Shape, out[1].Data)
	}
	// Output:
	// (3, 3, 1) []
	// (18, 3, 1) [0 0 1 0 0 0]
}
