//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// resampleRGBx1NEON resamples a row to n pixels, 4 or more, with blocks of 4
// packed weights an output, of which the first parts halves are used. It reads 16
// bytes a block.
//
//go:noescape
func resampleRGBx1NEON(dst, src *byte, start, w *int32, n, blocks, parts int)

// resampleRGBx2NEON is resampleRGBx1NEON of two rows.
//
//go:noescape
func resampleRGBx2NEON(dst0, dst1, src0, src1 *byte, start, w *int32, n, blocks, parts int)

// resampleRGBAx1NEON is resampleRGBx1NEON for pixels of four bytes.
//
//go:noescape
func resampleRGBAx1NEON(dst, src *byte, start, w *int32, n, blocks, parts int)

// resampleRGBAx2NEON is resampleRGBAx1NEON of two rows.
//
//go:noescape
func resampleRGBAx2NEON(dst0, dst1, src0, src1 *byte, start, w *int32, n, blocks, parts int)

// resampleGrayNEON resamples four rows to n pixels, 4 or more, with blocks of 4
// packed weights an output. It reads 4 bytes a block.
//
//go:noescape
func resampleGrayNEON(dst, src *[4]*byte, start, w *int32, n, blocks int)

// resampleColumnsNEON makes a row of line bytes, 32 or more, of so many rows with
// a weight each.
//
//go:noescape
func resampleColumnsNEON(dst, src *byte, line int, w *int32, rows int)

// packed is the form of fixed-point weights that the assembly of horizontal
// passes reads: for every output blocks of four weights, which are 0 beyond its Len.
type packed struct {
	w       []int32
	blocks  int // an output
	longest int // of Len
}

// pack makes the packed weights of W32 if there is assembly for them.
func (t *Taps) pack() {
	p := &t.packed
	p.blocks, p.longest = 0, 0
	if !cpu.Has(cpu.NEON) {
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
	size := 4 * p.blocks
	p.w = grow(p.w, len(t.Len)*size)
	for i, n := range t.Len {
		to := p.w[i*size:][:size]
		clear(to[copy(to, t.W32[i*t.K:][:n]):])
	}
}

// rows4 is four rows that are resampled together; some may be the same.
type rows4 struct{ dst, src [4]*byte }

// resample makes n outputs, 4 or more, of the first rows of r or of all of them.
func (r *rows4) resample(p *packed, rows, ch int, start, w *int32, n int) {
	rows = min(rows, 4)
	if ch == 1 {
		resampleGrayNEON(&r.dst, &r.src, start, w, n, p.blocks)
		return
	}
	parts := (p.longest + 1) / 2
	for y := 0; y < rows; y += 2 {
		switch {
		case ch == 3 && y == rows-1:
			resampleRGBx1NEON(r.dst[y], r.src[y], start, w, n, p.blocks, parts)
		case ch == 3:
			resampleRGBx2NEON(r.dst[y], r.dst[y+1], r.src[y], r.src[y+1], start, w, n, p.blocks, parts)
		case y == rows-1:
			resampleRGBAx1NEON(r.dst[y], r.src[y], start, w, n, p.blocks, parts)
		default:
			resampleRGBAx2NEON(r.dst[y], r.dst[y+1], r.src[y], r.src[y+1], start, w, n, p.blocks, parts)
		}
	}
}

// horizontal is Horizontal by assembly, if there is any for it.
func (t *Taps) horizontal(dst, src []uint8, rows, inW, ch int) bool {
	outW, p := len(t.Start), &t.packed
	if outW < 4 || rows == 0 || p.blocks == 0 || t.Start[0] < 0 || !cpu.Has(cpu.NEON) {
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
	start, w := t.Start, p.w[:outW*p.blocks*4]
	end := int(start[outW-1])*ch + window
	var r rows4
	for y := 0; y < rows; y += 4 {
		last := min(y+3, rows-1)
		for i := range 4 {
			at := min(y+i, last)
			r.dst[i], r.src[i] = &dst[at*out], &src[at*line]
		}
		if last*line+end <= len(src) {
			r.resample(p, rows-y, ch, &start[0], &w[0], outW)
			continue
		}
		// The last outputs would read beyond src. The first safe ones stay within
		// their row.
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
// few enough pixels: from copies, after which there is room for what is read too
// much.
func (t *Taps) edge(dst, src []uint8, y, rows, line, ch, first, end int) bool {
	const room, most = 160, 16
	n, p := len(t.Start)-first, &t.packed
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
	r.resample(p, rows-y, ch, &start[0], &p.w[first*p.blocks*4], n)
	return true
}

// vertical is VerticalRow by assembly, if there is any for it.
func (t *Taps) vertical(dst, src []uint8, line, i int) bool {
	n := int(t.Len[i])
	if n == 0 || line < 32 || !cpu.Has(cpu.NEON) {
		return false
	}
	w := t.W32[i*t.K:][:n]
	_, _ = src[n*line-1], dst[line-1]
	resampleColumnsNEON(&dst[0], &src[0], line, &w[0], n)
	return true
}
