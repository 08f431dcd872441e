package transforms

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestPerspective(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 3, 1, 10, 20, 30, 40, 50, 60)
	shift := NewPerspective(Quad{0, 0, 2, 0, 2, 1, 0, 1}, Quad{1, 0, 3, 0, 3, 1, 1, 1})
	shift.Fill = NumberList{7}
	require.Equal(t, []byte{7, 10, 20, 7, 40, 50}, applyOne(t, shift, x).Data)
	twice := &Perspective{Coefficients: NumberList{0.5, 0, 0, 0, 0.5, 0, 0, 0}, Interpolation: Nearest}
	require.Equal(t, []byte{10, 10, 20, 10, 10, 20}, applyOne(t, twice, x).Data)
	// The second row is twice as far away.
	far := &Perspective{Coefficients: NumberList{1, 0, 0, 0, 1, 0, 0, 1}, Interpolation: Nearest}
	require.Equal(t, []byte{10, 20, 20, 10, 10, 20}, applyOne(t, far, x).Data)
	shift.Backend = OpenCV4
	require.Equal(t, []byte{7, 10, 20, 7, 40, 50}, applyOne(t, shift, x).Data)
	shift.Backend = Pillow
	// The divisor of the first pixel is 0, and so is the dividend of x.
	none := &Perspective{Coefficients: NumberList{1, 0, -0.5, 0, 0, 1, -2, 0}, Fill: NumberList{9}}
	for _, i := range []Interpolation{Nearest, Bilinear, Bicubic} {
		none.Interpolation = i
		require.Equal(t, byte(9), applyOne(t, none, x).Data[0], "y is infinite: %v", i)
	}
	none.Coefficients[5] = 0
	for i, want := range map[Interpolation]byte{Nearest: 9, Bilinear: 0, Bicubic: 0} {
		none.Interpolation = i
		require.Equal(t, want, applyOne(t, none, x).Data[0], "x and y are not numbers: %v", i)
	}

	refusesMove(t, func(a float64, i Interpolation, b Backend, center, fill NumberList) Op {
		if a != 1 {
			return &Rotate{Angle: a}
		}
		if center != nil {
			return &Rotate{Center: center}
		}
		return &Perspective{Start: shift.Start, End: shift.End, Interpolation: i, Backend: b, Fill: fill}
	})
	change := func(f func(*Perspective)) *Perspective {
		op := *shift
		f(&op)
		return &op
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), maxSide + 1} {
		refusesParam(t, "start", change(func(o *Perspective) { o.Start[3] = v }))
		refusesParam(t, "end", change(func(o *Perspective) { o.End[7] = v }))
	}
	refusesParam(t, "no three are on a line", change(func(o *Perspective) { o.End[0], o.End[1] = 3, 0 }))
	refusesParam(t, "no three are on a line", &Perspective{})
	// All of the end is on a line of the start.
	refusesParam(t, "no three are on a line", change(func(o *Perspective) { o.Backend, o.Start = OpenCV4, Quad{0, 0, 1, 0, 2, 0, 0, 1} }))
	refusesParam(t, "coefficients has 7 values", &Perspective{Coefficients: make(NumberList, 7)})
	refusesParam(t, "with coefficients, want 0", change(func(o *Perspective) { o.Coefficients = make(NumberList, 8) }))
	for _, v := range []float64{math.NaN(), math.Inf(-1), 1e39} {
		refusesParam(t, "coefficients[2]", &Perspective{Coefficients: NumberList{1, 0, v, 0, 1, 0, 0, 0}})
	}
	var q Quad
	require.ErrorIs(t, json.Unmarshal([]byte("[1,2,3,4,5,6,7]"), &q), ErrParam)
}

func ExamplePerspective() {
	// Move the image by one pixel.
	op := NewPerspective(Quad{0, 0, 2, 0, 2, 2, 0, 2}, Quad{1, 0, 3, 0, 3, 2, 1, 2})
	fmt.Println(exampleRun(op, exampleBytes(2, 3, 1, 1, 2, 3, 4, 5, 6))[0].Data)
	// Output: [0 1 2 0 4 5]
}
