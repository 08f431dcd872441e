package jpeg

import "encoding/binary"

// bitReader reads Huffman codes and bits of entropy-coded data with checks for
// markers and the end of the data.
//
// It must fetch bytes exactly as far ahead as libjpeg does. At the end of a
// file without EOI this decides whether the last MCU is complete, and so
// whether Pillow accepts the file. libjpeg has two ways. Far from the end,
// fill48 runs if at most 16 bits are left. Near the end, fill runs if too few
// bits are left, and fetches up to at least 57.
type bitReader struct {
	in    *input
	acc   uint64 // nbits unread bits, at its low end
	nbits int
	// insufficient reports that a segment of entropy-coded data ended too
	// early. The decoder skips its remaining MCUs.
	insufficient bool
}

const minBits = 57 // libjpeg's MIN_GET_BITS for a 64-bit buffer

// fill fetches bytes until at least 57 bits are available. It stops at a marker
// and then appends zeros if fewer than want bits are available. It returns
// false if the data ends first.
func (r *bitReader) fill(want int) bool {
	in := r.in
	if in.marker == 0 {
		for r.nbits < minBits {
			if in.pos+8 <= in.end {
				v := binary.BigEndian.Uint64(in.data[in.pos:])
				if !hasFF(v) {
					k := (64 - r.nbits) >> 3
					r.acc = r.acc<<(8*k) | v>>(64-8*k)
					r.nbits += 8 * k
					in.pos += k
					break
				}
			}
			b, ok := r.entropyByte()
			if !ok {
				return false
			}
			if in.marker != 0 {
				break
			}
			r.acc = r.acc<<8 | uint64(b)
			r.nbits += 8
		}
		if in.marker == 0 {
			return true
		}
	}
	if want > r.nbits {
		if !r.insufficient {
			in.warn("entropy-coded data ends too early")
			r.insufficient = true
		}
		r.acc <<= uint(minBits - r.nbits)
		r.nbits = minBits
	}
	return true
}

// entropyByte reads a byte of entropy-coded data. If a marker follows, it
// stores the marker in the input. It returns false if the data ends.
func (r *bitReader) entropyByte() (byte, bool) {
	in := r.in
	if !in.more() {
		return r.entropyEnd()
	}
	b := in.data[in.pos]
	in.pos++
	if b != 0xFF {
		return b, true
	}
	for b == 0xFF {
		if !in.more() {
			return r.entropyEnd()
		}
		b = in.data[in.pos]
		in.pos++
	}
	if b == 0 {
		return 0xFF, true // a stuffed zero
	}
	in.marker = b
	return 0, true
}

// entropyEnd handles the end of the file within entropy-coded data. In lenient
// mode it acts as an EOI.
func (r *bitReader) entropyEnd() (byte, bool) {
	if r.in.noMarker() != nil {
		return 0, false
	}
	return 0, true
}

// hasFF reports whether a byte of v is 0xFF. It may report true for other bytes
// above such a byte, but never if v has none.
func hasFF(v uint64) bool {
	v = ^v
	return (v-0x0101010101010101)&^v&0x8080808080808080 != 0
}

// fill48 fetches 6 bytes. At a marker it stops and appends zeros; hit reports
// that.
func fill48(data []byte, pos int, acc uint64) (newAcc uint64, newPos int, hit bool) {
	if pos+8 <= len(data) {
		v := binary.BigEndian.Uint64(data[pos:])
		if !hasFF(v) {
			return acc<<48 | v>>16, pos + 6, false
		}
	}
	for range 6 {
		acc <<= 8
		if pos+1 >= len(data) {
			hit = true
			continue
		}
		b := data[pos]
		if b == 0xFF {
			if data[pos+1] != 0 {
				hit = true
				continue
			}
			pos++
		}
		acc |= uint64(b)
		pos++
	}
	return acc, pos, hit
}

// symbol decodes a Huffman code. It returns -1 if the data ends.
func (r *bitReader) symbol(t *huffTable) int {
	if r.nbits < lookBits {
		if !r.fill(0) {
			return -1
		}
		if r.nbits < lookBits {
			return r.symbolSlow(t, 1)
		}
	}
	e := t.look[uint8(r.acc>>(uint(r.nbits-lookBits)&63))]
	l := int(e >> 8)
	if l > lookBits {
		return r.symbolSlow(t, l)
	}
	r.nbits -= l
	return int(e & 0xFF)
}

// symbolSlow decodes a code known to be at least l bits long, bit by bit.
func (r *bitReader) symbolSlow(t *huffTable, l int) int {
	if r.nbits < l && !r.fill(l) {
		return -1
	}
	r.nbits -= l
	code := int32(r.acc>>(uint(r.nbits)&63)) & (1<<l - 1)
	for code > t.maxCode[l] {
		if r.nbits < 1 && !r.fill(1) {
			return -1
		}
		r.nbits--
		code = code<<1 | int32(r.acc>>(uint(r.nbits)&63))&1
		l++
	}
	if l > 16 {
		r.in.warn("bad Huffman code")
		return 0
	}
	return int(t.vals[(code+t.valOffset[l])&0xFF])
}

// receive reads n bits, 1 to 16. It returns false if the data ends.
func (r *bitReader) receive(n int) (int32, bool) {
	if r.nbits < n && !r.fill(n) {
		return 0, false
	}
	r.nbits -= n
	return int32(r.acc>>(uint(r.nbits)&63)) & (1<<n - 1), true
}

// extend is T.81's EXTEND: it returns the value whose s low bits are r.
func extend(r int32, s int) int32 {
	if r < 1<<(s-1) {
		return r - (1<<s - 1)
	}
	return r
}
