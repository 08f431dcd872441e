package animation

import (
	"bytes"
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
)

// gifFrame is a frame of a GIF file.
type gifFrame struct {
	rect
	at          int
	interlaced  bool
	table       []byte // the frame's own, else the screen's; nil if it is a gray ramp
	transparent int    // index, -1 if none
	disposal    int    // that of Pillow, which a frame without one inherits
	data        []byte // from the literal width on to the last data block
}

// gif is an animated GIF file.
type gif struct {
	file       []byte
	frames     []gifFrame
	background int // index, 0 without a colour table of the screen
	gray       bool

	last  gifDisposal
	saved []byte // of method 3
}

// gifDisposal is what happens to the part of a frame before the next one.
type gifDisposal struct {
	method int // 0 (nothing), 2 (fill) or 3 (the saved pixels)
	rect
	color [4]uint8
}

// ramp reports whether a colour table is a gray ramp, which Pillow ignores.
func ramp(p []byte) bool {
	for i := 0; i+2 < len(p); i += 3 {
		if v := byte(i / 3); p[i] != v || p[i+1] != v || p[i+2] != v {
			return false
		}
	}
	return true
}

// gifReader reads a GIF file.
type gifReader struct {
	data []byte
	p    int
}

func (r *gifReader) take(n int) ([]byte, error) {
	if len(r.data)-r.p < n {
		return nil, codec.Errorf("gif", int64(len(r.data)), codec.ErrFormat, "the file ends within a frame")
	}
	r.p += n
	return r.data[r.p-n : r.p], nil
}

// block returns the bytes of a data block, nil for the terminator.
func (r *gifReader) block() ([]byte, error) {
	n, err := r.take(1)
	if err != nil || n[0] == 0 {
		return nil, err
	}
	return r.take(int(n[0]))
}

func (r *gifReader) skip() error {
	for {
		if b, err := r.block(); b == nil || err != nil {
			return err
		}
	}
}

// table reads a colour table of the size in flags, nil without one.
func (r *gifReader) table(flags byte) ([]byte, error) {
	if flags&0x80 == 0 {
		return nil, nil
	}
	return r.take(3 << (flags&7 + 1))
}

// openGIF reads the frames. The first frame has passed codec/gif.
func (a *Animation) openGIF() (film, error) {
	g := &gif{file: a.data}
	r := &gifReader{data: a.data}
	s, err := r.take(13)
	if err != nil {
		return nil, err
	}
	screen, err := r.table(s[10])
	if err != nil {
		return nil, err
	}
	if screen != nil {
		g.background = int(s[11])
	}
	if ramp(screen) {
		screen = nil
	}
	f, delay := gifFrame{transparent: -1}, Delay{}
	disposal := 0
	for r.p < len(r.data) {
		switch b := r.data[r.p]; b {
		case ';':
			r.p = len(r.data)
			continue
		case '!':
			r.p++
			label, err := r.take(1)
			if err != nil {
				return nil, err
			}
			at := r.p
			b, err := r.block()
			switch {
			case err != nil:
				return nil, err
			case b == nil:
				if label[0] != 0xfe { // after an empty block, Pillow reads on
					if err := r.skip(); err != nil {
						return nil, err
					}
				}
				continue
			case label[0] == 0xf9 && len(b) < 4:
				return nil, codec.Errorf("gif", int64(at), codec.ErrFormat, "a graphic control extension of %d bytes, want 4", len(b))
			case label[0] == 0xf9:
				if b[0]&1 != 0 {
					f.transparent = int(b[3])
				}
				delay = Delay{int(binary.LittleEndian.Uint16(b[1:])), 100}
				if d := int(b[0] >> 2 & 7); d != 0 {
					disposal = d
				}
			}
			if err := r.skip(); err != nil {
				return nil, err
			}
		case ',':
			f.disposal = disposal
			if err := a.gifFrame(g, r, &f, screen); err != nil {
				return nil, err
			}
			if err := a.add(delay, f.at); err != nil {
				return nil, err
			}
			g.frames = append(g.frames, f)
			f, delay = gifFrame{transparent: -1}, Delay{}
		default:
			r.p++ // Pillow skips bytes between blocks
		}
	}
	if len(g.frames) < 2 {
		return nil, nil
	}
	return g, g.check()
}

// gifFrame reads the frame at r.p.
func (a *Animation) gifFrame(g *gif, r *gifReader, f *gifFrame, screen []byte) error {
	f.at = r.p
	s, err := r.take(10)
	if err != nil {
		return err
	}
	u16 := binary.LittleEndian.Uint16
	f.rect = rect{int(u16(s[1:])), int(u16(s[3:])), int(u16(s[5:])), int(u16(s[7:]))}
	f.interlaced = s[9]&0x40 != 0
	own, err := r.table(s[9])
	if err != nil {
		return err
	}
	if f.table = screen; own != nil {
		f.table = own
		if ramp(own) {
			f.table = nil
		}
	}
	if own != nil && f.table == nil && screen != nil && len(g.frames) == 0 {
		return codec.Errorf("gif", int64(f.at), codec.ErrUnsupported, "an animation whose first frame has a gray colour table and whose screen has a coloured one")
	}
	start := r.p
	if _, err := r.take(1); err != nil {
		return err
	}
	if err := r.skip(); err != nil {
		return err
	}
	f.data = r.data[start:r.p]
	if !f.within(a.Width, a.Height) {
		return codec.Errorf("gif", int64(f.at), codec.ErrUnsupported, "frame %d has %dx%d pixels at (%d, %d): want a part of the %dx%d pixels of the screen and the first frame", len(g.frames), f.w, f.h, f.x, f.y, a.Width, a.Height)
	}
	return nil
}

// check refuses what Pillow draws in other modes than its first frame.
func (g *gif) check() error {
	g.gray = g.frames[0].table == nil
	for i, f := range g.frames {
		if g.gray && f.table != nil {
			return codec.Errorf("gif", int64(f.at), codec.ErrUnsupported, "an animation whose first frame is gray and whose frame %d is coloured", i)
		}
	}
	return nil
}

// color returns the colour of an index, and black beyond the table.
func (f *gifFrame) color(index int) [4]uint8 {
	c := [4]uint8{3: 255}
	if f.table == nil {
		return [4]uint8{uint8(index), uint8(index), uint8(index), 255}
	}
	if 3*index+2 < len(f.table) {
		copy(c[:], f.table[3*index:][:3])
	}
	return c
}

// dispose computes the disposal of frame i before it is drawn, as Pillow does.
// The first frame's colours are indices of its table, later ones are RGB.
func (g *gif) dispose(c *canvas, i int) gifDisposal {
	f := &g.frames[i]
	d := gifDisposal{rect: f.rect}
	index := f.transparent
	if g.gray && g.frames[0].transparent >= 0 { // Pillow keeps it
		index = g.frames[0].transparent
	}
	switch {
	case f.disposal < 2:
	case f.disposal == 2:
		d.method = 2
		if index < 0 {
			index = g.background
		}
		if i > 0 && f.table != nil && 3*index+2 >= len(f.table) {
			index = 0
		}
		d.color = f.color(index)
	case i > 0:
		d.method = 3
		g.saved = g.saved[:0]
		for y := range f.h {
			g.saved = append(g.saved, c.row(c.pix, f.rect, y)...)
		}
	case f.transparent >= 0:
		d.method, d.color = 2, f.color(f.transparent)
	}
	return d
}

func (g *gif) draw(c *canvas, i int) error {
	f := &g.frames[i]
	if i == 0 {
		c.still.Reset()
		c.still.Write(g.file)
		if err := c.decode(c.width, c.height, f.at); err != nil {
			return err
		}
		c.pix = append(c.pix[:0], c.part...)
		g.last = g.dispose(c, 0)
		return nil
	}
	switch d := g.last; d.method {
	case 2:
		c.fill(d.rect, d.color)
	case 3:
		for y := range d.h {
			copy(c.row(c.pix, d.rect, y), g.saved[y*d.w*4:])
		}
	}
	g.last = g.dispose(c, i)
	f.still(&c.still)
	if err := c.decode(f.w, f.h, f.at); err != nil {
		return err
	}
	for y := range f.h {
		row, part := c.row(c.pix, f.rect, y), c.part[y*f.w*4:]
		for x := 0; x < len(row); x += 4 {
			if part[x+3] != 0 {
				copy(row[x:x+4], part[x:])
			}
		}
	}
	return nil
}

// still writes the frame as a file of its own.
func (f *gifFrame) still(b *bytes.Buffer) {
	b.Reset()
	b.WriteString("GIF89a")
	var h [13]byte
	le := binary.LittleEndian
	le.PutUint16(h[0:], uint16(f.w))
	le.PutUint16(h[2:], uint16(f.h))
	if f.table != nil {
		bits := byte(0)
		for 3<<(bits+1) < len(f.table) {
			bits++
		}
		h[4] = 0x80 | bits
	}
	b.Write(h[:7])
	b.Write(f.table)
	if f.transparent >= 0 {
		b.Write([]byte{'!', 0xf9, 4, 1, 0, 0, byte(f.transparent), 0})
	}
	d := [10]byte{0: ','}
	le.PutUint16(d[5:], uint16(f.w))
	le.PutUint16(d[7:], uint16(f.h))
	if f.interlaced {
		d[9] = 0x40
	}
	b.Write(d[:])
	b.Write(f.data)
	b.WriteByte(';')
}
