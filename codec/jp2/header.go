package jp2

import (
	"encoding/binary"
	"fmt"

	"github.com/infer-prep/infer-prep/codec"
)

const (
	magicJP2        = "\x00\x00\x00\x0cjP  \x0d\x0a\x87\x0a"
	magicCodestream = "\xff\x4f\xff\x51"
)

// header is what Pillow's Jpeg2KImagePlugin reads before it decodes.
type header struct {
	boxed         bool // a JP2 file, not a bare codestream
	width, height int
	mode          codec.Mode // NoMode for more than 4 components
	palette       [256][4]uint8
	clear         bool // the palette has a colour that is not opaque
	space         int  // OpenJPEG's colour space by the first box colr, 0 for none
	siz           size
	at            int // where the codestream starts
}

// variant describes the file for people.
func (h *header) variant() string {
	s := "codestream"
	if h.boxed {
		s = "JP2"
	}
	s += fmt.Sprintf(", %d components of %d bits", len(h.siz.comps), h.siz.comps[0].prec)
	if h.siz.across > 1 || h.siz.down > 1 {
		s += fmt.Sprintf(", tiles of %dx%d", h.siz.tdx, h.siz.tdy)
	}
	return s
}

func (h *header) parse(data []byte) error {
	*h = header{}
	if len(data) >= 4 && string(data[:4]) == magicCodestream {
		if err := h.siz.parse(data, 4); err != nil {
			return err
		}
		h.width, h.height = int(h.siz.x1-h.siz.x0), int(h.siz.y1-h.siz.y0)
		switch n := len(h.siz.comps); {
		case n == 1 && h.siz.comps[0].prec > 8:
			h.mode = codec.I16
		case n == 1:
			h.mode = codec.L
		case n <= 4:
			h.mode = [...]codec.Mode{codec.LA, codec.RGB, codec.RGBA}[n-2]
		}
		return nil
	}
	h.boxed = true
	if err := h.parseBoxes(data); err != nil {
		return err
	}
	at, err := findCodestream(data)
	if err != nil {
		return err
	}
	h.at = at
	if len(data)-at < 4 || string(data[at:at+4]) != magicCodestream {
		return invalid(at, "no codestream, want SOC and SIZ")
	}
	if err := h.siz.parse(data, at+4); err != nil {
		return err
	}
	// OpenJPEG requires it.
	if w, ht := int(h.siz.x1-h.siz.x0), int(h.siz.y1-h.siz.y0); w != h.width || ht != h.height {
		return invalid(at, "a codestream of %dx%d pixels, the header says %dx%d", w, ht, h.width, h.height)
	}
	return nil
}

// findCodestream returns where the codestream of a JP2 file starts, as OpenJPEG
// finds it.
func findCodestream(data []byte) (int, error) {
	for at := 0; len(data)-at >= 8; {
		n, head := int64(binary.BigEndian.Uint32(data[at:])), 8
		box := string(data[at+4 : at+8])
		if n == 1 {
			if len(data)-at < 16 || binary.BigEndian.Uint32(data[at+8:]) != 0 {
				return 0, invalid(at, "a box of more than 4 GiB")
			}
			n, head = int64(binary.BigEndian.Uint32(data[at+12:])), 16
		}
		if box == "jp2c" {
			return at + head, nil
		}
		if n < int64(head) || n > int64(len(data)-at) {
			break
		}
		at += int(n)
	}
	return 0, invalid(len(data), "no box of type jp2c")
}

// boxReader is Pillow's BoxReader.
type boxReader struct {
	data    []byte
	at, end int   // of data
	inside  bool  // data is a box
	left    int64 // bytes of the box at work, -1 for none
}

func (b *boxReader) fits(n int64) bool {
	if b.inside && int64(b.at)+n > int64(b.end) {
		return false
	}
	return b.left < 0 || n <= b.left
}

func (b *boxReader) read(n int) ([]byte, error) {
	if !b.fits(int64(n)) || n > b.end-b.at {
		return nil, invalid(b.at, "the header ends too early: want %d bytes more", n)
	}
	if b.left > 0 {
		b.left -= int64(n)
	}
	b.at += n
	return b.data[b.at-n : b.at], nil
}

func (b *boxReader) more() bool { return !b.inside || int64(b.at)+b.left < int64(b.end) }

// next goes to the next box and returns its type.
func (b *boxReader) next() (string, error) {
	if b.left > 0 {
		if b.left > int64(b.end-b.at) {
			return "", invalid(b.end, "the header ends within a box")
		}
		b.at += int(b.left)
	}
	b.left = -1
	head, err := b.read(8)
	if err != nil {
		return "", err
	}
	n, used := uint64(binary.BigEndian.Uint32(head)), uint64(8)
	if n == 1 {
		long, err := b.read(8)
		if err != nil {
			return "", err
		}
		n, used = binary.BigEndian.Uint64(long), 16
	}
	if n < used || n > 1<<62 || !b.fits(int64(n-used)) {
		return "", invalid(b.at, "a box of %d bytes", n)
	}
	b.left = int64(n - used)
	return string(head[4:]), nil
}

// within returns a reader of the box at work.
func (b *boxReader) within() (*boxReader, error) {
	if b.left > int64(b.end-b.at) {
		return nil, invalid(b.end, "the header ends within a box")
	}
	at := b.at
	if _, err := b.read(int(b.left)); err != nil {
		return nil, err
	}
	return &boxReader{data: b.data, at: at, end: b.at, inside: true, left: -1}, nil
}

// parseBoxes is Pillow's _parse_jp2_header.
func (h *header) parseBoxes(data []byte) error {
	outer := &boxReader{data: data, at: len(magicJP2), end: len(data), left: -1}
	var b *boxReader
	for b == nil {
		box, err := outer.next()
		if err != nil {
			return err
		}
		if box == "jp2h" {
			if b, err = outer.within(); err != nil {
				return err
			}
		}
	}
	space, found, first := uint32(0), false, true
	for b.more() {
		box, err := b.next()
		if err != nil {
			return err
		}
		switch {
		case box == "ihdr":
			p, err := b.read(11)
			if err != nil {
				return err
			}
			height, width := binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:])
			if height > 1<<31-1 || width > 1<<31-1 {
				return invalid(b.at, "%dx%d pixels, want at most 2147483647 each", width, height)
			}
			found, h.height, h.width = true, int(height), int(width)
			switch n := binary.BigEndian.Uint16(p[8:]); {
			case n == 1 && p[10]&0x7F > 8: // 10 bits or more
				h.mode = codec.I16
			case n >= 1 && n <= 4:
				h.mode = [...]codec.Mode{codec.L, codec.LA, codec.RGB, codec.RGBA}[n-1]
			}
		case box == "colr":
			p, err := b.read(7)
			if err != nil {
				return err
			}
			v := binary.BigEndian.Uint32(p[3:])
			if first && (p[0] == 1 || p[0] == 2) {
				first = false
				if p[0] == 1 {
					h.space = map[uint32]int{12: cmyk, 16: sRGB, 17: gray, 18: sYCC, 24: eYCC}[v]
				}
			}
			if p[0] == 1 {
				switch v {
				case 0, 15, 17:
					space = v + 1
				case 12:
					space = v + 1
					if h.mode == codec.RGBA {
						h.mode = codec.CMYK
					}
				}
			}
		case box == "pclr" && (h.mode == codec.L || h.mode == codec.LA) && (space == 0 || space == 12+1):
			if err := h.parsePalette(b, space != 0); err != nil {
				return err
			}
		}
	}
	if !found {
		return invalid(b.end, "no box of type ihdr")
	}
	return nil
}

// parsePalette reads a palette. Pillow drops colours that it has already, which
// moves the ones behind them.
func (h *header) parsePalette(b *boxReader, cmyk bool) error {
	p, err := b.read(3)
	if err != nil {
		return err
	}
	entries, columns := int(binary.BigEndian.Uint16(p)), int(p[2])
	depths, err := b.read(columns)
	if err != nil {
		return err
	}
	for _, d := range depths {
		if d > 8 {
			return nil // Pillow takes no palette
		}
	}
	switch {
	case h.mode == codec.LA:
		return unsupported("a palette with an alpha channel")
	case cmyk:
		return unsupported("a palette of CMYK colours")
	case columns != 3 && columns != 4:
		return unsupported("a palette of %d columns, want 3 or 4", columns)
	}
	h.mode = codec.P
	for i := range h.palette {
		h.palette[i][3] = 255
	}
	seen := map[[4]uint8]bool{}
	for range entries {
		p, err := b.read(columns)
		if err != nil {
			return err
		}
		c := [4]uint8{3: 255}
		copy(c[:], p)
		if seen[c] {
			continue
		}
		if len(seen) == 256 {
			return invalid(b.at, "a palette of more than 256 colours")
		}
		h.palette[len(seen)] = c
		h.clear = h.clear || c[3] != 255
		seen[c] = true
	}
	return nil
}
