package msgpack

import "encoding/binary"

// Whole returns ErrShort unless b begins with a whole value, with all
// values inside it. It does not recurse.
//
// Call it before the functions of github.com/tinylib/msgp: on 32-bit platforms
// those panic on a string of 2 GiB and more, since they convert its length to
// an int before they compare it (v1.6.5).
func Whole(b []byte) error {
	for left := uint64(1); left > 0; left-- {
		size, inside := head(b)
		if size > uint64(len(b)) {
			return ErrShort
		}
		b = b[size:]
		if left += inside; left-1 > uint64(len(b)) { // a value has at least one byte
			return ErrShort
		}
	}
	return nil
}

// Next returns the number of values inside the first value of b, and what
// follows its head: those values if it is an array or a map. nested reports
// whether it is one.
func Next(b []byte) (inside uint64, nested bool, rest []byte, err error) {
	size, inside := head(b)
	if size > uint64(len(b)) {
		return 0, false, nil, ErrShort
	}
	k := kindOf(b[0])
	return inside, k == array || k == table, b[size:], nil
}

// head returns the number of bytes of the first value of b, without the values
// inside it, and the number of those. The size is above len(b) if b does not
// hold that many. A byte that starts no value counts as a value: the functions
// of msgp report it.
func head(b []byte) (size, inside uint64) {
	if len(b) == 0 {
		return 1, 0
	}
	// number reads the length that follows the first byte.
	number := func(width int) uint64 {
		if len(b) < 1+width {
			return 0 // the size is above len(b) all the same
		}
		switch width {
		case 1:
			return uint64(b[1])
		case 2:
			return uint64(binary.BigEndian.Uint16(b[1:]))
		}
		return uint64(binary.BigEndian.Uint32(b[1:]))
	}
	switch c := b[0]; {
	case c >= 0x80 && c <= 0x8f: // map
		return 1, 2 * uint64(c&15)
	case c >= 0x90 && c <= 0x9f: // array
		return 1, uint64(c & 15)
	case c >= 0xa0 && c <= 0xbf: // string
		return 1 + uint64(c&31), 0
	case c >= 0xc4 && c <= 0xc6: // bytes
		w := 1 << (c - 0xc4)
		return 1 + uint64(w) + number(w), 0
	case c >= 0xc7 && c <= 0xc9: // extension: length, type, data
		w := 1 << (c - 0xc7)
		return 2 + uint64(w) + number(w), 0
	case c == 0xca || c == 0xce || c == 0xd2: // 32 bits
		return 5, 0
	case c == 0xcb || c == 0xcf || c == 0xd3: // 64 bits
		return 9, 0
	case c == 0xcc || c == 0xd0: // 8 bits
		return 2, 0
	case c == 0xcd || c == 0xd1: // 16 bits
		return 3, 0
	case c >= 0xd4 && c <= 0xd8: // extension of 1 to 16 bytes
		return 2 + 1<<(c-0xd4), 0
	case c >= 0xd9 && c <= 0xdb: // string
		w := 1 << (c - 0xd9)
		return 1 + uint64(w) + number(w), 0
	case c == 0xdc || c == 0xdd: // array
		w := 2 << (c - 0xdc)
		return 1 + uint64(w), number(w)
	case c == 0xde || c == 0xdf: // map
		w := 2 << (c - 0xde)
		return 1 + uint64(w), 2 * number(w)
	}
	return 1, 0
}
