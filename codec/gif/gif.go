// Package gif decodes GIF for package codec; importing it registers the format.
//
// The pixels are those of the first frame in Pillow 13.0.0's Image.open(f). A
// frame smaller than the logical screen is surrounded by the transparent index,
// or by index 0 without one. A frame larger than the screen enlarges it. A
// colour table that is a gray ramp makes the image gray. The decoder stops at
// the frame's last pixel.
//
// The package reads the container and LZW itself, because image/gif drops the
// colours of transparent pixels and accepts other files than Pillow.
package gif

import (
	"encoding/binary"
	"iter"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/lzw"
)

const name = "gif"

func init() {
	codec.Register(codec.Format{
		Name:  name,
		Magic: []string{"GIF87a", "GIF89a"},
		New:   func() codec.FormatDecoder { return new(decoder) },
	})
}

func bad(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrFormat, msg, args...)
}

type header struct {
	width, height int // of the screen, enlarged to the frame
	x, y, w, h    int // the frame
	screenW       int // of the screen
	screenH       int
	interlaced    bool
	palette       []byte // nil for gray
	ramp          bool   // the frame's own table is a gray ramp
	transparent   int    // index, -1 if none
	bits          int    // LZW's literal width
	data          int    // offset of the frame's first data block
	frames        int    // 1, or 2 for several
	global        int    // entries of the screen's colour table, 0 without one
	local         int    // entries of the frame's
	background    int    // index
	ended         bool   // by a trailer
	controls      int    // graphic control extensions before the frame
	stray         bool   // bytes between blocks, which Pillow skips
	screenTable   []byte // the screen's colour table, nil without one
	table         []byte // the frame's, or else the screen's
}

// reader reads the file as Pillow's GifImagePlugin does. At the end it returns
// no bytes.
type reader struct {
	data []byte
	p    int
}

func (r *reader) take(n int) []byte {
	n = min(n, len(r.data)-r.p)
	r.p += n
	return r.data[r.p-n : r.p]
}

// block returns the bytes of a data block, nil for the terminator.
func (r *reader) block() []byte {
	if n := r.take(1); len(n) == 1 && n[0] != 0 {
		return r.take(int(n[0]))
	}
	return nil
}

func (r *reader) skipBlocks() {
	for len(r.block()) > 0 {
	}
}

// colored reports whether a colour table differs from the ramp (i, i, i).
func colored(p []byte) bool {
	for i := 0; i+2 < len(p); i += 3 {
		if v := byte(i / 3); p[i] != v || p[i+1] != v || p[i+2] != v {
			return true
		}
	}
	return false
}

func (h *header) parse(data []byte) error {
	*h = header{transparent: -1, frames: 1}
	r := &reader{data: data}
	s := r.take(13)
	if len(s) < 13 {
		return bad(len(data), "the file ends in the screen descriptor")
	}
	h.width, h.height = int(binary.LittleEndian.Uint16(s[6:])), int(binary.LittleEndian.Uint16(s[8:]))
	h.screenW, h.screenH, h.background = h.width, h.height, int(s[11])
	var global []byte
	if s[10]&0x80 != 0 {
		n := 3 << (s[10]&7 + 1)
		h.global = n / 3
		p := r.take(n)
		if len(p) < n {
			return bad(len(data), "the file ends in the global colour table")
		}
		h.screenTable, h.table = p, p
		if colored(p) {
			global = p
		}
	}
	if first := r.take(1); len(first) == 0 || first[0] == ';' {
		return bad(r.p, "no image")
	}
	r.p--
	for {
		at := r.p
		b := r.take(1)
		if len(b) == 0 || b[0] == ';' {
			return bad(at, "no image")
		}
		switch b[0] {
		case '!':
			if err := h.extension(r, at); err != nil {
				return err
			}
		case ',':
			return h.frame(r, at, global)
		default:
			h.stray = true
		}
	}
}

func (h *header) extension(r *reader, at int) error {
	label := r.take(1)
	if len(label) == 0 {
		return bad(at, "the file ends in an extension")
	}
	b := r.block()
	switch {
	case label[0] == 0xfe: // an empty block ends a comment
		for len(b) > 0 {
			b = r.block()
		}
		return nil
	case label[0] == 0xf9 && b != nil:
		if len(b) < 3 || b[0]&1 != 0 && len(b) < 4 {
			return bad(at, "a graphic control extension of %d bytes, want 4", len(b))
		}
		if b[0]&1 != 0 {
			h.transparent = int(b[3])
		}
		h.controls++
	}
	r.skipBlocks()
	return nil
}

func (h *header) frame(r *reader, at int, global []byte) error {
	s := r.take(9)
	if len(s) < 9 {
		return bad(at, "the file ends in the image descriptor")
	}
	u16 := binary.LittleEndian.Uint16
	h.x, h.y, h.w, h.h = int(u16(s)), int(u16(s[2:])), int(u16(s[4:])), int(u16(s[6:]))
	h.width, h.height = max(h.width, h.x+h.w), max(h.height, h.y+h.h)
	h.interlaced = s[8]&0x40 != 0
	h.palette = global
	if s[8]&0x80 != 0 {
		n := 3 << (s[8]&7 + 1)
		h.local = n / 3
		p := r.take(n)
		if len(p) < n {
			return bad(at, "the file ends in the local colour table")
		}
		h.table = p
		if colored(p) {
			h.palette = p
		} else {
			h.ramp = true
		}
	}
	bits := r.take(1)
	if len(bits) == 0 {
		return bad(r.p, "the file ends where image data is wanted")
	}
	if h.w == 0 || h.h == 0 {
		return bad(at, "a frame of %dx%d pixels, want at least 1x1", h.w, h.h)
	}
	h.bits, h.data = int(bits[0]), r.p
	if h.bits > 12 {
		return bad(r.p-1, "LZW literals of %d bits, want at most 12", h.bits)
	}
	// Look for another frame.
	r.skipBlocks()
	for {
		b := r.take(1)
		if len(b) == 0 || b[0] == ';' {
			h.ended = len(b) > 0
			return nil
		}
		switch b[0] {
		case '!':
			r.take(1)
			r.skipBlocks()
		case ',':
			h.frames = 2
			return nil
		default:
			h.stray = true
		}
	}
}

type decoder struct {
	h     header
	lzw   lzw.Decoder
	in    []byte         // the frame's data without the lengths of its blocks
	frame []byte         // pixels of a frame that is not the whole image, or interlaced
	data  []byte         // of the open image
	o     *codec.Options // of the open image
}

// mode returns the mode of the pixels. A frame with its own gray ramp and a
// coloured global table has mode L in Pillow, so convert("L") keeps the
// samples. Its pixels still have the global table, which convert("RGB") shows.
func (h *header) mode(o *codec.Options) codec.Mode {
	if o.Damage == codec.DamageTorchCodec {
		return codec.P
	}
	gray := o.Alpha == codec.AlphaDrop && (o.Color == codec.ToGray || o.Color == codec.ToLuma)
	if h.palette == nil || h.ramp && gray {
		return codec.L
	}
	return codec.P
}

// opencv refuses what OpenCV refuses or decodes to other pixels than Pillow.
func (h *header) opencv() error {
	var what string
	switch {
	case h.frames > 1:
		what = "several frames"
	case h.transparent >= 0:
		what = "a transparent colour"
	case h.x != 0 || h.y != 0 || h.w != h.screenW || h.h != h.screenH:
		what = "a frame that is not the screen"
	case h.global == 0:
		what = "no colour table of the screen"
	case h.local != 0 && h.ramp:
		what = "a frame's gray ramp as colour table"
	case h.background >= h.global:
		what = "a background without a colour"
	case h.bits < 2 || h.bits > 11:
		what = "such LZW literals"
	case !h.ended:
		what = "no trailer"
	default:
		return nil
	}
	return codec.Errorf(name, -1, codec.ErrUnsupported, "a GIF with %s, which OpenCV refuses or decodes to other pixels", what)
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	h := &d.h
	d.data, d.o = data, o
	if err := h.parse(data); err != nil {
		return codec.Config{}, err
	}
	var err error
	switch {
	case o.Damage.OpenCV():
		err = h.opencv()
	case o.Damage == codec.DamageTorchCodec:
		err = h.torchCodec()
	}
	if err != nil {
		return codec.Config{}, err
	}
	c := codec.Config{
		Format: name, Width: h.width, Height: h.height, Mode: h.mode(o), Depth: 8, Orientation: 1,
		HasAlpha: h.transparent >= 0, Frames: h.frames, Variant: version(data),
		Canvas: h.transparent >= 0 || h.x != 0 || h.y != 0 || h.w != h.screenW || h.h != h.screenH || h.ramp && h.palette != nil,
	}
	return c, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	h, data, o := &d.h, d.data, d.o
	d.data, d.o = nil, nil
	if err := o.Limits.CheckSize(name, h.width, h.height, 1); err != nil {
		return err
	}
	mode := h.mode(o)
	dst.Reset(mode, h.width, h.height)
	t := uint8(max(h.transparent, 0))
	for i := range dst.Pix {
		dst.Pix[i] = t
	}
	if mode == codec.P {
		for i := range dst.Palette {
			dst.Palette[i] = [4]uint8{3: 255}
			if 3*i+2 < len(h.palette) {
				copy(dst.Palette[i][:], h.palette[3*i:3*i+3])
			}
		}
		if h.transparent >= 0 {
			dst.Palette[t][3] = 0
			dst.KeyRGB, dst.HasKeyRGB = [3]uint8(dst.Palette[t][:3]), true
		}
	} else if h.transparent >= 0 {
		dst.Key[0], dst.KeyRGB = t, [3]uint8{t, t, t}
		dst.HasKey, dst.HasKeyRGB = true, true
	}
	if err := d.pixels(dst, data); err != nil || !o.Damage.Library() {
		return err
	}
	if o.Damage == codec.DamageTorchCodec {
		dst.HasKeyRGB = false
		return h.torchCodecColors(dst)
	}
	colors := max(h.global, h.local) // OpenCV looks in both tables
	for _, v := range dst.Pix {
		if int(v) >= colors {
			return bad(-1, "colour %d of %d", v, colors)
		}
	}
	return nil
}

// pixels decodes the frame.
func (d *decoder) pixels(dst *codec.Raster, data []byte) error {
	h := &d.h
	d.in = d.in[:0]
	rest := d.blocks(data, h.data, false)
	at := h.y*dst.Stride + h.x
	whole := h.w == dst.Stride && !h.interlaced // its rows follow one another in dst
	out := dst.Pix[at:]
	if !whole {
		if cap(d.frame) < h.w*h.h {
			d.frame = make([]byte, h.w*h.h)
		}
		out = d.frame
	}
	out = out[:h.w*h.h]
	v := lzw.Variant{Bits: h.bits, Codes: 1 << 12}
	n, err := d.lzw.Decode(out, d.in, v)
	if err == lzw.ErrEnd && d.blocks(data, rest, true) > rest {
		n, err = d.lzw.Decode(out, d.in, v)
	}
	if err != nil {
		return bad(h.data, "the image ends after %d of %d pixels: %v", n, len(out), err)
	}
	if whole {
		return nil
	}
	for i, y := range h.rows() {
		copy(dst.Pix[at+y*dst.Stride:][:h.w], out[i*h.w:])
	}
	return nil
}

// blocks appends the data blocks from offset p on to d.in, and returns the
// offset after them. It stops after an empty block unless all is set: Pillow
// reads on if pixels are missing. An incomplete block is ignored.
func (d *decoder) blocks(data []byte, p int, all bool) int {
	for p < len(data) && len(data)-p-1 >= int(data[p]) {
		n := int(data[p])
		d.in = append(d.in, data[p+1:][:n]...)
		p += 1 + n
		if n == 0 && !all {
			break
		}
	}
	return p
}

// rows returns the rows of the frame in the order of the data.
func (h *header) rows() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		passes := []struct{ first, step int }{{0, 8}, {4, 8}, {2, 4}, {1, 2}}
		if !h.interlaced {
			passes = []struct{ first, step int }{{0, 1}}
		}
		i := 0
		for _, p := range passes {
			for y := p.first; y < h.h; y += p.step {
				if !yield(i, y) {
					return
				}
				i++
			}
		}
	}
}

// version returns the format's version. It allocates nothing.
func version(data []byte) string {
	if data[4] == '7' {
		return "87a"
	}
	return "89a"
}
