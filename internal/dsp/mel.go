package dsp

import "github.com/infer-prep/infer-prep/internal/exactmath"

// Scale maps frequencies in Hz to mels.
type Scale uint8

// The scales.
const (
	HTK    Scale = iota // 2595 log10(1 + f/700)
	Slaney              // 3f/200 up to 1000 Hz, then 15 + 27 ln(f/1000)/ln 6.4
	Kaldi               // 1127 ln(1 + f/700)
	// TorchHTK and TorchSlaney are HTK and Slaney with the float32 arithmetic
	// of torchaudio's melscale_fbanks.
	TorchHTK
	TorchSlaney
)

// Mels describes a bank of triangular filters.
type Mels struct {
	Filters   int
	Scale     Scale
	Low, High float64 // of the first and the last filter, in Hz
	// InMel has straight sides of the filters in mels, not in Hz.
	InMel bool
	// Norm divides each filter by half of its width.
	Norm bool
	// Table is the arithmetic. Scale, InMel and Norm belong to DoubleTable.
	Table MelTable
}

// filter is a filter without the zeros around it.
type filter struct {
	first   int // bin
	weights []float64
}

// mel returns the mels of a frequency.
func (s Scale) mel(f float64) float64 {
	switch s {
	case HTK:
		return float64(2595 * Log10(1+f/700))
	case Kaldi:
		return float64(1127 * exactmath.Log(1+f/700))
	}
	if f < 1000 {
		return float64(3*f) / 200
	}
	return 15 + float64(exactmath.Log(f/1000)*(27/exactmath.Log(6.4)))
}

// hertz returns the frequency of m mels.
func (s Scale) hertz(m float64) float64 {
	switch s {
	case HTK:
		return float64(700 * (exactmath.Pow(10, m/2595) - 1))
	case Kaldi:
		return float64(700 * (exactmath.Exp(m/1127) - 1))
	}
	if m < 15 {
		return float64(200*m) / 3
	}
	return float64(1000 * exactmath.Exp(float64((exactmath.Log(6.4)/27)*(m-15))))
}

// linspace returns number i of n from low to high, as NumPy's linspace.
func linspace(low, high float64, i, n int) float64 {
	if i == n-1 && n > 1 {
		return high
	}
	return float64(float64(i)*((high-low)/float64(n-1))) + low
}

// bank returns the filters for the bins of a transform of n numbers, with the
// arithmetic of transformers' mel_filter_bank.
func (m Mels) bank(n, rate int) []filter {
	if m.Table != DoubleTable {
		return m.bank32(n, rate)
	}
	if m.Scale == TorchHTK || m.Scale == TorchSlaney {
		return m.torchBank(n, rate)
	}
	bins := n/2 + 1
	low, high := m.Scale.mel(m.Low), m.Scale.mel(m.High)
	edges, widths := make([]float64, m.Filters+2), make([]float64, m.Filters+2)
	for i := range edges {
		edges[i] = linspace(low, high, i, len(edges))
		if !m.InMel {
			edges[i] = m.Scale.hertz(edges[i])
		}
		widths[i] = edges[i]
	}
	f := make([]float64, bins)
	for i := range f {
		if m.InMel {
			f[i] = m.Scale.mel(float64(float64(rate) / float64(2*(bins-1)) * float64(i)))
		} else {
			f[i] = linspace(0, float64(rate/2), i, bins)
		}
	}
	bank := make([]filter, m.Filters)
	for j := range bank {
		e := edges[j : j+3]
		d := &bank[j]
		for i, x := range f {
			w := max(0, min(-(e[0]-x)/(e[1]-e[0]), (e[2]-x)/(e[2]-e[1])))
			if m.Norm {
				w = float64(w * (2 / (e[2] - e[0])))
			}
			d.add(i, w)
		}
	}
	return bank
}

// toFloat32 rounds the weights to float32.
func toFloat32(bank []filter) {
	for _, d := range bank {
		for i, w := range d.weights {
			d.weights[i] = float64(float32(w))
		}
	}
}

// linspace32 returns number i of n from low to high, as torch.linspace.
func linspace32(low, high float32, i, n int) float32 {
	step := (high - low) / float32(n-1)
	if i < n/2 {
		return low + float32(step*float32(i))
	}
	return high - float32(step*float32(n-1-i))
}

// torchBank returns the filters of torchaudio's melscale_fbanks.
func (m Mels) torchBank(n, rate int) []filter {
	bins := n/2 + 1
	scale := HTK
	if m.Scale == TorchSlaney {
		scale = Slaney
	}
	low, high := float32(scale.mel(m.Low)), float32(scale.mel(m.High))
	edges := make([]float32, m.Filters+2)
	for i := range edges {
		x := linspace32(low, high, i, len(edges))
		switch {
		case scale == HTK:
			edges[i] = float32(700 * (float32(exactmath.Pow(10, float64(x/2595))) - 1))
		case x < 15:
			edges[i] = float32(float32(200.0/3) * x)
		default:
			step := float32(exactmath.Log(6.4) / 27)
			edges[i] = float32(1000 * float32(exactmath.Exp(float64(float32(step*(x-15))))))
		}
	}
	bank := make([]filter, m.Filters)
	for j := range bank {
		e := edges[j : j+3]
		for i := range bins {
			x := linspace32(0, float32(rate/2), i, bins)
			w := max(0, min((x-e[0])/(e[1]-e[0]), (e[2]-x)/(e[2]-e[1])))
			if m.Norm {
				w = float32(w * (2 / (e[2] - e[0])))
			}
			bank[j].add(i, float64(w))
		}
	}
	return bank
}
