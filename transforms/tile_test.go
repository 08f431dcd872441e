package transforms

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestTile(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 6, 1, 1, 2, 3, 4, 5, 6)
	op := &Tile{Height: 1, Width: 3, OverlapWidth: 1, Fill: []float64{9}}
	require.Equal(t, []byte{1, 2, 3, 3, 4, 5, 4, 5, 6}, applyOne(t, op, x).Data)
	op.Edge = TilePad
	require.Equal(t, []byte{1, 2, 3, 3, 4, 5, 5, 6, 9}, applyOne(t, op, x).Data)
	op.Edge = TileDrop
	require.Equal(t, []byte{1, 2, 3, 3, 4, 5}, applyOne(t, op, x).Data)
	large := &Tile{Height: 2, Width: 8, Edge: TilePad, Fill: []float64{9}}
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, applyOne(t, large, x).Data)

	refusesParam(t, "height", NewTile(0, 1, 0))
	refusesParam(t, "width", NewTile(1, 0, 0))
	refusesParam(t, "overlap_height", NewTile(2, 3, 2))
	refusesParam(t, "overlap_width", NewTile(3, 2, 2))
	refusesParam(t, "overlap_height", NewTile(3, 2, -1))
	refusesParam(t, "edge", &Tile{Height: 1, Width: 1, Edge: 3, Fill: []float64{0}})
	refusesParam(t, "fill", &Tile{Height: 1, Width: 1})
	refusesInput(t, "want at least 5 x 1", NewTile(5, 1, 0), rgb8)
	refusesInput(t, "want at least 1 x 6", &Tile{Height: 1, Width: 6, Edge: TileDrop, Fill: []float64{0}}, rgb8)
	var e TileEdge
	require.Error(t, json.Unmarshal([]byte(`"wrap"`), &e))
	require.NoError(t, json.Unmarshal([]byte(`"drop"`), &e))
	require.Equal(t, TileDrop, e)
	require.Equal(t, "drop", e.String())
}

func ExampleTile() {
	op := NewTile(1, 2, 0)
	fmt.Println(exampleRun(op, exampleBytes(1, 5, 1, 1, 2, 3, 4, 5))[0].Data)
	// Output: [1 2 3 4 4 5]
}
