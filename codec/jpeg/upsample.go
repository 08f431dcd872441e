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
func (ps *planes) chooseUpsampling() {
	ps.context = false
	for i := range ps.head.comps {
		p, c := &ps.comp[i], &ps.head.comps[i]
		p.hExp, p.vExp = ps.head.maxH*ps.samples/(c.h*p.samples), ps.head.maxV*ps.samples/(c.v*p.samples)
		fancy := ps.samples > 1 && !ps.head.nearest
		switch {
		case !c.needed || p.hExp == 1 && p.vExp == 1:
			p.method = upNone
		case fancy && p.hExp == 2 && p.vExp == 1 && p.dw > 2:
			p.method = upH2V1
		case fancy && p.hExp == 1 && p.vExp == 2:
			p.method = upH1V2
		case fancy && p.hExp == 2 && p.vExp == 2 && p.dw > 2:
			p.method = upH2V2
		default:
			p.method = upBox
		}
		if p.method == upH1V2 || p.method == upH2V2 {
			ps.context = true
		}
	}
}

// upsampledRow returns width samples, from column left on, of the component's
// part of row y of the pixels.
func (p *plane) upsampledRow(y, left, width int) []byte {
	switch p.method {
	case upNone:
		return p.row(y)[left : left+width]
	case upBox:
		from := left / p.hExp
		kernel.UpsampleBox(p.up[:width+left%p.hExp], p.row(y / p.vExp)[from:], p.hExp)
		return p.up[left%p.hExp:][:width]
	}
	if p.method == upH2V1 {
		from, to := p.span(left, width)
		kernel.UpsampleH2V1(p.up, p.row(y)[from:], to-from)
		return p.up[left-2*from:][:width]
	}
	// The second nearest row is above for even rows, below for odd rows. At the
	// edges of the image the nearest row takes its place.
	near, far := y/2, y/2-1
	if y&1 == 1 {
		far = y/2 + 1
	}
	far = min(max(far, 0), p.dh-1)
	if p.method == upH2V2 {
		from, to := p.span(left, width)
		kernel.UpsampleH2V2(p.up, p.row(near)[from:], p.row(far)[from:], to-from)
		return p.up[left-2*from:][:width]
	}
	kernel.UpsampleH1V2(p.up, p.row(near)[left:], p.row(far)[left:], width, 1+y&1)
	return p.up[:width]
}

// span returns the range of samples to double for width pixels from left on.
// The results at its ends are wrong unless they are the image's edges, so it
// includes one more sample on each side. It has more than two samples, as the
// filters require.
func (p *plane) span(left, width int) (from, to int) {
	from = min(max(left/2-1, 0), p.dw-3)
	return from, min(max((left+width+1)/2+1, from+3), p.dw)
}
