//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// resampleRGBNEON resamples two rows to n pixels, 4 or more, with blocks of 4
// packed weights an output. It reads 16 bytes a block.
//
//go:noescape
func resampleRGBNEON(dst0, dst1, src0, src1 *byte, start, w *int32, n, blocks int)

// resampleRGBANEON is resampleRGBNEON for pixels of four bytes.
//
//go:noescape
func resampleRGBANEON(dst0, dst1, src0, src1 *byte, start, w *int32, n, blocks int)

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
	w      []int32
	blocks int // an output
}

// pack makes the packed weights of W32 if there is assembly for them.
func (t *Taps) pack() {
	p := &t.packed
	p.blocks = 0
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
	p.blocks = int(longest+3) / 4
	size := 4 * p.blocks
	p.w = grow(p.w, len(t.Len)*size)
	for i, n := range t.Len {
		to := p.w[i*size:][:size]
		clear(to[copy(to, t.W32[i*t.K:][:n]):])
	}
}

// horizontal is Horizontal by assembly, if there is any for it.
func (t *Taps) horizontal(dst, src []uint8, rows, inW, ch int) bool {
	outW, blocks := len(t.Start), t.packed.blocks
	if blocks == 0 || outW < 4 || rows == 0 || t.Start[0] < 0 || !cpu.Has(cpu.NEON) {
		return false
	}
	read, step := 16, 2 // bytes a block, rows at once
	switch ch {
	case 1:
		read, step = 4, 4
	case 3, 4:
	default:
		return false
	}
	line, out := inW*ch, outW*ch
	src, dst = src[:rows*line], dst[:rows*out]
	w, start := t.packed.w[:outW*blocks*4], t.Start
	// An output reads so many bytes, from which its weights of 0 may lie beyond
	// the row and, in the last rows, beyond src. There only the first safe
	// outputs are made here, those that stay in their row.
	window := (blocks-1)*4*ch + read
	safe := outW
	for safe > 0 && int(start[safe-1])*ch+window > line {
		safe--
	}
	whole := rows
	if safe < outW {
		end := int(start[outW-1])*ch + window
		whole = max(0, rows-(end+line-1)/line+1)
		whole -= whole % step
	}
	part := func(from, to, n int) {
		for y := from; y < to; y += step {
			var d, s [4]*byte
			for i := range step {
				r := min(y+i, to-1)
				d[i], s[i] = &dst[r*out], &src[r*line]
			}
			switch ch {
			case 1:
				resampleGrayNEON(&d, &s, &start[0], &w[0], n, blocks)
			case 3:
				resampleRGBNEON(d[0], d[1], s[0], s[1], &start[0], &w[0], n, blocks)
			default:
				resampleRGBANEON(d[0], d[1], s[0], s[1], &start[0], &w[0], n, blocks)
			}
		}
	}
	part(0, whole, outW)
	if whole < rows {
		if safe < 4 {
			safe = 0
		} else {
			part(whole, rows, safe)
		}
		t.horizontalGo(dst[whole*out:], src[whole*line:], rows-whole, inW, ch, safe)
	}
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
