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
