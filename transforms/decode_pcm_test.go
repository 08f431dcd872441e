package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/tensor"
)

func TestDecodePCM(t *testing.T) {
	y := applyOne(t, NewDecodePCM(sound.S16BE, 2), tensor.FromBytes([]byte("\x40\x00\x80\x00\x00\x01\xff\xff")))
	require.Equal(t, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, 2)}, y.Desc)
	require.Equal(t, []float32{0.5, 1.0 / 32768, -1, -1.0 / 32768}, tensor.View[float32](y))
	y = applyOne(t, NewDecodePCM(sound.U8, 1), tensor.FromBytes(nil))
	require.Equal(t, tensor.Dims(1, 0), y.Shape)

	refusesParam(t, "channels is 0, want 1 to 1024", NewDecodePCM(sound.U8, 0))
	refusesParam(t, "encoding is", NewDecodePCM(99, 1))
	refusesInput(t, "want bytes: samples without a header", NewDecodePCM(sound.U8, 1), vector)
	var out [1]tensor.Desc
	err := NewDecodePCM(sound.S24LE, 2).InferData(NewContext(codec.Limits{}), out[:], []*tensor.Tensor{tensor.FromBytes(make([]byte, 8))})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "8 bytes, want a multiple of 6: 2 channels of s24le")
}

func ExampleDecodePCM() {
	y := exampleRun(NewDecodePCM(sound.S16LE, 1), tensor.FromBytes([]byte{0, 64, 0, 128}))[0]
	fmt.Println(y.Desc, tensor.View[float32](y))
	// Output: float32 (1, 2) [0.5 -1]
}
