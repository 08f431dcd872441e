//go:build goexperiment.simd && wasm && !purego

package kernel

import (
	"encoding/binary"
	"simd/archsimd"
	"unsafe"
)

type packed struct{}

func (t *Taps) pack() {}

func (t *Taps) packRows() {}

// woven is the number of bytes of four rows that horizontal weaves at a time.
// A window of this size holds the taps of most reductions.
const woven = 3072

// horizontal runs Horizontal and reports whether it did. It weaves four rows
// into one, byte by byte, so that a vector holds one channel of four rows.
func (t *Taps) horizontal(dst, src []uint8, rows, inW, ch int) bool {
	if ch != 3 && ch != 4 || inW*ch < 16 {
		return false
	}
	for i, n := range t.Len {
		if int(n)*ch > woven/4-16 || t.Start[i] < 0 || i > 0 && t.Start[i] < t.Start[i-1] {
			return false
		}
	}
	in, out := inW*ch, len(t.Start)*ch
	var r rowSlices
	for y := 0; y < rows; y += 4 {
		for i := range 4 { // the last group may repeat its last row
			at := min(y+i, rows-1)
			r.dst[i], r.src[i] = dst[at*out:][:out], src[at*in:][:in]
		}
		t.horizontal4(&r, ch)
	}
	return true
}

// rowSlices holds four rows that are resampled together; some may be the same.
type rowSlices struct{ dst, src [4][]uint8 }

// horizontal4 is horizontal for four rows.
func (t *Taps) horizontal4(r *rowSlices, ch int) {
	var window [woven + 16]uint8 // the last taps of 3 channels read 4 bytes too many
	round := archsimd.BroadcastInt32x4(1 << (TapsBits - 1))
	zero, most := archsimd.BroadcastInt32x4(0), archsimd.BroadcastInt32x4(255)
	outW, line := len(t.Start), len(r.src[0])
	o0, o1, o2, o3 := r.dst[0], r.dst[1], r.dst[2], r.dst[3]
	from, to := 0, 0 // the bytes of a row that window has
	for x := range outW {
		n := int(t.Len[x])
		first := int(t.Start[x]) * ch
		if first < from || first+n*ch > to {
			from = min(first, line-16)
			to = min(from+woven/4, line)
			weave(window[:], r, from, to)
		}
		w := t.W32[x*t.K:][:n]
		// The first tap is within window, and so is the last: n*ch bytes are at
		// most those between from and to. Loops cost much in Go's WebAssembly
		// code, so they take two taps at a time.
		p := unsafe.Pointer(&window[4*(first-from)])
		a, b, c, d := round, round, round, round
		for len(w) >= 2 {
			v, g := loadAt(p, 0), archsimd.BroadcastInt32x4(w[0])
			u, h := loadAt(p, 4*ch), archsimd.BroadcastInt32x4(w[1])
			a = a.Add(quarter0(v).Mul(g)).Add(quarter0(u).Mul(h))
			b = b.Add(quarter1(v).Mul(g)).Add(quarter1(u).Mul(h))
			c = c.Add(quarter2(v).Mul(g)).Add(quarter2(u).Mul(h))
			if ch == 4 {
				d = d.Add(quarter3(v).Mul(g)).Add(quarter3(u).Mul(h))
			}
			p, w = unsafe.Add(p, 8*ch), w[2:]
		}
		if len(w) == 1 {
			v, g := loadAt(p, 0), archsimd.BroadcastInt32x4(w[0])
			a = a.Add(quarter0(v).Mul(g))
			b = b.Add(quarter1(v).Mul(g))
			c = c.Add(quarter2(v).Mul(g))
			if ch == 4 {
				d = d.Add(quarter3(v).Mul(g))
			}
		}
		a = a.ShiftAllRight(TapsBits).Max(zero).Min(most)
		b = b.ShiftAllRight(TapsBits).Max(zero).Min(most)
		c = c.ShiftAllRight(TapsBits).Max(zero).Min(most)
		d = d.ShiftAllRight(TapsBits).Max(zero).Min(most)
		// Lane i has the channels of row i.
		v := a.Or(b.ShiftAllLeft(8)).Or(c.ShiftAllLeft(16).Or(d.ShiftAllLeft(24))).ToBits()
		if ch == 4 || x < outW-1 {
			// The fourth byte of an RGB pixel is the next one's first, which is
			// written later.
			binary.LittleEndian.PutUint32(o0[x*ch:], v.GetElem(0))
			binary.LittleEndian.PutUint32(o1[x*ch:], v.GetElem(1))
			binary.LittleEndian.PutUint32(o2[x*ch:], v.GetElem(2))
			binary.LittleEndian.PutUint32(o3[x*ch:], v.GetElem(3))
			continue
		}
		for i, u := range [4]uint32{v.GetElem(0), v.GetElem(1), v.GetElem(2), v.GetElem(3)} {
			o := r.dst[i][x*3:][:3]
			o[0], o[1], o[2] = uint8(u), uint8(u>>8), uint8(u>>16)
		}
	}
}

func loadAt(p unsafe.Pointer, i int) u8x16 {
	return archsimd.LoadUint8x16Array((*[16]byte)(unsafe.Add(p, i)))
}

// weave writes bytes from to to of four rows to window, alternating between the
// rows. The last 16 are written again if they are not a whole vector.
func weave(window []uint8, r *rowSlices, from, to int) {
	r0, r1, r2, r3 := r.src[0], r.src[1], r.src[2], r.src[3]
	for i := from; ; i += 16 {
		i = min(i, to-16)
		a, b, c, d := load16(r0[i:]), load16(r1[i:]), load16(r2[i:]), load16(r3[i:])
		out := window[4*(i-from):][:64]
		ab, cd := pairBytes(a.ExtendLo8ToUint16(), b.ExtendLo8ToUint16()), pairBytes(c.ExtendLo8ToUint16(), d.ExtendLo8ToUint16())
		store16(out, pair32(ab.ExtendLo4ToUint32(), cd.ExtendLo4ToUint32()))
		store16(out[16:], pair32(ab.ExtendHi4ToUint32(), cd.ExtendHi4ToUint32()))
		ab, cd = pairBytes(a.ExtendHi8ToUint16(), b.ExtendHi8ToUint16()), pairBytes(c.ExtendHi8ToUint16(), d.ExtendHi8ToUint16())
		store16(out[32:], pair32(ab.ExtendLo4ToUint32(), cd.ExtendLo4ToUint32()))
		store16(out[48:], pair32(ab.ExtendHi4ToUint32(), cd.ExtendHi4ToUint32()))
		if i == to-16 {
			return
		}
	}
}

func pairBytes(a, b u16x8) u16x8 { return a.Or(b.ShiftAllLeft(8)) }

func pair32(a, b u32x4) u8x16 { return a.Or(b.ShiftAllLeft(16)).ReshapeToUint8s() }

// vertical runs VerticalRow and reports whether it did.
func (t *Taps) vertical(dst, src []uint8, line, i int) bool {
	if line < 16 {
		return false
	}
	n := int(t.Len[i])
	dst, src = dst[:line], src[:n*line]
	w := t.W32[i*t.K:][:n]
	order := archsimd.LoadInt8x16Array(&byteOrder)
	round := archsimd.BroadcastInt32x4(1 << (TapsBits - 1))
	zero, most := archsimd.BroadcastInt32x4(0), archsimd.BroadcastInt32x4(255)
	for x := 0; ; x += 16 {
		x = min(x, line-16)
		a, b, c, d := round, round, round, round
		at := x
		q := w
		for len(q) >= 2 {
			v, g := load16(src[at:]), archsimd.BroadcastInt32x4(q[0])
			u, h := load16(src[at+line:]), archsimd.BroadcastInt32x4(q[1])
			a = a.Add(quarter0(v).Mul(g)).Add(quarter0(u).Mul(h))
			b = b.Add(quarter1(v).Mul(g)).Add(quarter1(u).Mul(h))
			c = c.Add(quarter2(v).Mul(g)).Add(quarter2(u).Mul(h))
			d = d.Add(quarter3(v).Mul(g)).Add(quarter3(u).Mul(h))
			at, q = at+2*line, q[2:]
		}
		if len(q) == 1 {
			v, g := load16(src[at:]), archsimd.BroadcastInt32x4(q[0])
			a = a.Add(quarter0(v).Mul(g))
			b = b.Add(quarter1(v).Mul(g))
			c = c.Add(quarter2(v).Mul(g))
			d = d.Add(quarter3(v).Mul(g))
		}
		a = a.ShiftAllRight(TapsBits).Max(zero).Min(most)
		b = b.ShiftAllRight(TapsBits).Max(zero).Min(most)
		c = c.ShiftAllRight(TapsBits).Max(zero).Min(most)
		d = d.ShiftAllRight(TapsBits).Max(zero).Min(most)
		store16(dst[x:], narrow4(a, b, c, d, order))
		if x == line-16 {
			return true
		}
	}
}
