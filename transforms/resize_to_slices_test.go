package transforms

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestResizeToSlices(t *testing.T) {
	refusesParam(t, "patch", NewResizeToSlices(0, 448, 9))
	refusesParam(t, "scale", NewResizeToSlices(14, 1<<17, 9))
	refusesParam(t, "max_slices", NewResizeToSlices(14, 448, 35))
	r := NewResizeToSlices(14, 448, 9)
	r.Merge = 0
	refusesParam(t, "merge", r)

	b, err := os.ReadFile("testdata/resize_to_slices/sizes.json")
	require.NoError(t, err)
	var list []struct {
		Params json.RawMessage
		Sizes  [][8]int
	}
	require.NoError(t, json.Unmarshal(b, &list))
	for _, l := range list {
		var o ResizeToSlices
		require.NoError(t, json.Unmarshal(l.Params, &o))
		for _, s := range l.Sizes {
			o.Canvas = false
			got, err := o.cut(s[0], s[1])
			require.NoError(t, err)
			require.Equal(t, [4]int{s[2], s[3], s[6], s[7]}, [4]int{got.height, got.width, got.rows, got.columns}, "%s %v", l.Params, s)
			if s[6] > 0 {
				o.Canvas = true
				got, err = o.cut(s[0], s[1])
				require.NoError(t, err)
				require.Equal(t, [2]int{s[4], s[5]}, [2]int{got.height, got.width}, "%s %v", l.Params, s)
			}
		}
	}
	for side, ok := range map[int]bool{1 << 16: true, 1<<16 + 1: false} {
		var out [3]tensor.Desc
		err := NewResizeToSlices(14, 448, 9).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 4, side, 3)})
		require.Equal(t, ok, err == nil, "%d: %v", side, err)
		require.NoError(t, NewResizeToSlices(14, 448, 1).Infer(out[:], []tensor.Desc{tensor.Image(tensor.Uint8, tensor.HWC, 4, side, 3)}))
	}
}

// TestSliceLogs compares all logarithms that can decide between two grids.
func TestSliceLogs(t *testing.T) {
	b, err := os.ReadFile("testdata/resize_to_slices/logs.json")
	require.NoError(t, err)
	var list [][3]any
	require.NoError(t, json.Unmarshal(b, &list))
	require.NotEmpty(t, list)
	for _, l := range list {
		got := exactmath.Log(l[0].(float64) / l[1].(float64))
		require.Equal(t, l[2], fmt.Sprintf("%016x", math.Float64bits(got)), "%v", l)
	}
}

func ExampleResizeToSlices() {
	for _, canvas := range []bool{false, true} {
		r := NewResizeToSlices(1, 3, 9)
		r.Canvas = canvas
		out := exampleRun(r, exampleBytes(1, 16, 3, make([]byte, 48)...))
		fmt.Println(out[0].Shape, tensor.View[int64](out[1]), tensor.View[int32](out[2]))
	}
	// Output:
	// (4, 4, 3) [1 3] [4 4 4 4 4 4 4 4]
	// (4, 12, 3) [1 3] [4 4 4 4 4 4 4 4]
}
