package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestProjectBoxes(t *testing.T) {
	for says, set := range map[string]func(*ProjectBoxes){
		"scale and offset[2] is 1e+39, want a finite number": func(o *ProjectBoxes) { o.OffsetX = 1e39 },
		"size[1] is 1e+39, want a finite number":             func(o *ProjectBoxes) { o.SizeY = 1e39 },
		"size is 0, want more than 0":                        func(o *ProjectBoxes) { o.SizeX = 0 },
		"scale is 1 and 2 with keep center, want 1":          func(o *ProjectBoxes) { o.ScaleY, o.Keep = 2, KeepCenter },
		"coverage is 2, want 0 to 1 with keep overlap":       func(o *ProjectBoxes) { o.Keep, o.Coverage = KeepOverlap, 2 },
		"keep is keep(4)":                                    func(o *ProjectBoxes) { o.Keep = 4 },
	} {
		op := NewProjectBoxes()
		set(op)
		refusesParam(t, says, op)
	}
	c := NewCropCoords(CoordXYXY, 0, 0, 2, 2)
	c.Keep = KeepOverlap
	refusesParam(t, "keep is overlap, want one of", c)
	refusesParam(t, "format is relative, want one of", NewFlipCoords(CoordRelative, false, 3))
}

// TestRelativeMoves checks what moves relative boxes with an image of 8 rows
// and 16 columns.
func TestRelativeMoves(t *testing.T) {
	box := []float32{0.25, 0.5, 0.5, 1, 7}
	role := Role{Kind: RoleBoxes, Format: CoordRelative}
	free := Role{Kind: RoleBoxes, Format: CoordRelative, Clamping: ClampNone}
	for _, c := range []struct {
		op   Mover
		role Role
		want []float32
	}{
		{NewHorizontalFlip(), role, []float32{0.5, 0.5, 0.75, 1, 7}},
		{NewVerticalFlip(), role, []float32{0.25, 0, 0.5, 0.5, 7}},
		{NewResize(100, 30), role, box},
		{NewCrop(0, 0, 8, 16), role, box},
		{NewCrop(2, 6, 4, 8), role, []float32{0, 0.5, 0.25, 1, 7}},
		{NewCrop(2, 6, 4, 8), free, []float32{-0.25, 0.5, 0.25, 1.5, 7}},
		{&Pad{Top: 8, Left: 16, Right: 32, Fill: []float64{0}}, free, []float32{0.3125, 0.75, 0.375, 1, 7}},
		{NewCenterCrop(16, 32), role, []float32{0.375, 0.5, 0.5, 0.75, 7}},
		{&ObjectCrop{Top: 4, Left: 6, Height: 4, Width: 10, Keep: KeepCovered, Coverage: 0.4}, free, []float32{0, 0, 0.2, 1, 7}},
		{&ObjectCrop{Top: 4, Left: 6, Height: 4, Width: 10, Keep: KeepCovered, Coverage: 0.6}, free, []float32{0, 0, 0, 0, 7}},
		{&ObjectCrop{Top: 4, Left: 6, Height: 4, Width: 10, Keep: KeepCenter}, free, []float32{0, 0, 0.2, 1, 7}},
	} {
		got, _, _ := movedBy(t, c.op, c.role, floats(box, 1, 5), 8, 16)
		require.Equal(t, c.want, tensor.View[float32](got), "%T %v", c.op, c.role)
	}
	from := tensor.Desc{DType: tensor.Uint8, Shape: tensor.Dims(8, 16, 3), Layout: tensor.HWC}
	noise := NewElasticNoise(1)
	noise.SigmaX, noise.SigmaY = 1, 1
	for _, m := range []Mover{NewRotate(30), NewAffine(30), &Perspective{Coefficients: NumberList{1, 0, 0, 0, 1, 0, 0, 0}, Interpolation: Bilinear, Backend: Torch}, NewRotate90(1), noise} {
		to := make([]tensor.Desc, 1)
		require.NoError(t, m.Infer(to, []tensor.Desc{from}))
		_, err := NewDraw(newContext()).MoveColumn(m, role, []tensor.Desc{{DType: tensor.Float32, Shape: tensor.Dims(1, 5)}}, from, to[0])
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, "only windows, pads, flips and resizes move boxes of format relative")
	}
}

func ExampleProjectBoxes() {
	op := NewProjectBoxes()
	op.ScaleX, op.OffsetX = -1, 1 // mirrors
	out, _ := run(newContext(), op, floats([]float32{0, 0.25, 0.5, 1}, 1, 4))
	fmt.Println(tensor.View[float32](out[0]))
	// Output: [0.5 0.25 1 1]
}
