package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestObjectCrop(t *testing.T) {
	refusesParam(t, "height", NewObjectCrop(0, 0, 0, 3))
	op := NewObjectCrop(0, 0, 3, 3)
	op.Coverage = 0.5
	refusesParam(t, "coverage is 0.5, want 0 to 0 with keep center", op)
	op.Keep = 9
	refusesParam(t, "keep", op)
	c := NewCropCoords(CoordXY, 0, 0, 3, 3)
	c.Keep = KeepCenter
	refusesParam(t, "keep is center with format xy", c)
}

// TestKeepCovered checks the boxes that a crop keeps by the share of their area
// that is inside: the window has the columns 10 to 30 and the rows 20 to 60.
func TestKeepCovered(t *testing.T) {
	in := []float32{
		10, 20, 30, 60, // the window
		20, 20, 40, 60, // a half of it is inside
		25, 20, 45, 60, // a quarter
		30, 20, 50, 60, // touches the edge only
		0, 0, 100, 100, // larger than the window: 8 percent
		15, 25, 15, 30, // no area
	}
	for _, f := range []CoordFormat{CoordXYXY, CoordCXCYWH, CoordLTWH} {
		x := floats(append([]float32(nil), in...), 6, 4)
		rows := tensor.View[float32](x)
		for i := 0; i < len(rows); i += 4 {
			fromXYXY(rows[i:i+4], f)
		}
		op := &ObjectCrop{Top: 20, Left: 10, Height: 40, Width: 20, Keep: KeepCovered, Coverage: 0.25}
		got, _, _ := movedBy(t, op, Role{Kind: RoleBoxes, Format: f}, x, 100, 100)
		want := []float32{0, 0, 20, 40, 10, 0, 20, 40}
		rows = tensor.View[float32](got)
		toXYXY(rows[0:4], f)
		toXYXY(rows[4:8], f)
		require.Equal(t, append(want, make([]float32, 16)...), rows)
	}
}

func ExampleObjectCrop() {
	img := floats([]float32{1, 2, 3, 4, 5, 6}, 2, 3, 1)
	img.Layout = tensor.HWC
	out, _ := run(newContext(), NewObjectCrop(0, 1, 2, 2), img)
	fmt.Println(tensor.View[float32](out[0]))
	// Output: [2 3 5 6]
}
