package jpeg

// upsampling is how a component's samples become pixels.
type upsampling uint8

const (
	upNone upsampling = iota
	upH2V1            // triangle filter over columns
	upH1V2            // over rows
	upH2V2            // over both
	upBox             // replication
)

// chooseUpsampling picks libjpeg's method for each component: triangle filters
// where a factor of 2 is wanted, but for columns only if the plane is more than
// two samples wide, and not for lossless files.
func (d *Decoder) chooseUpsampling() {
	d.context = false
	for i := range d.comps {
		c := &d.comps[i]
		c.hExp, c.vExp = d.maxH/c.h, d.maxV/c.v
		fancy := !d.lossless
		switch {
		case !c.needed || c.hExp == 1 && c.vExp == 1:
			c.method = upNone
		case fancy && c.hExp == 2 && c.vExp == 1 && c.dw > 2:
			c.method = upH2V1
		case fancy && c.hExp == 1 && c.vExp == 2:
			c.method = upH1V2
		case fancy && c.hExp == 2 && c.vExp == 2 && c.dw > 2:
			c.method = upH2V2
		default:
			c.method = upBox
		}
		if c.method == upH1V2 || c.method == upH2V2 {
			d.context = true
		}
	}
}

// upsampledRow is the component's samples for the y'th row of pixels; at least
// width of them.
func (c *component) upsampledRow(y, width int) []byte {
	switch c.method {
	case upNone:
		return c.row(y)
	case upH2V1:
		upsampleH2V1(c.up, c.row(y), c.dw)
		return c.up
	case upBox:
		upsampleBox(c.up[:width], c.row(y/c.vExp), c.hExp)
		return c.up
	}
	// The next nearest row is above for even rows, below for odd ones; at the
	// edges of the image the nearest one serves.
	near, far := y/2, y/2-1
	if y&1 == 1 {
		far = y/2 + 1
	}
	far = min(max(far, 0), c.dh-1)
	if c.method == upH2V2 {
		upsampleH2V2(c.up, c.row(near), c.row(far), c.dw)
	} else {
		upsampleH1V2(c.up, c.row(near), c.row(far), c.dw, 1+y&1)
	}
	return c.up
}

// upsampleH2V1 doubles the n samples of src, n > 2: 3/4 of the nearer and 1/4 of
// the further sample, halves rounded down and up in turn.
func upsampleH2V1(dst, src []byte, n int) {
	src = src[:n]
	dst = dst[: 2*n : 2*n]
	dst[0] = src[0]
	dst[1] = byte((int(src[0])*3 + int(src[1]) + 2) >> 2)
	for i := 1; i < n-1; i++ {
		v := int(src[i]) * 3
		dst[2*i] = byte((v + int(src[i-1]) + 1) >> 2)
		dst[2*i+1] = byte((v + int(src[i+1]) + 2) >> 2)
	}
	dst[2*n-2] = byte((int(src[n-1])*3 + int(src[n-2]) + 1) >> 2)
	dst[2*n-1] = src[n-1]
}

// upsampleH1V2 mixes the nearer and the further row, 3 to 1. bias is 1 for the
// upper of the two rows of pixels, 2 for the lower.
func upsampleH1V2(dst, near, far []byte, n, bias int) {
	dst, near, far = dst[:n], near[:n], far[:n]
	for i := range dst {
		dst[i] = byte((int(near[i])*3 + int(far[i]) + bias) >> 2)
	}
}

// upsampleH2V2 mixes two rows 3 to 1 and doubles the columns likewise: 9, 3, 3
// and 1 sixteenths. n > 2.
func upsampleH2V2(dst, near, far []byte, n int) {
	near, far = near[:n], far[:n]
	dst = dst[: 2*n : 2*n]
	this := int(near[0])*3 + int(far[0])
	next := int(near[1])*3 + int(far[1])
	dst[0] = byte((this*4 + 8) >> 4)
	dst[1] = byte((this*3 + next + 7) >> 4)
	last := this
	this = next
	for i := 1; i < n-1; i++ {
		next = int(near[i+1])*3 + int(far[i+1])
		dst[2*i] = byte((this*3 + last + 8) >> 4)
		dst[2*i+1] = byte((this*3 + next + 7) >> 4)
		last, this = this, next
	}
	dst[2*n-2] = byte((this*3 + last + 8) >> 4)
	dst[2*n-1] = byte((this*4 + 7) >> 4)
}

// upsampleBox repeats each sample h times, until dst is full.
func upsampleBox(dst, src []byte, h int) {
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
