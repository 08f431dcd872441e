package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestEqualize(t *testing.T) {
	// 510 zeros, 255 of 10, one of 20: a step of (766-1)/255 = 3.
	x, err := tensor.New(tensor.Image(tensor.Uint8, tensor.HWC, 1, 766, 1))
	require.NoError(t, err)
	for i := range x.Data {
		if i >= 510 {
			x.Data[i] = 10
		}
	}
	x.Data[765] = 20
	for _, b := range []Backend{Pillow, Torch} {
		y := applyOne(t, &Equalize{b}, x).Data
		require.Equal(t, []byte{0, 170, 255}, []byte{y[0], y[600], y[765]})
	}
	y := applyOne(t, &Equalize{OpenCV}, x).Data
	require.Equal(t, []byte{0, 254, 255}, []byte{y[0], y[600], y[765]})

	few := pixelsOf[uint8](t, tensor.Uint8, tensor.HWC, 1, 3, 1, 7, 7, 9)
	require.Equal(t, few.Data, applyOne(t, NewEqualize(), few).Data)
	require.Equal(t, []byte{0, 0, 255}, applyOne(t, &Equalize{OpenCV}, few).Data)
	f := pixelsOf[float32](t, tensor.Float32, tensor.CHW, 1, 3, 1, 0, 1, -3)
	require.Equal(t, []float32{0, 1, 0}, tensor.View[float32](applyOne(t, &Equalize{Torch}, f)))

	refusesParam(t, "backend is mxnet", &Equalize{MXNet})
	refusesInput(t, "want dtype", NewEqualize(), rgb32)
	refusesInput(t, "want [1 3] channels", NewEqualize(), rgb8.WithChannels(4))
}

func ExampleEqualize() {
	fmt.Println(exampleRun(&Equalize{OpenCV}, exampleBytes(1, 4, 1, 50, 50, 51, 200))[0].Data)
	// Output: [0 0 128 255]
}
