package datagraph_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/sound"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ExamplePlan_NewStream computes the columns of a spectrogram while samples
// arrive in blocks of 128. Package importer's tests compare streams of all
// feature extractors with runs.
func ExamplePlan_NewStream() {
	mel := transforms.NewSpectrogram(400, 160)
	mel.Mels, mel.Log, mel.FramesFirst = 80, transforms.LogDecimal, true
	g := datagraph.New(transforms.NewDecodeSound(16000), transforms.NewMixMono(), mel)
	plan, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stream, err := plan.NewStream(16000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	frames := 0
	for range 125 { // a second
		parts, err := stream.PushPCM(sound.S16LE, make([]byte, 256))
		if err != nil {
			fmt.Println(err)
			return
		}
		frames += parts[0].Shape.At(stream.Axis(0))
	}
	parts, err := stream.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(frames, parts[0].Desc)
	// Output: 99 float32 (2, 80)
}

func TestStreamErrors(t *testing.T) {
	compile := func(g *datagraph.Graph, l codec.Limits) *datagraph.Plan {
		p, err := datagraph.Compile(g, datagraph.CompileOptions{Limits: l})
		require.NoError(t, err)
		return p
	}
	mel := transforms.NewSpectrogram(400, 160)
	mel.Mels = 80
	decode := func(rate int) *transforms.DecodeSound { return transforms.NewDecodeSound(rate) }
	p := compile(datagraph.New(decode(16000), transforms.NewMixMono(), mel), codec.Limits{})
	for _, c := range []struct {
		rate, channels int
		text           string
	}{
		{8000, 1, "a sampling rate of 8000 Hz, want 16000 Hz"}, {16000, 0, "0 channels, want 1 to 1024"}, {16000, 1025, "1025 channels"},
	} {
		_, err := p.NewStream(c.rate, c.channels)
		require.ErrorIs(t, err, transforms.ErrInput)
		require.ErrorContains(t, err, c.text)
	}
	samples := func(d tensor.DType, sizes ...int) *datagraph.Graph {
		return &datagraph.Graph{
			Inputs:  []datagraph.Column{{Name: "x", Desc: tensor.Desc{DType: d, Shape: tensor.Dims(sizes...)}}},
			Outputs: []string{"x"},
		}
	}
	_, err := compile(samples(tensor.Float32, -1), codec.Limits{}).NewStream(0, 1)
	require.ErrorIs(t, err, transforms.ErrInput)
	_, err = compile(samples(tensor.Float32, -1), codec.Limits{}).NewStream(16000, 2)
	require.ErrorContains(t, err, "2 channels, want 1")
	two := samples(tensor.Float32, -1)
	two.Inputs = append(two.Inputs, datagraph.Column{Name: "y", Desc: tensor.Encoded()})
	for _, g := range []*datagraph.Graph{
		datagraph.New(transforms.NewDecode()), samples(tensor.Float32, 5), samples(tensor.Float64, -1), samples(tensor.Float32, -1, 2), two,
		{Inputs: datagraph.New().Inputs, Outputs: []string{"image"}},
	} {
		_, err := compile(g, codec.Limits{}).NewStream(16000, 1)
		require.ErrorIs(t, err, datagraph.ErrStream)
	}

	s, err := p.NewStream(16000, 2)
	require.NoError(t, err)
	for _, f := range []func() ([]*tensor.Tensor, error){
		func() ([]*tensor.Tensor, error) { return s.PushPCM(sound.S16LE, make([]byte, 6)) },
		func() ([]*tensor.Tensor, error) { return s.Push(tensor.FromBytes(nil)) },
	} {
		_, err := f()
		require.ErrorIs(t, err, transforms.ErrInput)
	}
	_, err = s.Push(&tensor.Tensor{Desc: tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(3, 5)}})
	require.ErrorContains(t, err, "samples are float32 (3, 5), want float32 (2, ?)")
	_, err = s.Finish() // of no samples
	require.ErrorIs(t, err, transforms.ErrInput)
	_, again := s.Finish()
	require.Equal(t, err, again)

	// A step that needs the whole sound keeps no more than the limit.
	whole := compile(datagraph.New(decode(16000), transforms.NewMixMono(), transforms.NewNormalizeSequence()), codec.Limits{Bytes: 1 << 20})
	s, err = whole.NewStream(16000, 1)
	require.NoError(t, err)
	require.Equal(t, -1, s.Axis(0))
	for err == nil {
		_, err = s.PushPCM(sound.F32LE, make([]byte, 1<<16))
	}
	require.ErrorIs(t, err, codec.ErrLimit)
	require.ErrorContains(t, err, "the limit is 1048576")

	// int16 is taken as it is.
	ints := samples(tensor.Int16, 2, -1)
	s, err = compile(ints, codec.Limits{}).NewStream(16000, 2)
	require.NoError(t, err)
	out, err := s.PushPCM(sound.S16LE, []byte{1, 0, 2, 0, 3, 0, 4, 0})
	require.NoError(t, err)
	require.Equal(t, []int16{1, 3, 2, 4}, tensor.View[int16](out[0]))
	_, err = s.PushPCM(sound.F32LE, make([]byte, 16))
	require.ErrorIs(t, err, transforms.ErrInput)
}
