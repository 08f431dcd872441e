package datagraph

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/transforms"
)

// halveMethod takes OpenCV's mean of two by two pixels. The source is not
// mirrored before.
type halveMethod struct{}

func (*halveMethod) prepare(t *rowTables, before, after canvas, _ transforms.Scale) error {
	t.x.resampled, t.y.resampled = true, true
	rows := &t.y.taps
	rows.Start, rows.Len = rows.Start[:0], rows.Len[:0]
	for from, to := after.y.visible(); from < to; from++ {
		rows.Start = append(rows.Start, int32(before.y.at+2*from))
		rows.Len = append(rows.Len, 2)
	}
	from, to := after.x.visible()
	for i := 2 * from; i < 2*to; i++ {
		t.x.pixels = append(t.x.pixels, int32(before.x.at+i))
	}
	t.readX = spanOf(t.x.pixels)
	t.readY, t.longest = spanOfTaps(rows)
	return nil
}

func (*halveMethod) relate(t *rowTables) {
	t.relatePixels()
	t.windowLine = len(t.x.pixels) * t.ch
}

func (m *halveMethod) rows(r *rowRun, y, n int, pix []byte) {
	r.windowed(m, y, n, pix, r.region.Width*r.ch, nil)
}

func (*halveMethod) store(r *rowRun, dst, src []byte, n, _ int) { r.horizontal(dst, src, n) }

func (*halveMethod) produce(r *rowRun, dst, src []byte) {
	kernel.CVAreaFastU8(dst, src[:2*r.windowLine], 1, len(dst)/r.ch, r.ch, 2, 2)
}
