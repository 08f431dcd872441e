package jpeg

import "encoding/binary"

// acc holds nbits unread bits of Huffman-coded data, at its low end.
//
// The decoder must fetch bytes exactly as far ahead as libjpeg does. At the end
// of a file without EOI this decides whether the last MCU is complete, and so
// whether Pillow accepts the file. libjpeg has two ways. Far from the end,
// fill48 runs if at most 16 bits are left. Near the end, fill runs if too few
// bits are left, and fetches up to at least 57.

const minBits = 57 // libjpeg's MIN_GET_BITS for a 64-bit buffer

// fill fetches bytes until at least 57 bits are available. It stops at a marker
// and then appends zeros if fewer than want bits are available. It returns
// false if the data ends first.
func (d *decoder) fill(want int) bool {
	if d.marker == 0 {
		for d.nbits < minBits {
			if d.pos+8 <= d.end {
				v := binary.BigEndian.Uint64(d.data[d.pos:])
				if !hasFF(v) {
					k := (64 - d.nbits) >> 3
					d.acc = d.acc<<(8*k) | v>>(64-8*k)
					d.nbits += 8 * k
					d.pos += k
					break
				}
			}
			b, ok := d.entropyByte()
			if !ok {
				return false
			}
			if d.marker != 0 {
				break
			}
			d.acc = d.acc<<8 | uint64(b)
			d.nbits += 8
		}
		if d.marker == 0 {
			return true
		}
	}
	if want > d.nbits {
		if !d.insufficient {
			d.warn("entropy-coded data ends too early")
			d.insufficient = true
		}
		d.acc <<= uint(minBits - d.nbits)
		d.nbits = minBits
	}
	return true
}

// entropyByte reads a byte of entropy-coded data. If a marker follows, it
// stores the marker in d.marker. It returns false if the data ends.
func (d *decoder) entropyByte() (byte, bool) {
	if !d.more() {
		return d.entropyEnd()
	}
	b := d.data[d.pos]
	d.pos++
	if b != 0xFF {
		return b, true
	}
	for b == 0xFF {
		if !d.more() {
			return d.entropyEnd()
		}
		b = d.data[d.pos]
		d.pos++
	}
	if b == 0 {
		return 0xFF, true // a stuffed zero
	}
	d.marker = b
	return 0, true
}

// entropyEnd handles the end of the file within entropy-coded data. In lenient
// mode it acts as an EOI.
func (d *decoder) entropyEnd() (byte, bool) {
	if d.noMarker() != nil {
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
func (d *decoder) symbol(t *huffTable) int {
	if d.nbits < lookBits {
		if !d.fill(0) {
			return -1
		}
		if d.nbits < lookBits {
			return d.symbolSlow(t, 1)
		}
	}
	e := t.look[uint8(d.acc>>(uint(d.nbits-lookBits)&63))]
	l := int(e >> 8)
	if l > lookBits {
		return d.symbolSlow(t, l)
	}
	d.nbits -= l
	return int(e & 0xFF)
}

// symbolSlow decodes a code known to be at least l bits long, bit by bit.
func (d *decoder) symbolSlow(t *huffTable, l int) int {
	if d.nbits < l && !d.fill(l) {
		return -1
	}
	d.nbits -= l
	code := int32(d.acc>>(uint(d.nbits)&63)) & (1<<l - 1)
	for code > t.maxCode[l] {
		if d.nbits < 1 && !d.fill(1) {
			return -1
		}
		d.nbits--
		code = code<<1 | int32(d.acc>>(uint(d.nbits)&63))&1
		l++
	}
	if l > 16 {
		d.warn("bad Huffman code")
		return 0
	}
	return int(t.vals[(code+t.valOffset[l])&0xFF])
}

// receive reads n bits, 1 to 16. It returns false if the data ends.
func (d *decoder) receive(n int) (int32, bool) {
	if d.nbits < n && !d.fill(n) {
		return 0, false
	}
	d.nbits -= n
	return int32(d.acc>>(uint(d.nbits)&63)) & (1<<n - 1), true
}

// extend is T.81's EXTEND: it returns the value whose s low bits are r.
func extend(r int32, s int) int32 {
	if r < 1<<(s-1) {
		return r - (1<<s - 1)
	}
	return r
}
