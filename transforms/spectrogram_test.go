package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

// waveform returns samples of one channel.
func waveform(v ...float32) *tensor.Tensor {
	x, err := tensor.New(tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(len(v))})
	if err != nil {
		panic(err)
	}
	copy(tensor.View[float32](x), v)
	return x
}

func soundOf(n int) tensor.Desc {
	return tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(n)}
}

func TestSpectrogram(t *testing.T) {
	// Four samples of a constant: its sum squared in the first bin.
	o := &Spectrogram{FrameLength: 4, HopLength: 2, FFTLength: 4, Scale: 2, Window: WindowBoxcar, Power: 2, SamplingRate: 1}
	got := applyOne(t, o, waveform(1, 1, 1, 1, 1, 1))
	require.Equal(t, tensor.Dims(3, 2), got.Shape)
	require.Equal(t, []float32{64, 64, 0, 0, 0, 0}, tensor.View[float32](got))
	o.Power, o.FramesFirst, o.Floor = 1, true, 0.5
	require.Equal(t, []float32{8, 0.5, 0.5, 8, 0.5, 0.5}, tensor.View[float32](applyOne(t, o, waveform(1, 1, 1, 1, 1, 1))))
	o.Log, o.Mean, o.Std = LogDecibel, []float64{0, 0, 1}, []float64{1, 2, 1}
	db := tensor.View[float32](applyOne(t, o, waveform(1, 1, 1, 1)))
	for i, want := range []float64{20 * math.Log10(8), 10 * math.Log10(0.5), 20*math.Log10(0.5) - 1} {
		require.InDelta(t, want, db[i], 1e-6)
	}

	for field, change := range map[string]func(*Spectrogram){
		"frame_length":  func(o *Spectrogram) { o.FrameLength = 0 },
		"hop_length":    func(o *Spectrogram) { o.HopLength = 0 },
		"fft_length":    func(o *Spectrogram) { o.FFTLength = 399 },
		"prime factors": func(o *Spectrogram) { o.FFTLength = 407 },
		"pad":           func(o *Spectrogram) { o.Pad = -1 },
		"scale":         func(o *Spectrogram) { o.Scale = 0 },
		"preemphasis":   func(o *Spectrogram) { o.Preemphasis = math.NaN() },
		"window":        func(o *Spectrogram) { o.Window = 9 },
		"power is 2":    func(o *Spectrogram) { o.Rule = SpectrogramRoot32 },
		"rule":          func(o *Spectrogram) { o.Rule = 9 },
		"periodic":      func(o *Spectrogram) { o.Rule, o.Power, o.Periodic = SpectrogramSingle, 1, false },
		"root":          func(o *Spectrogram) { o.Root = -1 },
		"sampling_rate": func(o *Spectrogram) { o.SamplingRate = 0 },
		"mels":          func(o *Spectrogram) { o.Mels = maxMels + 1 },
		"mel_scale":     func(o *Spectrogram) { o.MelScale = 9 },
		"mel_low":       func(o *Spectrogram) { o.MelLow = 9000 },
		"mel_high":      func(o *Spectrogram) { o.MelHigh = math.Inf(1) },
		"want less":     func(o *Spectrogram) { o.Mels, o.MelLow = 8, 8000 },
		"floor":         func(o *Spectrogram) { o.Floor = -1 },
		"log":           func(o *Spectrogram) { o.Log = 9 },
		"mean":          func(o *Spectrogram) { o.Mean = []float64{1} },
		"std":           func(o *Spectrogram) { o.Std = make([]float64, 201) },
		"rounded has":   func(o *Spectrogram) { o.Rule, o.Power, o.RemoveDC = SpectrogramRounded, 1, true },
		"torch has":     func(o *Spectrogram) { o.Rule, o.Preemphasis = SpectrogramTorch, 0.9 },
		"want hann":     func(o *Spectrogram) { o.Rule, o.Window = SpectrogramTorch, WindowPovey },
		"mel_triangles": func(o *Spectrogram) { o.MelScale, o.MelTriangles = MelTorchHTK, true },
	} {
		o := NewSpectrogram(400, 160)
		change(o)
		refusesParam(t, field, o)
	}
	for _, d := range []tensor.Desc{rgb32, vector, {DType: tensor.Float32, Shape: tensor.Dims(9, 9)}} {
		refusesInput(t, "one channel", NewSpectrogram(400, 160), d)
	}
	short := NewSpectrogram(400, 160)
	refusesInput(t, "samples of one frame", short, soundOf(0))
	short.Rule = SpectrogramTorch // reflects half a transform
	refusesInput(t, "samples of one frame", short, soundOf(200))
	short.Rule = SpectrogramComplex64
	short.Pad = 0
	refusesInput(t, "samples of one frame", short, soundOf(239))
	refusesInput(t, "at most", short, soundOf(1<<30))
	var out [1]tensor.Desc
	require.NoError(t, short.Infer(out[:], []tensor.Desc{soundOf(tensor.Unknown)}))
	require.Equal(t, tensor.Dims(201, tensor.Unknown), out[0].Shape)
}

func ExampleSpectrogram() {
	o := NewSpectrogram(400, 160)
	o.Mels, o.Log = 80, LogDecimal
	second := exampleRun(o, waveform(make([]float32, 16000)...))[0]
	fmt.Println(second.Shape, tensor.View[float32](second)[0])
	// Output: (80, 101) -10
}
