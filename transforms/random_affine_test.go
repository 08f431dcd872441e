package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandomAffine(t *testing.T) {
	change := func(f func(*RandomAffine)) *RandomAffine {
		op := NewRandomAffine(10)
		f(op)
		return op
	}
	for _, r := range []Range{{2, 1}, {math.NaN(), 1}, {0, 2e6}} {
		refusesParam(t, "degrees", change(func(o *RandomAffine) { o.Degrees = r }))
		refusesParam(t, "scale", change(func(o *RandomAffine) { o.Scale = r }))
		refusesParam(t, "shear_x", change(func(o *RandomAffine) { o.ShearX = r }))
		refusesParam(t, "shear_y", change(func(o *RandomAffine) { o.ShearY = r }))
	}
	refusesParam(t, "scale", change(func(o *RandomAffine) { o.Scale = Range{0, 1} }))
	refusesParam(t, "degrees", change(func(o *RandomAffine) { o.Degrees, o.Backend = Range{0, 3001}, OpenCV4 }))
	for _, v := range []float64{-0.1, 1.1, math.NaN()} {
		refusesParam(t, "translate_x", change(func(o *RandomAffine) { o.TranslateX = v }))
		refusesParam(t, "translate_y", change(func(o *RandomAffine) { o.TranslateY = v }))
	}
	refusesParam(t, "interpolation", change(func(o *RandomAffine) { o.Interpolation = Box }))
	refusesInput(t, "want dtype", NewRandomAffine(10), rgb32)
	op := exampleDraw(change(func(o *RandomAffine) { o.Degrees, o.TranslateX = Range{20, 20}, 1 }), 3)[0].(*Affine)
	require.Equal(t, 20.0, op.Angle)
	require.Equal(t, math.Trunc(op.TranslateX), op.TranslateX)
	require.Zero(t, op.TranslateY)
}

func ExampleRandomAffine() {
	op := NewRandomAffine(30)
	op.TranslateX, op.TranslateY, op.Scale = 0.5, 0.5, Range{0.5, 2}
	for sample := range uint64(2) {
		fmt.Println(exampleDraw(op, sample))
	}
	// Output:
	// [{"op":"affine","version":1,"params":{"angle":0.1196883620140774,"translate_x":0,"translate_y":-2,"scale":0.9087251659444724,"shear_x":0,"shear_y":0,"interpolation":"nearest","backend":"pillow","center":[],"fill":[0]}}]
	// [{"op":"affine","version":1,"params":{"angle":-25.335960139614606,"translate_x":-1,"translate_y":-1,"scale":1.2638987113654243,"shear_x":0,"shear_y":0,"interpolation":"nearest","backend":"pillow","center":[],"fill":[0]}}]
}
