package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestAffine(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 3, 1, 10, 20, 30, 40, 50, 60)
	shift := NewAffine(0)
	shift.TranslateX, shift.TranslateY, shift.Fill = 1, -1, NumberList{7}
	require.Equal(t, []byte{7, 40, 50, 7, 7, 7}, applyOne(t, shift, x).Data)
	half := NewAffine(0)
	half.TranslateX, half.Interpolation = 0.5, Bilinear
	require.Equal(t, []byte{10, 15, 25, 40, 45, 55}, applyOne(t, half, x).Data)
	twice := NewAffine(0)
	twice.Scale, twice.Center = 2, NumberList{0, 0}
	require.Equal(t, []byte{10, 10, 20, 10, 10, 20}, applyOne(t, twice, x).Data)
	shear := NewAffine(0)
	shear.ShearX, shear.Center = 45, NumberList{0, 0}
	require.Equal(t, []byte{20, 30, 0, 60, 0, 0}, applyOne(t, shear, x).Data)
	require.Equal(t, []byte{60, 50, 40, 30, 20, 10}, applyOne(t, NewAffine(180), x).Data)

	for _, op := range []*Affine{shift, half} {
		op.Backend = OpenCV4
	}
	require.Equal(t, []byte{7, 40, 50, 7, 7, 7}, applyOne(t, shift, x).Data)
	require.Equal(t, []byte{5, 15, 25, 20, 45, 55}, applyOne(t, half, x).Data)

	refusesMove(t, func(a float64, i Interpolation, b Backend, center, fill NumberList) Op {
		return &Affine{Angle: a, Scale: 1, Interpolation: i, Backend: b, Center: center, Fill: fill}
	})
	change := func(f func(*Affine)) *Affine {
		op := NewAffine(1)
		f(op)
		return op
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), 1e8} {
		refusesParam(t, "translate_x", change(func(o *Affine) { o.TranslateX = v }))
		refusesParam(t, "translate_y", change(func(o *Affine) { o.TranslateY = v }))
		refusesParam(t, "shear_x", change(func(o *Affine) { o.ShearX = v }))
		refusesParam(t, "shear_y", change(func(o *Affine) { o.ShearY = v }))
		refusesParam(t, "scale", change(func(o *Affine) { o.Scale = v }))
	}
	refusesParam(t, "angle", change(func(o *Affine) { o.Angle, o.Backend = 3001, OpenCV4 }))
	for _, v := range []float64{0, -1, 1e-7} {
		refusesParam(t, "scale", change(func(o *Affine) { o.Scale = v }))
	}
}

func ExampleAffine() {
	op := NewAffine(0)
	op.TranslateX, op.Fill = 1, NumberList{9}
	fmt.Println(exampleRun(op, exampleBytes(2, 3, 1, 1, 2, 3, 4, 5, 6))[0].Data)
	// Output: [9 1 2 9 4 5]
}
