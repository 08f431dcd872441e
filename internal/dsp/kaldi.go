package dsp

// MelTable is the arithmetic of a bank of filters.
type MelTable uint8

// The tables. The two of float32 have Kaldi's scale and straight sides in mels,
// and leave out the bin at half of the rate.
const (
	DoubleTable     MelTable = iota // transformers' mel_filter_bank
	KaldiTable                      // Kaldi's MelBanks
	TorchaudioTable                 // torchaudio's get_mel_banks: edges from float64
)

// log32 is the natural logarithm in float32, rounded correctly but for rare
// ties.
func log32(x float32) float32 { return float32(Log(float64(x))) }

func kaldiMel32(f float32) float32 { return float32(1127 * log32(1+f/700)) }

// bank32 is bank for the tables of float32.
func (m Mels) bank32(n, rate int) []filter {
	var low, delta float32
	if m.Table == KaldiTable {
		low = kaldiMel32(float32(m.Low))
		delta = (kaldiMel32(float32(m.High)) - low) / float32(m.Filters+1)
	} else {
		from := Kaldi.mel(m.Low)
		low, delta = float32(from), float32((Kaldi.mel(m.High)-from)/float64(m.Filters+1))
	}
	width := float32(rate) / float32(n)
	bank := make([]filter, m.Filters)
	for j := range bank {
		left, center := low+float32(float32(j)*delta), low+float32(float32(j+1)*delta)
		right := low + float32(float32(j+2)*delta)
		d := &bank[j]
		for i := range n / 2 {
			x := kaldiMel32(float32(width * float32(i)))
			w := max(0, min((x-left)/(center-left), (right-x)/(right-center)))
			d.add(i, float64(w))
		}
	}
	return bank
}

// add appends the weight of bin i, which is behind the others.
func (f *filter) add(i int, w float64) {
	if w == 0 {
		return
	}
	if len(f.weights) == 0 {
		f.first = i
	}
	for f.first+len(f.weights) < i { // no triangle has a gap
		f.weights = append(f.weights, 0)
	}
	f.weights = append(f.weights, w)
}

// prepare32 is prepare in float32, for Kaldi's features.
func (s *Spectrogram) prepare32(frame []float64, in []float32) (energy float64) {
	for i, v := range in {
		frame[i] = float64(v)
	}
	mean := float32(0)
	if s.RemoveDC {
		mean = float32(PairwiseSum(frame) / float64(len(frame)))
	}
	c, last := float32(s.Preemphasis), in[0]-mean
	for i, v := range in {
		d := v - mean
		if s.Energy == RawEnergy {
			energy += float64(float64(d) * float64(d))
		}
		e := float32((d - float32(c*last)) * s.kaldi32[i])
		if s.Energy == WindowEnergy {
			energy += float64(float64(e) * float64(e))
		}
		frame[i], last = float64(e), d
	}
	return energy
}
