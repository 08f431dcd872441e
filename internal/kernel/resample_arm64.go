//go:build !purego

package kernel

// resampleRGBx1NEON resamples a row to n pixels, 4 or more, with blocks of four
// packed weights per output, and uses the first parts half blocks. It reads 16
// bytes per block.
//
//go:noescape
func resampleRGBx1NEON(dst, src *byte, start, w *int32, n, blocks, parts int)

// resampleRGBx2NEON is resampleRGBx1NEON for two rows.
//
//go:noescape
func resampleRGBx2NEON(dst0, dst1, src0, src1 *byte, start, w *int32, n, blocks, parts int)

// resampleRGBAx1NEON is resampleRGBx1NEON for pixels of four bytes.
//
//go:noescape
func resampleRGBAx1NEON(dst, src *byte, start, w *int32, n, blocks, parts int)

// resampleRGBAx2NEON is resampleRGBAx1NEON for two rows.
//
//go:noescape
func resampleRGBAx2NEON(dst0, dst1, src0, src1 *byte, start, w *int32, n, blocks, parts int)

// resampleGrayNEON resamples four rows to n pixels, 4 or more, with blocks of
// four packed weights per output. It reads 4 bytes per block.
//
//go:noescape
func resampleGrayNEON(dst, src *[4]*byte, start, w *int32, n, blocks int)

// resampleColumnsNEON computes a row of line bytes, 32 or more, as the weighted
// sum of rows, one weight per row.
//
//go:noescape
func resampleColumnsNEON(dst, src *byte, line int, w *int32, rows int)

// packWeights copies the weights to packed.w.
func (t *Taps) packWeights() {
	p := &t.packed
	p.size = packedBlock
	p.w = grow(p.w, len(t.Len)*p.blocks*p.size)
	size := p.blocks * p.size
	for i, n := range t.Len {
		to := p.w[i*size:][:size]
		clear(to[copy(to, t.W32[i*t.K:][:n]):])
	}
}

// resample computes n outputs, 4 or more, of the first min(rows, 4) rows of r;
// it may compute the other rows too.
func (r *rows4) resample(t *Taps, rows, ch int, start, w *int32, n int) {
	p := &t.packed
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

// vertical runs VerticalRow in assembly and reports whether it did.
func (t *Taps) vertical(dst, src []uint8, line, i int) bool {
	n := int(t.Len[i])
	if n == 0 || line < 32 || !hasSIMD() {
		return false
	}
	w := t.W32[i*t.K:][:n]
	_, _ = src[n*line-1], dst[line-1]
	resampleColumnsNEON(&dst[0], &src[0], line, &w[0], n)
	return true
}

// packRows does nothing: there is no form of Horizontal for groups.
func (t *Taps) packRows() {}

func (r *rows4) resampleGroups(*Taps, int) int { return 0 }
