package kernel

import "math"

// Linear computes float32 functions of bytes with vector instructions where
// they are quicker than a look-up: (v*scale - sub) * factor, each of the three
// operations rounded. The zero value computes nothing.
type Linear struct {
	ch     int // 0 if there is no function
	scaled bool
	// planes has the terms of each channel, row those of three vectors of
	// interleaved elements.
	planes, row [3]linearTerms
}

// linearTerms are the numbers of eight elements. scale and factor are sums of
// two float32, so that a product can stand for a quotient: v*low is rounded,
// then v*high + v*low.
type linearTerms struct{ scaleHigh, scaleLow, sub, factorHigh, factorLow [8]float32 }

// Fit looks for the arithmetic that computes tables of 1 or 3 channels. The
// lists have one number for all channels or one for each; scale may be nil for
// 1. Operations by scale and factor may be with the number or with the number
// rounded to float32. Fit compares all values bit by bit. It reports false, and
// l computes nothing, if a bit differs or without vector instructions.
func (l *Linear) Fit(tables []float32, scale, sub, factor []float64) bool {
	l.ch = 0
	ch := len(tables) / 256
	if !hasLinear() || ch != 1 && ch != 3 {
		return false
	}
	l.scaled = scale != nil
	for i := range 4 {
		if i&2 != 0 && !l.scaled {
			break
		}
		l.set(ch, scale, sub, factor, i&2 != 0, i&1 != 0)
		if l.computes(tables) {
			l.ch = ch
			return true
		}
	}
	return false
}

// set sets the terms.
func (l *Linear) set(ch int, scale, sub, factor []float64, roundScale, roundFactor bool) {
	for i := range l.planes {
		t := &l.planes[i]
		at := func(list []float64) float64 { return list[min(i%ch, len(list)-1)] }
		fill := func(dst *[8]float32, x float32) {
			for k := range dst {
				dst[k] = x
			}
		}
		sum := func(high, low *[8]float32, x float64, round bool) {
			h := float32(x)
			if round {
				x = float64(h)
			}
			fill(high, h)
			fill(low, float32(x-float64(h)))
		}
		if l.scaled {
			sum(&t.scaleHigh, &t.scaleLow, at(scale), roundScale)
		}
		fill(&t.sub, float32(at(sub)))
		sum(&t.factorHigh, &t.factorLow, at(factor), roundFactor)
	}
	for i := range l.row {
		for k := range 8 {
			t, from := &l.row[i], &l.planes[(8*i+k)%3]
			t.scaleHigh[k], t.scaleLow[k], t.sub[k] = from.scaleHigh[0], from.scaleLow[0], from.sub[0]
			t.factorHigh[k], t.factorLow[k] = from.factorHigh[0], from.factorLow[0]
		}
	}
}

// computes reports whether l computes the values of tables.
func (l *Linear) computes(tables []float32) bool {
	var in [3 * 256]uint8
	var out [3 * 256]float32
	for i := range in {
		in[i] = uint8(i / 3)
	}
	linearRow(l, out[:], in[:])
	for c := range 3 {
		for v, want := range tables[c*256%len(tables):][:256] {
			if math.Float32bits(out[3*v+c]) != math.Float32bits(want) {
				return false
			}
		}
	}
	return true
}

// Planes computes height rows of width pixels of three channels. The rows of
// src are stride bytes apart; those of a plane of dst follow each other. dst
// starts at the first pixel of the first plane and must contain the last pixel
// of the last plane. It reports false, and computes nothing, if l has no
// function of three channels or width is below 8.
func (l *Linear) Planes(dst []float32, plane int, src []uint8, stride, width, height int) bool {
	if l.ch != 3 || width < 8 || plane < 0 {
		return false
	}
	if height > 0 {
		_, _ = dst[2*plane:][:width*height], src[(height-1)*stride:][:3*width]
		linearPlanes(l, dst, plane, src, stride, width, height)
	}
	return true
}

// Row computes the first elements of src, whose channels are interleaved, and
// returns how many, a multiple of the number of channels.
func (l *Linear) Row(dst []float32, src []uint8) int {
	n := len(src) / 24 * 24
	if l.ch == 0 || n == 0 {
		return 0
	}
	linearRow(l, dst[:n], src[:n])
	return n
}
