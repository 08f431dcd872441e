package jpeg

import (
	"bytes"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// stdSpecs holds the standard tables in the order of kernel.HuffTokens.
var stdSpecs = [4]*huffSpec{&stdDCLuma, &stdDCChroma, &stdACLuma, &stdACChroma}

// sequentialScan is the only scan of a sequential file, for up to four
// components.
var sequentialScan = encScan{comps: []int{0, 1, 2, 3}, se: 63}

// standard encodes t as baseline JPEG with the standard Huffman tables, row by
// row.
func (e *Encoder) standard(t *tensor.Tensor) {
	for i, s := range stdSpecs {
		e.specs[i] = *s
	}
	s := e.firstScan(&sequentialScan)
	e.fileHeader()
	e.scanHeader(&s)
	e.beginScan()
	e.sequential(t, &s)
	e.endSegment()
}

// optimized encodes t as baseline JPEG with the best Huffman tables.
func (e *Encoder) optimized(t *tensor.Tensor) {
	s := e.firstScan(&sequentialScan)
	e.beginTokens()
	e.sequential(t, &s)
	e.fileHeader()
	e.writeTokens(&s)
}

// firstScan returns s with the components of the image only.
func (e *Encoder) firstScan(s *encScan) encScan {
	c := *s
	c.comps = c.comps[:len(e.comps)]
	return c
}

// sequential transforms and encodes the rows of MCUs.
func (e *Encoder) sequential(t *tensor.Tensor, s *encScan) {
	mcus, _ := e.scanSize(s)
	interval := e.restart(s)
	left := interval // MCUs before the next marker
	e.resetDC()
	for r := range e.mcuRows() {
		e.transform(t, r)
		if len(e.comps) == 1 {
			c := &e.comps[0]
			for i := range min(c.v, c.hBlocks-r*c.v) * c.wBlocks {
				if interval > 0 {
					if left == 0 {
						e.restartMarker()
						left = interval
					}
					left--
				}
				e.block(c, &c.blocks[i], c.masks[i])
			}
			continue
		}
		for x := range mcus {
			if interval > 0 {
				if left == 0 {
					e.restartMarker()
					left = interval
				}
				left--
			}
			for i := range e.comps {
				c := &e.comps[i]
				for v := range c.v {
					for h := range c.h {
						if r*c.v+v >= c.hBlocks || x*c.h+h >= c.wBlocks {
							// Blocks outside the image repeat the DC value.
							e.block(c, &[64]int16{int16(c.lastDC)}, 0)
							continue
						}
						i := v*c.wBlocks + x*c.h + h
						e.block(c, &c.blocks[i], c.masks[i])
					}
				}
			}
		}
	}
}

func (e *Encoder) resetDC() {
	for i := range e.comps {
		e.comps[i].lastDC = 0
	}
}

// flushAt is the number of bytes after which the writer's buffer is flushed.
const flushAt = 1 << 14

// block encodes a block of component c.
func (e *Encoder) block(c *encComp, b *[64]int16, mask uint64) {
	dc := int32(b[0])
	diff := dc - c.lastDC
	c.lastDC = dc
	if e.o.Optimize {
		if len(e.tokens)-e.used < kernel.BlockTokens {
			e.growTokens(kernel.BlockTokens)
		}
		e.used += e.counts.Block(e.tokens[e.used:], b, mask, diff, uint(c.table))
		return
	}
	if e.writer.N > flushAt {
		e.flush()
	}
	e.writer.Block(b, mask, diff, e.codes.Table(int(c.table)), e.codes.Table(2+int(c.table)))
}

// restartMarker ends a restart segment.
func (e *Encoder) restartMarker() {
	e.resetDC()
	if e.o.Optimize || e.o.Progressive {
		e.segments = append(e.segments, e.used)
		return
	}
	e.endSegment()
	e.writeRestart()
}

// writeRestart writes the next restart marker.
func (e *Encoder) writeRestart() {
	e.out = append(e.out, 0xFF, mRST0+byte(e.markers&7))
	e.markers++
}

// flush moves the bytes of the writer to the file and inserts a zero after each
// byte 0xFF.
func (e *Encoder) flush() {
	b := e.writer.Buf[:e.writer.N]
	e.writer.N = 0
	for {
		i := bytes.IndexByte(b, 0xFF) + 1
		if i == 0 {
			e.out = append(e.out, b...)
			return
		}
		e.out = append(append(e.out, b[:i]...), 0)
		b = b[i:]
	}
}

// endSegment writes the rest of a restart segment or scan.
func (e *Encoder) endSegment() {
	e.writer.Pad()
	e.flush()
}

// beginScan prepares the writer and builds the codes of the tables of a scan
// from their specs.
func (e *Encoder) beginScan() {
	e.markers = 0
	if e.writer.Buf == nil {
		e.writer.Buf = make([]byte, flushAt+kernel.HuffBlockSpace+8)
	}
	e.writer.Reset()
	e.codes.SetRaw()
	for i := range e.specs {
		e.codes.Table(i).Build(&e.specs[i].bits, &e.specs[i].vals)
	}
}

// beginTokens forgets the tokens and their counts.
func (e *Encoder) beginTokens() {
	e.used, e.segments = 0, e.segments[:0]
	clear(e.counts[:])
}

// growTokens makes space for n tokens.
func (e *Encoder) growTokens(n int) {
	l := make([]kernel.Token, max(2*len(e.tokens), e.used+n, 1<<14))
	copy(l, e.tokens[:e.used])
	e.tokens = l
}

// writeTokens computes the tables of a scan, and writes its header and tokens.
func (e *Encoder) writeTokens(s *encScan) {
	for i := range e.specs {
		optimalSpec(&e.specs[i], e.counts[256*i:][:256])
	}
	e.scanHeader(s)
	e.beginScan()
	from := 0
	for i := 0; ; i++ {
		to := e.used
		if i < len(e.segments) {
			to = e.segments[i]
		}
		for from < to {
			n := min(to-from, flushAt/4)
			e.writer.Tokens(e.tokens[from:from+n], &e.codes)
			e.flush()
			from += n
		}
		e.endSegment()
		if i == len(e.segments) {
			return
		}
		e.writeRestart()
	}
}
