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
		kernel.UpsampleH2V1(c.up, c.row(y), c.dw)
		return c.up
	case upBox:
		kernel.UpsampleBox(c.up[:width], c.row(y/c.vExp), c.hExp)
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
		kernel.UpsampleH2V2(c.up, c.row(near), c.row(far), c.dw)
	} else {
		kernel.UpsampleH1V2(c.up, c.row(near), c.row(far), c.dw, 1+y&1)
	}
	return c.up
}
