package pack

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zlib"

	"github.com/infer-prep/infer-prep/tensor"
)

// pngWriter writes PNG files with 8 bits per sample. It does not use image/png,
// and it compresses with a pinned module, so that a pack has the same bytes
// with every version of Go.
type pngWriter struct {
	z     *zlib.Writer
	level int
	out   []byte // the file so far
	rows  [5][]byte
}

// Write appends compressed data; zlib calls it.
func (p *pngWriter) Write(b []byte) (int, error) {
	p.out = append(p.out, b...)
	return len(b), nil
}

// pngTypes maps the number of channels to the colour type: gray, gray and
// alpha, RGB, RGBA.
var pngTypes = [...]byte{1: 0, 2: 4, 3: 2, 4: 6}

// encode appends the PNG file of a dense uint8 HWC image to dst, compressed at
// level 1 to 9.
func (p *pngWriter) encode(dst []byte, t *tensor.Tensor, level int) ([]byte, error) {
	h, w, ch := t.Height(), t.Width(), t.Channels()
	if ch < 1 || ch > 4 || h < 1 || w < 1 || h > 1<<31-1 || w > 1<<31-1 {
		return dst, fmt.Errorf("png: %v: want 1 to 4 channels and at least one pixel", t.Desc)
	}
	p.out = append(dst, "\x89PNG\r\n\x1a\n"...)
	at := p.begin("IHDR")
	p.out = binary.BigEndian.AppendUint32(p.out, uint32(w))
	p.out = binary.BigEndian.AppendUint32(p.out, uint32(h))
	p.out = append(p.out, 8, pngTypes[ch], 0, 0, 0)
	p.end(at)

	at = p.begin("IDAT") // a single chunk of at most 2^31-1 bytes
	if p.z == nil || p.level != level {
		z, err := zlib.NewWriterLevel(p, level)
		if err != nil {
			return dst, fmt.Errorf("png: %w", err)
		}
		p.z, p.level = z, level
	} else {
		p.z.Reset(p)
	}
	line := w * ch
	for i := range p.rows {
		if cap(p.rows[i]) < line+1 {
			p.rows[i] = make([]byte, line+1)
		}
		p.rows[i] = p.rows[i][:line+1]
		p.rows[i][0] = byte(i)
	}
	var up []byte
	for y := range h {
		row := t.Data[y*line:][:line]
		if _, err := p.z.Write(p.filter(row, up, ch)); err != nil {
			return dst, fmt.Errorf("png: %w", err)
		}
		up = row
	}
	if err := p.z.Close(); err != nil {
		return dst, fmt.Errorf("png: %w", err)
	}
	if len(p.out)-at-8 > 1<<31-1 {
		return dst, fmt.Errorf("png: %d bytes of compressed pixels: want at most 2^31-1", len(p.out)-at-8)
	}
	p.end(at)
	p.end(p.begin("IEND"))
	out := p.out
	p.out = nil
	return out, nil
}

// filter returns the row after the filter with the least sum of magnitudes, as
// section 12.8 of the PNG specification advises. up is nil for the first row
// and then counts as zeros.
func (p *pngWriter) filter(row, up []byte, ch int) []byte {
	copy(p.rows[0][1:], row)
	n := 5
	if up == nil {
		n = 2 // none and sub
	}
	sub, ups, avg, paeth := p.rows[1][1:], p.rows[2][1:], p.rows[3][1:], p.rows[4][1:]
	for i, v := range row {
		a := 0 // the sample to the left
		if i >= ch {
			a = int(row[i-ch])
		}
		sub[i] = v - byte(a)
		if up == nil {
			continue
		}
		b, c := int(up[i]), 0
		if i >= ch {
			c = int(up[i-ch])
		}
		ups[i] = v - byte(b)
		avg[i] = v - byte((a+b)/2)
		pa, pb, pc := abs(b-c), abs(a-c), abs(a+b-2*c)
		switch {
		case pa <= pb && pa <= pc:
			paeth[i] = v - byte(a)
		case pb <= pc:
			paeth[i] = v - byte(b)
		default:
			paeth[i] = v - byte(c)
		}
	}
	best, least := 0, -1
	for f := range n {
		s := 0
		for _, v := range p.rows[f][1:] {
			s += abs(int(int8(v)))
		}
		if least < 0 || s < least {
			best, least = f, s
		}
	}
	return p.rows[best]
}

func abs(n int) int { return max(n, -n) }

// begin starts a chunk. end writes its length before it and its checksum after
// it.
func (p *pngWriter) begin(kind string) (at int) {
	at = len(p.out)
	p.out = append(append(p.out, 0, 0, 0, 0), kind...)
	return at
}

func (p *pngWriter) end(at int) {
	binary.BigEndian.PutUint32(p.out[at:], uint32(len(p.out)-at-8))
	p.out = binary.BigEndian.AppendUint32(p.out, crc32.ChecksumIEEE(p.out[at+4:]))
}
