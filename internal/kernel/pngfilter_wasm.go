//go:build goexperiment.simd && wasm && !purego

package kernel

import (
	"encoding/binary"
	"simd/archsimd"
)

// The functions below process the first bytes, four pixels at a time, and
// return how many.

// pngShuffles are orders of the bytes of four pixels.
type pngShuffles struct {
	once, twice [16]int8    // moves pixels by one and by two
	start       [16]int8    // moves the last pixel to the start
	spread      [4][16]int8 // repeats a pixel
}

// pngOrders has the shuffles of pixels of 3 and 4 bytes.
var pngOrders = func() (s [2]pngShuffles) {
	for k := range s {
		bpp := 3 + k
		for i := range 16 {
			s[k].once[i], s[k].twice[i], s[k].start[i] = int8(max(i-bpp, -1)), int8(max(i-2*bpp, -1)), -1
			if i < bpp {
				s[k].start[i] = int8(3*bpp + i)
			}
			for px := range 4 {
				s[k].spread[px][i] = int8(px*bpp + i%bpp)
			}
		}
	}
	return s
}()

func look(v u8x16, order i8x16) u8x16 { return v.BitsToInt8().LookupOrZero(order).ToBits() }

func order16(v *[16]int8) i8x16 { return archsimd.LoadInt8x16Array(v) }

// first4 returns the first four bytes.
func first4(v u8x16) uint32 { return v.ReshapeToUint32s().GetElem(0) }

// pngLeft may run in place: it writes no byte after the pixels.
func pngLeft(dst, src []byte, bpp int) int {
	if bpp != 3 && bpp != 4 {
		return 0
	}
	dst = dst[:len(src)]
	s := &pngOrders[bpp-3]
	once, twice, spread := order16(&s.once), order16(&s.twice), order16(&s.spread[3])
	last := archsimd.BroadcastUint8x16(0)
	i := 0
	for ; i+16 <= len(src); i += 4 * bpp {
		v := load16(src[i:])
		v = v.Add(look(v, once))
		v = v.Add(look(v, twice)).Add(last)
		last = look(v, spread)
		if bpp == 4 {
			store16(dst[i:], v)
			continue
		}
		binary.LittleEndian.PutUint64(dst[i:], v.ReshapeToUint64s().GetElem(0))
		binary.LittleEndian.PutUint32(dst[i+8:], v.ReshapeToUint32s().GetElem(2))
	}
	return i
}

func pngUp(dst, src, prev []byte) int {
	dst, prev = dst[:len(src)], prev[:len(src)]
	i := 0
	for ; i+16 <= len(src); i += 16 {
		store16(dst[i:], load16(src[i:]).Add(load16(prev[i:])))
	}
	return i
}

func pngAverage(dst, src, prev []byte, bpp int) int {
	if bpp != 3 && bpp != 4 {
		return 0
	}
	dst, prev = dst[:len(src)], prev[:len(src)]
	s := &pngOrders[bpp-3]
	s0, s1, s2, s3 := order16(&s.spread[0]), order16(&s.spread[1]), order16(&s.spread[2]), order16(&s.spread[3])
	// The mean of inverted bytes, rounded up, is that of the bytes, rounded
	// down.
	left := archsimd.BroadcastUint8x16(255)
	i := 0
	for ; i+16 <= len(src); i += 4 * bpp {
		raw, above := load16(src[i:]), load16(prev[i:]).Not()
		out := dst[i:][:16]
		v := left.Average(above).Not().Add(raw)
		binary.LittleEndian.PutUint32(out, first4(v))
		v = look(v, s0)
		v = v.Not().Average(above).Not().Add(raw)
		v = look(v, s1)
		binary.LittleEndian.PutUint32(out[bpp:], first4(v))
		v = v.Not().Average(above).Not().Add(raw)
		v = look(v, s2)
		binary.LittleEndian.PutUint32(out[2*bpp:], first4(v))
		v = v.Not().Average(above).Not().Add(raw)
		v = look(v, s3)
		binary.LittleEndian.PutUint32(out[3*bpp:], first4(v))
		left = v.Not()
	}
	return i
}

// pngPaeth computes all that depends on the row above for four pixels at a
// time. Let b be the sample above, c the one above to the left, and d their
// distance. If b >= c, the predictor as a function of the sample a to the left
// is
//
//	a for a <= c-2d, c for a < c-d/2, b for a < b, else a,
//
// and the mirror image of that if b < c. So low and high bound the samples
// whose predictor is not a, and those from edge on have above, others below.
func pngPaeth(dst, src, prev []byte, bpp int) int {
	if bpp != 3 && bpp != 4 {
		return 0
	}
	dst, prev = dst[:len(src)], prev[:len(src)]
	s := &pngOrders[bpp-3]
	once, start := order16(&s.once), order16(&s.start)
	one, most := archsimd.BroadcastUint8x16(1), archsimd.BroadcastUint8x16(255)
	left := archsimd.BroadcastUint8x16(0)
	before := left
	i := 0
	for ; i+16 <= len(src); i += 4 * bpp {
		raw, b := load16(src[i:]), load16(prev[i:])
		c := look(b, once).Or(look(before, start))
		before = b
		m := b.GreaterEqual(c).ToInt8x16().ToBits()
		d := b.SubSaturated(c).Or(c.SubSaturated(b))
		far := d.SubSaturated(one).AddSaturated(d) // 2d-1, or 0
		low, high := c.SubSaturated(far).BitSelect(b, m), b.BitSelect(c.AddSaturated(far), m)
		d = d.ShiftAllRight(1)
		edge := c.AddSaturated(d)
		// If this is 255, no sample is beyond it.
		above := b.BitSelect(c, m.Or(edge.Equal(most).ToInt8x16().ToBits())).Add(raw)
		below := c.BitSelect(b, m).Add(raw)
		edge = c.SubSaturated(d).BitSelect(edge.AddSaturated(one), m)
		out := dst[i:][:16]
		for px := range 4 {
			other := above.BitSelect(below, left.GreaterEqual(edge).ToInt8x16().ToBits())
			within := left.GreaterEqual(low).And(left.LessEqual(high)).ToInt8x16().ToBits()
			left = look(other.BitSelect(left.Add(raw), within), order16(&s.spread[px]))
			binary.LittleEndian.PutUint32(out[px*bpp:], first4(left))
		}
	}
	return i
}
