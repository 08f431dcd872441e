// Package vp8 decodes the key frames of VP8 (RFC 6386), which lossy WebP
// consists of. It accepts and refuses damaged data as libwebp 1.6.0 does.
package vp8

import (
	"errors"
	"io"
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/kernel"
)

// HeadSize is the number of bytes of a frame's tag, signature and size.
const HeadSize = 10

// Header describes a key frame.
type Header struct {
	Width, Height int
	First         int // bytes of the first partition
}

// ParseHeader reads the start of a frame.
func ParseHeader(data []byte) (h Header, err error) {
	if len(data) < HeadSize {
		return h, io.ErrUnexpectedEOF
	}
	tag := int(data[0]) | int(data[1])<<8 | int(data[2])<<16
	switch {
	case tag&1 != 0:
		return h, errors.New("not a key frame")
	case tag>>1&7 > 3:
		return h, errors.New("unknown profile")
	case tag>>4&1 == 0:
		return h, errors.New("not a visible frame")
	case string(data[3:6]) != "\x9d\x01\x2a":
		return h, errors.New("not a VP8 signature")
	}
	h.First = tag >> 5
	h.Width, h.Height = int(data[6])|int(data[7]&0x3F)<<8, int(data[8])|int(data[9]&0x3F)<<8
	if h.Width == 0 || h.Height == 0 {
		return h, errors.New("no pixels")
	}
	if h.First > len(data)-HeadSize {
		return h, io.ErrUnexpectedEOF
	}
	return h, nil
}

// Rows receives the rows of an image from top to bottom.
type Rows interface {
	// Row receives row y. The samples are valid until Row returns.
	Row(y int, luma []byte, chroma *kernel.VP8Chroma420)
}

const segments = 4

// macroblock holds what the row below, and the filter, need of a macroblock.
type macroblock struct {
	above  [16]uint8 // as in kernel.VP8Macroblock
	modes  [4]uint8  // of the lowest blocks of 4x4 samples
	filter kernel.VP8Filter
}

// Decoder decodes one frame after the other. It keeps its memory: some 30 rows
// of the widest image. The zero value is ready to use. It must not be used by
// several goroutines at once.
type Decoder struct {
	first  kernel.VP8Reader
	tokens [8]kernel.VP8Reader
	count  int // of tokens

	segmented, mapped bool
	segmentProbs      [3]uint8
	quants            [segments][3][2]int32
	filters           [segments][2]kernel.VP8Filter // by whether blocks are predicted one by one
	simple, filtered  bool
	skips             bool
	skipProb          uint8
	probs             [4]kernel.VP8Probs

	block kernel.VP8Macroblock
	row   []macroblock
	left  [4]uint8 // modes of the blocks to the left
	modes [16]uint8

	planes [3]plane
	chroma kernel.VP8Chroma420 // of the row that is passed on
}

// plane holds a row of macroblocks of a plane and the rows above that are not
// passed on yet.
type plane struct {
	stride, size int // size is the side of a macroblock
	pix          []byte
	saved        []byte // the last row before the filter
	other        []byte // memory of exchange
}

// kept is the number of rows above a row of macroblocks: the filter changes up
// to 3 of them, and chroma between rows needs the next ones.
const kept = 8

// at is the position of the first sample of a macroblock.
func (p *plane) at(x int) int { return kept*p.stride + kernel.VP8Pad + x*p.size }

func (p *plane) line(y, w int) []byte { return p.pix[(kept+y)*p.stride+kernel.VP8Pad:][:w] }

func (p *plane) reset(size, count int) {
	p.size, p.stride = size, stride(size, count)
	n := (kept + size) * p.stride
	if cap(p.pix) < n {
		p.pix = make([]byte, n)
		p.saved, p.other = make([]byte, p.stride), make([]byte, p.stride)
	}
	p.pix, p.saved, p.other = p.pix[:n], p.saved[:p.stride], p.other[:p.stride]
	// The samples to the left of the image are 129, those above 127.
	for y := range kept + size {
		p.pix[y*p.stride+kernel.VP8Pad-1] = 129
	}
	top := p.saved
	for i := range top {
		top[i] = 127
	}
}

// exchange exchanges the last row above the macroblocks, which is filtered, and
// the same row before the filter, from which blocks are predicted.
func (p *plane) exchange() {
	row := p.pix[(kept-1)*p.stride:][:p.stride]
	copy(p.other, row)
	copy(row, p.saved)
	p.saved, p.other = p.other, p.saved
}

// next saves the last row before the filter.
func (p *plane) next() {
	copy(p.saved, p.pix[(kept+p.size-1)*p.stride:])
	last := p.stride - kernel.VP8Pad
	for i := last; i < last+4; i++ {
		p.saved[i] = p.saved[last-1]
	}
}

// Memory returns the number of bytes that a Decoder keeps for images of that
// width.
func Memory(width int) int {
	across := (width + 15) / 16
	n := across * int(unsafe.Sizeof(macroblock{}))
	for _, size := range planeSizes {
		n += (kept + size + 2) * stride(size, across)
	}
	return n
}

// planeSizes are the sides of a macroblock in the three planes.
var planeSizes = [3]int{16, 8, 8}

func stride(size, count int) int { return size*count + 2*kernel.VP8Pad }

// Decode passes the rows of a frame to rows. An error may follow rows.
func (d *Decoder) Decode(data []byte, rows Rows) error {
	h, err := ParseHeader(data)
	if err != nil {
		return err
	}
	if err := d.header(data[HeadSize:], h.First); err != nil {
		return err
	}
	across, down := (h.Width+15)/16, (h.Height+15)/16
	if cap(d.row) < across {
		d.row = make([]macroblock, across)
	}
	d.row = d.row[:across]
	clear(d.row)
	for i, size := range planeSizes {
		d.planes[i].reset(size, across)
	}
	clear(d.block.Coef[:]) // an error may have left some
	done := 0
	for y := range down {
		for i := range d.planes {
			d.planes[i].exchange()
		}
		tokens := &d.tokens[y%d.count]
		d.block.Left, d.left = [16]uint8{}, [4]uint8{}
		for x := range d.row {
			d.macroblock(x, y, tokens)
		}
		if d.first.Ended || tokens.Ended {
			return io.ErrUnexpectedEOF
		}
		for i := range d.planes {
			d.planes[i].exchange()
			d.planes[i].next()
		}
		if d.filtered {
			d.filter()
		}
		ready := 16*y + 8 // rows whose chroma is complete
		if y == down-1 {
			ready = h.Height
		}
		d.pass(rows, &h, done, ready, y)
		done = ready
		for i := range d.planes {
			p := &d.planes[i]
			copy(p.pix[:kept*p.stride], p.pix[p.size*p.stride:])
		}
	}
	return nil
}

// pass passes on the rows from first up to last; y is the current row of
// macroblocks.
func (d *Decoder) pass(rows Rows, h *Header, first, last, y int) {
	u, v := &d.planes[1], &d.planes[2]
	w, ht := (h.Width+1)/2, (h.Height+1)/2
	for r := first; r < last; r++ {
		near := r / 2
		far := near - 1 + r%2*2 // the row of chroma samples on the other side
		if far < 0 || far >= ht {
			far = near
		}
		near, far = near-8*y, far-8*y
		d.chroma = kernel.VP8Chroma420{UNear: u.line(near, w), UFar: u.line(far, w), VNear: v.line(near, w), VFar: v.line(far, w)}
		rows.Row(r, d.planes[0].line(r-16*y, h.Width), &d.chroma)
	}
}

// filter filters the current row of macroblocks.
func (d *Decoder) filter() {
	y, u, v := &d.planes[0], &d.planes[1], &d.planes[2]
	for x := range d.row {
		f := &d.row[x].filter
		switch {
		case f.Limit == 0:
		case d.simple:
			kernel.VP8FilterSimple(y.pix, y.at(x), y.stride, f)
		default:
			kernel.VP8FilterNormal(y.pix, y.at(x), y.stride, u.pix, v.pix, u.at(x), u.stride, f)
		}
	}
}
