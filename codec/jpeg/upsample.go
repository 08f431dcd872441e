package jpeg

import "github.com/infer-prep/infer-prep/internal/kernel"

// upsampling is the method that converts a component's samples to pixels.
type upsampling uint8

const (
	upNone upsampling = iota
	upH2V1            // triangle filter over columns
	upH1V2            // over rows
	upH2V2            // over both
	upBox             // replication
)

// chooseUpsampling selects libjpeg's method for each component: triangle
// filters for a factor of 2, except for lossless files. The horizontal filter
// requires a plane of more than two samples' width.
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

// upsampledRow returns width samples, from column left on, of the component's
// part of row y of the pixels.
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
	// The second nearest row is above for even rows, below for odd rows. At the
	// edges of the image the nearest row takes its place.
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

// span returns the range of samples to double for width pixels from left on.
// The results at its ends are wrong unless they are the image's edges, so it
// includes one more sample on each side. It has more than two samples, as the
// filters require.
func (c *component) span(left, width int) (from, to int) {
	from = min(max(left/2-1, 0), c.dw-3)
	return from, min(max((left+width+1)/2+1, from+3), c.dw)
}
