package jpeg

import "github.com/infer-prep/infer-prep/internal/kernel"

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
func (d *decoder) chooseUpsampling() {
	d.context = false
	for i := range d.comps {
		c := &d.comps[i]
		c.hExp, c.vExp = d.maxH*d.samples/(c.h*c.samples), d.maxV*d.samples/(c.v*c.samples)
		fancy := d.samples > 1
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

// upsampledRow is width samples from column left on of the component's part of
// the y'th row of pixels.
func (c *component) upsampledRow(y, left, width int) []byte {
	switch c.method {
	case upNone:
		return c.row(y)[left : left+width]
	case upBox:
		from := left / c.hExp
		kernel.UpsampleBox(c.up[:width+left%c.hExp], c.row(y / c.vExp)[from:], c.hExp)
		return c.up[left%c.hExp:][:width]
	}
	if c.method == upH2V1 {
		from, to := c.span(left, width)
		kernel.UpsampleH2V1(c.up, c.row(y)[from:], to-from)
		return c.up[left-2*from:][:width]
	}
	// The next nearest row is above for even rows, below for odd ones; at the
	// edges of the image the nearest one serves.
	near, far := y/2, y/2-1
	if y&1 == 1 {
		far = y/2 + 1
	}
	far = min(max(far, 0), c.dh-1)
	if c.method == upH2V2 {
		from, to := c.span(left, width)
		kernel.UpsampleH2V2(c.up, c.row(near)[from:], c.row(far)[from:], to-from)
		return c.up[left-2*from:][:width]
	}
	kernel.UpsampleH1V2(c.up, c.row(near)[left:], c.row(far)[left:], width, 1+y&1)
	return c.up[:width]
}

// span is the samples that are doubled for width pixels from left on. At its
// ends, unless they are the image's, the results are wrong: so it has one more
// to each side; and it has more than two, as the filters demand.
func (c *component) span(left, width int) (from, to int) {
	from = min(max(left/2-1, 0), c.dw-3)
	return from, min(max((left+width+1)/2+1, from+3), c.dw)
}
