package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/transforms"
)

// copyMethod copies source pixels: frames, and scalings to the nearest pixel.
type copyMethod struct {
	rule []int32 // scratch: the source pixel of every output pixel
}

func (m *copyMethod) prepare(t *rowTables, before, after canvas, sc transforms.Scale) error {
	t.x.resampled, t.y.resampled = false, false
	if t.f.scale == nil {
		t.x.pixels, t.y.pixels = after.x.pixels(t.x.pixels), after.y.pixels(t.y.pixels)
		t.copied()
		return nil
	}
	i, b, _ := t.f.scale.Sampling()
	rule := kernel.NearestPillow
	switch {
	case sc.Height == before.y.n && sc.Width == before.x.n:
		rule = func(l []int32, _, _ int) {
			for i := range l {
				l[i] = int32(i)
			}
		}
	case b == transforms.OpenCV && i == transforms.Nearest:
		rule = kernel.NearestCV
	case b == transforms.OpenCV:
		rule = kernel.NearestExactCV
	case b == transforms.TorchUint8 && i == transforms.Nearest:
		rule = kernel.NearestTorch
	case b == transforms.TorchUint8:
		rule = kernel.NearestExactTorch(sc.Height, sc.Width)
	}
	list := func(l []int32, before, after axis, n int) ([]int32, bool) {
		m.rule = slices.Grow(m.rule[:0], n)[:n]
		rule(m.rule, before.n, n)
		for i := after.lo; i < after.hi; i++ {
			p := int(m.rule[after.at+after.step*i])
			if p < 0 {
				return l, false // Pillow leaves such a pixel 0
			}
			l = append(l, int32(before.at+before.step*p))
		}
		return l, true
	}
	var okX, okY bool
	t.x.pixels, okX = list(t.x.pixels, before.x, after.x, sc.Width)
	t.y.pixels, okY = list(t.y.pixels, before.y, after.y, sc.Height)
	if !okX || !okY {
		return errDeclined
	}
	t.copied()
	return nil
}

// copied sets what the lists of pixels read.
func (t *rowTables) copied() {
	t.readX, t.readY, t.longest = spanOf(t.x.pixels), spanOf(t.y.pixels), 1
}

func (*copyMethod) relate(t *rowTables) { t.relatePixels() }

func (*copyMethod) rows(r *rowRun, y, n int, pix []byte) { r.single(y, n, pix, nil) }

// single is rows for output rows that depend on one source row each.
// premultiplied, if not nil, is memory for a row that is to be multiplied by
// alpha.
func (r *rowRun) single(y, n int, pix, premultiplied []byte) {
	stride := r.region.Width * r.ch
	for r.next < r.count {
		sy := int(r.y.pixels[r.next])
		if sy >= y+n {
			return
		}
		row := pix[(sy-y)*stride:]
		if r.contiguous && !r.x.resampled && r.fill == nil && !r.mirrored && r.step > 0 {
			r.copyThrough(row, y+n-sy, stride)
			continue
		}
		at := r.first + r.step*r.next
		dst, src := r.target(at), row[:stride]
		if premultiplied != nil {
			kernel.Premultiply(premultiplied, src, r.ch)
			src = premultiplied
		}
		r.horizontal(dst, src, 1)
		if premultiplied != nil {
			kernel.Unpremultiply(dst, dst, r.ch)
		}
		r.done(at)
		r.next++
	}
}

// copyThrough writes the first of n source rows to the output, unchanged except
// for the value table. It writes several rows at once if they are consecutive
// and of full width.
func (r *rowRun) copyThrough(rows []byte, n, stride int) {
	k := 1
	from := int(r.x.pixels[0]) * r.ch
	if r.inside == stride {
		for k < n && r.next+k < r.count && r.y.pixels[r.next+k] == r.y.pixels[r.next+k-1]+1 {
			k++
		}
	}
	r.out.row(r.first+r.next, rows[from:][:k*r.inside])
	r.next += k
}

// horizontal computes the output columns of n source rows.
func (r *rowRun) horizontal(dst, src []byte, n int) {
	if len(r.x.pixels) == 0 {
		r.x.taps.Horizontal(dst, src, n, r.rowWidth, r.ch)
		return
	}
	line, stride := len(r.x.pixels)*r.ch, r.rowWidth*r.ch
	from := int(r.x.pixels[0]) * r.ch
	for i := range n {
		d, s := dst[i*line:][:line], src[i*stride:][:stride]
		if r.contiguous {
			copy(d, s[from:])
		} else {
			kernel.Pick(d, s, r.rowWidth, r.ch, r.x.pixels, oneRow)
		}
	}
}

var oneRow = []int32{0}
