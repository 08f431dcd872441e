package jpeg

import (
	"bytes"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// stdSpecs holds the standard tables in the order of kernel.HuffCodes.
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

// sequential transforms or loads the rows of MCUs, and encodes them.
func (e *Encoder) sequential(t *tensor.Tensor, s *encScan) {
	mcus, _ := e.scanSize(s)
	interval := e.restart(s)
	e.left = interval
	e.resetDC()
	for r := range e.mcuRows() {
		if e.source != nil {
			e.load(r)
		} else {
			e.transform(t, r)
		}
		if len(e.comps) == 1 {
			c := &e.comps[0]
			for y := range min(c.v, c.hBlocks-r*c.v) {
				e.row(r, mcus, mcus, interval, y)
			}
			continue
		}
		// inside counts the MCUs without blocks outside the image.
		inside := mcus
		for i := range e.comps {
			c := &e.comps[i]
			inside = min(inside, c.wBlocks/c.h)
			if (r+1)*c.v > c.hBlocks {
				inside = 0
			}
		}
		e.row(r, mcus, inside, interval, 0)
	}
}

// row encodes MCU row r, or row y of its blocks if there is one component. All
// blocks of the first MCUs are inside the image.
func (e *Encoder) row(r, mcus, inside, interval, y int) {
	w := &e.writer
	w.MCU = 0
	for i := range e.comps {
		if inside == 0 {
			break
		}
		c := &e.comps[i]
		cv, ch := c.v, c.h
		if len(e.comps) == 1 {
			cv, ch = 1, 1
		}
		for v := range cv {
			for h := range ch {
				from := (y+v)*c.wBlocks + h
				w.From[w.MCU] = kernel.HuffSource{Blocks: c.blocks[from:], Masks: c.masks[from:], Step: ch, Comp: i, Table: int(c.table)}
				w.MCU++
			}
		}
	}
	for x := 0; x < mcus; {
		n := max(inside-x, 1)
		if interval > 0 {
			if e.left == 0 {
				e.restartMarker()
				e.left = interval
			}
			n = min(n, e.left)
			e.left -= n
		}
		if x >= inside {
			e.edge(r, x)
		} else if e.o.Optimize {
			e.tokenRow(x, x+n)
		} else {
			for w.X, w.Limit = x, x+n; w.X < w.Limit; {
				w.Row()
				if w.X < w.Limit {
					e.flush()
				}
			}
		}
		x += n
	}
}

// tokenRow makes the tokens of MCUs whose blocks are inside the image.
func (e *Encoder) tokenRow(from, to int) {
	for x := from; x < to; x++ {
		for i := range e.writer.From[:e.writer.MCU] {
			s := &e.writer.From[i]
			e.block(s.Comp, &s.Blocks[x*s.Step], s.Masks[x*s.Step])
		}
	}
}

// edge encodes MCU x of row r, which has blocks outside the image. They repeat
// the DC value.
func (e *Encoder) edge(r, x int) {
	for i := range e.comps {
		c := &e.comps[i]
		for v := range c.v {
			for h := range c.h {
				if r*c.v+v >= c.hBlocks || x*c.h+h >= c.wBlocks {
					e.block(i, &[64]int16{int16(e.writer.Pred[i])}, 0)
					continue
				}
				at := v*c.wBlocks + x*c.h + h
				e.block(i, &c.blocks[at], c.masks[at])
			}
		}
	}
}

func (e *Encoder) resetDC() { clear(e.writer.Pred[:]) }

// bufferSize is the number of bytes of the writer's buffer. It has space for
// several MCUs of ten blocks.
const bufferSize = 1 << 14

// block encodes a block of component i.
func (e *Encoder) block(i int, b *[64]int16, mask uint64) {
	table := e.comps[i].table
	dc := int32(b[0])
	diff := dc - e.writer.Pred[i]
	e.writer.Pred[i] = dc
	if e.o.Optimize {
		if len(e.tokens)-e.used < kernel.BlockTokens {
			e.growTokens(kernel.BlockTokens)
		}
		e.used += e.counts.Block(e.tokens[e.used:], b, mask, diff, uint(table))
		return
	}
	if len(e.writer.Buf)-e.writer.N < kernel.HuffBlockSpace {
		e.flush()
	}
	e.writer.Block(b, mask, diff, int(table))
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
	if len(e.writer.Buf)-e.writer.N < 8 {
		e.flush()
	}
	e.writer.Pad()
	e.flush()
}

// beginScan prepares the writer and builds the codes of the tables of a scan
// from their specs.
func (e *Encoder) beginScan() {
	e.markers = 0
	if e.writer.Buf == nil {
		e.writer.Buf = make([]byte, bufferSize)
	}
	e.writer.Reset()
	e.writer.Codes = &e.codes
	for i := range e.specs {
		e.codes.Build(i, &e.specs[i].bits, &e.specs[i].vals)
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
		optimalSpec(&e.specs[i], e.counts[256*i:][:256], e.maxBits[i/2])
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
			n := min(to-from, bufferSize/4-2)
			e.writer.Tokens(e.tokens[from : from+n])
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
