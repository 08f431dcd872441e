package kernel

// LookupRGB writes the first three bytes of the table's entry of every byte of
// src to dst. The fourth byte of every entry must be 0.
func LookupRGB(dst, src []uint8, table *[256][4]uint8) {
	n := len(src)
	if n == 0 {
		return
	}
	dst = dst[:3*n]
	i, last := lookupRGB(dst, src, table), n-1
	// The next pixel overwrites the fourth byte.
	for ; i < last; i++ {
		copy(dst[3*i:][:4], table[src[i]][:])
	}
	if i == last {
		copy(dst[3*last:], table[src[last]][:3])
	}
}
