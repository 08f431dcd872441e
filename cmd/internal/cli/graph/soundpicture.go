package graph

import (
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
)

const (
	// waveRows is the largest number of rows of a matrix that is drawn as the
	// channels of a sound. Spectrograms have more.
	waveRows = 8
	// The sizes of pictures of --steps.
	waveWidth, waveHeight = 1000, 200
	spectrumWidth         = 2000 // at most; one column a frame below
	spectrumRows          = 256  // at least; a row of mels has several pixels
	// dynamic is the range of the decibels that are drawn of values without a
	// logarithm.
	dynamic = 80
)

// spectrumColors are the colors of the lowest value to the highest, with equal
// distances: five of matplotlib's map magma.
var spectrumColors = [5]color.NRGBA{{0, 0, 4, 255}, {81, 18, 124, 255}, {183, 55, 121, 255}, {252, 137, 97, 255}, {252, 253, 191, 255}}

// soundPicture draws samples as a waveform and features as a spectrogram, in a
// picture of w x h pixels, or of a natural size if w is 0. It returns nil if t
// is neither: float32 without a layout, of one axis or two.
func soundPicture(t *tensor.Tensor, w, h int) image.Image {
	rank := t.Shape.Rank()
	if t.DType != tensor.Float32 || t.Layout != tensor.NoLayout || t.Len() == 0 || rank < 1 || rank > 2 {
		return nil
	}
	if !t.Dense() {
		t = t.Clone()
	}
	v := tensor.View[float32](t)
	if rank == 1 {
		return waveform(v, 1, w, h)
	}
	rows, columns := t.Shape.At(0), t.Shape.At(1)
	if rows <= waveRows && columns > rows {
		return waveform(v, rows, w, h)
	}
	return spectrum(v, rows, columns, w, h)
}

// waveform draws the channels below each other. The largest magnitude of all
// touches the edges.
func waveform(v []float32, channels, w, h int) image.Image {
	if w == 0 {
		w, h = waveWidth, waveHeight*channels
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	peak := float32(0)
	for _, x := range v {
		if a := max(x, -x); a > peak && !math.IsInf(float64(a), 0) {
			peak = a
		}
	}
	if peak == 0 {
		peak = 1
	}
	n, part := len(v)/channels, h/channels
	for c := range channels {
		middle := float64(c*part) + float64(part-1)/2
		for x := range w {
			from := x * n / w
			piece := v[c*n+from : c*n+max(from+1, (x+1)*n/w)]
			lo, hi := slices.Min(piece), slices.Max(piece)
			row := func(s float32) int {
				y := middle - float64(min(1, max(-1, s/peak)))*float64(part-1)/2
				if math.IsNaN(y) {
					y = middle
				}
				return int(math.Round(y))
			}
			for y := row(hi); y <= row(lo); y++ {
				m.SetNRGBA(x, y, spectrumColors[1])
			}
		}
	}
	return m
}

// spectrum draws a matrix with the time to the right, which is its longer axis,
// and the lowest row of features at the bottom.
func spectrum(v []float32, rows, columns, w, h int) image.Image {
	at := func(bin, frame int) float64 { return float64(v[bin*columns+frame]) }
	bins, frames := rows, columns
	if rows > columns {
		bins, frames = columns, rows
		at = func(bin, frame int) float64 { return float64(v[frame*columns+bin]) }
	}
	if w == 0 {
		w, h = min(frames, spectrumWidth), bins*max(1, spectrumRows/bins)
	}
	lo, hi, sum, count := math.Inf(1), math.Inf(-1), 0.0, 0.0
	for _, x := range v {
		if x := float64(x); !math.IsNaN(x) && !math.IsInf(x, 0) {
			lo, hi = min(lo, x), max(hi, x)
			sum += x
			count++
		}
	}
	level := func(x float64) float64 { return (x - lo) / (hi - lo) }
	if lo >= 0 && hi > 50*sum/count { // powers or magnitudes
		level = func(x float64) float64 { return 1 + 10*math.Log10(x/hi)/dynamic }
	}
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		first := (h - 1 - y) * bins / h
		last := max(first+1, (h-y)*bins/h)
		for x := range w {
			from := x * frames / w
			to := max(from+1, (x+1)*frames/w)
			largest := math.Inf(-1)
			for bin := first; bin < last; bin++ {
				for frame := from; frame < to; frame++ {
					largest = max(largest, at(bin, frame))
				}
			}
			m.SetNRGBA(x, y, spectrumColor(level(largest)))
		}
	}
	return m
}

// spectrumColor returns the color of a level of 0 to 1. NaN is drawn as 0.
func spectrumColor(level float64) color.NRGBA {
	if !(level > 0) {
		return spectrumColors[0]
	}
	n := float64(len(spectrumColors) - 1)
	i := min(int(min(level, 1)*n), int(n)-1)
	f := min(level, 1)*n - float64(i)
	a, b := spectrumColors[i], spectrumColors[i+1]
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + math.Round((float64(b)-float64(a))*f)) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}
