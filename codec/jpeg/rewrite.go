package jpeg

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

const (
	// rewriteDC and rewriteAC are the longest codes in a rewritten file: those
	// of one look-up.
	rewriteDC = 8
	rewriteAC = kernel.HuffBits
	// Baseline files have values of at most 10 bits, and differences of 11.
	maxAC = 1<<10 - 1
	maxDC = 1 << 10
)

// A Rewriter rewrites JPEG files so that they decode faster, with the same
// pixels in every decoder. It keeps its memory for the next file and is not
// safe for concurrent use. The zero value is ready.
type Rewriter struct {
	d *decoder
	e Encoder
}

// Rewrite appends to dst a sequential file with the coefficients of data. Its
// only scan has a restart marker after each row of MCUs, so that a decoder can
// skip rows and decode several at once, and Huffman tables for the image whose
// codes are at most 8 bits (DC) and 10 bits (AC) long. All segments except
// those of scans and of Huffman tables stay as they are, as do the bytes after
// the image.
//
// It returns an error that matches [codec.ErrUnsupported] if the pixels could
// change: for lossless files, progressive ones without their last bits,
// quantization tables between scans, or coefficients beyond those of 8-bit
// baseline files. It returns the error of [codec.DamageStrict] for damaged
// files. On error, Rewrite returns dst unchanged.
func (r *Rewriter) Rewrite(dst, data []byte, limits codec.Limits) ([]byte, error) {
	if r.d == nil {
		r.d = newDecoder()
	}
	d, e := r.d, &r.e
	o := codec.Options{Damage: codec.DamageStrict, Limits: limits.WithDefaults()}
	d.begin(data, &o)
	defer d.release()
	if err := d.readCoefs(); err != nil {
		return dst, err
	}
	if err := e.rewritable(d); err != nil {
		return dst, err
	}
	e.out, e.interval = dst, 0
	rest, err := e.copySegments(data)
	if err != nil {
		e.out = nil
		return dst, err
	}
	s := e.firstScan(&sequentialScan)
	e.source = &d.coefs
	e.beginTokens()
	e.sequential(nil, &s)
	e.source = nil
	e.writeTokens(&s)
	out := append(append(e.out, 0xFF, mEOI), rest...)
	e.out = nil
	return out, nil
}

// readCoefs decodes the open file's coefficients.
func (d *decoder) readCoefs() error {
	if err := d.open(); err != nil {
		return err
	}
	if d.head.lossless {
		return d.in.errorf(codec.ErrUnsupported, "rewrite of a lossless file")
	}
	d.head.multiScan = true
	if err := d.checkLimits(); err != nil {
		return err
	}
	d.coefs.reset()
	if err := d.readScans(); err != nil {
		return err
	}
	if d.in.err != nil {
		return d.in.err
	}
	for i := range d.head.comps {
		for k := range 64 {
			if d.head.progressive && d.coefs.known.cur[i][k] != 0 {
				return d.in.errorf(codec.ErrUnsupported, "rewrite of a progressive file without all bits")
			}
		}
		for row := range d.head.iMCURows {
			if d.coefs.rows[i][row].blocks == nil {
				return d.in.errorf(codec.ErrUnsupported, "rewrite of a file without component %d", i)
			}
		}
	}
	return nil
}

// rewritable sets up the encoder for d's image and checks the coefficients.
func (e *Encoder) rewritable(d *decoder) error {
	h := &d.head
	e.o = EncodeOptions{Optimize: true, RestartRows: 1}
	e.width, e.height, e.maxH, e.maxV = h.width, h.height, h.maxH, h.maxV
	e.maxBits = [2]int{rewriteDC, rewriteAC}
	e.comps = e.all[:len(h.comps)]
	blocks := 0
	for i := range e.comps {
		c, from := &e.comps[i], &h.comps[i]
		c.id, c.table, c.h, c.v, c.wBlocks, c.hBlocks = byte(from.id), 0, from.h, from.v, from.wBlocks, from.hBlocks
		if i == 1 || i == 2 {
			c.table = 1
		}
		c.blocks = grow(c.blocks, c.wBlocks*c.v)
		c.masks = grow(c.masks, c.wBlocks*c.v)
		blocks += c.h * c.v
		for y := range c.hBlocks {
			for _, b := range d.coefs.row(from, y)[:c.wBlocks] {
				if b[0] < -maxDC || b[0] >= maxDC || beyond(&b) {
					return d.in.errorf(codec.ErrUnsupported, "rewrite of coefficients of more than 8-bit samples")
				}
			}
		}
	}
	if len(e.comps) > 1 && blocks > maxMCU {
		return d.in.errorf(codec.ErrUnsupported, "rewrite of sampling factors with %d blocks in an MCU, want at most %d", blocks, maxMCU)
	}
	return nil
}

// beyond reports whether an AC coefficient exceeds those of baseline files.
func beyond(b *[64]int16) bool {
	for _, v := range b[1:] {
		if v < -maxAC || v > maxAC {
			return true
		}
	}
	return false
}

// load copies row r of the MCUs of the source.
func (e *Encoder) load(r int) {
	for i := range e.comps {
		c, from := &e.comps[i], &e.source.head.comps[i]
		for y := range min(c.v, c.hBlocks-r*c.v) {
			blocks := c.blocks[y*c.wBlocks:][:c.wBlocks]
			copy(blocks, e.source.row(from, r*c.v+y))
			masks := c.masks[y*c.wBlocks:][:c.wBlocks]
			for x := range blocks {
				masks[x] = maskOf(&blocks[x])
			}
		}
	}
}

// maskOf returns the coefficients of b that are not zero, as bits in zigzag
// order.
func maskOf(b *[64]int16) (mask uint64) {
	for k, at := range kernel.NaturalOrder[:64] {
		v := uint64(uint16(b[at]))
		mask |= (v | -v) >> 63 << k
	}
	return mask
}

// copySegments appends the segments before the first scan, except Huffman and
// arithmetic tables and restart intervals, with the frame header of a
// sequential file. It returns the bytes after the image.
func (e *Encoder) copySegments(data []byte) (rest []byte, err error) {
	pos, scans := 0, 0
	frame, wide := 0, false // the frame header's marker, and whether a quantization table has 16 bits
	for pos+4 <= len(data) || scans > 0 && pos+2 <= len(data) {
		m := data[pos+1]
		switch {
		case data[pos] != 0xFF || scans > 0 && (m == 0 || m >= mRST0 && m <= mRST7): // of a scan
			pos++
			continue
		case m == 0xFF: // a fill byte
			pos++
			continue
		case m == mSOI && pos == 0:
			e.out = append(e.out, 0xFF, mSOI)
			pos += 2
			continue
		case m == mEOI && scans > 0:
			if e.out[frame] = mSOF0; wide {
				e.out[frame] = mSOF0 + 1
			}
			return data[pos+2:], nil
		}
		n := 2
		if pos+4 <= len(data) {
			n += int(binary.BigEndian.Uint16(data[pos+2:]))
		}
		if n > len(data)-pos {
			break
		}
		segment := data[pos : pos+n]
		switch {
		case m == mSOS:
			scans++
		case m == mDHT, m == mDAC, m == mDRI:
		case scans > 0 || m < mSOF0 || m >= mRST0 && m <= mEOI:
			return nil, codec.Errorf(format, int64(pos), codec.ErrUnsupported, "rewrite of marker ff%02x here", m)
		default:
			if m >= mSOF0 && m <= mSOF0+15 {
				frame = len(e.out) + 1
			}
			wide = wide || m == mDQT && wideTable(segment[4:])
			e.out = append(e.out, segment...)
		}
		pos += n
	}
	return nil, codec.Errorf(format, int64(pos), codec.ErrFormat, "rewrite of a file without EOI")
}

// wideTable reports whether a table of a DQT segment has 16 bits.
func wideTable(b []byte) bool {
	for len(b) > 0 {
		if b[0]>>4 != 0 {
			return true
		}
		b = b[min(1+blockCoefs, len(b)):]
	}
	return false
}
