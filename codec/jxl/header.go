package jxl

import (
	"encoding/binary"
	"math"
)

const (
	magicCodestream = "\xff\x0a"
	magicContainer  = "\x00\x00\x00\x0cJXL \x0d\x0a\x87\x0a"
	plainBoxes      = 32 // where the boxes start that the plugin reads
)

// header is what this package reads itself.
type header struct {
	codestream    []byte
	restores      bool   // box jbrd
	exif          []byte // box Exif
	width, height int    // before orientation
}

func (h *header) parse(data []byte) error {
	*h = header{codestream: data}
	if len(data) < 2 || string(data[:2]) != magicCodestream {
		if err := h.parseBoxes(data); err != nil {
			return err
		}
		if len(h.codestream) < 2 || string(h.codestream[:2]) != magicCodestream {
			return invalid(len(data), "no codestream")
		}
	}
	b := bits{data: h.codestream, at: 16}
	h.width, h.height = size(&b)
	if b.over {
		return invalid(len(data), "the file ends in its header")
	}
	return nil
}

// parseBoxes collects the codestream, which may be in parts.
func (h *header) parseBoxes(data []byte) error {
	h.codestream = nil
	parts := 0
	for at := len(magicContainer); len(data)-at >= 8; {
		n, head := uint64(binary.BigEndian.Uint32(data[at:])), uint64(8)
		kind, left := string(data[at+4:at+8]), uint64(len(data)-at)
		switch {
		case n == 0:
			n = left
		case n == 1:
			if left < 16 {
				return invalid(at, "the file ends in a box")
			}
			n, head = binary.BigEndian.Uint64(data[at+8:]), 16
		}
		if n < head {
			return invalid(at, "a box of %d bytes", n)
		}
		whole := n <= left
		box := data[at+int(head) : at+int(min(n, left))]
		switch kind {
		case "jxlc":
			if h.codestream != nil {
				return invalid(at, "two codestreams")
			}
			h.codestream = box
		case "jxlp":
			if h.codestream != nil && parts == 0 || len(box) < 4 {
				return invalid(at, "a part of a codestream of %d bytes", len(box))
			}
			if i := int(binary.BigEndian.Uint32(box) &^ (1 << 31)); i != parts {
				return invalid(at, "part %d of the codestream, want %d", i, parts)
			}
			parts++
			h.codestream = append(h.codestream, box[4:]...)
		case "jbrd":
			h.restores = true
		case "Exif":
			if h.exif == nil && at >= plainBoxes && whole {
				h.exif = box
			}
		}
		if !whole {
			break
		}
		at += int(n)
	}
	return nil
}

// bits reads bits, the low one of a byte first.
type bits struct {
	data []byte
	at   int // in bits
	over bool
}

func (b *bits) u(n int) (v uint64) {
	if b.at+n > 8*len(b.data) {
		b.over, b.at = true, 8*len(b.data)
		return 0
	}
	for i := range n {
		v |= uint64(b.data[b.at>>3]>>(b.at&7)&1) << i
		b.at++
	}
	return v
}

// u32 is the standard's U32: an offset and some bits.
func (b *bits) u32(n [4]int, offset [4]uint64) uint64 {
	i := b.u(2)
	return offset[i] + b.u(n[i])
}

func (b *bits) bool() bool { return b.u(1) != 0 }

// align goes to the next byte.
func (b *bits) align() { b.at = (b.at + 7) &^ 7 }

// u64 is the standard's U64.
func (b *bits) u64() uint64 {
	switch b.u(2) {
	case 0:
		return 0
	case 1:
		return 1 + b.u(4)
	case 2:
		return 17 + b.u(8)
	}
	v, shift := b.u(12), 12
	for b.bool() {
		if shift == 60 {
			return v | b.u(4)<<shift
		}
		v |= b.u(8) << shift
		shift += 8
	}
	return v
}

// side is a side in SizeHeader.
func (b *bits) side(small bool) uint64 {
	if small {
		return 8 * (1 + b.u(5))
	}
	return 1 + b.u([...]int{9, 13, 18, 30}[b.u(2)])
}

// size reads SizeHeader. A width of 2^31, which no library decodes, becomes one
// less, so that 32 bits hold it.
func size(b *bits) (width, height int) {
	small := b.bool()
	h := b.side(small)
	ratio := b.u(3)
	if ratio == 0 {
		return int(b.side(small)), int(h)
	}
	r := [...][2]uint64{1: {1, 1}, {12, 10}, {4, 3}, {3, 2}, {16, 9}, {5, 4}, {2, 1}}[ratio]
	return int(min(h*r[0]/r[1], math.MaxInt32)), int(h)
}
