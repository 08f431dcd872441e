package tilegrid_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/infer-prep/infer-prep/internal/tilegrid"
	"github.com/stretchr/testify/require"
)

func windows(g tilegrid.Grid) (list [][4]int) {
	for i := range g.Len() {
		x, y, w, h := g.Window(i)
		list = append(list, [4]int{x, y, w, h})
	}
	return list
}

func TestWindows(t *testing.T) {
	for _, c := range []struct {
		g    tilegrid.Grid
		want [][4]int
	}{
		{tilegrid.Grid{Width: 10, Height: 4, Size: 4, Edge: tilegrid.Pad}, [][4]int{{0, 0, 4, 4}, {4, 0, 4, 4}, {8, 0, 2, 4}}},
		{tilegrid.Grid{Width: 10, Height: 4, Size: 4, Edge: tilegrid.Shift}, [][4]int{{0, 0, 4, 4}, {4, 0, 4, 4}, {6, 0, 4, 4}}},
		{tilegrid.Grid{Width: 10, Height: 4, Size: 4, Edge: tilegrid.Drop}, [][4]int{{0, 0, 4, 4}, {4, 0, 4, 4}}},
		{tilegrid.Grid{Width: 8, Height: 5, Size: 4, Edge: tilegrid.Pad}, [][4]int{{0, 0, 4, 4}, {4, 0, 4, 4}, {0, 4, 4, 1}, {4, 4, 4, 1}}},
		// Two windows with overlap cover 7 pixels: a third one would add none.
		{tilegrid.Grid{Width: 7, Height: 4, Size: 4, Overlap: 1, Edge: tilegrid.Pad}, [][4]int{{0, 0, 4, 4}, {3, 0, 4, 4}}},
		{tilegrid.Grid{Width: 8, Height: 4, Size: 4, Overlap: 1, Edge: tilegrid.Pad}, [][4]int{{0, 0, 4, 4}, {3, 0, 4, 4}, {6, 0, 2, 4}}},
		{tilegrid.Grid{Width: 8, Height: 4, Size: 4, Overlap: 1, Edge: tilegrid.Shift}, [][4]int{{0, 0, 4, 4}, {3, 0, 4, 4}, {4, 0, 4, 4}}},
		{tilegrid.Grid{Width: 3, Height: 6, Size: 4, Edge: tilegrid.Pad}, [][4]int{{0, 0, 3, 4}, {0, 4, 3, 2}}},
		{tilegrid.Grid{Width: 3, Height: 6, Size: 4, Edge: tilegrid.Shift}, [][4]int{{0, 0, 3, 4}, {0, 2, 3, 4}}},
		{tilegrid.Grid{Width: 3, Height: 6, Size: 4, Edge: tilegrid.Drop}, nil},
	} {
		require.NoError(t, c.g.Validate())
		require.Equal(t, c.want, windows(c.g), "%+v", c.g)
	}
}

// TestCover checks that every pixel is covered, with no window too many.
func TestCover(t *testing.T) {
	for n := 1; n < 30; n++ {
		for size := 1; size < 12; size++ {
			for overlap := range size {
				for _, edge := range []tilegrid.Edge{tilegrid.Pad, tilegrid.Shift, tilegrid.Drop} {
					g := tilegrid.Grid{Width: n, Height: 1, Size: size, Overlap: overlap, Edge: edge}
					if edge == tilegrid.Drop {
						g.Height = size
					}
					require.NoError(t, g.Validate())
					end := 0
					for i, w := range windows(g) {
						require.LessOrEqual(t, w[0], end, "%+v", g)
						require.Greater(t, w[0]+w[2], end, "%+v: window %d adds nothing", g, i)
						end = w[0] + w[2]
						require.True(t, edge != tilegrid.Drop || w[2] == size)
					}
					if edge != tilegrid.Drop {
						require.Equal(t, n, end, "%+v", g)
					} else {
						require.Less(t, n-end, size, "%+v", g)
					}
				}
			}
		}
	}
}

func TestValidate(t *testing.T) {
	for want, g := range map[string]tilegrid.Grid{
		"image of 0x1 pixels: want 1 to 1073741824 on both sides": {Height: 1, Size: 1},
		"size 0: want 1 to 1073741824":                            {Width: 1, Height: 1},
		"overlap 4: want 0 to 3, which is less than size":         {Width: 1, Height: 1, Size: 4, Overlap: 4},
		"invalid edge 3": {Width: 1, Height: 1, Size: 4, Edge: 3},
		"1152921504606846976 windows of 1 pixels with overlap 0 in 1073741824x1073741824: want at most 2147483647": {Width: 1 << 30, Height: 1 << 30, Size: 1},
	} {
		require.EqualError(t, g.Validate(), want)
	}
	g := tilegrid.Grid{Width: math.MaxInt32 >> 1, Height: 2, Size: 1}
	require.NoError(t, g.Validate())
	x, y, w, h := g.Window(g.Len() - 1)
	require.Equal(t, [4]int{g.Width - 1, 1, 1, 1}, [4]int{x, y, w, h})
}

func TestEdgeText(t *testing.T) {
	b, err := json.Marshal(tilegrid.Shift)
	require.NoError(t, err)
	require.Equal(t, `"shift"`, string(b))
	var e tilegrid.Edge
	require.NoError(t, json.Unmarshal([]byte(`"drop"`), &e))
	require.Equal(t, tilegrid.Drop, e)
	require.EqualError(t, json.Unmarshal([]byte(`"shfit"`), &e), `unknown edge "shfit", want one of pad, shift, drop; did you mean "shift"?`)
}
