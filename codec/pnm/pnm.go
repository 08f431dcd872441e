// Package pnm decodes the Netpbm formats for package codec; importing it
// registers them as one format: PBM, PGM and PPM, plain (P1 to P3) and raw (P4
// to P6), gray PFM (Pf), and Pillow's P0CMYK.
//
// It accepts the files that Pillow 13.0.0 accepts and returns the same pixels.
// Samples are scaled to 255 with Python's rounding, those of gray files of more
// than 8 bits to 65535. PFM is clipped to 0 to 255 and truncated, as Pillow
// converts mode F to others. Source: Netpbm's pbm, pgm, ppm and pfm pages.
package pnm

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/codec"
)

const name = "pnm"

const space = " \t\n\v\f\r"

// kind is what a magic number says.
type kind struct {
	magic, variant string
	mode           codec.Mode
	plain          bool
}

var kinds = []kind{
	{"P1", "plain PBM", codec.L, true},
	{"P2", "plain PGM", codec.L, true},
	{"P3", "plain PPM", codec.RGB, true},
	{"P4", "PBM", codec.L, false},
	{"P5", "PGM", codec.L, false},
	{"P6", "PPM", codec.RGB, false},
	{"Pf", "PFM", codec.L, false},
	{"P0CMYK", "Pillow's CMYK", codec.CMYK, false},
}

func init() {
	var magic []string
	for _, k := range kinds {
		if len(k.magic) == maxMagic { // Pillow reads no more
			magic = append(magic, k.magic)
			continue
		}
		for i := range len(space) {
			magic = append(magic, k.magic+space[i:i+1])
		}
	}
	codec.Register(codec.Format{Name: name, Magic: magic, New: func() codec.FormatDecoder { return new(decoder) }})
}

// maxMagic is the length of the longest magic number, maxToken that of a number
// in a file.
const maxMagic, maxToken = 6, 10

// maxSide keeps the number of bits of an image within 64 bits.
const maxSide = 1 << 24

// plainBlock is the number of bytes of a plain file that Pillow reads at a time
// (ImageFile.SAFEBLOCK). It looks at what follows the pixels in a block: in a
// PBM all must be samples, else the last number must not be too long.
const plainBlock = 1 << 20

func bad(offset int, msg string, args ...any) error {
	return codec.Errorf(name, int64(offset), codec.ErrFormat, msg, args...)
}

type decoder struct {
	data   []byte
	o      *codec.Options
	config codec.Config
	kind   kind
	pos    int // offset of the pixels
	max    int // the largest sample; 1 in PBM, 0 in PFM
	little bool
	odd    bool // the header has numbers that OpenCV does not read
}

// token reads a number of the header as Pillow does: after white space, up to
// white space, of which it takes one byte. A comment ends with its line, and
// does not end the number.
func (d *decoder) token() (string, error) {
	var t []byte
	for len(t) <= maxToken && d.pos < len(d.data) {
		c := d.data[d.pos]
		d.pos++
		switch {
		case bytes.IndexByte([]byte(space), c) >= 0:
			if len(t) == 0 {
				continue
			}
			return string(t), nil
		case c == '#':
			d.odd = d.odd || len(t) > 0
			for d.pos < len(d.data) {
				c := d.data[d.pos]
				if d.pos++; c == '\r' || c == '\n' {
					break
				}
			}
		default:
			t = append(t, c)
			d.odd = d.odd || c < '0' || c > '9'
		}
	}
	switch {
	case len(t) == 0:
		return "", bad(d.pos, "the file ends in its header")
	case len(t) > maxToken:
		return "", bad(d.pos, "a number of more than %d characters", maxToken)
	}
	return string(t), nil
}

// number reads a number of the header.
func (d *decoder) number(what string, most int) (int, error) {
	t, err := d.token()
	if err != nil {
		return 0, err
	}
	v, ok := parse(t)
	if !ok || v <= 0 {
		return 0, bad(d.pos, "%s %q, want 1 to %d", what, t, most)
	}
	if v > most {
		kind := codec.ErrFormat
		if most == maxSide {
			kind = codec.ErrLimit
		}
		return 0, codec.Errorf(name, int64(d.pos), kind, "%s %d, want 1 to %d", what, v, most)
	}
	return v, nil
}

// parse returns the value of Python's int(t): digits, which single underscores
// may divide, after a sign. t has at most maxToken bytes.
func parse(t string) (int, bool) {
	sign := 1
	if t != "" && (t[0] == '+' || t[0] == '-') {
		if t[0] == '-' {
			sign = -1
		}
		t = t[1:]
	}
	v, digit := 0, false // digit: the last character is one
	for i := range len(t) {
		switch c := t[i]; {
		case c >= '0' && c <= '9':
			v, digit = 10*v+int(c-'0'), true
		case c == '_' && digit:
			digit = false
		default:
			return 0, false
		}
		if v > math.MaxInt32 {
			v = math.MaxInt32 // more than every limit, also where int has 32 bits
			digit = true
		}
	}
	return sign * v, digit
}

// Open implements codec.FormatDecoder.
func (d *decoder) Open(data []byte, o *codec.Options) (codec.Config, error) {
	*d = decoder{data: data, o: o, max: 1}
	m := string(data[:min(len(data), maxMagic)])
	if i := bytes.IndexAny([]byte(m), space); i >= 0 {
		m = m[:i]
		d.pos = 1
	}
	for _, k := range kinds {
		if k.magic == m {
			d.kind = k
		}
	}
	d.pos += len(m)
	if d.kind.magic == "" {
		return codec.Config{}, bad(0, "the magic number %q", m)
	}
	var err error
	c := &d.config
	*c = codec.Config{Format: name, Mode: d.kind.mode, Depth: 8, Orientation: 1, Frames: 1, Variant: d.kind.variant}
	if c.Width, err = d.number("a width of", maxSide); err != nil {
		return codec.Config{}, err
	}
	if c.Height, err = d.number("a height of", maxSide); err != nil {
		return codec.Config{}, err
	}
	switch m {
	case "P1", "P4":
		c.Depth = 1
	case "Pf":
		t, err := d.token()
		if err != nil {
			return codec.Config{}, err
		}
		v, err := strconv.ParseFloat(t, 64)
		if err != nil || strings.ContainsAny(t, "xX_") || v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return codec.Config{}, bad(d.pos, "a scale of %q, want a number that is neither 0 nor infinite", t)
		}
		d.little, d.max, c.Depth = v < 0, 0, 32
	default:
		if d.max, err = d.number("a largest sample of", 65535); err != nil {
			return codec.Config{}, err
		}
		if d.max > 255 && c.Mode == codec.L {
			c.Mode, c.Depth = codec.I16, 16
		} else if d.max > 255 {
			c.Depth = 16
		}
	}
	if o.Damage.OpenCV() && (d.max != 255 || d.kind.plain || d.odd || m == "P0CMYK") || o.Damage == codec.DamageTorchCodec {
		return codec.Config{}, codec.Errorf(name, -1, codec.ErrUnsupported, "%s under damage %v: want raw PGM or PPM with a largest sample of 255 under imread or imdecode", d.kind.variant, o.Damage)
	}
	return *c, nil
}

// Decode implements codec.FormatDecoder.
func (d *decoder) Decode(dst *codec.Raster) error {
	c, data := &d.config, d.data
	size := c.Mode.Size()
	if err := d.o.Limits.CheckSize(name, c.Width, c.Height, size); err != nil {
		return err
	}
	d.data, d.o = nil, nil
	n := c.Width * c.Height * c.Mode.Size()
	if c.Mode == codec.I16 {
		n /= 2
	}
	if d.kind.plain {
		return d.plain(dst, data[d.pos:], n)
	}
	src := data[d.pos:]
	line := c.Width * size // of the file
	switch {
	case d.kind.magic == "P4":
		line = (c.Width + 7) / 8
	case d.max == 0:
		line = 4 * c.Width
	case d.max > 255 && c.Mode != codec.I16:
		line *= 2
	}
	if int64(len(src)) < int64(line)*int64(c.Height) {
		return bad(len(data), "the pixels end at row %d of %d", len(src)/line, c.Height)
	}
	dst.Reset(c.Mode, c.Width, c.Height)
	for y := range c.Height {
		in, out := src[y*line:][:line], dst.Pix[y*dst.Stride:][:c.Width*size]
		switch {
		case d.kind.magic == "P4":
			for x := range out {
				out[x] = ^-(in[x/8] << (x % 8) >> 7)
			}
		case d.max == 0:
			d.floats(dst.Pix[(c.Height-1-y)*dst.Stride:][:c.Width], in)
		case d.max == 255:
			copy(out, in)
		default:
			d.scale(out, in, d.max > 255)
		}
	}
	return nil
}

// scale scales samples, of two bytes if wide, to those of the mode.
func (d *decoder) scale(out, in []byte, wide bool) {
	step := 1
	if wide {
		step = 2
	}
	for i := range len(in) / step {
		v := int(in[i*step])
		if wide {
			v = v<<8 | int(in[i*step+1])
		}
		d.put(out, i, v)
	}
}

// put stores sample number i. Pillow scales by float64 and rounds half to even;
// raw files may exceed their largest sample.
func (d *decoder) put(out []byte, i, v int) {
	if d.config.Mode != codec.I16 {
		out[i] = uint8(min(255, math.RoundToEven(float64(v)/float64(d.max)*255)))
		return
	}
	if d.max != 65535 || d.kind.plain {
		v = int(min(65535, math.RoundToEven(float64(v)/float64(d.max)*65535)))
	}
	binary.LittleEndian.PutUint16(out[2*i:], uint16(v))
}

// floats converts a row of float32.
func (d *decoder) floats(out, in []byte) {
	var order binary.ByteOrder = binary.BigEndian
	if d.little {
		order = binary.LittleEndian
	}
	for x := range out {
		switch v := math.Float32frombits(order.Uint32(in[4*x:])); {
		case v >= 255:
			out[x] = 255
		case v > 0:
			out[x] = uint8(v)
		default: // NaN too
			out[x] = 0
		}
	}
}

// plain reads n samples as text. As in Pillow, a comment does not end a number,
// and a line's end that ends a comment goes with it.
func (d *decoder) plain(dst *codec.Raster, src []byte, n int) error {
	// A sample takes a byte, and white space but after the last and in a PBM.
	if least := int64(n); int64(len(src)) < least || d.config.Depth != 1 && int64(len(src)) < 2*least-1 {
		return bad(d.pos+len(src), "%d bytes of pixels, too few for %d samples", len(src), n)
	}
	dst.Reset(d.config.Mode, d.config.Width, d.config.Height)
	i, comment := 0, false
	var number []byte
	end := func(at int) error {
		if len(number) > maxToken {
			return bad(at, "a number of more than %d characters", maxToken)
		}
		v, ok := parse(string(number))
		if !ok || v < 0 || v > d.max {
			return bad(at, "a sample of %q, want 0 to %d", number, d.max)
		}
		d.put(dst.Pix, i, v)
		i, number = i+1, number[:0]
		return nil
	}
	for at, b := range src {
		if i == n && at%plainBlock == 0 {
			break
		}
		switch {
		case comment:
			comment = b != '\r' && b != '\n'
		case b == '#':
			comment = true
		case bytes.IndexByte([]byte(space), b) >= 0:
			if len(number) > 0 && i < n {
				if err := end(d.pos + at); err != nil {
					return err
				}
			}
			number = number[:0]
		case d.config.Depth == 1:
			if b != '0' && b != '1' {
				return bad(d.pos+at, "a sample of %q, want 0 or 1", b)
			}
			if i < n {
				dst.Pix[i] = ('1' - b) * 255
				i++
			}
		case len(number) <= maxToken:
			number = append(number, b)
		}
	}
	switch {
	case len(number) > 0 && i < n:
		if err := end(d.pos + len(src)); err != nil {
			return err
		}
	case len(number) > maxToken: // Pillow looks at the last number of a block
		return bad(d.pos+len(src), "a number of more than %d characters", maxToken)
	}
	if i < n {
		return bad(d.pos+len(src), "the file ends at sample %d of %d", i, n)
	}
	return nil
}
