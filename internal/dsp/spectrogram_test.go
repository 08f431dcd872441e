package dsp

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// configs has every rule, logarithm and way of loading frames.
func configs() []Config {
	whisper := Config{
		Frame: 400, Hop: 160, Length: 400, Pad: 200, Scale: 1, Periodic: true, Power: 2, Rate: 16000,
		Mels: Mels{Filters: 80, Scale: Slaney, High: 8000, Norm: true}, Floor: 1e-10, Log: Decimal,
	}
	list := []Config{whisper}
	add := func(change func(*Config)) {
		c := whisper
		change(&c)
		list = append(list, c)
	}
	add(func(c *Config) { c.Log, c.FramesFirst = Natural, true })
	add(func(c *Config) { c.Log, c.Floor = NoLog, 0 })
	add(func(c *Config) { c.Log, c.Floor = Decibel, 0 })
	add(func(c *Config) { c.Mels.Filters, c.Power, c.FramesFirst = 0, 1, true })
	add(func(c *Config) {
		c.Length, c.Scale, c.RemoveDC, c.Preemphasis, c.Window, c.Periodic = 512, 32768, true, 0.97, Povey, false
		c.Mels = Mels{Filters: 40, Scale: Kaldi, Low: 20, High: 8000, InMel: true}
	})
	add(func(c *Config) { c.Frame, c.Length, c.Rule, c.Pad = 402, 1024, Double, 0 })
	add(func(c *Config) { c.Frame, c.Length, c.Rule, c.Power = 225, 225, Root32, 1 })
	add(func(c *Config) { c.Frame, c.Length, c.Rule, c.Power, c.Mels.Scale = 400, 600, Single, 1, HTK })
	add(func(c *Config) { c.Frame, c.Hop, c.Length, c.Pad = 3, 1, 7+1, 1 })
	add(func(c *Config) {
		c.Pad, c.Mirror, c.Energy, c.RemoveDC, c.EnergyFloor = 0, true, RawEnergy, true, 1
	})
	add(func(c *Config) {
		c.Pad, c.Mirror, c.Energy, c.EnergyLast, c.Preemphasis, c.FramesFirst = 0, true, WindowEnergy, true, 0.5, true
	})
	return list
}

func compute(c Config, in []float32) []float32 {
	s := NewSpectrogram(c, nil, nil)
	doubles, singles := s.Floats(len(in))
	frames, _ := s.Frames(len(in))
	dst := make([]float32, frames*s.Rows())
	s.Compute(dst, in, make([]float64, doubles), make([]float32, singles))
	return dst
}

// TestVectors compares the vector instructions with plain Go, bit by bit.
func TestVectors(t *testing.T) {
	if !cpu.Has(cpu.AVX2) {
		t.Skip("no vector instructions")
	}
	in := make([]float32, 1733)
	for i, x := range noise(len(in)) {
		in[i] = float32(x)
	}
	loud := make([]float32, 900)
	for i := range loud {
		loud[i] = math.MaxFloat32 * float32(1-i%2*2)
	}
	loud[450] = float32(math.Inf(1))
	for _, c := range configs() {
		for _, x := range [][]float32{in, in[:700], make([]float32, 900), loud} {
			got := compute(c, x)
			restore := cpu.DisableAll()
			want := compute(c, x)
			restore()
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(want[i] != want[i] && got[i] != got[i]) {
					require.Equal(t, want[i], got[i], "%+v at %d", c, i)
				}
			}
		}
	}
	x := make([]float64, 8*Lanes)
	y := make([]float64, len(x))
	for i := range x {
		x[i] = math.Ldexp(1+float64(i)/31, 64*(i-16))
	}
	for _, decimal := range []bool{false, true} {
		copy(y, x)
		done, ok := logSIMD(y, 0x1p-1022, decimal)
		require.True(t, done && ok)
		for i, v := range x {
			want := Log(max(v, 0x1p-1022))
			if decimal {
				want = Log10(max(v, 0x1p-1022))
			}
			require.Equal(t, want, y[i], v)
		}
	}
	y[5] = math.NaN()
	_, ok := logSIMD(y, 1, true)
	require.False(t, ok)
}

func TestFrames(t *testing.T) {
	c := Config{Frame: 400, Hop: 160}
	check := func(n, want int, may bool) {
		got, ok := c.Frames(n)
		require.Equal(t, want, got, n)
		require.Equal(t, may, ok, n)
	}
	check(0, 0, false)
	check(239, 0, false)
	check(240, 0, true)
	check(399, 0, true)
	check(400, 1, true)
	check(559, 1, true)
	check(560, 2, true)
	c.Pad = 200
	check(0, 0, false)
	check(1, 1, true)
	c.Rule, c.Pad = Single, 0
	check(1, 0, true)
	check(400, 0, true)
	check(401, 1, true)
	c.Rule = Double
	check(399, 0, false)
}

func TestMels(t *testing.T) {
	bank := Mels{Filters: 3, Scale: Slaney, High: 800}.bank(16, 1600)
	require.Equal(t, []filter{{1, []float64{0.5, 1, 0.5}}, {3, []float64{0.5, 1, 0.5}}, {5, []float64{0.5, 1, 0.5}}}, bank)
}
