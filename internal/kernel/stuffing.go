package kernel

import "bytes"

// FindMarker returns the index of the first byte 0xFF that another byte than
// zero follows, or -1.
func FindMarker(b []byte) int {
	at := findMarker(b)
	for {
		i := bytes.IndexByte(b[at:], 0xFF)
		if i < 0 || at+i+1 >= len(b) {
			return -1
		}
		if at += i; b[at+1] != 0 {
			return at
		}
		at += 2
	}
}

// Unstuff copies src without the byte after each 0xFF and returns the number of
// bytes copied. dst must be as long as src; bytes after the copied ones may
// change. The last byte of src must not be a 0xFF.
func Unstuff(dst, src []byte) int {
	dst = dst[:len(src)]
	n, read := unstuff(dst, src)
	src = src[read:]
	for len(src) > 0 {
		i := bytes.IndexByte(src, 0xFF)
		if i < 0 {
			return n + copy(dst[n:], src)
		}
		n += copy(dst[n:], src[:i+1])
		src = src[i+2:]
	}
	return n
}
