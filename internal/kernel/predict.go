package kernel

import "encoding/binary"

// AddLeft16 adds to every little-endian sample of a row the one of its band to
// the left. A pixel has n samples. The sums stay in registers: a sum that is
// read back from memory waits for the write.
func AddLeft16(row []byte, n int) {
	le := binary.LittleEndian
	switch n {
	case 1:
		var v uint64
		for ; len(row) >= 8; row = row[8:] {
			// Sums of 4 samples in one word, and the last one of those before.
			x := le.Uint64(row)
			x = add16(x, x<<16)
			x = add16(x, x<<32)
			x = add16(x, v)
			le.PutUint64(row, x)
			v = x >> 48 * 0x0001_0001_0001_0001
		}
		a := uint16(v)
		for ; len(row) >= 2; row = row[2:] {
			a += le.Uint16(row)
			le.PutUint16(row, a)
		}
	case 2:
		var v uint64
		for ; len(row) >= 8; row = row[8:] {
			x := le.Uint64(row)
			x = add16(x, x<<32)
			x = add16(x, v)
			le.PutUint64(row, x)
			v = x >> 32 * 0x0000_0001_0000_0001
		}
		if len(row) >= 4 {
			le.PutUint32(row, uint32(add16(uint64(le.Uint32(row)), v)))
		}
	case 3:
		i := addLeft16(row)
		var a, b, c uint16
		if i > 0 {
			last := row[i-6:]
			a, b, c = le.Uint16(last), le.Uint16(last[2:]), le.Uint16(last[4:])
		}
		for row = row[i:]; len(row) >= 6; row = row[6:] {
			a += le.Uint16(row)
			b += le.Uint16(row[2:])
			c += le.Uint16(row[4:])
			le.PutUint16(row, a)
			le.PutUint16(row[2:], b)
			le.PutUint16(row[4:], c)
		}
	case 4:
		var v uint64
		for ; len(row) >= 8; row = row[8:] {
			v = add16(v, le.Uint64(row))
			le.PutUint64(row, v)
		}
	default:
		for c := range n {
			var a uint16
			for i := 2 * c; i+1 < len(row); i += 2 * n {
				a += le.Uint16(row[i:])
				le.PutUint16(row[i:], a)
			}
		}
	}
}

// add16 adds 4 numbers of 16 bits.
func add16(a, b uint64) uint64 {
	const high = 0x8000_8000_8000_8000
	return (a&^high + b&^high) ^ (a^b)&high
}
