package kaldi

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
)

// Method is a way to compress a matrix, with Kaldi's numbers.
type Method int

// The methods. A step is range/65535 (CM2) or range/255 (CM3); values outside a
// fixed range are clamped. The steps of CM are those between a column's
// quartiles.
const (
	Automatic            Method = 1 // SpeechFeature for more than 8 rows, else TwoByteAuto
	SpeechFeature        Method = 2 // CM
	TwoByteAuto          Method = 3 // CM2, from the smallest to the largest element
	TwoByteSignedInteger Method = 4 // CM2, integers from -32768 to 32767 are kept exactly
	OneByteAuto          Method = 5 // CM3, from the smallest to the largest element
	OneByteUnsigned      Method = 6 // CM3, integers from 0 to 255 are kept exactly
	OneByteZeroOne       Method = 7 // CM3, from 0 to 1
)

// compression holds the minimum and range of a compressed matrix.
type compression struct {
	min, span float32
	stored    tensor.DType
}

// uint16Step is Kaldi's decimal approximation of 1/65535 in column headers.
const uint16Step = float32(1.52590218966964e-05)

// point returns the value of a column's point.
func (c compression) point(u uint16) float32 {
	step := float32(c.span * uint16Step)
	return c.min + float32(step*float32(u))
}

// quantise maps x to an integer from 0 to n.
func (c compression) quantise(x, n float32) int {
	f := float32(float32(x-c.min) / c.span)
	if f > 1 {
		f = 1
	}
	if f < 0 {
		f = 0
	}
	return int(float64(float32(f*n)) + 0.499)
}

// decompress uses Kaldi's arithmetic; out is row-major.
func decompress[T float32 | float64](out []T, b []byte, h Header, c compression) {
	switch h.Form {
	case CM2:
		step := float32(float64(c.span) * (1 / 65535.0))
		for i := range out {
			out[i] = T(c.min + float32(float32(binary.LittleEndian.Uint16(b[2*i:]))*step))
		}
	case CM3:
		step := float32(float64(c.span) * (1 / 255.0))
		for i := range out {
			out[i] = T(c.min + float32(float32(b[i])*step))
		}
	case CM:
		rows, cols := h.Shape.At(0), h.Shape.At(1)
		bytes := b[8*cols:]
		for x := range cols {
			p := c.points(b[8*x:])
			for y := range rows {
				out[y*cols+x] = T(columnValue(p, bytes[x*rows+y]))
			}
		}
	}
}

// points returns a column's four points.
func (c compression) points(b []byte) (p [4]float32) {
	for i := range p {
		p[i] = c.point(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return p
}

// columnValue maps a byte to a value between a column's points, at 0, 64, 192
// and 255.
func columnValue(p [4]float32, v byte) float32 {
	between := func(a, b float32, n byte, scale float64) float32 {
		d := float32(float32(b-a) * float32(n))
		return float32(float64(a) + float64(float64(d)*scale))
	}
	switch {
	case v <= 64:
		return between(p[0], p[1], v, 1/64.0)
	case v <= 192:
		return between(p[1], p[2], v-64, 1/128.0)
	default:
		return between(p[2], p[3], v-192, 1/63.0)
	}
}

// columnByte returns the byte whose columnValue is nearest to x.
func columnByte(p [4]float32, x float32) byte {
	near := func(a, b, n float32, low, high int) byte {
		f := float64(float32(float32(float32(x-a)/float32(b-a))*n)) + 0.5
		k := low // two equal points give no quotient
		if f > -1e9 && f < 1e9 {
			k += int(f)
		}
		return byte(min(max(k, low), high))
	}
	switch {
	case x < p[1]:
		return near(p[0], p[1], 64, 0, 64)
	case x < p[2]:
		return near(p[1], p[2], 128, 64, 192)
	default:
		return near(p[2], p[3], 63, 192, 255)
	}
}

// compress returns a compressed matrix as stored after "\0B".
func compress(x []float32, rows, cols int, m Method) ([]byte, error) {
	if m < Automatic || m > OneByteZeroOne {
		return nil, fmt.Errorf("kaldi: compression method %d, want 1 to 7", m)
	}
	if m == Automatic {
		m = TwoByteAuto
		if rows > 8 {
			m = SpeechFeature
		}
	}
	if cols == 0 {
		return append([]byte("CM "), make([]byte, 16)...), nil
	}
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for i, v := range x {
		if v-v != 0 {
			return nil, fmt.Errorf("kaldi: %v at row %d, column %d cannot be compressed", v, i/cols, i%cols)
		}
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
	}
	token := "CM2 "
	c := compression{min: low}
	switch m {
	case SpeechFeature, TwoByteAuto, OneByteAuto:
		if low == high {
			high = low + (1 + max(low, -low))
		}
		c.span = high - low
		if m == SpeechFeature {
			token = "CM "
		} else if m == OneByteAuto {
			token = "CM3 "
		}
	case TwoByteSignedInteger:
		c = compression{min: -32768, span: 65535}
	case OneByteUnsigned:
		token, c = "CM3 ", compression{min: 0, span: 255}
	case OneByteZeroOne:
		token, c = "CM3 ", compression{min: 0, span: 1}
	}
	if c.span-c.span != 0 || c.span <= 0 {
		return nil, fmt.Errorf("kaldi: elements from %v to %v cannot be compressed: float32 does not have the difference", low, high)
	}
	b := []byte(token)
	for _, w := range []uint32{math.Float32bits(c.min), math.Float32bits(c.span), uint32(rows), uint32(cols)} {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	switch token {
	case "CM2 ":
		for _, v := range x {
			b = binary.LittleEndian.AppendUint16(b, uint16(c.quantise(v, 65535)))
		}
	case "CM3 ":
		for _, v := range x {
			b = append(b, byte(c.quantise(v, 255)))
		}
	default:
		b = c.columns(b, x, rows, cols)
	}
	return b, nil
}

// columns appends the points of the columns, and the columns.
func (c compression) columns(b []byte, x []float32, rows, cols int) []byte {
	at := len(b)
	column := make([]float32, rows)
	for i := range cols {
		for y := range column {
			column[y] = x[y*cols+i]
		}
		slices.Sort(column)
		// The elements at the quartiles, or all if there are fewer than five.
		q := rows / 4
		place := [4]int{0, q, 3 * q, rows - 1}
		if rows < 5 {
			place = [4]int{0, 1, 2, 3}
		}
		// Each point is above the one before.
		before := -1
		for k, p := range place {
			code := before + 1
			if p < rows {
				code = max(code, c.quantise(column[p], 65535))
			}
			before = min(code, 65532+k)
			b = binary.LittleEndian.AppendUint16(b, uint16(before))
		}
	}
	for i := range cols {
		p := c.points(b[at+8*i:])
		for y := range rows {
			b = append(b, columnByte(p, x[y*cols+i]))
		}
	}
	return b
}
