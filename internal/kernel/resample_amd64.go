//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// packed is the form of fixed-point weights that the assembly multiplies with:
// for every output blocks of four taps, as int16 the low halves (signed) of the
// four weights and then the high ones, so that w = hi<<16 + lo. Sums are right
// modulo 1<<32, as int32's are, however many taps there are. Taps beyond an
// output's Len have weight 0.
type packed struct {
	w       []int32
	blocks  int // an output
	longest int // of Len
}

// block is the number of elements of packed.w a block.
const block = 4

// pack makes the packed weights of W32 if there is assembly for them.
func (t *Taps) pack() {
	p := &t.packed
	p.blocks, p.longest = 0, 0
	if !cpu.Has(cpu.AVX2) {
		return
	}
	longest, last := int32(0), int32(0)
	for i, n := range t.Len {
		if t.Start[i] < last {
			return // horizontal needs Start in order
		}
		longest, last = max(longest, n), t.Start[i]
	}
	p.longest = int(longest)
	p.blocks = (p.longest + 3) / 4
	p.w = grow(p.w, len(t.Len)*p.blocks*block)
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
			q, o := from[:4], to[:block]
			a, b, c, d := q[0], q[1], q[2], q[3]
			o[0], o[1] = a&0xffff|b<<16, c&0xffff|d<<16
			const half = 1 << 15
			a, b, c, d = (a+half)>>16, (b+half)>>16, (c+half)>>16, (d+half)>>16
			o[2], o[3] = a&0xffff|b<<16, c&0xffff|d<<16
			from, to = from[4:], to[block:]
		}
	}
}

// rows4 is four rows that are resampled together; some may be the same.
type rows4 struct{ dst, src [4]*byte }

// resample makes n outputs, 4 or more, of the first rows of r or of all of them.
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

// horizontal is Horizontal by assembly, if there is any for it.
func (t *Taps) horizontal(dst, src []uint8, rows, inW, ch int) bool {
	outW, p := len(t.Start), &t.packed
	if outW < 4 || rows == 0 || p.blocks == 0 || !cpu.Has(cpu.AVX2) {
		return false
	}
	read := 16 // bytes a block
	switch ch {
	case 1:
		read = 4
	case 3, 4:
	default:
		return false
	}
	line, out := inW*ch, outW*ch
	src, dst = src[:rows*line], dst[:rows*out]
	window := (p.blocks-1)*4*ch + read // bytes that are read for an output
	start, size := t.Start, p.blocks*block
	w := p.w[:outW*size]
	if start[0] < 0 {
		return false
	}
	end := int(start[outW-1])*ch + window
	var r rows4
	for y := 0; y < rows; y += 4 {
		for i := range 4 {
			at := min(y+i, rows-1)
			r.dst[i], r.src[i] = &dst[at*out], &src[at*line]
		}
		last := min(y+3, rows-1)
		if last*line+end <= len(src) {
			r.resample(p, rows-y, ch, &start[0], &w[0], outW)
			continue
		}
		// The last outputs would read beyond src. The first safe don't: they stay
		// within their row.
		safe := outW
		for safe > 0 && int(start[safe-1])*ch+window > line {
			safe--
		}
		if safe >= 4 {
			r.resample(p, rows-y, ch, &start[0], &w[0], safe)
		} else {
			safe = 0
		}
		if !t.edge(dst, src, y, rows, line, ch, min(safe, outW-4), end) {
			t.horizontalGo(dst[y*out:], src[y*line:], last+1-y, inW, ch, safe)
		}
	}
	return true
}

// edge makes the outputs from first on of up to four rows from y on, if they need
// few enough pixels: from a copy, after which there is room for what is read too
// much.
func (t *Taps) edge(dst, src []uint8, y, rows, line, ch, first, end int) bool {
	const room, most = 160, 16
	n := len(t.Start) - first
	left := int(t.Start[first]) * ch
	if n > most || end-left > room || left >= line {
		return false
	}
	var r rows4
	var copies [4][room]uint8
	var start [most]int32
	for i, s := range t.Start[first:] {
		start[i] = s - t.Start[first]
	}
	for i := range 4 {
		at := min(y+i, rows-1)
		copy(copies[i][:], src[at*line+left:(at+1)*line])
		r.src[i], r.dst[i] = &copies[i][0], &dst[(at*len(t.Start)+first)*ch]
	}
	r.resample(&t.packed, rows-y, ch, &start[0], &t.packed.w[first*t.packed.blocks*block], n)
	return true
}

// vertical is VerticalRow by assembly, if there is any for it.
func (t *Taps) vertical(dst, src []uint8, line, i int) bool {
	p, n := &t.packed, int(t.Len[i])
	if n == 0 || n > p.longest || line < 32 || !cpu.Has(cpu.AVX2) {
		return false
	}
	w := p.w[i*p.blocks*block:][:p.blocks*block]
	_, _ = src[n*line-1], dst[line-1]
	resampleColumnsAVX2(&dst[0], &src[0], line, &w[0], n)
	return true
}
