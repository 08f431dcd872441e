package animation

import (
	"bytes"
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
)

// webpFrame is an ANMF chunk.
type webpFrame struct {
	rect
	at                int
	blend, background bool
	alpha             bool
	chunks            []byte // ALPH, then VP8; or VP8L
	alph              bool
}

// webp is an animated WebP file. It composes as WebPAnimDecoder of libwebp.
type webp struct {
	frames []webpFrame
	key    bool // the last frame was a key frame
}

// openWebP reads the frames. The first frame has passed codec/webp.
func (a *Animation) openWebP() (film, error) {
	le := binary.LittleEndian
	data := a.data
	end := int(le.Uint32(data[4:]) + 8) // codec/webp has checked it
	if string(data[12:16]) != "VP8X" || data[20]&2 == 0 {
		return nil, a.add(Delay{}, 0)
	}
	w := &webp{}
	for p := 12; end-p >= 8; {
		n := int64(le.Uint32(data[p+4:]))
		if n > int64(end-p-8) {
			return nil, codec.Errorf("webp", int64(p), codec.ErrFormat, "chunk of %d bytes, %d are left", n, end-p-8)
		}
		if string(data[p:p+4]) == "ANMF" {
			if err := a.webpFrame(w, data[p+8:p+8+int(n)], p); err != nil {
				return nil, err
			}
		}
		p += 8 + int(n+n&1)
	}
	if len(w.frames) == 0 {
		return nil, codec.Errorf("webp", int64(end), codec.ErrFormat, "an animation without frames")
	}
	return w, nil
}

func le24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// webpFrame reads the body of the ANMF chunk at p.
func (a *Animation) webpFrame(w *webp, b []byte, p int) error {
	const head = 16
	if len(b) < head {
		return codec.Errorf("webp", int64(p), codec.ErrFormat, "chunk ANMF of %d bytes, want %d", len(b), head)
	}
	f := webpFrame{rect: rect{2 * le24(b), 2 * le24(b[3:]), 1 + le24(b[6:]), 1 + le24(b[9:])}, at: p, blend: b[15]&2 == 0, background: b[15]&1 != 0}
	if !f.within(a.Width, a.Height) {
		return codec.Errorf("webp", int64(p), codec.ErrFormat, "frame %d has %dx%d pixels at (%d, %d) of a canvas of %dx%d", len(w.frames), f.w, f.h, f.x, f.y, a.Width, a.Height)
	}
	delay := Delay{le24(b[12:]), 1000}
	for at := head; ; {
		if len(b)-at < 8 {
			return codec.Errorf("webp", int64(p), codec.ErrFormat, "frame %d has no image data", len(w.frames))
		}
		id, n := string(b[at:at+4]), int64(binary.LittleEndian.Uint32(b[at+4:]))
		if n > int64(len(b)-at-8) {
			return codec.Errorf("webp", int64(p+8+at), codec.ErrFormat, "chunk %q of %d bytes, %d are left", id, n, len(b)-at-8)
		}
		next := at + 8 + int(n)
		switch {
		case id == "ALPH" && !f.alph:
			f.alph, f.alpha = true, true
		case id == "VP8 " || id == "VP8L":
			if id == "VP8L" {
				if f.alph {
					return codec.Errorf("webp", int64(p+8+at), codec.ErrFormat, "ALPH before VP8L")
				}
				f.alpha = n >= 5 && b[at+8+4]>>4&1 != 0
			}
			f.chunks = b[head:next]
			w.frames = append(w.frames, f)
			return a.add(delay, p)
		default:
			return codec.Errorf("webp", int64(p+8+at), codec.ErrFormat, "chunk %q in a frame, want VP8 or VP8L", id)
		}
		at = next + int(n&1)
	}
}

// full reports whether r is the whole canvas.
func (r rect) full(c *canvas) bool { return r.w == c.width && r.h == c.height }

// isKey is libwebp's IsKeyFrame.
func (w *webp) isKey(c *canvas, i int) bool {
	f := &w.frames[i]
	if i == 0 || (!f.alpha || !f.blend) && f.full(c) {
		return true
	}
	prev := &w.frames[i-1]
	return prev.background && (prev.full(c) || w.key)
}

func (w *webp) draw(c *canvas, i int) error {
	f := &w.frames[i]
	var prev *webpFrame
	if i > 0 {
		prev = &w.frames[i-1]
	}
	w.key = w.isKey(c, i)
	switch {
	case w.key:
		c.reset([4]uint8{})
	case prev.background:
		c.fill(prev.rect, [4]uint8{})
	}
	f.still(&c.still)
	if err := c.decode(f.w, f.h, f.at); err != nil {
		return err
	}
	for y := range f.h {
		row, part := c.row(c.pix, f.rect, y), c.part[y*f.w*4:]
		for x := 0; x < len(row); x += 4 {
			// Pixels of the part that has been cleared are not blended.
			if !w.key && f.blend && part[x+3] != 255 && !(prev.background && prev.has(f.x+x/4, f.y+y)) {
				blend(row[x:x+4], part[x:x+4])
				continue
			}
			copy(row[x:x+4], part[x:])
		}
	}
	return nil
}

// has reports whether the pixel is in r.
func (r rect) has(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

// blend is libwebp's BlendPixelNonPremult.
func blend(dst, src []byte) {
	a := uint32(src[3])
	if a == 0 {
		return
	}
	factor := uint32(dst[3]) * (256 - a) >> 8
	alpha := a + factor
	scale := uint32(1<<24) / alpha
	for k := range 3 {
		dst[k] = uint8((uint32(src[k])*a + uint32(dst[k])*factor) * scale >> 24)
	}
	dst[3] = uint8(alpha)
}

// still writes the frame as a file of its own.
func (f *webpFrame) still(b *bytes.Buffer) {
	b.Reset()
	var h [30]byte
	le := binary.LittleEndian
	copy(h[:], "RIFF")
	copy(h[8:], "WEBPVP8X")
	n := 12
	if f.alph {
		n = 30
		le.PutUint32(h[16:], 10)
		h[20] = 1 << 4
		put24(h[24:], f.w-1)
		put24(h[27:], f.h-1)
	}
	pad := len(f.chunks) & 1
	le.PutUint32(h[4:], uint32(n+len(f.chunks)+pad-8))
	b.Write(h[:n])
	b.Write(f.chunks)
	b.Write(make([]byte, pad))
}

func put24(b []byte, v int) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }
