package jpeg

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
)

// encScan is a scan: the components, the band of coefficients, and the bits of
// successive approximation. A sequential file has one scan of band 0 to 63.
type encScan struct {
	comps          []int
	ss, se, ah, al int
}

// fileHeader writes the segments before the first scan. Pillow and OpenCV set
// no resolution, so JFIF's is 1:1 without a unit.
func (e *Encoder) fileHeader() {
	e.out = append(e.out, 0xFF, mSOI)
	if len(e.comps) == 4 {
		e.out = append(e.out, 0xFF, mAPP0+14, 0, 14)
		e.out = append(e.out, "Adobe\x00\x64\x00\x00\x00\x00\x00"...) // version 100, transform 0
	} else {
		e.out = append(e.out, 0xFF, mAPP0, 0, 16)
		e.out = append(e.out, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"...)
	}
	for i := range e.quantTables() {
		e.out = append(e.out, 0xFF, mDQT, 0, 67, byte(i))
		for _, at := range kernel.NaturalOrder[:64] {
			e.out = append(e.out, e.quant[i][at])
		}
	}
	sof := byte(mSOF0)
	if e.o.Progressive {
		sof += 2
	}
	e.out = append(e.out, 0xFF, sof, 0, byte(8+3*len(e.comps)), 8,
		byte(e.height>>8), byte(e.height), byte(e.width>>8), byte(e.width), byte(len(e.comps)))
	for i := range e.comps {
		c := &e.comps[i]
		e.out = append(e.out, c.id, byte(c.h<<4|c.v), c.table)
	}
}

// quantTables returns the number of quantization tables.
func (e *Encoder) quantTables() int {
	if len(e.comps) == 3 {
		return 2
	}
	return 1
}

// scanHeader writes the segments of a scan: its Huffman tables in e.specs, the
// restart interval if it changes, and SOS.
func (e *Encoder) scanHeader(s *encScan) {
	dc, ac := s.ss == 0 && s.ah == 0, s.se > 0
	var done [4]bool
	for _, i := range s.comps {
		n := e.comps[i].table
		for class, used := range [2]bool{dc, ac} {
			t := 2*byte(class) + n
			if !used || done[t] {
				continue
			}
			done[t] = true
			spec := &e.specs[t]
			count := 0
			for _, b := range spec.bits[1:] {
				count += int(b)
			}
			size := 19 + count
			e.out = append(e.out, 0xFF, mDHT, byte(size>>8), byte(size), byte(class)<<4|n)
			e.out = append(e.out, spec.bits[1:]...)
			e.out = append(e.out, spec.vals[:count]...)
		}
	}
	if n := e.restart(s); n != e.interval {
		e.interval = n
		e.out = append(e.out, 0xFF, mDRI, 0, 4, byte(n>>8), byte(n))
	}
	e.out = append(e.out, 0xFF, mSOS, 0, byte(6+2*len(s.comps)), byte(len(s.comps)))
	for _, i := range s.comps {
		c := &e.comps[i]
		var tables byte
		if dc {
			tables = c.table << 4
		}
		if ac {
			tables |= c.table
		}
		e.out = append(e.out, c.id, tables)
	}
	e.out = append(e.out, byte(s.ss), byte(s.se), byte(s.ah<<4|s.al))
}

// scanSize returns the MCUs of a scan in a row, and its rows of MCUs. The MCUs
// of a single component are its blocks.
func (e *Encoder) scanSize(s *encScan) (mcus, rows int) {
	if len(s.comps) == 1 {
		c := &e.comps[s.comps[0]]
		return c.wBlocks, c.hBlocks
	}
	return ceilDiv(e.width, 8*e.maxH), e.mcuRows()
}

// restart returns the number of MCUs between restart markers, 0 for none.
func (e *Encoder) restart(s *encScan) int {
	if e.o.RestartRows == 0 {
		return e.o.RestartBlocks
	}
	mcus, _ := e.scanSize(s)
	return min(e.o.RestartRows*mcus, math.MaxUint16)
}
