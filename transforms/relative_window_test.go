package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRelativeWindow(t *testing.T) {
	for says, op := range map[string]*RelativeWindow{
		"height is 0, want more than 0, at most 1000":           NewRelativeWindow(0, 0, 0, 1),
		"width is 1001, want more than 0":                       NewRelativeWindow(0, 0, 1, 1001),
		"left is -0.5, want 0 to 1":                             NewRelativeWindow(0, -0.5, 1, 1),
		"top is 0.5, want -2 to 0":                              NewRelativeWindow(0.5, 0, 2, 1),
		"fill has no values":                                    {Height: 1, Width: 1},
		"coverage is 0.5, want 0 to 0 with keep all":            {Height: 1, Width: 1, Fill: zeroFill, Coverage: 0.5},
		"coverage is 1.5, want 0 to 1 with keep covered":        {Height: 1, Width: 1, Fill: zeroFill, Keep: KeepCovered, Coverage: 1.5},
		"keep is keep(9), want one of":                          {Height: 1, Width: 1, Fill: zeroFill, Keep: 9},
		"fill[0] is +Inf, want a finite number in the range of": {Height: 1, Width: 1, Fill: []float64{math.Inf(1)}},
	} {
		refusesParam(t, says, op)
	}
	from := tensor.Image(tensor.Uint8, tensor.HWC, 8, 9, 3)
	to := make([]tensor.Desc, 1)
	for says, op := range map[string]*RelativeWindow{
		"would become 0 x 9 (height x width), want sides of 1 to 16777216": NewRelativeWindow(0, 0, 0.1, 1),
		"fill has 2 values": {Height: 1, Width: 1, Fill: []float64{1, 2}},
	} {
		err := op.Infer(to, []tensor.Desc{from})
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, says)
	}
	require.ErrorIs(t, NewRelativeWindow(0, 0, 1000, 1000).Infer(to, []tensor.Desc{from.WithSize(maxSide, maxSide)}), ErrInput)
}

// TestRelativeWindowMoves checks the columns that move with an image of 8 rows
// and 16 columns. The window has 4 rows and 8 columns, from row 2 and column 6.
func TestRelativeWindowMoves(t *testing.T) {
	op := NewRelativeWindow(0.25, 0.4, 0.5, 0.5)
	op.Keep, op.Coverage = KeepOverlap, 0.1
	for _, c := range []struct {
		role     Role
		in, want []float32
	}{
		{Role{Kind: RoleBoxes, Format: CoordXYXY}, []float32{0, 0, 10, 8, 0, 0, 1, 1}, []float32{0, 0, 4, 4, 0, 0, 0, 0}},
		{Role{Kind: RoleBoxes, Format: CoordRelative}, []float32{0.15, 0.5, 0.65, 1, 0, 0, 0.25, 1}, []float32{0, 0.5, 0.49999997, 1, 0, 0, 0, 0}},
		{Role{Kind: RoleKeypoints}, []float32{7, 3, 0, 0, 1, 1, 6, 2}, []float32{1, 1, -6, -2, -5, -1, 0, 0}},
	} {
		n := 4
		if c.role.Kind == RoleKeypoints {
			n = 2
		}
		got, _, _ := movedBy(t, op, c.role, floats(c.in, len(c.in)/n, n), 8, 16)
		require.InDeltaSlice(t, c.want, tensor.View[float32](got), 1e-6, "%v", c.role)
	}
	pad := &RelativeWindow{Top: -0.5, Left: -0.25, Height: 2, Width: 1.5, Fill: []float64{7}}
	for _, k := range []RoleKind{RoleImage, RoleMask} {
		x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 2, 4, 1))
		require.NoError(t, err)
		copy(x.Data, []byte{1, 2, 3, 4, 5, 6, 7, 8})
		got, _, _ := movedBy(t, pad, Role{Kind: k}, x, 2, 4)
		f := map[RoleKind]byte{RoleImage: 7}[k]
		require.Equal(t, []byte{f, f, f, f, f, f, f, 1, 2, 3, 4, f, f, 5, 6, 7, 8, f, f, f, f, f, f, f}, got.Data)
	}
}

func ExampleRelativeWindow() {
	img := floats([]float32{1, 2, 3, 4, 5, 6}, 2, 3, 1)
	img.Layout = tensor.HWC
	out, _ := run(newContext(), NewRelativeWindow(0, 0.4, 0.5, 0.7), img)
	fmt.Println(tensor.View[float32](out[0]))
	// Output: [2 3]
}
