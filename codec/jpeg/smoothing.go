package jpeg

// savedCoefs is the number of coefficients that smoothing uses: DC and the
// first nine AC.
const savedCoefs = 10

// smoothPos maps them to their places in a block.
var smoothPos = [savedCoefs]int{0, 1, 8, 16, 9, 2, 3, 10, 17, 24}

// The estimates are sums over the 5x5 window of DC values, scaled by 256.
// coarseAC applies if some AC coefficients are known, fineAC and fineDC if none
// is. From libjpeg-turbo 3.x, jdcoefct.c.
var (
	coarseAC = [savedCoefs][25]int16{
		1: {10: -7, 50, 0, -50, 7},
		2: {2: -7, 7: 50, 17: -50, 22: 7},
		3: {2: -1, 7: 13, 12: -24, 17: 13, 22: -1},
		4: {1: -1, 3: 1, 5: -1, 6: 10, 8: -10, 9: 1, 15: 1, 16: -10, 18: 10, 19: -1, 21: 1, 23: -1},
		5: {10: -1, 13, -24, 13, -1},
	}
	fineAC = [savedCoefs][25]int16{
		0: {-2, -6, -8, -6, -2, -6, 6, 42, 6, -6, -8, 42, 152, 42, -8, -6, 6, 42, 6, -6, -2, -6, -8, -6, -2},
		1: {-1, -1, 0, 1, 1, -3, 13, 0, -13, 3, -3, 38, 0, -38, 3, -3, 13, 0, -13, 3, -1, -1, 0, 1, 1},
		2: {-1, -3, -3, -3, -1, -1, 13, 38, 13, -1, 0, 0, 0, 0, 0, 1, -13, -38, -13, 1, 1, 3, 3, 3, 1},
		3: {2: 1, 6: 2, 7, 2, 11: -5, -14, -5, 16: 2, 7, 2, 22: 1},
		4: {0: -1, 4: 1, 6: 9, 8: -9, 16: -9, 18: 9, 20: 1, 24: -1},
		5: {6: 2, -5, 2, 10: 1, 7, -14, 7, 1, 16: 2, -5, 2},
		6: {6: 1, 8: -1, 11: 2, 13: -2, 16: 1, 18: -1},
		7: {6: 1, -3, 1, 16: -1, 3, -1},
		8: {6: 1, 8: -1, 11: -3, 13: 3, 16: 1, 18: -1},
		9: {6: 1, 2, 1, 16: -1, -2, -1},
	}
)

// smooths reports whether libjpeg would smooth: the DC of all components
// must be known, and some low AC coefficient must not be fully known.
func (s *coefStore) smooths() bool {
	if !s.head.progressive {
		return false
	}
	useful := false
	for i := range s.head.comps {
		c := &s.head.comps[i]
		if !c.hasQuant {
			return false
		}
		for _, p := range smoothPos {
			if c.quant16[p] == 0 {
				return false
			}
		}
		cur, prev := &s.known.cur[i], &s.known.prev[i]
		if cur[0] < 0 {
			return false
		}
		for k := 1; k < savedCoefs; k++ {
			if s.head.scans <= 1 {
				prev[k] = -1
			}
			useful = useful || cur[k] != 0
		}
	}
	return useful
}

// smooth transforms n rows of blocks of a row of MCUs and estimates
// coefficients that are zero and not fully known.
func (p *plane) smooth(s *coefStore, row, n int) {
	c := p.comp
	bits := &s.known.cur[c.index]
	if row > s.lastGoodRow {
		// The last scan ended before this row.
		bits = &s.known.prev[c.index]
	}
	fine := true
	for k := 1; k < savedCoefs; k++ {
		fine = fine && bits[k] == -1
	}
	table, last := &coarseAC, 5
	if fine {
		table, last = &fineAC, 9
	}
	var q [savedCoefs]int64
	for k := range q {
		q[k] = int64(c.quant16[smoothPos[k]])
	}
	var ws [1][64]int16
	total := n * s.head.iMCURows
	for y := range n {
		// libjpeg's row number, which is wrong in an incomplete last row of
		// MCUs.
		at := row*n + y
		var rows [5][][64]int16
		at0 := row*c.v + y
		rows[2] = s.row(c, at0)
		rows[1], rows[3] = rows[2], rows[2]
		if at > 0 {
			rows[1] = s.row(c, at0-1)
		}
		rows[0] = rows[1]
		if at > 1 {
			rows[0] = s.row(c, at0-2)
		}
		if at < total-1 {
			rows[3] = s.row(c, at0+1)
		}
		rows[4] = rows[3]
		if at < total-2 {
			rows[4] = s.row(c, at0+2)
		}
		var dc [25]int64
		for x := range c.wBlocks {
			for i := range 5 {
				for j := range 5 {
					bx := min(max(x+j-2, 0), c.wBlocks-1)
					dc[i*5+j] = int64(rows[i][bx][0])
				}
			}
			ws[0] = rows[2][x]
			for k := 1; k <= last; k++ {
				if at := smoothPos[k]; bits[k] != 0 && ws[0][at] == 0 {
					ws[0][at] = estimate(&table[k], &dc, q[0], q[k], bits[k])
				}
			}
			if fine {
				ws[0][0] = estimate(&table[0], &dc, q[0], q[0], 0)
			}
			p.transform(at0, x, ws[:], []uint8{63})
		}
	}
}

// estimate returns a coefficient with quantizer q, estimated from DC values
// with quantizer q0. If al > 0, only the low al bits are unknown.
func estimate(kernel *[25]int16, dc *[25]int64, q0, q int64, al int) int16 {
	num := int64(0)
	for i, k := range kernel {
		num += int64(k) * dc[i]
	}
	num *= q0
	neg := num < 0
	if neg {
		num = -num
	}
	v := int64(int32((q<<7 + num) / (q << 8)))
	if al > 0 && v >= 1<<al {
		v = 1<<al - 1
	}
	if neg {
		v = -v
	}
	return int16(v)
}
