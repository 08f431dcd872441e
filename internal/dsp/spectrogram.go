package dsp

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// Rule is the arithmetic of a spectrogram.
type Rule uint8

// The rules. Frames are windowed and transformed in float64 unless it says
// otherwise.
const (
	// Complex64 rounds the transform to complex64 and computes on in float64:
	// spectrogram of transformers.audio_utils.
	Complex64 Rule = iota
	// Root32 rounds to complex64 and computes sqrt(re^2 + im^2 + Floor) in
	// float32: UnivNet. The floor of mels is then Clip.
	Root32
	// Double rounds nothing before the logarithm: LASR.
	Double
	// Single windows in float32, rounds to complex64, and computes amplitudes
	// in float32: Gemma 3n. Frames need one sample more.
	Single
	// Rounded is Single with the window of float64, rounded to float32: Gemma
	// 4.
	Rounded
	// Torch windows in float32 with torch's window, and computes the rest in
	// float64, with filters rounded to float32: torch.stft, whose own rounding
	// depends on the processor. Root is the least power below the root.
	Torch
	// Mixed emphasizes in float32, windows and transforms in float64, and
	// rounds to complex64; powers and filters are rounded to float32: Phi-4.
	Mixed
)

// gemma reports whether the rule is that of Gemma 3n or 4.
func (r Rule) gemma() bool { return r == Single || r == Rounded }

// Logarithm is the last function of a spectrogram.
type Logarithm uint8

// The logarithms.
const (
	NoLog   Logarithm = iota
	Natural           // ln
	Decimal           // log10
	Decibel           // 10 log10 of powers, 20 log10 of amplitudes
)

// Energy is the logarithm of a frame's sum of squares, as Kaldi computes it.
type Energy uint8

// The energies.
const (
	NoEnergy     Energy = iota
	RawEnergy           // after RemoveDC
	WindowEnergy        // after the window
)

// Config describes a spectrogram. Every step is that of package transforms' op
// spectrogram.
type Config struct {
	Frame, Hop, Length int // samples of a frame, between frames, and of the transform
	Pad                int // samples that are reflected at each end before frames are taken
	// Mirror centres frame i at sample (i+1/2)*Hop, for 1 frame every Hop
	// samples. Samples beyond the ends are mirrored, with the ends repeated.
	// Pad is 0 then.
	Mirror      bool
	Scale       float64
	RemoveDC    bool
	Preemphasis float64
	Window      Window
	Periodic    bool // the window
	Rule        Rule
	Power       int     // 1 or 2
	Root        float64 // of Root32 and Torch
	Rate        int     // samples a second, for the mels
	Mels        Mels    // Filters is 0 for none
	Floor       float64
	AddFloor    bool // add Floor instead of taking the larger one
	Log         Logarithm
	FramesFirst bool // the order of axes of the result
	// Frames32 prepares frames in float32, as Kaldi: minus the mean, the first
	// number minus Preemphasis times itself, times the window. The rule is
	// Complex64 or Double.
	Frames32 bool
	// Energy is a row before the others, or after them with EnergyLast. It has
	// neither Floor nor Log, but the least value ln(EnergyFloor) if that is not
	// 0. It is never below ln(2^-23).
	Energy      Energy
	EnergyFloor float64
	EnergyLast  bool
}

// Spectrogram computes spectrograms. It is safe for concurrent use.
type Spectrogram struct {
	Config
	mean, std []float64 // of each row, or empty
	fft       *FFT
	bank      []filter
	window    []float64
	ones      []float64 // for prepareSIMD, if it can serve
	kaldi32   []float32 // the window of Frames32
	window32  []float32 // of rules that window in float32
	least     float64   // of values before the logarithm
}

// NewSpectrogram returns the spectrogram of a valid configuration. mean and std
// have a value for each row, or none; the result keeps them.
func NewSpectrogram(c Config, mean, std []float64) *Spectrogram {
	s := &Spectrogram{Config: c, mean: mean, std: std}
	s.fft, _ = NewFFT(c.Length)
	s.window = c.Window.Table(c.Frame, c.Periodic)
	if c.Mels.Filters > 0 {
		s.bank = c.Mels.bank(c.Length, c.Rate)
		if c.Rule == Torch || c.Rule == Mixed {
			toFloat32(s.bank)
		}
	}
	switch c.Rule {
	case Single:
		s.window32 = hann32(c.Frame)
	case Rounded:
		s.window32 = single(s.window)
	case Torch:
		s.window32 = c.Window.torch(c.Frame, c.Periodic)
	}
	if !c.AddFloor {
		s.least = c.Floor
	}
	if c.Frames32 {
		s.kaldi32 = single(s.window)
	}
	if s.window32 == nil && c.Rule != Mixed && (c.RemoveDC || c.Preemphasis != 0 || c.Frames32) && c.Energy == NoEnergy {
		s.ones = Boxcar.Table(c.Frame, false)
	}
	return s
}

// single rounds values to float32.
func single(v []float64) []float32 {
	r := make([]float32, len(v))
	for i, x := range v {
		r[i] = float32(x)
	}
	return r
}

// Rows returns the number of values of a frame.
func (c *Config) Rows() int {
	if c.Energy != NoEnergy {
		return c.bands() + 1
	}
	return c.bands()
}

// bands returns the number of values of a frame's spectrum.
func (c *Config) bands() int {
	if c.Mels.Filters > 0 {
		return c.Mels.Filters
	}
	return c.Length/2 + 1
}

// Frames returns the number of frames of n samples. ok is false if the
// reference refuses so few: it has no frames of a few samples less than one
// frame's, and the rules Single and Rounded of any less.
func (c *Config) Frames(n int) (frames int, ok bool) {
	if n == 0 {
		return 0, false
	}
	if c.Mirror {
		return (n + c.Hop/2) / c.Hop, true
	}
	if c.Rule == Torch && c.Pad > 0 && n <= c.Length/2 {
		return 0, false // torch reflects half a transform
	}
	n += 2*c.Pad - c.Frame
	if c.Rule.gemma() {
		n--
	}
	if n >= 0 {
		return 1 + n/c.Hop, true
	}
	switch c.Rule {
	case Double, Torch, Mixed:
		return 0, false
	}
	return 0, c.Rule.gemma() || n >= -c.Hop
}

// Floats returns the number of float64 and of float32 that Compute needs as
// work for n samples.
func (s *Spectrogram) Floats(n int) (doubles, singles int) {
	doubles = 2*s.Length*Lanes + (s.Length/2+1)*Lanes + s.Frame + s.bands()*Lanes
	if s.Mirror {
		frames, _ := s.Frames(n)
		return doubles, max(frames-1, 0)*s.Hop + s.Frame
	}
	if s.Pad > 0 || s.Scale != 1 {
		singles = n + 2*s.Pad
	}
	return doubles, singles
}

// Compute writes the spectrogram of samples, Frames(len(samples)) times Rows()
// values, to dst. The work has at least the lengths of Floats.
func (s *Spectrogram) Compute(dst, samples []float32, doubles []float64, singles []float32) {
	bands := s.bands()
	frames, _ := s.Frames(len(samples))
	if frames == 0 {
		return
	}
	samples = s.padded(samples, singles)
	take := func(n int) []float64 {
		t := doubles[:n:n]
		doubles = doubles[n:]
		return t
	}
	x, work := take(s.Length*Lanes), take(s.Length*Lanes)
	power, frame, out := take((s.Length/2+1)*Lanes), take(s.Frame), take(bands*Lanes)
	var energy [Lanes]float64
	for first := 0; first < frames; first += Lanes {
		n := min(Lanes, frames-first)
		s.load(x, frame, samples[first*s.Hop:], n, &energy)
		y := s.fft.Transform(x, work)
		values := s.values(out, power, y)
		logged := false
		if s.Log != NoLog {
			var done bool
			if done, logged = logSIMD(values, s.least, s.Log != Natural); done && !logged {
				values = s.values(out, power, y)
			}
		}
		s.store(dst, values, first, n, frames, logged)
		s.storeEnergy(dst, energy[:n], first, frames)
	}
}

// values returns the rows of transforms, in power or out.
func (s *Spectrogram) values(out, power, y []float64) []float64 {
	s.powers(power, y)
	if s.bank == nil {
		out = power
	} else {
		s.mels(out, power)
	}
	if s.AddFloor {
		for i := range out {
			out[i] += s.Floor
		}
	}
	return out
}

// padded returns the scaled samples with the reflected ones around them.
func (s *Spectrogram) padded(samples, singles []float32) []float32 {
	if s.Mirror {
		return s.mirrored(samples, singles)
	}
	if s.Pad == 0 && s.Scale == 1 {
		return samples
	}
	n := len(samples)
	p := singles[:n+2*s.Pad]
	scale := float32(s.Scale)
	for i, x := range samples {
		p[s.Pad+i] = float32(x * scale)
	}
	inner := p[s.Pad:][:n]
	for i := range s.Pad {
		p[i] = inner[kernel.Reflect101(i-s.Pad, n)]
		p[s.Pad+n+i] = inner[kernel.Reflect101(n+i, n)]
	}
	return p
}

// mirrored returns the scaled samples of all frames with Mirror.
func (s *Spectrogram) mirrored(samples, singles []float32) []float32 {
	n := len(samples)
	frames, _ := s.Frames(n)
	p := singles[:(frames-1)*s.Hop+s.Frame]
	scale, left := float32(s.Scale), s.Frame/2-s.Hop/2
	for i := range p {
		at := (i - left) % (2 * n)
		if at < 0 {
			at += 2 * n
		}
		p[i] = float32(samples[min(at, 2*n-1-at)] * scale)
	}
	return p
}

// load writes the windowed frames to the lanes of x, and zeros to other lanes
// and behind the frames. energy gets the sums of squares, if they are wanted.
func (s *Spectrogram) load(x, frame []float64, samples []float32, n int, energy *[Lanes]float64) {
	if n < Lanes {
		clear(x)
	} else {
		clear(x[s.Frame*Lanes:])
	}
	done := 0
	plain := s.window32 == nil && !s.RemoveDC && s.Preemphasis == 0 && !s.Frames32 && s.Energy == NoEnergy
	if n == Lanes && plain {
		done = loadSIMD(x, samples, s.Hop, s.window)
	}
	if n == Lanes && s.ones != nil && prepareSIMD(s, x, samples) {
		return
	}
	for lane := range n {
		in := samples[lane*s.Hop:][:s.Frame]
		switch {
		case s.window32 != nil:
			s.load32(x[lane:], in)
			continue
		case s.Rule == Mixed:
			c, last := float32(s.Preemphasis), in[0]
			for i, v := range in {
				x[i*Lanes+lane] = float64(float64(v-float32(c*last)) * s.window[i])
				last = v
			}
			continue
		case !plain:
			energy[lane] = s.prepare(frame, in)
			for i, v := range frame {
				x[i*Lanes+lane] = v
			}
			continue
		}
		for i := done; i < len(in); i++ {
			x[i*Lanes+lane] = float64(float64(in[i]) * s.window[i])
		}
	}
}

// prepare removes the mean of a frame, emphasizes its high frequencies and
// multiplies it by the window. It returns the sum of squares that Energy wants.
func (s *Spectrogram) prepare(frame []float64, in []float32) (energy float64) {
	if s.Frames32 {
		return s.prepare32(frame, in)
	}
	for i, v := range in {
		frame[i] = float64(v)
	}
	if s.RemoveDC {
		mean := PairwiseSum(frame) / float64(len(frame))
		for i := range frame {
			frame[i] -= mean
		}
	}
	if s.Energy == RawEnergy {
		energy = sumSquares(frame)
	}
	c, last := s.Preemphasis, frame[0]
	frame[0] = float64(float64(last*(1-c)) * s.window[0])
	for i, v := range frame[1:] {
		frame[i+1] = float64((v - float64(c*last)) * s.window[i+1])
		last = v
	}
	if s.Energy == WindowEnergy {
		energy = sumSquares(frame)
	}
	return energy
}

func sumSquares(x []float64) (sum float64) {
	for _, v := range x {
		sum += float64(v * v)
	}
	return sum
}

// storeEnergy writes the energies of frames.
func (s *Spectrogram) storeEnergy(dst []float32, energy []float64, first, frames int) {
	if s.Energy == NoEnergy {
		return
	}
	rows, row := s.Rows(), 0
	if s.EnergyLast {
		row = rows - 1
	}
	for lane, e := range energy {
		v := Log(max(e, 0x1p-23))
		if s.EnergyFloor > 0 {
			v = max(v, Log(s.EnergyFloor))
		}
		if s.FramesFirst {
			dst[(first+lane)*rows+row] = float32(v)
		} else {
			dst[row*frames+first+lane] = float32(v)
		}
	}
}

// load32 writes a frame by a rule that windows in float32.
func (s *Spectrogram) load32(x []float64, in []float32) {
	last, c := float32(0), float32(s.Preemphasis)
	for i, v := range in {
		d := v
		switch {
		case s.Preemphasis == 0:
		case i == 0:
			d = float32(v * float32(1-s.Preemphasis))
		default:
			d = v - float32(c*last)
		}
		last = v
		x[i*Lanes] = float64(float32(d * s.window32[i]))
	}
}

// powers writes the powers or amplitudes of each bin.
func (s *Spectrogram) powers(dst, x []float64) {
	bins, last := s.Length/2+1, s.Length/2
	middle := (s.Length - 1) / 2 // bins with an imaginary part
	done := s.Rule == Complex64 && s.Power == 2 && middle > 0 && powersSIMD(dst[Lanes:], x[Lanes:], middle)
	for i := range bins {
		if done && i > 0 && i <= middle {
			continue
		}
		for lane := range Lanes {
			// The first bin has no imaginary part, nor has the last one of an
			// even length.
			re, im := 0.0, 0.0
			switch {
			case i == 0:
				re = x[lane]
			case i == last && s.Length%2 == 0:
				re = x[(2*i-1)*Lanes+lane]
			default:
				re, im = x[(2*i-1)*Lanes+lane], x[2*i*Lanes+lane]
			}
			dst[i*Lanes+lane] = s.power(re, im)
		}
	}
}

func (s *Spectrogram) power(re, im float64) float64 {
	switch s.Rule {
	case Root32:
		r, i := float32(re), float32(im)
		return float64(float32(math.Sqrt(float64(float32(r*r) + float32(i*i) + float32(s.Root)))))
	case Single, Rounded:
		return float64(hypot32(float32(re), float32(im)))
	case Mixed:
		re, im = float64(float32(re)), float64(float32(im))
		a := float32(math.Sqrt(float64(re*re) + float64(im*im)))
		return float64(float32(a * a))
	case Complex64:
		re, im = float64(float32(re)), float64(float32(im))
	}
	p := float64(re*re) + float64(im*im)
	if s.Rule == Torch {
		if s.Power == 2 {
			return p
		}
		return math.Sqrt(max(p, s.Root))
	}
	a := math.Sqrt(p)
	if s.Power == 2 {
		a = float64(a * a)
	}
	return a
}

// hypot32 is NumPy's absolute value of a complex64 on x86-64 with FMA.
func hypot32(re, im float32) float32 {
	re, im = max(re, -re), max(im, -im)
	if re < im {
		re, im = im, re
	}
	if re == 0 {
		return 0
	}
	r := im / re
	return float32(re * float32(math.Sqrt(float64(exactmath.FMA32(r, r, 1)))))
}

// mels writes the sums of each filter.
func (s *Spectrogram) mels(dst, power []float64) {
	for j := range s.bank {
		f := &s.bank[j]
		p := power[f.first*Lanes:]
		if melSIMD(dst[j*Lanes:], p, f.weights) {
			continue
		}
		var a, b, c, d float64
		for i, w := range f.weights {
			q := p[i*Lanes : i*Lanes+Lanes]
			a += float64(w * q[0])
			b += float64(w * q[1])
			c += float64(w * q[2])
			d += float64(w * q[3])
		}
		q := dst[j*Lanes : j*Lanes+Lanes]
		q[0], q[1], q[2], q[3] = a, b, c, d
	}
}

// store writes n frames of values, or of their logarithms.
func (s *Spectrogram) store(dst []float32, values []float64, first, n, frames int, logged bool) {
	rows, bands := s.Rows(), s.bands()
	if s.Energy != NoEnergy && !s.EnergyLast {
		if s.FramesFirst {
			dst = dst[1:]
		} else {
			dst = dst[frames:]
		}
	}
	plain := logged && s.Log != Decibel && len(s.mean) == 0 && len(s.std) == 0
	for j := range bands {
		v := values[j*Lanes:][:n]
		if plain && n == Lanes && !s.FramesFirst {
			to := dst[j*frames+first:][:Lanes]
			to[0], to[1], to[2], to[3] = float32(v[0]), float32(v[1]), float32(v[2]), float32(v[3])
			continue
		}
		if plain && n == Lanes {
			to := dst[first*rows+j:]
			to[0], to[rows], to[2*rows], to[3*rows] = float32(v[0]), float32(v[1]), float32(v[2]), float32(v[3])
			continue
		}
		for lane, x := range v {
			if !plain {
				x = s.value(x, j, logged)
			}
			if s.FramesFirst {
				dst[(first+lane)*rows+j] = float32(x)
			} else {
				dst[j*frames+first+lane] = float32(x)
			}
		}
	}
}

// value returns a value of row j. logged says that x is its logarithm.
func (s *Spectrogram) value(x float64, j int, logged bool) float64 {
	if !logged {
		x = max(x, s.least)
		switch s.Log {
		case Natural:
			x = Log(x)
		case Decimal, Decibel:
			x = Log10(x)
		}
	}
	if s.Log == Decibel {
		x = float64(float64(30-10*s.Power) * x)
	}
	if len(s.mean) > 0 {
		x -= s.mean[j]
	}
	if len(s.std) > 0 {
		x /= s.std[j]
	}
	return x
}
