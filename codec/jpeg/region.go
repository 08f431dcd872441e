package jpeg

import "github.com/infer-prep/infer-prep/codec"

// If a region of a baseline file with restart markers is needed, the segments
// outside it are skipped. This needs all markers in order, for the reasons in
// parallel.go. The last segment is always decoded, because the state after it
// decides whether the reference accepts the file.

// planRegion reports whether segments are skipped, and finds them.
func (d *decoder) planRegion() bool {
	h, r := &d.head, &d.out.region
	if h.restartInterval == 0 || d.out.sink == nil || d.in.damage != codec.DamagePillow || h.arithmetic ||
		r.Width == d.out.width && r.Height == d.out.height {
		return false
	}
	var ok bool
	d.segs, ok = findSegments(d.segs, d.in.data, d.in.pos, ceilDiv(h.mcus(), h.restartInterval), 1)
	return ok
}

// decodeRegion decodes the MCUs of the region and the last segment.
func (d *decoder) decodeRegion() error {
	e, h := &d.ent, &d.head
	first, last := d.wantedMCUs()
	first, last = min(first, h.mcusPerRow), min(last, h.mcusPerRow)
	end, next := d.in.end, 0
	for row := d.out.firstRow; row < min(d.out.lastRow, h.iMCURows); row++ {
		for y := range h.mcuRows(row) {
			from := (row*h.mcuRows(0) + y) * h.mcusPerRow
			if err := d.skipTo(from+first, next, end); err != nil {
				return err
			}
			for x := first; x < last; {
				n := min(e.segMCUs, last-x)
				if err := d.decodeSegment(row, y, x, n, true); err != nil {
					return err
				}
				x += n
			}
			next = from + last
		}
		d.out.emit(row)
	}
	return d.skipTo(h.mcus(), next, end)
}

// skipTo moves from MCU number next to MCU number to of the scan. end is the
// input's end at the scan's start.
func (d *decoder) skipTo(to, next, end int) error {
	e, h := &d.ent, &d.head
	// At the scan's end, the last segment is decoded.
	if s := min(to/h.restartInterval, len(d.segs)-1); s*h.restartInterval > next {
		e.quick.on = false
		d.startSegment(s, d.segs[s], end)
		next = s * h.restartInterval
	}
	for next < to {
		n := min(e.segMCUs, to-next)
		if err := d.decodeSegment(0, 0, 0, n, false); err != nil {
			return err
		}
		next += n
	}
	return nil
}
