//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// packWeights fills packed.w. A block of four taps holds the four weights as
// int16 if they have at most 16 bits. Else it holds the low halves (signed) and
// then the high halves, so that w = high<<16 + low. Sums are correct modulo
// 1<<32, as int32's are, for any number of taps.
func (t *Taps) packWeights() {
	p := &t.packed
	if p.size = packedBlock; t.short > 0 {
		p.size = packedBlock / 2
	}
	p.w = grow(p.w, len(t.Len)*p.blocks*p.size)
	to, shift := p.w, TapsBits-t.short
	var rest [4]int32
	for i := range t.Len {
		from := t.W32[i*t.K:][:t.K] // 0 from Len on
		for range p.blocks {
			if len(from) < 4 {
				rest = [4]int32{}
				copy(rest[:], from)
				from = rest[:]
			}
			q, o := from[:4], to[:p.size]
			a, b, c, d := q[0], q[1], q[2], q[3]
			if t.short > 0 {
				a, b, c, d = a>>shift, b>>shift, c>>shift, d>>shift
				o[0], o[1] = a&0xffff|b<<16, c&0xffff|d<<16
				from, to = from[4:], to[p.size:]
				continue
			}
			o[0], o[1] = a&0xffff|b<<16, c&0xffff|d<<16
			const half = 1 << 15
			a, b, c, d = (a+half)>>16, (b+half)>>16, (c+half)>>16, (d+half)>>16
			o[2], o[3] = a&0xffff|b<<16, c&0xffff|d<<16
			from, to = from[4:], to[p.size:]
		}
	}
}

// Outputs are computed in groups if five outputs and the pixels they read fit
// vectors of 64 bytes, for two taps at a time.
const (
	groupSize   = 5
	groupSpread = 19 // the largest distance between two starts of a group
	groupRead   = 64
)

// packRows fills packed.groups: for each group the vector of the bytes that the
// outputs read, and for each pair of taps the vector of the weights, or two for
// low and high halves. The last group ends at the last output.
func (t *Taps) packRows() {
	p, n := &t.packed, len(t.Start)
	p.groups = p.groups[:0]
	if n < groupSize || p.blocks == 0 || !cpu.Has(cpu.VBMI) {
		return
	}
	for x := groupSize - 1; x < n; x += groupSize {
		if t.Start[x]-t.Start[x-groupSize+1] > groupSpread {
			return
		}
	}
	if t.Start[n-1]-t.Start[n-groupSize] > groupSpread {
		return
	}
	const vector = groupRead / 4
	pairs, halves := (p.longest+1)/2, 1
	if t.short == 0 {
		halves = 2
	}
	groups := (n + groupSize - 1) / groupSize
	p.groups = grow(p.groups, groups*(1+pairs*halves)*vector)
	to, stride := p.groups, p.blocks*p.size
	for g := range groups {
		x := min(g*groupSize, n-groupSize)
		start := t.Start[x:][:groupSize]
		index := to[:vector]
		to = to[vector:]
		for i, s := range start {
			b := 3 * (s - start[0])
			b |= (b + 3) << 16
			o := index[3*i:][:3]
			o[0], o[1], o[2] = b, b+0x10001, b+0x20002
		}
		index[vector-1] = 0
		w := p.w[x*stride:][:groupSize*stride]
		for pair := range pairs {
			for half := range halves {
				// A block has two pairs, for each half.
				at := pair/2*p.size + half*2 + pair%2
				o := to[:vector]
				to = to[vector:]
				for i := range groupSize {
					v, q := w[i*stride+at], o[3*i:][:3]
					q[0], q[1], q[2] = v, v, v
				}
				o[vector-1] = 0
			}
		}
	}
}

// resampleGroups computes outputs of the four rows of r with the table of
// packRows, and returns the number of outputs. It computes all or, at the end
// of the memory, those that read at most room bytes of a row.
func (r *rows4) resampleGroups(t *Taps, room int) int {
	p, n := &t.packed, len(t.Start)
	if len(p.groups) == 0 {
		return 0
	}
	pairs := (p.longest + 1) / 2
	reads := func(x int) int { return int(t.Start[x])*3 + 6*(pairs-1) + groupRead }
	if reads(n-groupSize) > room {
		for n -= n % groupSize; n > 0 && reads(n-groupSize) > room; {
			n -= groupSize
		}
		if n == 0 {
			return 0
		}
	}
	if t.short > 0 {
		resampleGroupsShortVBMI(&r.dst, &r.src, &t.Start[0], &p.groups[0], n, pairs, t.short)
	} else {
		resampleGroupsVBMI(&r.dst, &r.src, &t.Start[0], &p.groups[0], n, pairs)
	}
	return n
}

// resample computes n outputs, 4 or more, of the first min(rows, 4) rows of r;
// it may compute the other rows too.
func (r *rows4) resample(t *Taps, rows, ch int, start, w *int32, n int) {
	p, bits := &t.packed, t.short
	parts := (p.longest + 1) / 2
	switch {
	case ch == 1 && bits > 0:
		resampleGrayShortAVX2(&r.dst, &r.src, start, w, n, p.blocks, bits)
		return
	case ch == 1:
		resampleGrayAVX2(&r.dst, &r.src, start, w, n, p.blocks)
		return
	case ch == 3 && rows > 2 && bits > 0 && !cpu.Has(cpu.VNNI):
		resampleRGBShort4AVX2(&r.dst, &r.src, start, w, n, p.blocks, parts, bits)
		return
	case rows < 3, bits == 0 && !cpu.Has(cpu.AVX512), bits > 0 && !cpu.Has(cpu.VNNI):
	case ch == 3 && bits > 0:
		resampleRGBShortVNNI(&r.dst, &r.src, start, w, n, p.blocks, parts, bits)
		return
	case ch == 3:
		resampleRGBAVX512(&r.dst, &r.src, start, w, n, p.blocks, parts)
		return
	case bits > 0:
		resampleRGBAShortVNNI(&r.dst, &r.src, start, w, n, p.blocks, parts, bits)
		return
	default:
		resampleRGBAAVX512(&r.dst, &r.src, start, w, n, p.blocks, parts)
		return
	}
	for y := 0; y < min(rows, 4); y += 2 {
		switch {
		case ch == 3 && bits > 0:
			resampleRGBShortAVX2(r.dst[y], r.dst[y+1], r.src[y], r.src[y+1], start, w, n, p.blocks, parts, bits)
		case ch == 3:
			resampleRGBAVX2(r.dst[y], r.dst[y+1], r.src[y], r.src[y+1], start, w, n, p.blocks, parts)
		case bits > 0:
			resampleRGBAShortAVX2(r.dst[y], r.dst[y+1], r.src[y], r.src[y+1], start, w, n, p.blocks, parts, bits)
		default:
			resampleRGBAAVX2(r.dst[y], r.dst[y+1], r.src[y], r.src[y+1], start, w, n, p.blocks, parts)
		}
	}
}

// vertical runs VerticalRow in assembly and reports whether it did.
func (t *Taps) vertical(dst, src []uint8, line, i int) bool {
	p, n := &t.packed, int(t.Len[i])
	if n == 0 || n > p.longest || line < 32 || !hasSIMD() {
		return false
	}
	w := p.w[i*p.blocks*p.size:][:p.blocks*p.size]
	_, _ = src[n*line-1], dst[line-1]
	wide := line >= 64
	switch {
	case wide && t.short > 0 && cpu.Has(cpu.VNNI):
		resampleColumnsShortVNNI(&dst[0], &src[0], line, &w[0], n, t.short)
	case wide && t.short == 0 && cpu.Has(cpu.AVX512):
		resampleColumnsAVX512(&dst[0], &src[0], line, &w[0], n)
	case t.short > 0:
		resampleColumnsShortAVX2(&dst[0], &src[0], line, &w[0], n, t.short)
	default:
		resampleColumnsAVX2(&dst[0], &src[0], line, &w[0], n)
	}
	return true
}
