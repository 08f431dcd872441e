package datagraph

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// bilinearMethod is OpenCV's bilinear. It computes up to blockRows output rows
// at once, to sum up shared source rows once. The source is not mirrored
// before.
type bilinearMethod struct {
	x, y kernel.CVTaps
	used []int32 // source rows that are read; y indexes them

	taps    kernel.CVTaps // the vertical taps of one block, relative to the window
	scratch kernel.CVScratch
}

// blockRows is the number of rows that bilinearMethod computes at once.
const blockRows = 32

func (m *bilinearMethod) prepare(t *rowTables, before, after canvas, sc transforms.Scale) error {
	t.x.resampled, t.y.resampled = true, true
	from, to := after.x.visible()
	m.x.Resize(before.x.n, sc.Width, kernel.CVLinear, false)
	m.x.Cut(from, to, -before.x.at)
	from, to = after.y.visible()
	m.y.Resize(before.y.n, sc.Height, kernel.CVLinear, true)
	m.y.Cut(from, to, -before.y.at)
	m.used = m.used[:0]
	// Index ascends, except that the first row of a pair may lie before the
	// second row of the previous pair.
	for i, y := range m.y.Index {
		if n := len(m.used); n == 0 || y > m.used[n-1] {
			m.used = append(m.used, y)
		}
		n := len(m.used) - 1
		for m.used[n] != y {
			n--
		}
		m.y.Index[i] = int32(n)
	}
	t.readX, t.readY, t.longest = spanOf(m.x.Index), spanOf(m.used), 2
	return nil
}

func (m *bilinearMethod) relate(t *rowTables) {
	t.rowWidth = t.needed.Width
	t.capacity, t.windowLine = min(blockRows, len(m.used)), t.rowWidth*t.ch
	t.scratchBytes = (8 + blockRows) * t.inside() // int32 sums of two rows, and a block of output rows
	m.x.Cut(0, len(m.x.Index)/2, t.needed.Left)
}

// rows fills the window with used rows only; its top counts them.
func (m *bilinearMethod) rows(r *rowRun, y, n int, pix []byte) {
	stride, line := r.region.Width*r.ch, r.windowLine
	from := (r.needed.Left - r.region.Left) * r.ch
	w := &r.window
	for w.top+w.rows < len(m.used) {
		sy := int(m.used[w.top+w.rows])
		if sy >= y+n {
			return
		}
		copy(w.data[w.rows*line:][:line], pix[(sy-y)*stride+from:])
		w.rows++
		if w.rows < r.capacity && w.top+w.rows < len(m.used) {
			continue
		}
		for r.next < r.count && int(m.y.Index[2*r.next+1]) < w.top+w.rows {
			m.compute(r)
		}
		if r.next < r.count {
			w.drop(int(m.y.Index[2*r.next])-w.top, line)
		}
	}
}

// compute computes the next output rows, at most blockRows, from the window.
func (m *bilinearMethod) compute(r *rowRun) {
	w := &r.window
	m.taps.K, m.taps.Index = 2, m.taps.Index[:0]
	k := 0
	for k < blockRows && r.next+k < r.count && int(m.y.Index[2*(r.next+k)+1]) < w.top+w.rows {
		i := 2 * (r.next + k)
		m.taps.Index = append(m.taps.Index, m.y.Index[i]-int32(w.top), m.y.Index[i+1]-int32(w.top))
		k++
	}
	m.taps.WI = m.y.WI[2*r.next:][:2*k]
	sums, block := tensor.Cast[int32](r.scratch[:8*r.inside]), r.scratch[8*r.inside:]
	kernel.CVResizeU8(block[:k*r.inside], w.data[:w.rows*r.windowLine], r.rowWidth, r.inside/r.ch, r.ch, &m.x, &m.taps, sums, &m.scratch)
	for i := range k {
		at := r.first + r.step*r.next
		copy(r.target(at), block[i*r.inside:][:r.inside])
		r.done(at)
		r.next++
	}
}
