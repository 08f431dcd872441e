package mp3

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// synthesis has the coefficients of the filters.
type synthesis struct {
	alias   [8][2]float64
	imdct   [lines][lines]float64 // rows 0 to 8 and 18 to 26 of the transform
	imdct3  [6][6]float64         // rows 0 to 2 and 6 to 8 of the short one
	window  [4][2 * lines]float64 // by the kind of block; 12 for short ones
	secants [32]float64           // 1/(2 cos), for 32, 16 and 8 values
	filter  [512]float64
}

func (t *synthesis) compute() {
	for i, c := range [8]float64{-0.6, -0.535, -0.33, -0.185, -0.095, -0.041, -0.0142, -0.0037} {
		s := math.Sqrt(1 + float64(c*c))
		t.alias[i] = [2]float64{1 / s, c / s}
	}
	// cosine returns the cosine of i*pi/n.
	cosine := func(i, n int) float64 {
		_, c := exactmath.SinCos(float64(i%(2*n)) * (math.Pi / float64(n)))
		return c
	}
	sine := func(i, n int) float64 {
		s, _ := exactmath.SinCos(float64(i) * (math.Pi / float64(n)))
		return s
	}
	for i := range lines {
		row := i
		if i >= lines/2 {
			row += lines / 2
		}
		for k := range lines {
			t.imdct[i][k] = cosine((2*row+1+lines)*(2*k+1), 4*lines)
		}
	}
	for i := range 6 {
		row := i
		if i >= 3 {
			row += 3
		}
		for k := range 6 {
			t.imdct3[i][k] = cosine((2*row+7)*(2*k+1), 24)
		}
	}
	for i := range 2 * lines {
		s := sine(2*i+1, 72)
		t.window[0][i] = s
		switch {
		case i < 18:
			t.window[1][i] = s
		case i < 24:
			t.window[1][i] = 1
		case i < 30:
			t.window[1][i] = sine(2*(i-18)+1, 24)
		}
		switch {
		case i < 6:
		case i < 12:
			t.window[3][i] = sine(2*(i-6)+1, 24)
		case i < 18:
			t.window[3][i] = 1
		default:
			t.window[3][i] = s
		}
	}
	for i := range 12 {
		t.window[2][i] = sine(2*i+1, 24)
	}
	for n := 32; n > 4; n /= 2 {
		for i := range n / 2 {
			t.secants[n/2+i] = 1 / (2 * cosine(2*i+1, 2*n))
		}
	}
	for k := range 16 {
		t.filter[32*k] = float64(windowFirst[k]) / 65536
		t.filter[32*k+16] = float64(windowMiddle[k]) / 65536
	}
	for j := 1; j < 16; j++ {
		for k := range 8 {
			a, b := float64(windowRows[j-1][2*k])/65536, float64(windowRows[j-1][2*k+1])/65536
			t.filter[32*k+j], t.filter[32*(15-k)+j] = a, b
			t.filter[32*k+32-j], t.filter[32*(15-k)+32-j] = -b, -a
		}
	}
}

// filterState is what the filters keep of earlier granules of a channel.
type filterState struct {
	overlap [subbands][lines]float64
	parts   [16][64]float64 // a ring: the transformed samples of all subbands
	newest  int
}

// hybrid turns the frequencies of a granule into samples.
func (d *layer3) hybrid(f *filterState, s *channel, xr *[granule]float64, out []float32) {
	t := &d.synthesis
	n := (s.afterLast + 8 + lines - 1) / lines // subbands that are not zero, with aliases
	n = min(n, subbands)
	boundaries := n - 1
	if s.block == 2 {
		boundaries = 0
		if s.mixed {
			boundaries = 1
		}
	}
	for b := 1; b <= boundaries; b++ {
		low, high := xr[b*lines-8:b*lines], xr[b*lines:b*lines+8]
		for i := range 8 {
			u, v, c := low[7-i], high[i], &t.alias[i]
			low[7-i] = float64(u*c[0]) - float64(v*c[1])
			high[i] = float64(v*c[0]) + float64(u*c[1])
		}
	}
	var time [lines][subbands]float64
	for b := range subbands {
		over := &f.overlap[b]
		if b >= n && !s.mixed {
			for i := range lines {
				time[i][b] = over[i]
			}
			clear(over[:])
		} else {
			kind := s.block
			if s.mixed && b < 2 {
				kind = 0
			}
			var y [2 * lines]float64
			in := xr[b*lines:][:lines]
			if kind == 2 {
				t.short(in, &y)
			} else {
				t.long(in, &t.window[kind], &y)
			}
			for i := range lines {
				time[i][b] = y[i] + over[i]
			}
			copy(over[:], y[lines:])
		}
		if b&1 == 1 {
			for i := 1; i < lines; i += 2 {
				time[i][b] = -time[i][b]
			}
		}
	}
	for i := range time {
		t.polyphase(f, &time[i], out[i*subbands:][:subbands])
	}
}

// long computes the windowed transform of 18 values.
func (t *synthesis) long(in []float64, w *[2 * lines]float64, y *[2 * lines]float64) {
	in = in[:lines]
	for i := range t.imdct {
		row := &t.imdct[i]
		var a, b float64
		for k := 0; k < lines; k += 2 {
			a += float64(in[k] * row[k])
			b += float64(in[k+1] * row[k+1])
		}
		a += b
		if i < lines/2 {
			y[i], y[17-i] = float64(a*w[i]), float64(-a*w[17-i])
		} else {
			y[9+i], y[44-i] = float64(a*w[9+i]), float64(a*w[44-i])
		}
	}
}

// short computes the sum of three windowed transforms of 6 values, which are
// interleaved.
func (t *synthesis) short(in []float64, y *[2 * lines]float64) {
	w := &t.window[2]
	for window := range 3 {
		out := y[6+6*window:][:12]
		for i := range t.imdct3 {
			row := &t.imdct3[i]
			var a float64
			for k := range 6 {
				a += float64(in[3*k+window] * row[k])
			}
			if i < 3 {
				out[i] += float64(a * w[i])
				out[5-i] -= float64(a * w[5-i])
			} else {
				out[3+i] += float64(a * w[3+i])
				out[14-i] += float64(a * w[14-i])
			}
		}
	}
}

// polyphase turns a sample of each subband into 32 samples.
func (t *synthesis) polyphase(f *filterState, in *[subbands]float64, out []float32) {
	var c [subbands]float64
	t.dct(in[:], c[:])
	f.newest = (f.newest - 1) & 15
	v := &f.parts[f.newest]
	for j := range 16 {
		v[j] = in[16+j]
		v[32+j] = -in[16-j]
	}
	v[16], v[48] = 0, -in[0]
	for j := 17; j < 32; j++ {
		v[j] = -in[48-j]
		v[32+j] = -in[j-16]
	}
	var sum [32]float64
	for k := range 16 {
		part := f.parts[(f.newest+k)&15][32*(k&1):][:32]
		w := t.filter[32*k:][:32]
		for j := range sum {
			sum[j] += float64(part[j] * w[j])
		}
	}
	for j := range out {
		out[j] = float32(sum[j])
	}
}

// dct computes sum x[n] cos((2n+1)k pi/2N) in place, for N of 4, 8, 16 or 32.
// It halves the size until 4. scratch has N values.
func (t *synthesis) dct(x, scratch []float64) {
	n := len(x)
	if n == 4 {
		const c1, c2, c3 = 0.92387953251128675613, 0.70710678118654752440, 0.38268343236508977173
		a, b, c, d := x[0]+x[3], x[1]+x[2], x[0]-x[3], x[1]-x[2]
		x[0], x[2] = a+b, float64((a-b)*c2)
		x[1], x[3] = float64(c*c1)+float64(d*c3), float64(c*c3)-float64(d*c1)
		return
	}
	h := n / 2
	secants := t.secants[h:n]
	low, high := scratch[:h], scratch[h:n]
	for i := range low {
		a, b := x[i], x[n-1-i]
		low[i] = a + b
		high[i] = float64((a - b) * secants[i])
	}
	t.dct(low, x[:h])
	t.dct(high, x[h:])
	for i := range h - 1 {
		x[2*i] = low[i]
		x[2*i+1] = high[i] + high[i+1]
	}
	x[n-2], x[n-1] = low[h-1], high[h-1]
}
