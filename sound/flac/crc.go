package flac

import "sync"

// crcTables returns the tables of CRC-16 with the polynomial 0x8005: table k
// advances a byte by k more zero bytes.
var crcTables = sync.OnceValue(func() *[8][256]uint16 {
	t := &[8][256]uint16{}
	for i := range 256 {
		c := uint16(i) << 8
		for range 8 {
			c = c<<1 ^ 0x8005*(c>>15)
		}
		t[0][i] = c
	}
	for k := 1; k < 8; k++ {
		for i := range 256 {
			c := t[k-1][i]
			t[k][i] = c<<8 ^ t[0][c>>8]
		}
	}
	return t
})

// crc16 returns the CRC-16 of b, eight bytes at a time.
func crc16(b []byte) uint16 {
	t := crcTables()
	c := uint16(0)
	for len(b) >= 8 {
		c = t[7][b[0]^byte(c>>8)] ^ t[6][b[1]^byte(c)] ^ t[5][b[2]] ^ t[4][b[3]] ^ t[3][b[4]] ^ t[2][b[5]] ^ t[1][b[6]] ^ t[0][b[7]]
		b = b[8:]
	}
	for _, x := range b {
		c = c<<8 ^ t[0][x^byte(c>>8)]
	}
	return c
}

// crc8 returns the CRC-8 of a frame's header, with the polynomial 0x07.
func crc8(b []byte) byte {
	c := byte(0)
	for _, x := range b {
		c ^= x
		for range 8 {
			c = c<<1 ^ 7*(c>>7)
		}
	}
	return c
}
