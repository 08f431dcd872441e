package wav_test

import (
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/sound/wav"
	"github.com/infer-prep/infer-prep/tensor"
)

// TestEncode: the decoder returns the samples, bit for bit.
func TestEncode(t *testing.T) {
	for _, shape := range []tensor.Shape{tensor.Dims(7), tensor.Dims(1, 7), tensor.Dims(3, 5), tensor.Dims(0), tensor.Dims(2, 0)} {
		x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: shape})
		require.NoError(t, err)
		y, err := tensor.New(tensor.Desc{DType: tensor.Int16, Shape: shape})
		require.NoError(t, err)
		for i := range tensor.View[float32](x) {
			v := int16(i*7919 - 30000)
			tensor.View[int16](y)[i], tensor.View[float32](x)[i] = v, float32(float32(v)/32768)
		}
		for _, in := range []*tensor.Tensor{x, y} {
			b, err := wav.Encode(in, 11025)
			require.NoError(t, err)
			got, h, err := sound.Decode(b, codec.Limits{})
			require.NoError(t, err)
			require.Equal(t, 11025, h.Rate)
			n := shape.At(shape.Rank() - 1)
			channels := 1
			if shape.Rank() == 2 {
				channels = shape.At(0)
			}
			require.Equal(t, tensor.Dims(channels, n), got.Shape)
			require.Equal(t, tensor.View[float32](x), tensor.View[float32](got))
		}
	}
	odd, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(4)})
	require.NoError(t, err)
	copy(tensor.View[float32](odd), []float32{float32(math.Inf(1)), float32(math.Copysign(0, -1)), 1e-42, 7})
	b, err := wav.Encode(odd, math.MaxInt32)
	require.NoError(t, err)
	got, _, err := sound.Decode(b, codec.Limits{})
	require.NoError(t, err)
	require.Equal(t, odd.Data, got.Data)
}

func TestEncodeErrors(t *testing.T) {
	for _, c := range []struct {
		dtype tensor.DType
		shape tensor.Shape
		rate  int
		text  string
	}{
		{tensor.Float64, tensor.Dims(3), 8000, "want float32 or int16, (samples) or (channels, samples)"},
		{tensor.Float32, tensor.Dims(1, 2, 3), 8000, "want float32 or int16"},
		{tensor.Float32, tensor.Dims(), 8000, "want float32 or int16"},
		{tensor.Int16, tensor.Dims(3), 0, "a sampling rate of 0 Hz: want 1 to 2147483647"},
		{tensor.Int16, tensor.Dims(0, 3), 8000, "0 channels: want 1 to 1024"},
		{tensor.Int16, tensor.Dims(1025, 2), 8000, "1025 channels"},
	} {
		x, err := tensor.New(tensor.Desc{DType: c.dtype, Shape: c.shape})
		require.NoError(t, err)
		_, err = wav.Encode(x, c.rate)
		require.ErrorIs(t, err, codec.ErrFormat)
		require.ErrorContains(t, err, c.text)
	}
}

// Samples in memory become a sound file in memory, for graphs of sound files.
func ExampleEncode() {
	samples, err := tensor.New(tensor.Desc{DType: tensor.Int16, Shape: tensor.Dims(3)})
	if err != nil {
		log.Fatal(err)
	}
	copy(tensor.View[int16](samples), []int16{0, 16384, -32768})
	file, err := wav.Encode(samples, 16000)
	if err != nil {
		log.Fatal(err)
	}
	x, h, err := sound.Decode(file, codec.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(h.Rate, x.Desc, tensor.View[float32](x))
	// Output: 16000 float32 (1, 3) [0 0.5 -1]
}
