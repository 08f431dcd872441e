package kernel

// This file holds libjpeg's chroma upsampling (jdsample.c): "fancy" triangle
// filters, and replication.

// UpsampleH2V1 doubles the n samples of src, n > 2. An output is 3/4 of the
// nearer sample and 1/4 of the farther one. Halves are rounded down and up
// alternately.
func UpsampleH2V1(dst, src []byte, n int) {
	src = src[:n]
	dst = dst[: 2*n : 2*n]
	dst[0] = src[0]
	dst[1] = byte((int(src[0])*3 + int(src[1]) + 2) >> 2)
	if !upsampleH2V1(dst, src) {
		for i := 1; i < n-1; i++ {
			v := int(src[i]) * 3
			dst[2*i] = byte((v + int(src[i-1]) + 1) >> 2)
			dst[2*i+1] = byte((v + int(src[i+1]) + 2) >> 2)
		}
	}
	dst[2*n-2] = byte((int(src[n-1])*3 + int(src[n-2]) + 1) >> 2)
	dst[2*n-1] = src[n-1]
}

// UpsampleH1V2 mixes the nearer and the farther row, 3 to 1. bias is 1 for the
// upper of the two output rows and 2 for the lower. dst must not overlap the
// rows.
func UpsampleH1V2(dst, near, far []byte, n, bias int) {
	dst, near, far = dst[:n], near[:n], far[:n]
	if upsampleH1V2(dst, near, far, bias) {
		return
	}
	for i := range dst {
		dst[i] = byte((int(near[i])*3 + int(far[i]) + bias) >> 2)
	}
}

// UpsampleH2V2 mixes two rows 3 to 1 and doubles the columns in the same way:
// the weights are 9, 3, 3 and 1 sixteenths. n > 2. dst must not overlap the
// rows.
func UpsampleH2V2(dst, near, far []byte, n int) {
	near, far = near[:n], far[:n]
	dst = dst[: 2*n : 2*n]
	this := int(near[0])*3 + int(far[0])
	next := int(near[1])*3 + int(far[1])
	dst[0] = byte((this*4 + 8) >> 4)
	dst[1] = byte((this*3 + next + 7) >> 4)
	last := this
	this = next
	if upsampleH2V2(dst, near, far) {
		last, this = int(near[n-2])*3+int(far[n-2]), int(near[n-1])*3+int(far[n-1])
	} else {
		for i := 1; i < n-1; i++ {
			next = int(near[i+1])*3 + int(far[i+1])
			dst[2*i] = byte((this*3 + last + 8) >> 4)
			dst[2*i+1] = byte((this*3 + next + 7) >> 4)
			last, this = this, next
		}
	}
	dst[2*n-2] = byte((this*3 + last + 8) >> 4)
	dst[2*n-1] = byte((this*4 + 7) >> 4)
}

// UpsampleBox repeats each sample h times until dst is full.
func UpsampleBox(dst, src []byte, h int) {
	i := 0
	for _, v := range src {
		for range h {
			if i == len(dst) {
				return
			}
			dst[i] = v
			i++
		}
	}
}
