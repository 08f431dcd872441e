package transforms

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// stereoWAV is a WAV file of 8000 Hz and two samples of two channels.
const stereoWAV = "RIFF\x2c\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00\x40\x1f\x00\x00\x00\x7d\x00\x00\x04\x00\x10\x00" +
	"data\x08\x00\x00\x00\x00\x40\x00\x80\xff\x7f\x00\x00"

func TestDecodeSound(t *testing.T) {
	y := applyOne(t, NewDecodeSound(8000), tensor.FromBytes([]byte(stereoWAV)))
	require.Equal(t, tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2, 2)}, y.Desc)
	require.Equal(t, []float32{0.5, 32767.0 / 32768, -1, 0}, tensor.View[float32](y))

	refusesParam(t, "sampling_rate is 0 Hz, want 1 to 16777216", NewDecodeSound(0))
	refusesInput(t, "want bytes: a sound file", NewDecodeSound(8000), vector)

	var out [1]tensor.Desc
	open := func(op *DecodeSound, data string, l codec.Limits) error {
		return op.InferData(NewContext(l), out[:], []*tensor.Tensor{tensor.FromBytes([]byte(data))})
	}
	err := open(NewDecodeSound(16000), stereoWAV, codec.Limits{})
	require.ErrorIs(t, err, codec.ErrUnsupported)
	require.ErrorContains(t, err, "wav: unsupported: the sampling rate is 8000 Hz, the op decode_sound wants 16000 Hz; to resample, state 8000 there and let resample_sinc or resample_poly follow")
	require.ErrorIs(t, open(NewDecodeSound(8000), stereoWAV, codec.Limits{Bytes: 15}), codec.ErrBytes)
	require.ErrorContains(t, open(NewDecodeSound(8000), "OggS", codec.Limits{}), "Ogg: want one of the linked formats: aiff, au, flac, mp3, wav")
	require.ErrorContains(t, open(NewDecodeSound(8000), "", codec.Limits{}), "empty input: want a sound file")
	require.ErrorContains(t, open(NewDecodeSound(8000), "\x89PNG\r\n\x1a\n", codec.Limits{}), "a PNG image: want one of the linked formats")
}

func ExampleDecodeSound() {
	y := exampleRun(NewDecodeSound(8000), tensor.FromBytes([]byte(stereoWAV)))[0]
	fmt.Println(y.Desc, tensor.View[float32](y))
	// Output: float32 (2, 2) [0.5 0.9999695 -1 0]
}
