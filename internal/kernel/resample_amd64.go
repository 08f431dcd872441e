//go:build !purego

package kernel

// packWeights fills packed.w. A block of four taps holds the low halves
// (signed) of the four weights as int16 and then the high halves, so that w =
// high<<16 + low. Sums are correct modulo 1<<32, as int32's are, for any number
// of taps.
func (t *Taps) packWeights() {
	p := &t.packed
	to := p.w
	var rest [4]int32
	for i := range t.Len {
		from := t.W32[i*t.K:][:t.K] // 0 from Len on
		for range p.blocks {
			if len(from) < 4 {
				rest = [4]int32{}
				copy(rest[:], from)
				from = rest[:]
			}
			q, o := from[:4], to[:packedBlock]
			a, b, c, d := q[0], q[1], q[2], q[3]
			o[0], o[1] = a&0xffff|b<<16, c&0xffff|d<<16
			const half = 1 << 15
			a, b, c, d = (a+half)>>16, (b+half)>>16, (c+half)>>16, (d+half)>>16
			o[2], o[3] = a&0xffff|b<<16, c&0xffff|d<<16
			from, to = from[4:], to[packedBlock:]
		}
	}
}

// resample computes n outputs, 4 or more, of the first min(rows, 4) rows of r;
// it may compute the other rows too.
func (r *rows4) resample(p *packed, rows, ch int, start, w *int32, n int) {
	if ch == 1 {
		resampleGrayAVX2(&r.dst, &r.src, start, w, n, p.blocks)
		return
	}
	parts := (p.longest + 1) / 2
	for y := 0; y < min(rows, 4); y += 2 {
		if ch == 3 {
			resampleRGBAVX2(r.dst[y], r.dst[y+1], r.src[y], r.src[y+1], start, w, n, p.blocks, parts)
		} else {
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
	w := p.w[i*p.blocks*packedBlock:][:p.blocks*packedBlock]
	_, _ = src[n*line-1], dst[line-1]
	resampleColumnsAVX2(&dst[0], &src[0], line, &w[0], n)
	return true
}
