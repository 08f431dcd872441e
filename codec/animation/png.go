package animation

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"

	"github.com/infer-prep/infer-prep/codec"
)

const pngMagic = "\x89PNG\r\n\x1a\n"

// The disposals and blendings of fcTL.
const (
	disposeBackground = 1
	disposePrevious   = 2
	blendOver         = 1
)

// pngFrame is a frame of an animated PNG file.
type pngFrame struct {
	rect
	at      int
	dispose byte
	over    bool
	fdat    bool     // the data is that of fdAT chunks
	data    [][]byte // contents of IDAT or fdAT
}

// png is an animated PNG file.
type png struct {
	frames     []pngFrame
	ihdr       []byte
	plte, trns []byte
	// zero is the colour of pixels that Pillow fills with zeros.
	zero [4]uint8
	// opaque reports that blending takes all pixels of a part.
	opaque bool
	// step is not 0 if the canvas has indices of the palette times step.
	// Pillow blends the indices of colours that are partly transparent.
	step int
}

func badPNG(at int, msg string, args ...any) error {
	return codec.Errorf("png", int64(at), codec.ErrFormat, msg, args...)
}

// openPNG reads the chunks. Those before the image data have passed codec/png.
// It is stricter than Pillow: the number of frames must be that of acTL, and
// checksums must be right.
func (a *Animation) openPNG() (film, error) {
	be := binary.BigEndian
	g := &png{}
	declared, seq := -1, uint32(0)
	open := false // the last fcTL has no data yet
	data := a.data
	for p := len(pngMagic); ; {
		if len(data)-p < 12 {
			if declared < 0 { // Pillow reads stills without an end
				return nil, a.add(Delay{}, 0)
			}
			return nil, badPNG(p, "the file ends where a chunk is wanted")
		}
		id, n := string(data[p+4:p+8]), int64(be.Uint32(data[p:]))
		if id == "IDAT" && declared < 0 {
			return nil, a.add(Delay{}, 0) // a still image
		}
		if n > int64(len(data)-p-12) {
			return nil, badPNG(p, "chunk %q of %d bytes, %d are left", id, n, len(data)-p-12)
		}
		end := p + 8 + int(n)
		body := data[p+8 : end]
		if crc32.ChecksumIEEE(data[p+4:end]) != be.Uint32(data[end:]) {
			return nil, badPNG(p, "checksum of chunk %q", id)
		}
		switch id {
		case "IHDR":
			if n < 13 {
				return nil, badPNG(p, "chunk IHDR of %d bytes, want 13", n)
			}
			g.ihdr = body
		case "PLTE":
			g.plte = body
		case "tRNS":
			g.trns = body
		case "acTL":
			if n < 8 || declared >= 0 || be.Uint32(body) == 0 {
				return nil, badPNG(p, "an invalid acTL chunk")
			}
			declared = int(min(be.Uint32(body), MaxFrames+1))
		case "fcTL", "fdAT":
			if id == "fcTL" && n < 26 || n < 4 {
				return nil, badPNG(p, "chunk %s of %d bytes", id, n)
			}
			if declared < 0 || be.Uint32(body) != seq {
				return nil, badPNG(p, "chunk %s out of sequence", id)
			}
			seq++
			if id == "fdAT" {
				if len(g.frames) == 0 || !open && !g.frames[len(g.frames)-1].fdat {
					return nil, badPNG(p, "fdAT without fcTL")
				}
				f := &g.frames[len(g.frames)-1]
				f.data, f.fdat, open = append(f.data, body[4:]), true, false
				break
			}
			if open {
				return nil, badPNG(p, "frame %d has no image data", len(g.frames)-1)
			}
			open = true
			if err := a.pngFrame(g, body, p); err != nil {
				return nil, err
			}
		case "IDAT":
			if len(g.frames) == 0 { // a default image, which Pillow takes for the first frame
				g.frames = append(g.frames, pngFrame{rect: rect{0, 0, a.Width, a.Height}, at: p, dispose: 255})
				if err := a.add(Delay{}, p); err != nil {
					return nil, err
				}
				declared++
			}
			if len(g.frames) > 1 {
				return nil, badPNG(p, "IDAT after the first frame")
			}
			f := &g.frames[0]
			f.data, open = append(f.data, body), false
		case "IEND":
			switch {
			case open:
				return nil, badPNG(p, "frame %d has no image data", len(g.frames)-1)
			case declared != len(g.frames):
				return nil, badPNG(p, "%d frames, and acTL has %d", len(g.frames), declared)
			}
			return g, g.check()
		}
		p = end + 4
	}
}

// pngFrame reads an fcTL chunk.
func (a *Animation) pngFrame(g *png, b []byte, p int) error {
	be := binary.BigEndian
	var v [4]int
	for i := range v {
		v[i] = int(min(be.Uint32(b[4+4*i:]), 1<<29)) // sums fit 32 bits
	}
	f := pngFrame{rect: rect{v[2], v[3], v[0], v[1]}, at: p, dispose: b[24], over: b[25] == blendOver}
	switch {
	case !f.within(a.Width, a.Height):
		return badPNG(p, "frame %d has %dx%d pixels at (%d, %d) of %dx%d", len(g.frames), f.w, f.h, f.x, f.y, a.Width, a.Height)
	case b[24] > disposePrevious || b[25] > blendOver:
		return badPNG(p, "frame %d has disposal %d and blending %d, want at most 2 and 1", len(g.frames), b[24], b[25])
	}
	d := Delay{int(be.Uint16(b[20:])), int(be.Uint16(b[22:]))}
	if d.Den == 0 {
		d.Den = 100
	}
	g.frames = append(g.frames, f)
	return a.add(d, p)
}

// check reads the mode. It refuses what this package does not blend as Pillow.
func (g *png) check() error {
	depth, color := g.ihdr[8], g.ihdr[9]
	unsupported := func(what string) error {
		return codec.Errorf("png", -1, codec.ErrUnsupported, "an animation of %s", what)
	}
	const gray, rgb, palette = 0, 2, 3
	g.opaque = color == gray || g.trns == nil && (color == rgb || color == palette)
	g.zero = [4]uint8{3: 255}
	switch {
	case color == gray && depth == 16:
		return unsupported("16-bit gray")
	case color == rgb && depth == 16 && g.trns != nil:
		return unsupported("16-bit colour with a transparent colour")
	case color == palette:
		copy(g.zero[:], g.plte[:min(3, len(g.plte))])
		for _, v := range g.trns {
			if v != 0 && v != 255 {
				g.step, g.zero = 255/(1<<depth-1), [4]uint8{3: 255}
			}
		}
	case color != gray && color != rgb:
		g.zero[3] = 0
	}
	if color == gray { // Pillow blends gray without its transparent value
		g.trns = nil
	}
	return nil
}

func (g *png) draw(c *canvas, i int) error {
	f := &g.frames[i]
	if i == 0 {
		c.reset(g.zero)
	} else {
		switch prev := &g.frames[i-1]; {
		case prev.dispose == disposeBackground, prev.dispose == disposePrevious && i == 1:
			c.fill(prev.rect, g.zero)
		case prev.dispose == disposePrevious && !prev.over:
			// Pillow blends a part onto the pixels that it has kept, so that
			// nothing of them is left to restore.
			c.restore(prev.rect)
		}
		c.keep()
	}
	g.still(&c.still, f)
	if err := c.decode(f.w, f.h, f.at); err != nil {
		return err
	}
	if g.step > 0 {
		g.indices(c)
	}
	over := f.over && i > 0 && !g.opaque
	for y := range f.h {
		row, part := c.row(c.pix, f.rect, y), c.part[y*f.w*4:][:f.w*4]
		if !over {
			copy(row, part)
			continue
		}
		for x := 0; x < len(row); x += 4 {
			alpha := uint32(part[x+3])
			for k := range 4 {
				row[x+k] = div255(uint32(row[x+k])*(255-alpha) + uint32(part[x+k])*alpha)
			}
		}
	}
	return nil
}

// indices turns the part, decoded as gray, into indices of the palette with
// their alpha.
func (g *png) indices(c *canvas) {
	if c.palette == nil {
		c.palette = new([256][3]uint8)
		for i := 0; i < 256 && 3*i+2 < len(g.plte); i++ {
			copy(c.palette[i][:], g.plte[3*i:])
		}
	}
	for x := 0; x < len(c.part); x += 4 {
		i := c.part[x] / uint8(g.step)
		c.part[x], c.part[x+3] = i, 255
		if int(i) < len(g.trns) {
			c.part[x+3] = g.trns[i]
		}
	}
}

// div255 is Pillow's DIV255: v/255, rounded.
func div255(v uint32) uint8 {
	v += 128
	return uint8((v>>8 + v) >> 8)
}

// still writes the frame as a file of its own.
func (g *png) still(b *bytes.Buffer, f *pngFrame) {
	b.Reset()
	b.WriteString(pngMagic)
	chunk := func(id string, body ...[]byte) {
		n := 0
		for _, p := range body {
			n += len(p)
		}
		var head [8]byte
		binary.BigEndian.PutUint32(head[:], uint32(n))
		copy(head[4:], id)
		b.Write(head[:])
		crc := crc32.ChecksumIEEE(head[4:])
		for _, p := range body {
			b.Write(p)
			crc = crc32.Update(crc, crc32.IEEETable, p)
		}
		b.Write(binary.BigEndian.AppendUint32(nil, crc))
	}
	ihdr := append([]byte{}, g.ihdr[:13]...)
	binary.BigEndian.PutUint32(ihdr, uint32(f.w))
	binary.BigEndian.PutUint32(ihdr[4:], uint32(f.h))
	if g.step > 0 { // as gray
		ihdr[9] = 0
		chunk("IHDR", ihdr)
	} else {
		chunk("IHDR", ihdr)
		if g.plte != nil {
			chunk("PLTE", g.plte)
		}
		if g.trns != nil {
			chunk("tRNS", g.trns)
		}
	}
	chunk("IDAT", f.data...)
	chunk("IEND")
}
