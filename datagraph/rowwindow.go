package datagraph

import "github.com/infer-prep/infer-prep/internal/kernel"

// rowWindow holds source rows, or rows after the horizontal pass.
type rowWindow struct {
	data      []byte
	top, rows int // position of the first row, and the number of rows
}

// drop removes the window's first n rows, of line bytes each.
func (w *rowWindow) drop(n, line int) {
	n = min(n, w.rows)
	w.top += n
	w.rows -= n
	copy(w.data, w.data[n*line:][:w.rows*line])
}

// windowMethod is a rowMethod whose output rows depend on several source rows,
// those of y.taps.
type windowMethod interface {
	// store writes n source rows of stride bytes to rows of the window.
	store(r *rowRun, dst, src []byte, n, stride int)
	// produce computes output row r.next. src begins with its first source row.
	produce(r *rowRun, dst, src []byte)
}

// windowed is rows of a windowMethod. The rows of pix are stride bytes long.
// premultiplied, if not nil, is memory for one row that is still to be
// multiplied by alpha.
func (r *rowRun) windowed(m windowMethod, y, n int, pix []byte, stride int, premultiplied []byte) {
	w := &r.window
	for r.next < r.count {
		first := int(r.y.taps.Start[r.next])
		if w.rows == 0 {
			w.top = max(y, first)
		}
		if d := w.top + w.rows - y; d > 0 { // skip unneeded rows
			d = min(d, n)
			y, n, pix = y+d, n-d, pix[d*stride:]
		}
		if n == 0 {
			return
		}
		k := min(n, r.capacity-w.rows)
		if premultiplied != nil {
			k = min(k, 1)
		}
		if k == 0 {
			w.drop(first-w.top, r.windowLine)
			continue
		}
		src := pix[:k*stride]
		if premultiplied != nil {
			kernel.Premultiply(premultiplied, src, r.ch)
			src = premultiplied
		}
		m.store(r, w.data[w.rows*r.windowLine:], src, k, stride)
		w.rows += k
		y, n, pix = y+k, n-k, pix[k*stride:]
		end := w.top + w.rows
		for r.next < r.count && int(r.y.taps.Start[r.next]+r.y.taps.Len[r.next]) <= end {
			at := r.first + r.step*r.next
			m.produce(r, r.target(at), w.data[(int(r.y.taps.Start[r.next])-w.top)*r.windowLine:])
			r.done(at)
			r.next++
		}
	}
}
