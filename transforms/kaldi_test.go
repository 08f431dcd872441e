package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func matrixOf(rows, columns int) tensor.Desc {
	return tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(rows, columns)}
}

func TestDeltas(t *testing.T) {
	// Of 0, 10, 40 the first differences are (x[t+1]-x[t-1])/2.
	o := &Deltas{Window: 1, Order: 1, Append: true, FramesFirst: true}
	x := matrix(t, []float32{0}, []float32{10}, []float32{40})
	require.Equal(t, []float32{0, 5, 10, 20, 40, 15}, tensor.View[float32](applyOne(t, o, x)))
	o.Append, o.Order = false, 2 // as if x went on as 0, 0, … and 40, 40, …
	require.Equal(t, []float32{10, 5, -10}, tensor.View[float32](applyOne(t, o, x)))
	refusesParam(t, "window", &Deltas{Order: 1})
	refusesParam(t, "order", &Deltas{Window: 1, Order: 5})
	refusesInput(t, "frames, bands", NewDeltas(), soundOf(9))
	refusesInput(t, "at most", NewDeltas(), matrixOf(1, 1<<30))
}

func TestCMVN(t *testing.T) {
	// The mean of 1 and 5 is 3, and the deviation 2.
	x := matrix(t, []float32{1, 2}, []float32{5, 2})
	require.Equal(t, []float32{-2, 0, 2, 0}, tensor.View[float32](applyOne(t, NewCMVN(false), x)))
	require.Equal(t, []float32{-1, 0, 1, 0}, tensor.View[float32](applyOne(t, NewCMVN(true), x)))
	given := &CMVN{Frames: 2, Sums: []float64{2, 4}}
	require.Equal(t, []float32{0, 0, 4, 0}, tensor.View[float32](applyOne(t, given, x)))
	for field, o := range map[string]*CMVN{
		"frames is 0.5": {Frames: 0.5}, "sums has 0": {Frames: 1}, "sums has 1": {Sums: []float64{1}},
		"squares has 0 values, want 1": {Var: true, Frames: 1, Sums: []float64{1}},
		"squares has 2 values, want 1": {Frames: 1, Sums: []float64{1}, Squares: []float64{1, 2}},
		"sums[0] is NaN":               {Frames: 1, Sums: []float64{math.NaN()}},
	} {
		refusesParam(t, field, o)
	}
	refusesInput(t, "want 2 bands", given, matrixOf(2, 3))
	refusesInput(t, "at least one frame", NewCMVN(false), matrixOf(0, 3))
	refusesInput(t, "frames, bands", NewCMVN(false), soundOf(3))
}

func TestMaskSpan(t *testing.T) {
	x := matrix(t, []float32{1, 2, 3}, []float32{4, 5, 6})
	require.Equal(t, []float32{1, 2, 3, 0, 0, 0}, tensor.View[float32](applyOne(t, NewMaskSpan(0, 1, 1), x)))
	require.Equal(t, []float32{1, -1, -1, 4, -1, -1}, tensor.View[float32](applyOne(t, &MaskSpan{1, 1, 2, -1}, x)))
	refusesParam(t, "axis is 2", NewMaskSpan(2, 0, 0))
	refusesParam(t, "length -1", NewMaskSpan(0, 0, -1))
	refusesParam(t, "value", &MaskSpan{Value: math.NaN()})
	refusesInput(t, "want at least 4 along axis 1", NewMaskSpan(1, 2, 2), matrixOf(9, 3))
	refusesParam(t, "longest", NewRandomMaskSpan(0, -1))
	refusesParam(t, "fraction", &RandomMaskSpan{Fraction: 2})
	refusesInput(t, "at least longest, 9", NewRandomMaskSpan(1, 9), matrixOf(9, 3))
}

func TestDither(t *testing.T) {
	require.Equal(t, []float32{1, 2}, tensor.View[float32](applyOne(t, NewDither(0, 1), waveform(1, 2))))
	refusesParam(t, "amplitude", NewDither(-1, 0))
	refusesParam(t, "amplitude", NewRandomDither(math.Inf(1)))
	refusesInput(t, "without a layout", NewDither(1, 0), rgb32)
	refusesInput(t, "without a layout", NewRandomDither(1), rgb32)
}

// TestSpeedPerturbation has torchaudio's SpeedPerturbation: a choice of
// resampling from factor * rate to the rate.
func TestSpeedPerturbation(t *testing.T) {
	var speeds []Op
	for _, percent := range []int{90, 110, 100} {
		speeds = append(speeds, NewResampleSinc(16000*percent/100, 16000))
	}
	o := NewRandomChoice(speeds...)
	require.NoError(t, o.Validate())
	var out [1]tensor.Desc
	require.NoError(t, o.Infer(out[:], []tensor.Desc{soundOf(16000)}))
	require.Equal(t, tensor.Dims(tensor.Unknown), out[0].Shape)
}

func ExampleDeltas() {
	features := exampleRun(NewFbank(80), waveform(make([]float32, 16000)...))[0]
	fmt.Println(exampleRun(NewDeltas(), features)[0].Shape)
	// Output: (98, 240)
}

func ExampleCMVN() {
	features := exampleRun(NewFbank(80), waveform(make([]float32, 16000)...))[0]
	fmt.Println(tensor.View[float32](exampleRun(NewCMVN(true), features)[0])[0])
	// Output: 0
}

func ExampleMaskSpan() {
	features := exampleRun(NewFbank(80), waveform(make([]float32, 16000)...))[0]
	fmt.Println(tensor.View[float32](exampleRun(NewMaskSpan(0, 10, 20), features)[0])[10*80])
	// Output: 0
}

func ExampleDither() {
	fmt.Println(tensor.View[float32](exampleRun(NewDither(1, 1), waveform(0, 0))[0]))
	// Output: [-0.5112541 -0.69821084]
}

func ExampleRandomDither() {
	fmt.Println(exampleDraw(NewRandomDither(1), 0))
	// Output: [{"op":"dither","version":1,"params":{"amplitude":1,"key":9260169713232697211}}]
}

func ExampleRandomMaskSpan() {
	fmt.Println(exampleDraw(NewRandomMaskSpan(0, 6), 0))
	// Output: [{"op":"mask_span","version":1,"params":{"axis":0,"start":1,"length":3,"value":0}}]
}
