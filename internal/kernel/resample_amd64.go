//go:build !purego

package kernel

import "github.com/infer-prep/infer-prep/internal/cpu"

// packed is the form of fixed-point weights that the assembly multiplies with:
// for every output blocks of four taps, as int16 the low halves (signed) of the
// four weights and then the high ones, so that w = hi<<16 + lo. Sums are right
// modulo 1<<32, as int32's are, however many taps there are. Taps beyond an
// output's Len have weight 0.
type packed struct {
	w      []int32
	blocks int // an output
}

// pack makes the packed weights of W32 if there is assembly for them.
func (t *Taps) pack() {
	p := &t.packed
	p.blocks = 0
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
	p.blocks = int(longest+3) / 4
	p.w = grow(p.w, len(t.Len)*p.blocks*4)
	to := p.w
	for i := range t.Len {
		from := t.W32[i*t.K:][:t.K] // 0 from Len on
		for range p.blocks {
			o, q := to[:4], from[:min(4, len(from))]
			var a, b, c, d int32
			switch len(q) {
			case 4:
				a, b, c, d = q[0], q[1], q[2], q[3]
			case 3:
				a, b, c = q[0], q[1], q[2]
			case 2:
				a, b = q[0], q[1]
			case 1:
				a = q[0]
			}
			o[0], o[1] = a&0xffff|b<<16, c&0xffff|d<<16
			const half = 1 << 15
			a, b, c, d = (a+half)>>16, (b+half)>>16, (c+half)>>16, (d+half)>>16
			o[2], o[3] = a&0xffff|b<<16, c&0xffff|d<<16
			from, to = from[len(q):], to[4:]
		}
	}
}

// horizontal is Horizontal by assembly, if there is any for it.
func (t *Taps) horizontal(dst, src []uint8, rows, inW, ch int) bool {
	outW, blocks := len(t.Start), t.packed.blocks
	if blocks == 0 || outW < 4 || rows == 0 || !cpu.Has(cpu.AVX2) {
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
	window := (blocks-1)*4*ch + read // bytes of an output
	if t.Start[0] < 0 {
		return false
	}
	w, start := t.packed.w[:outW*blocks*4], t.Start
	// The last outputs of the last rows would read beyond src: the first safe
	// outputs never leave their row, rows before whole never leave src.
	safe := outW
	for safe > 0 && int(t.Start[safe-1])*ch+window > line {
		safe--
	}
	end := int(t.Start[outW-1])*ch + window
	whole := rows
	if safe < outW {
		whole = max(0, rows-(end+line-1)/line+1)
	}
	part := func(from, to, n int) {
		if ch == 1 {
			for y := from; y < to; y += 4 {
				var d, s [4]*byte
				for i := range 4 {
					r := min(y+i, to-1)
					d[i], s[i] = &dst[r*out], &src[r*line]
				}
				resampleGrayAVX2(&d, &s, &start[0], &w[0], n, blocks)
			}
			return
		}
		for y := from; y < to; y += 2 {
			z := min(y+1, to-1)
			if ch == 3 {
				resampleRGBAVX2(&dst[y*out], &dst[z*out], &src[y*line], &src[z*line], &start[0], &w[0], n, blocks)
			} else {
				resampleRGBAAVX2(&dst[y*out], &dst[z*out], &src[y*line], &src[z*line], &start[0], &w[0], n, blocks)
			}
		}
	}
	step := 2
	if ch == 1 {
		step = 4
	}
	if whole < rows {
		whole -= whole % step
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
	blocks, n := t.packed.blocks, int(t.Len[i])
	if n == 0 || n > 4*blocks || line < 32 || !cpu.Has(cpu.AVX2) {
		return false
	}
	_, _ = src[n*line-1], dst[line-1]
	w := t.packed.w[i*blocks*4:][:blocks*4]
	resampleColumnsAVX2(&dst[0], &src[0], line, &w[0], n)
	return true
}
