//go:build (amd64 || arm64) && !purego

package kernel

// packed holds fixed-point weights as the assembly reads them: blocks of four
// taps for every output. Taps beyond an output's Len have weight 0.
type packed struct {
	w       []int32
	blocks  int // per output
	size    int // elements of w per block
	longest int // maximum of Len
	// groups is the table of groupPixels, or empty.
	groups []int32
}

// packedBlock is the largest number of elements of packed.w per block.
const packedBlock = 4

// pack packs the weights of W32 if the assembly supports them.
func (t *Taps) pack() {
	p := &t.packed
	p.blocks, p.longest, p.groups = 0, 0, p.groups[:0]
	if !hasSIMD() {
		return
	}
	longest, last := int32(0), int32(0)
	for i, n := range t.Len {
		if t.Start[i] < last {
			return // horizontal needs ascending starts
		}
		longest, last = max(longest, n), t.Start[i]
	}
	p.longest = int(longest)
	p.blocks = (p.longest + 3) / 4
	t.packWeights()
}

// rows4 holds four rows that are resampled together; some may be the same.
type rows4 struct{ dst, src [4]*byte }

// horizontal runs Horizontal in assembly and reports whether it did.
func (t *Taps) horizontal(dst, src []uint8, rows, inW, ch int) bool {
	outW, p := len(t.Start), &t.packed
	if outW < 4 || rows == 0 || p.blocks == 0 || t.Start[0] < 0 || !hasSIMD() {
		return false
	}
	read := 16 // bytes per block
	switch ch {
	case 1:
		read = 4
	case 3, 4:
	default:
		return false
	}
	line, out := inW*ch, outW*ch
	src, dst = src[:rows*line], dst[:rows*out]
	window := (p.blocks-1)*4*ch + read // bytes that the assembly reads for an output
	start, w := t.Start, p.w[:outW*p.blocks*p.size]
	end := int(start[outW-1])*ch + window
	var r rows4
	for y := 0; y < rows; y += 4 {
		last := min(y+3, rows-1)
		for i := range 4 {
			at := min(y+i, last)
			r.dst[i], r.src[i] = &dst[at*out], &src[at*line]
		}
		done := 0 // outputs
		if ch == 3 {
			if done = r.resampleGroups(t, len(src)-last*line); done == outW {
				continue
			}
			done = min(done, outW-4)
			for i := range 4 {
				r.dst[i] = &dst[min(y+i, last)*out+done*ch]
			}
		}
		at := done * p.blocks * p.size // in w
		if last*line+end <= len(src) {
			r.resample(t, rows-y, ch, &start[done], &w[at], outW-done)
			continue
		}
		// The last outputs would read beyond src. The first safe outputs read
		// only their own row.
		safe := outW
		for safe > 0 && int(start[safe-1])*ch+window > line {
			safe--
		}
		if safe >= done+4 {
			r.resample(t, rows-y, ch, &start[done], &w[at], safe-done)
		} else {
			safe = done
		}
		if !t.edge(dst, src, y, rows, line, ch, min(safe, outW-4), end) {
			t.horizontalGo(dst[y*out:], src[y*line:], last+1-y, inW, ch, safe)
		}
	}
	return true
}

// edge computes the outputs from first on of up to four rows starting at y, and
// reports whether it did. It reads copies of the pixels that have room after
// them, so the number of pixels is limited.
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
	r.resample(t, rows-y, ch, &start[0], &t.packed.w[first*t.packed.blocks*t.packed.size], n)
	return true
}
