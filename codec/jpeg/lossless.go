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
func (d *decoder) startLossless() error {
	if d.ss < 1 || d.ss > 7 || d.se != 0 || d.ah != 0 || d.al >= d.precision {
		return d.errorf(codec.ErrFormat, "lossless scan with predictor %d, point transform %d, %d, %d", d.ss, d.al, d.se, d.ah)
	}
	if d.restartInterval%d.mcusPerRow != 0 {
		return d.errorf(codec.ErrFormat, "restart interval of %d MCUs, want whole rows of %d", d.restartInterval, d.mcusPerRow)
	}
	d.restartsToGo = d.restartInterval / d.mcusPerRow
	for i := range d.nScan {
		c := d.scan[i]
		if err := d.buildTable(&d.dcTables, &d.dcSpec, c.dcTab, 16); err != nil {
			return err
		}
		d.exact[c.index].seen = true
	}
	d.resetPredictors()
	return nil
}

func (d *decoder) resetPredictors() {
	for i := range d.comps {
		d.exact[i].first = true
	}
}

// decodeLossless decodes a lossless file.
func (d *decoder) decodeLossless() error {
	for i := range d.comps {
		c, l := &d.comps[i], &d.exact[i]
		l.seen = false
		l.diff = grow(l.diff, c.padW*c.v)
		l.undif = grow(l.undif, c.padW*c.v)
		clear(l.diff)
		clear(l.undif)
		if d.multiScan {
			l.whole = grow(l.whole, c.padW*c.padH)
			clear(l.whole)
		}
	}
	if !d.multiScan {
		err := d.startScan()
		row := 0
		for ; err == nil && row < d.iMCURows; row++ {
			if err = d.losslessRow(row); err == nil {
				d.emit(row)
			}
		}
		if err == nil {
			return d.finish()
		}
		if !d.forgive(err) {
			return err
		}
		for row = max(0, row-1); row < d.iMCURows; row++ {
			d.grayRow(row)
			d.emit(row)
		}
		return nil
	}
	if err := d.losslessScans(); err != nil && !d.forgive(err) {
		return err
	}
	for row := range d.iMCURows {
		for i := range d.comps {
			c := &d.comps[i]
			for y := row * c.v; y < min((row+1)*c.v, c.hBlocks); y++ {
				copy(c.row(y), d.exact[i].whole[y*c.padW:][:c.padW])
			}
		}
		d.emit(row)
	}
	return nil
}

func (d *decoder) losslessScans() error {
	for {
		if err := d.startScan(); err != nil {
			return err
		}
		for row := range d.iMCURows {
			if err := d.losslessRow(row); err != nil {
				return err
			}
		}
		sos, err := d.nextScan()
		if err != nil {
			return err
		}
		if sos {
			continue
		}
		for i := range d.comps {
			if !d.exact[i].seen {
				return d.errorf(codec.ErrFormat, "component %d is in no scan", d.comps[i].id)
			}
		}
		return nil
	}
}

// losslessRow decodes the differences of a row of MCUs and converts them to
// samples.
func (d *decoder) losslessRow(row int) error {
	for y := range d.mcuRows(row) {
		if d.restartInterval != 0 && d.restartsToGo == 0 {
			if err := d.restart(); err != nil {
				return err
			}
			d.resetPredictors()
			d.restartsToGo = d.restartInterval / d.mcusPerRow
		}
		if d.insufficient {
			for i := range d.nScan {
				c := d.scan[i]
				clear(d.exact[c.index].diff[y*c.padW : (y+c.mcuH)*c.padW])
			}
			d.resetPredictors()
		} else if !d.differences(y) {
			return d.truncated()
		}
		d.restartsToGo--
	}
	for i := range d.nScan {
		c := d.scan[i]
		n := c.v
		if row == d.iMCURows-1 {
			n = c.lastRowH
		}
		l := &d.exact[c.index]
		prev := c.v - 1
		for y := range n {
			out := l.undif[y*c.padW:][:c.wBlocks]
			d.undifference(out, l.undif[prev*c.padW:][:c.wBlocks], l.diff[y*c.padW:][:c.wBlocks], &l.first)
			prev = y
			dst := c.row
			if d.multiScan {
				dst = func(y int) []byte { return l.whole[y*c.padW:][:c.padW] }
			}
			p := dst(row*c.v + y)
			for x, v := range out {
				p[x] = byte(v << d.al)
			}
		}
	}
	return d.err
}

// differences decodes the y'th row of MCUs of a row of fully interleaved ones.
func (d *decoder) differences(y int) bool {
	for x := range d.mcusPerRow {
		for i := range d.nScan {
			c := d.scan[i]
			t := &d.dcTables[c.dcTab&3]
			for by := range c.mcuH {
				out := d.exact[c.index].diff[(y+by)*c.padW+x*c.mcuW:][:c.mcuW]
				for bx := range out {
					s := d.symbol(t)
					if s < 0 {
						return false
					}
					v := int32(32768) // for 16
					if s == 0 {
						v = 0
					} else if s < 16 {
						r, ok := d.receive(s)
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
func (d *decoder) undifference(out, prev, diff []int32, first *bool) {
	if *first {
		*first = false
		a := int32(1) << (d.precision - d.al - 1)
		for x, v := range diff {
			a = (a + v) & 0xFFFF
			out[x] = a
		}
		return
	}
	b := prev[0]
	a := (diff[0] + b) & 0xFFFF
	out[0] = a
	for x := 1; x < len(diff); x++ {
		c := b
		b = prev[x]
		var p int32
		switch d.ss {
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
