package transforms

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/tensor"
)

func TestFbank(t *testing.T) {
	// The sum of squares of four samples of 2 is 16, and 0 less the mean.
	o := &Fbank{
		SamplingRate: 1000, FrameLength: 4, FrameShift: 2, SnipEdges: true, Scale: 2, Window: WindowBoxcar, Mels: 3, Power: 2,
		Energy: EnergyLast, RawEnergy: true,
	}
	got := applyOne(t, o, waveform(1, 1, 1, 1, 1))
	require.Equal(t, tensor.Dims(1, 4), got.Shape)
	require.Equal(t, []float32{0, 0, 0, float32(math.Log(16))}, tensor.View[float32](got))
	o.RemoveDC, o.Energy = true, EnergyFirst
	require.Equal(t, float32(math.Log(0x1p-23)), tensor.View[float32](applyOne(t, o, waveform(1, 1, 1, 1)))[0])
	o.EnergyFloor = 1
	require.Equal(t, float32(0), tensor.View[float32](applyOne(t, o, waveform(1, 1, 1, 1)))[0])

	// Frames by SnipEdges, whose sounds are mirrored without.
	for _, k := range []struct{ samples, snipped, mirrored int }{{0, 0, 0}, {1, 0, 1}, {3, 0, 2}, {4, 1, 2}, {6, 2, 3}} {
		for snip, want := range map[bool]int{true: k.snipped, false: k.mirrored} {
			o.SnipEdges = snip
			require.Equal(t, tensor.Dims(want, 4), applyOne(t, o, waveform(make([]float32, k.samples)...)).Shape, k)
		}
	}

	short := NewFbank(80)
	short.Rule = RuleTorchaudio
	refusesInput(t, "at least the 400 samples", short, soundOf(399))

	for field, change := range map[string]func(*Fbank){
		"sampling_rate":         func(o *Fbank) { o.SamplingRate = 0 },
		"frame_length":          func(o *Fbank) { o.FrameLength = 0.01 },
		"1 to 65536 samples":    func(o *Fbank) { o.FrameLength = math.NaN() },
		"frame_shift":           func(o *Fbank) { o.FrameShift = math.Inf(1) },
		"scale":                 func(o *Fbank) { o.Scale = 0 },
		"preemphasis":           func(o *Fbank) { o.Preemphasis = 2 },
		"window":                func(o *Fbank) { o.Window = 9 },
		"even number":           func(o *Fbank) { o.PowerOfTwo, o.FrameLength = false, 25.0625 },
		"mels":                  func(o *Fbank) { o.Mels = 2 },
		"less than mel_high":    func(o *Fbank) { o.MelHigh = -7990 },
		"half of sampling_rate": func(o *Fbank) { o.MelHigh = 8001 },
		"mel_low":               func(o *Fbank) { o.MelLow = -1 },
		"mel_high":              func(o *Fbank) { o.MelHigh = math.NaN() },
		"power":                 func(o *Fbank) { o.Power = 3 },
		"energy":                func(o *Fbank) { o.Energy = 3 },
		"energy_floor":          func(o *Fbank) { o.EnergyFloor = -1 },
	} {
		o := NewFbank(80)
		change(o)
		refusesParam(t, field, o)
	}
	for _, d := range []tensor.Desc{rgb32, vector, {DType: tensor.Float32, Shape: tensor.Dims(9, 9)}} {
		refusesInput(t, "one channel", NewFbank(80), d)
	}
	refusesInput(t, "at most", NewFbank(80), soundOf(1<<30))
}

func ExampleFbank() {
	second := exampleRun(NewFbank(80), waveform(make([]float32, 16000)...))[0]
	fmt.Println(second.Shape, tensor.View[float32](second)[0])
	// Output: (98, 80) -15.942385
}
