package dsp

import "testing"

// BenchmarkWhisper computes the spectrogram of 30 s.
func BenchmarkWhisper(b *testing.B) {
	s := NewSpectrogram(Config{
		Frame: 400, Hop: 160, Length: 400, Pad: 200, Scale: 1, Periodic: true, Power: 2, Rate: 16000,
		Mels: Mels{Filters: 80, Scale: Slaney, High: 8000, Norm: true}, Floor: 1e-10, Log: Decimal,
	}, nil, nil)
	in := make([]float32, 480000)
	for i, x := range noise(len(in)) {
		in[i] = float32(x)
	}
	doubles, singles := s.Floats(len(in))
	d, f := make([]float64, doubles), make([]float32, singles)
	frames, _ := s.Frames(len(in))
	dst := make([]float32, frames*s.Rows())
	for b.Loop() {
		s.Compute(dst, in, d, f)
	}
}
