package dsp

import "testing"

// BenchmarkWhisper computes the spectrogram of 30 s.
func BenchmarkWhisper(b *testing.B) {
	benchmark(b, Config{
		Frame: 400, Hop: 160, Length: 400, Pad: 200, Scale: 1, Periodic: true, Power: 2, Rate: 16000,
		Mels: Mels{Filters: 80, Scale: Slaney, High: 8000, Norm: true}, Floor: 1e-10, Log: Decimal,
	})
}

// BenchmarkFbank computes Kaldi's filter banks of 30 s.
func BenchmarkFbank(b *testing.B) {
	benchmark(b, Config{
		Frame: 400, Hop: 160, Length: 512, Scale: 32768, RemoveDC: true, Preemphasis: 0.97, Window: Povey, Power: 2, Rate: 16000,
		Mels: Mels{Filters: 80, Scale: Kaldi, Low: 20, High: 8000, InMel: true}, Floor: 0x1p-23, Log: Natural, FramesFirst: true,
	})
}

func benchmark(b *testing.B, c Config) {
	s := NewSpectrogram(c, nil, nil)
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
