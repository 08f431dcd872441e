package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// matrix returns a float32 matrix of rows.
func matrix(t testing.TB, rows ...[]float32) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(len(rows), len(rows[0]))})
	require.NoError(t, err)
	for i, r := range rows {
		copy(tensor.View[float32](x)[i*len(r):], r)
	}
	return x
}

func TestDCT(t *testing.T) {
	values := func(o Op, rows ...[]float32) []float32 {
		return tensor.View[float32](applyOne(t, o, matrix(t, rows...)))
	}
	// Of 1 and 3: (1+3)/sqrt(2), and (1-3) cos(pi/4).
	require.Equal(t, []float32{float32(4 / math.Sqrt2), -math.Sqrt2}, values(NewDCT(2), []float32{1, 3}))
	o := NewDCT(2)
	o.Ortho, o.HTK = false, true
	require.InDeltaSlice(t, []float32{-2 * math.Sqrt2, 8 * math.Sqrt2}, values(o, []float32{1, 3}), 1e-6)
	o.Energy = true
	require.InDeltaSlice(t, []float32{-2 * math.Sqrt2, 7}, values(o, []float32{7, 1, 3}), 1e-6)
	o = NewDCT(1)
	o.FramesFirst = false
	require.Equal(t, []float32{float32(4 / math.Sqrt2), 0}, values(o, []float32{1, 2}, []float32{3, -2}))
	o.Lifter, o.LifterFrom = 2, 1 // 1 + sin(pi/2)
	require.Equal(t, []float32{float32(8 / math.Sqrt2), 0}, values(o, []float32{1, 2}, []float32{3, -2}))

	for field, change := range map[string]func(*DCT){
		"coefficients":      func(o *DCT) { o.Coefficients = 0 },
		"coefficients is 1": func(o *DCT) { o.Coefficients = maxMels + 1 },
		"lifter":            func(o *DCT) { o.Lifter = 0.5 },
		"lifter is":         func(o *DCT) { o.Lifter = math.NaN() },
		"lifter_from":       func(o *DCT) { o.LifterFrom = 2 },
	} {
		o := NewDCT(13)
		change(o)
		refusesParam(t, field, o)
	}
	refusesInput(t, "frames, bands", NewDCT(13), soundOf(13))
	refusesInput(t, "12 bands", NewDCT(13), tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(5, 12)})
	o = NewDCT(13)
	o.Energy = true
	refusesInput(t, "12 bands", o, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(5, 13)})
}

func ExampleDCT() {
	f, o := NewFbank(23), NewDCT(13)
	o.Lifter = 22
	features := exampleRun(f, waveform(make([]float32, 16000)...))[0]
	fmt.Println(exampleRun(o, features)[0].Shape)
	// Output: (98, 13)
}
