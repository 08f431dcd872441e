package kernel

// Rearrange writes pixels of len(from) bytes from pixels of size bytes: byte i
// of a pixel of dst is byte from[i] of the pixel of src, or the constant
// ^from[i] if from[i] is negative. dst has as many pixels as src and must not
// overlap it.
func Rearrange(dst, src []uint8, size int, from []int) {
	if len(src) == 0 {
		return
	}
	n, step := len(src)/size, len(from)
	src, dst = src[:n*size], dst[:n*step]
	for i := rearrange(dst, src, size, from); i < n; i++ {
		p, q := src[i*size:][:size], dst[i*step:][:step]
		for j, at := range from {
			if at >= 0 {
				q[j] = p[at]
			} else {
				q[j] = uint8(^at)
			}
		}
	}
}
