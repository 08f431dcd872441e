package kernel

import "encoding/binary"

// PNGUnfilter reverses a row's filter (section 9 of the PNG specification,
// third edition) from src into dst, and reports whether the filter exists. prev
// is the row above. bpp is the number of bytes from a sample to that of its
// left neighbour, at least 1. The slices do not overlap and have one length, a
// multiple of bpp.
func PNGUnfilter(dst, src, prev []byte, filter byte, bpp int) bool {
	dst, prev = dst[:len(src)], prev[:len(src)]
	switch filter {
	case 0:
		copy(dst, src)
	case 1:
		unfilterLeft(dst, src, bpp)
	case 2:
		unfilterUp(dst, src, prev)
	case 3:
		unfilterAverage(dst, src, prev, bpp)
	case 4:
		if bpp == 3 || bpp == 4 {
			if i := pngPaeth(dst, src, prev, bpp); i > 0 {
				for ; i < len(src); i++ {
					a, b, c := int(dst[i-bpp]), int(prev[i]), int(prev[i-bpp])
					dst[i] = uint8(paeth(a, b, c)) + src[i]
				}
				return true
			}
		}
		for at := 0; at < bpp; {
			switch {
			case bpp%4 == 0:
				unfilterPaeth4(dst[at:], src[at:], prev[at:], bpp)
				at += 4
			case bpp%3 == 0:
				unfilterPaeth3(dst[at:], src[at:], prev[at:], bpp)
				at += 3
			default:
				unfilterPaeth1(dst[at:], src[at:], prev[at:], bpp)
				at++
			}
		}
	default:
		return false
	}
	return true
}

// The bits of 8 bytes: all but the highest ones, and these.
const (
	lowBits  = 0x7F7F7F7F7F7F7F7F
	highBits = 0x8080808080808080
)

// add8 adds 8 bytes.
func add8(a, b uint64) uint64 { return (a&lowBits + b&lowBits) ^ (a^b)&highBits }

func load8(p []byte, i int) uint64 { return binary.LittleEndian.Uint64(p[i:]) }

// unfilterLeft takes a pixel of up to 8 bytes at a time. What it writes after
// the pixel the next one overwrites.
func unfilterLeft(dst, src []byte, bpp int) {
	i := pngLeft(dst, src, bpp)
	if bpp > 1 {
		var a uint64
		if i > 0 && i+8 <= len(src) {
			a = load8(dst, i-bpp)
		}
		for ; i+8 <= len(src); i += bpp {
			a = add8(a, load8(src, i))
			binary.LittleEndian.PutUint64(dst[i:], a)
		}
	}
	for ; i < len(src); i++ {
		v := src[i]
		if i >= bpp {
			v += dst[i-bpp]
		}
		dst[i] = v
	}
}

func unfilterUp(dst, src, prev []byte) {
	i := pngUp(dst, src, prev)
	for ; i+8 <= len(src); i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], add8(load8(src, i), load8(prev, i)))
	}
	for ; i < len(src); i++ {
		dst[i] = src[i] + prev[i]
	}
}

func unfilterAverage(dst, src, prev []byte, bpp int) {
	i := pngAverage(dst, src, prev, bpp)
	if bpp > 1 {
		var a uint64
		if i > 0 && i+8 <= len(src) {
			a = load8(dst, i-bpp)
		}
		for ; i+8 <= len(src); i += bpp {
			b := load8(prev, i)
			half := a&b + (a^b)>>1&lowBits // does not carry
			a = add8(half, load8(src, i))
			binary.LittleEndian.PutUint64(dst[i:], a)
		}
	}
	for ; i < len(src); i++ {
		v := int(prev[i])
		if i >= bpp {
			v += int(dst[i-bpp])
		}
		dst[i] = src[i] + uint8(v/2)
	}
}

// paeth returns the one of a, b and c that is nearest to a+b-c, in this order
// if several are. It is b or a at the ends of their range, and else c, which
// needs no distances and no branches.
func paeth(a, b, c int) int {
	t := 3*c - a - b
	low, high := min(a, b), max(a, b)
	p := c
	if t >= high {
		p = low
	}
	if t <= low {
		p = high
	}
	return p
}

// unfilterPaeth1 and the next two reverse the filter of so many bytes of every
// pixel, which are step apart.
func unfilterPaeth1(dst, src, prev []byte, step int) {
	var a, c int
	for i := 0; i < len(src) && i < len(prev) && i < len(dst); i += step {
		b := int(prev[i])
		a = int(uint8(paeth(a, b, c)) + src[i])
		dst[i] = uint8(a)
		c = b
	}
}

func unfilterPaeth3(dst, src, prev []byte, step int) {
	var a0, a1, a2, c0, c1, c2 int
	for i := 0; i+2 < len(src) && i+2 < len(prev) && i+2 < len(dst); i += step {
		b0, b1, b2 := int(prev[i]), int(prev[i+1]), int(prev[i+2])
		a0 = int(uint8(paeth(a0, b0, c0)) + src[i])
		a1 = int(uint8(paeth(a1, b1, c1)) + src[i+1])
		a2 = int(uint8(paeth(a2, b2, c2)) + src[i+2])
		dst[i], dst[i+1], dst[i+2] = uint8(a0), uint8(a1), uint8(a2)
		c0, c1, c2 = b0, b1, b2
	}
}

func unfilterPaeth4(dst, src, prev []byte, step int) {
	var a0, a1, a2, a3, c0, c1, c2, c3 int
	for i := 0; i+3 < len(src) && i+3 < len(prev) && i+3 < len(dst); i += step {
		b0, b1, b2, b3 := int(prev[i]), int(prev[i+1]), int(prev[i+2]), int(prev[i+3])
		a0 = int(uint8(paeth(a0, b0, c0)) + src[i])
		a1 = int(uint8(paeth(a1, b1, c1)) + src[i+1])
		a2 = int(uint8(paeth(a2, b2, c2)) + src[i+2])
		a3 = int(uint8(paeth(a3, b3, c3)) + src[i+3])
		dst[i], dst[i+1], dst[i+2], dst[i+3] = uint8(a0), uint8(a1), uint8(a2), uint8(a3)
		c0, c1, c2, c3 = b0, b1, b2, b3
	}
}

// AddLeft adds to every byte of a row that n bytes before, as TIFF's predictor
// needs it.
func AddLeft(row []byte, n int) {
	i := pngLeft(row, row, n)
	switch {
	case i > 0:
	case n == 3:
		var a, b, c byte
		for ; len(row) >= 3; row = row[3:] {
			a, b, c = a+row[0], b+row[1], c+row[2]
			row[0], row[1], row[2] = a, b, c
		}
		return
	case n == 4:
		var a, b, c, d byte
		for ; len(row) >= 4; row = row[4:] {
			a, b, c, d = a+row[0], b+row[1], c+row[2], d+row[3]
			row[0], row[1], row[2], row[3] = a, b, c, d
		}
		return
	}
	for i = max(i, n); i < len(row); i++ {
		row[i] += row[i-n]
	}
}
