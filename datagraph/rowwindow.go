package datagraph

import "github.com/infer-prep/infer-prep/internal/kernel"

// collect is Rows for scalings with the horizontal pass first. It passes the
// needed columns of up to stageRows rows at once to windowed.
func (r *rowRun) collect(y, n int, pix []byte) {
	stride, line := r.region.Width*r.ch, r.rowWidth*r.ch
	from := (r.needed.Left - r.region.Left) * r.ch
	bottom := r.needed.Top + r.needed.Height
	for ; n > 0; y, n, pix = y+1, n-1, pix[stride:] {
		if y < r.needed.Top || y >= bottom {
			continue
		}
		copy(r.stage.data[r.stage.rows*line:][:line], pix[from:])
		r.stage.rows++
		if r.stage.rows < stageRows && y < bottom-1 {
			continue
		}
		rows := r.stage.data[:r.stage.rows*line]
		if r.premultiply {
			kernel.Premultiply(rows, rows, r.ch)
		}
		r.windowed(y+1-r.stage.rows, r.stage.rows, rows, line, false)
		r.stage.rows = 0
	}
}

// windowed is Rows for output rows that depend on several source rows. The rows
// of pix are stride bytes long; multiply says that they are still to be
// multiplied by alpha.
func (r *rowRun) windowed(y, n int, pix []byte, stride int, multiply bool) {
	line := r.windowLine()
	for r.next < r.count {
		first := int(r.y.taps.Start[r.next])
		if r.window.rows == 0 {
			r.window.top = max(y, first)
		}
		if d := r.window.top + r.window.rows - y; d > 0 { // skip unneeded rows
			d = min(d, n)
			y, n, pix = y+d, n-d, pix[d*stride:]
		}
		if n == 0 {
			return
		}
		k := min(n, r.capacity-r.window.rows)
		if multiply {
			k = min(k, 1)
		}
		if k == 0 {
			r.window.drop(first-r.window.top, line)
			continue
		}
		src := pix[:k*stride]
		if multiply {
			kernel.Premultiply(r.premultiplied, src, r.ch)
			src = r.premultiplied
		}
		r.store(src, k, stride, line)
		r.window.rows += k
		y, n, pix = y+k, n-k, pix[k*stride:]
		end := r.window.top + r.window.rows
		for r.next < r.count && int(r.y.taps.Start[r.next]+r.y.taps.Len[r.next]) <= end {
			r.produce(line)
			r.next++
		}
	}
}

// store appends n source rows to the window, after the horizontal pass unless
// the vertical pass comes first.
func (r *rowRun) store(src []byte, n, stride, line int) {
	dst := r.window.data[r.window.rows*line:]
	switch {
	case !r.verticalFirst:
		r.horizontal(dst[:n*line], src, n)
	case line == stride:
		copy(dst, src)
	default:
		from := (r.needed.Left - r.region.Left) * r.ch
		for i := range n {
			copy(dst[i*line:][:line], src[i*stride+from:])
		}
	}
}

// produce computes the next output row from the window.
func (r *rowRun) produce(line int) {
	i := r.next
	at := r.first + r.step*i
	dst := r.target(at)
	src := r.window.data[(int(r.y.taps.Start[i])-r.window.top)*line:]
	if r.method == methodHalve {
		kernel.CVAreaFastU8(dst, src[:2*line], 1, len(dst)/r.ch, r.ch, 2, 2)
		r.done(at)
		return
	}
	if r.verticalFirst {
		r.y.taps.VerticalRow(r.vertical, src, line, i)
		r.horizontal(dst, r.vertical, 1)
	} else {
		r.y.taps.VerticalRow(dst, src, line, i)
	}
	if r.premultiply {
		kernel.Unpremultiply(dst, dst, r.ch)
	}
	r.done(at)
}

// bilinearRows is Rows for methodBilinear. The window holds the used rows only,
// and its top counts them.
func (r *rowRun) bilinearRows(y, n int, pix []byte) {
	stride, line := r.region.Width*r.ch, r.rowWidth*r.ch
	from := (r.needed.Left - r.region.Left) * r.ch
	w := &r.window
	for w.top+w.rows < len(r.used) {
		sy := int(r.used[w.top+w.rows])
		if sy >= y+n {
			return
		}
		copy(w.data[w.rows*line:][:line], pix[(sy-y)*stride+from:])
		w.rows++
		if w.rows < r.capacity && w.top+w.rows < len(r.used) {
			continue
		}
		for r.next < r.count && int(r.y.cv.Index[2*r.next+1]) < w.top+w.rows {
			r.bilinearBlock(line)
		}
		if r.next < r.count {
			w.drop(int(r.y.cv.Index[2*r.next])-w.top, line)
		}
	}
}

// bilinearBlock computes the next output rows, at most blockRows, from the
// window.
func (r *rowRun) bilinearBlock(line int) {
	b, w := &r.blocks, &r.window
	b.taps.K, b.taps.Index = 2, b.taps.Index[:0]
	k := 0
	for k < blockRows && r.next+k < r.count && int(r.y.cv.Index[2*(r.next+k)+1]) < w.top+w.rows {
		i := 2 * (r.next + k)
		b.taps.Index = append(b.taps.Index, r.y.cv.Index[i]-int32(w.top), r.y.cv.Index[i+1]-int32(w.top))
		k++
	}
	b.taps.WI = r.y.cv.WI[2*r.next:][:2*k]
	kernel.CVResizeU8(b.rows[:k*r.inside], w.data[:w.rows*line], r.rowWidth, r.inside/r.ch, r.ch, &r.x.cv, &b.taps, b.sums, &b.scratch)
	for i := range k {
		at := r.first + r.step*r.next
		copy(r.target(at), b.rows[i*r.inside:][:r.inside])
		r.done(at)
		r.next++
	}
}

// drop removes the window's first n rows, of line bytes each.
func (w *rowWindow) drop(n, line int) {
	n = min(n, w.rows)
	w.top += n
	w.rows -= n
	copy(w.data, w.data[n*line:][:w.rows*line])
}
