package transforms

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestRotate(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 3, 1, 10, 20, 30, 40, 50, 60)
	quarter := NewRotate(90)
	quarter.Expand = true
	require.Equal(t, []byte{30, 60, 20, 50, 10, 40}, applyOne(t, quarter, x).Data)
	require.Equal(t, []byte{60, 50, 40, 30, 20, 10}, applyOne(t, NewRotate(-540), x).Data)
	corner := NewRotate(180)
	corner.Center, corner.Fill = NumberList{1, 1}, NumberList{7}
	require.Equal(t, []byte{50, 40, 7, 20, 10, 7}, applyOne(t, corner, x).Data)
	wide := NewRotate(45)
	wide.Expand = true
	require.Equal(t, tensor.Dims(4, 5, 1), applyOne(t, wide, x).Shape, "x is 1.5 +- 5/sqrt(8)")

	refusesMove(t, func(a float64, i Interpolation, b Backend, center, fill NumberList) Op {
		return &Rotate{a, i, b, false, center, fill}
	})
	huge := tensor.Image(tensor.Uint8, tensor.HWC, maxSide, maxSide, 3)
	refusesInput(t, "want sides of 1 to", wide, huge)
}

// refusesMove checks that an op that moves pixels rejects wrong parameters and
// inputs.
func refusesMove(t *testing.T, op func(angle float64, i Interpolation, b Backend, center, fill NumberList) Op) {
	for _, a := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), maxAngle + 1} {
		refusesParam(t, "angle", op(a, Nearest, Pillow, nil, nil))
	}
	refusesParam(t, "backend is mxnet", op(1, Nearest, MXNet, nil, nil))
	for _, i := range []Interpolation{NearestExact, Box, Hamming, Lanczos, Area, PILCubic, 99} {
		refusesParam(t, "interpolation", op(1, i, Pillow, nil, nil))
	}
	for _, l := range []NumberList{{1}, {1, 2, 3}, {math.NaN(), 0}, {0, math.Inf(1)}, {0, maxSide + 1}} {
		refusesParam(t, "center", op(1, Nearest, Pillow, l, nil))
	}
	refusesParam(t, "fill", op(1, Nearest, Pillow, nil, NumberList{math.Inf(1)}))
	plain := op(1, Nearest, Pillow, nil, nil)
	refusesInput(t, "want dtype", plain, rgb32)
	refusesInput(t, "want [1 2 3 4] channels", plain, rgb8.WithChannels(5))
	refusesInput(t, "has no pixels", op(1, Nearest, Torch, nil, nil), rgb8.WithChannels(0))
	refusesParam(t, "want nearest or bilinear", op(1, Bicubic, Torch, nil, nil))
	refusesParam(t, "interpolation is hamming", op(1, Hamming, OpenCV4, nil, nil))
	refusesInput(t, "sides of at most 32766", op(1, Area, OpenCV4, nil, nil), rgb8.WithSize(4, 32767))
	refusesInput(t, "want [1 2 3 4] channels", op(1, Area, OpenCV4, nil, nil), rgb8.WithChannels(5))
	refusesInput(t, "want sides of at most", plain, rgb8.WithSize(4, maxSide+1))
	refusesInput(t, "fill has 2 values", op(1, Nearest, Pillow, nil, NumberList{1, 2}), rgb8)
	for _, v := range []float64{256, -1, 0.5} {
		refusesInput(t, "cannot hold", op(1, Nearest, Pillow, nil, NumberList{v}), rgb8)
	}
}

func TestNumberList(t *testing.T) {
	var l NumberList
	require.NoError(t, json.Unmarshal([]byte("[1, 2.5]"), &l))
	require.Equal(t, NumberList{1, 2.5}, l)
	require.NoError(t, json.Unmarshal([]byte("[]"), &l))
	require.Nil(t, l)
	require.Error(t, json.Unmarshal([]byte("3"), &l))
	b, err := json.Marshal(l)
	require.NoError(t, err)
	require.Equal(t, "[]", string(b))
}

func TestRound15(t *testing.T) {
	require.Equal(t, 0.0, round15(6.123233995736766e-17))
	require.Equal(t, 0.707106781186548, round15(0.7071067811865476))
	require.Equal(t, -1.0, round15(-1))
}

func TestRotateTorch(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 3, 1, 10, 20, 30, 40, 50, 60)
	op := NewRotate(180)
	op.Backend, op.Center = Torch, NumberList{1, 1}
	require.Equal(t, []byte{50, 40, 0, 20, 10, 0}, applyOne(t, op, x).Data)
	op.Fill = NumberList{7}
	require.Equal(t, []byte{50, 40, 7, 20, 10, 7}, applyOne(t, op, x).Data)
	// Half a pixel to the right: half of the first column is outside.
	op.Interpolation, op.Center, op.Fill = Bilinear, NumberList{1.75, 1}, nil
	require.Equal(t, []byte{30, 55, 45, 15, 25, 15}, applyOne(t, op, x).Data)
	op.Fill = NumberList{100}
	require.Equal(t, []byte{65, 55, 45, 58, 25, 15}, applyOne(t, op, x).Data, "(30-100)/2 + 100 and (15-100)/2 + 100")
}

func TestRotateOpenCV(t *testing.T) {
	x := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 2, 3, 1, 10, 20, 30, 40, 50, 60)
	op := NewRotate(180)
	op.Backend = OpenCV4
	require.Equal(t, []byte{60, 50, 40, 30, 20, 10}, applyOne(t, op, x).Data)
	op.Center, op.Fill = NumberList{1, 0}, NumberList{7}
	require.Equal(t, []byte{30, 20, 10, 7, 7, 7}, applyOne(t, op, x).Data)
	op.Angle, op.Center, op.Expand = 90, nil, true
	require.Equal(t, []byte{30, 60, 20, 50, 10, 40}, applyOne(t, op, x).Data)
}

func ExampleRotate() {
	op := NewRotate(45)
	op.Fill = NumberList{9}
	x := exampleBytes(3, 3, 1, 1, 2, 3, 4, 5, 6, 7, 8, 0)
	fmt.Println(exampleRun(op, x)[0].Data)
	// Output: [2 3 6 1 5 0 4 7 8]
}

func BenchmarkRotate(b *testing.B) {
	for _, i := range []Interpolation{Nearest, Bilinear, Bicubic} {
		b.Run(i.String(), func(b *testing.B) {
			op := NewRotate(15)
			op.Interpolation = i
			benchmarkMove(b, op)
		})
		b.Run("opencv4_"+i.String(), func(b *testing.B) {
			op := NewRotate(15)
			op.Interpolation, op.Backend = i, OpenCV4
			benchmarkMove(b, op)
		})
		if i != Bicubic {
			b.Run("torch_"+i.String(), func(b *testing.B) {
				op := NewRotate(15)
				op.Interpolation, op.Backend = i, Torch
				benchmarkMove(b, op)
			})
		}
	}
}

// benchmarkMove runs an op over an image of 640 x 480 pixels.
func benchmarkMove(b *testing.B, op Op) {
	x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 480, 640, 3))
	require.NoError(b, err)
	for i := range x.Data {
		x.Data[i] = byte(i * 7)
	}
	dst, err := tensor.New(x.Desc)
	require.NoError(b, err)
	c, out, in := newContext(), []*tensor.Tensor{dst}, []*tensor.Tensor{x}
	b.SetBytes(int64(len(x.Data)))
	for range b.N {
		c.Begin()
		require.NoError(b, op.Apply(c, out, in))
	}
}
