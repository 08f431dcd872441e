package jpeg

import "github.com/infer-prep/infer-prep/codec"

// losslessPlane is the state of a component in lossless files: T.81 annex H,
// with samples in place of blocks.
type losslessPlane struct {
	diff  []int32 // differences of a row of MCUs: v rows of padW
	undif []int32 // the same rows' samples before the point transform
	first bool    // the next row is predicted without the row above
	seen  bool    // a scan contained the component
	whole []byte  // all samples, in files with several scans
}

// losslessBytes returns the memory of c's lossless state, for the limits.
func (c *component) losslessBytes(multiScan bool) int64 {
	n := int64(c.padW) * int64(c.v) * 8
	if multiScan {
		n += int64(c.padW) * int64(c.padH)
	}
	return n
}

// startLossless checks the parameters of a lossless scan.
func (e *entropy) startLossless() error {
	h := e.head
	if h.ss < 1 || h.ss > 7 || h.se != 0 || h.ah != 0 || h.al >= h.precision {
		return e.in.errorf(codec.ErrFormat, "lossless scan with predictor %d, point transform %d, %d, %d", h.ss, h.al, h.se, h.ah)
	}
	if h.restartInterval%h.mcusPerRow != 0 {
		return e.in.errorf(codec.ErrFormat, "restart interval of %d MCUs, want whole rows of %d", h.restartInterval, h.mcusPerRow)
	}
	e.restartsToGo = h.restartInterval / h.mcusPerRow
	for i := range h.nScan {
		c := h.scan[i]
		if err := e.buildTable(&e.dcTables, &h.dcSpec, c.dcTab, 16); err != nil {
			return err
		}
		e.exact[c.index].seen = true
	}
	e.resetPredictors()
	return nil
}

func (e *entropy) resetPredictors() {
	for i := range e.head.comps {
		e.exact[i].first = true
	}
}

// allocLossless allocates the state of the components.
func (e *entropy) allocLossless() {
	h := e.head
	for i := range h.comps {
		c, l := &h.comps[i], &e.exact[i]
		l.seen = false
		l.diff = grow(l.diff, c.padW*c.v)
		l.undif = grow(l.undif, c.padW*c.v)
		clear(l.diff)
		clear(l.undif)
		if h.multiScan && h.precision <= 8 {
			l.whole = grow(l.whole, c.padW*c.padH)
			clear(l.whole)
		}
	}
}

// allSeen checks that each component was in a scan.
func (e *entropy) allSeen() error {
	h := e.head
	for i := range h.comps {
		if !e.exact[i].seen {
			return e.in.errorf(codec.ErrFormat, "component %d is in no scan", h.comps[i].id)
		}
	}
	return nil
}

// lossless copies a row of MCUs of the samples of all scans.
func (ps *planes) lossless(e *entropy, row int) {
	for i := range ps.head.comps {
		c := &ps.head.comps[i]
		for y := row * c.v; y < min((row+1)*c.v, c.hBlocks); y++ {
			copy(ps.comp[i].row(y), e.exact[i].whole[y*c.padW:][:c.padW])
		}
	}
}

// losslessRow decodes the differences of a row of MCUs and converts them to
// samples.
func (d *decoder) losslessRow(row int) error {
	h, e := &d.head, &d.ent
	shift := h.al
	if err := e.differenceRows(row); err != nil {
		return err
	}
	for _, c := range h.scan[:h.nScan] {
		n := c.v
		if row == h.iMCURows-1 {
			n = c.lastRowH
		}
		l := &e.exact[c.index]
		prev := c.v - 1
		for y := range n {
			out := l.undif[y*c.padW:][:c.wBlocks]
			e.undifference(out, l.undif[prev*c.padW:][:c.wBlocks], l.diff[y*c.padW:][:c.wBlocks], &l.first)
			prev = y
			if d.wide != nil {
				d.wideRow(c, row*c.v+y, out)
				continue
			}
			var to []byte
			if h.multiScan {
				to = l.whole[(row*c.v+y)*c.padW:][:c.padW]
			} else {
				to = d.out.comp[c.index].row(row*c.v + y)
			}
			to = to[:len(out)]
			for x, v := range out {
				to[x] = byte(v << shift)
			}
		}
	}
	return d.in.err
}

// differenceRows decodes the differences of a row of MCUs.
func (e *entropy) differenceRows(row int) error {
	h := e.head
	for y := range h.mcuRows(row) {
		if h.restartInterval != 0 && e.restartsToGo == 0 {
			if err := e.restart(); err != nil {
				return err
			}
			e.resetPredictors()
			e.restartsToGo = h.restartInterval / h.mcusPerRow
		}
		if e.bits.insufficient {
			for _, c := range h.scan[:h.nScan] {
				clear(e.exact[c.index].diff[y*c.padW : (y+c.mcuH)*c.padW])
			}
			e.resetPredictors()
		} else if !e.differences(y) {
			return e.in.truncated()
		}
		e.restartsToGo--
	}
	return nil
}

// differences decodes the y'th row of MCUs of a row of fully interleaved ones.
func (e *entropy) differences(y int) bool {
	h, bits := e.head, &e.bits
	for x := range h.mcusPerRow {
		for i := range h.nScan {
			c := h.scan[i]
			t := &e.dcTables[c.dcTab&3]
			for by := range c.mcuH {
				out := e.exact[c.index].diff[(y+by)*c.padW+x*c.mcuW:][:c.mcuW]
				for bx := range out {
					s := bits.symbol(t)
					if s < 0 {
						return false
					}
					v := int32(32768) // for 16
					if s == 0 {
						v = 0
					} else if s < 16 {
						r, ok := bits.receive(s)
						if !ok {
							return false
						}
						v = extend(r, s)
					}
					out[bx] = v
				}
			}
		}
	}
	return true
}

// undifference adds predictions to differences, modulo 2^16. prev is the row
// above; it may be the same slice as out.
func (e *entropy) undifference(out, prev, diff []int32, first *bool) {
	h := e.head
	if *first {
		*first = false
		a := int32(1) << (h.precision - h.al - 1)
		for x, v := range diff {
			a = (a + v) & 0xFFFF
			out[x] = a
		}
		return
	}
	predictor := h.ss
	b := prev[0]
	a := (diff[0] + b) & 0xFFFF
	out[0] = a
	for x := 1; x < len(diff); x++ {
		c := b
		b = prev[x]
		var p int32
		switch predictor {
		case 1:
			p = a
		case 2:
			p = b
		case 3:
			p = c
		case 4:
			p = a + b - c
		case 5:
			p = a + (b-c)>>1
		case 6:
			p = b + (a-c)>>1
		default:
			p = (a + b) >> 1
		}
		a = (diff[x] + p) & 0xFFFF
		out[x] = a
	}
}
