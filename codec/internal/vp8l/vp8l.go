// Package vp8l decodes the lossless images of WebP (RFC 9649, section 3) with
// the tolerance of libwebp 1.6.0. It returns pixels of alpha, red, green and
// blue, the highest byte first.
package vp8l

import (
	"errors"
	"io"
	"slices"

	"github.com/infer-prep/infer-prep/codec/internal/prefix"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// ErrData is the error of data that is not a lossless image. One that ends too
// early is io.ErrUnexpectedEOF.
var ErrData = errors.New("invalid lossless image")

// maxGroups bounds the prefix codes that a file may ask for: libwebp's encoder
// makes at most 2600 groups of them, and its decoder accepts 65,536, whose
// tables would have gigabytes.
const maxGroups = 2600

// Decoder decodes one image after the other. It keeps its memory. The zero
// value is ready to use. It must not be used by several goroutines at once.
type Decoder struct {
	r       reader
	pixels  []uint32
	other   []uint32 // pixels with more columns than those that are stored
	builder prefix.Builder
	codes   []uint32 // the tables of all groups
	groups  []group
	cache   []uint32
	lengths [alphabetMax]uint8
	table   [128]uint32 // of code lengths
}

// Header returns the size that the first five bytes of an image say.
func Header(data []byte) (width, height int, err error) {
	r := reader{VP8LReader: kernel.VP8LReader{In: data}}
	r.fill()
	if signature := r.read(8); signature != 0x2F {
		return 0, 0, ErrData
	}
	width, height = int(r.read(14))+1, int(r.read(14))+1
	r.read(1) // whether alpha is used, a hint
	if version := r.read(3); version != 0 {
		return 0, 0, ErrData
	}
	return width, height, r.ended()
}

// Decode returns the pixels of an image without its header, row by row, valid
// until the next call.
func (d *Decoder) Decode(data []byte, width, height int) ([]uint32, error) {
	d.r = reader{VP8LReader: kernel.VP8LReader{In: data}}
	var list []transform
	seen := [4]bool{}
	w := width
	for d.r.fill(); d.r.read(1) != 0; d.r.fill() {
		t := transform{kind: int(d.r.read(2)), width: w}
		if seen[t.kind] {
			return nil, ErrData
		}
		seen[t.kind] = true
		var err error
		switch t.kind {
		case predictor, crossColor:
			t.bits = d.r.read(3) + 2
			t.pixels, err = d.image(nil, tiles(w, t.bits), tiles(height, t.bits), false)
		case colorIndexing:
			n := int(d.r.read(8)) + 1
			switch {
			case n <= 2:
				t.bits = 3
			case n <= 4:
				t.bits = 2
			case n <= 16:
				t.bits = 1
			}
			if t.pixels, err = d.image(nil, n, 1, false); err == nil {
				for i := 1; i < n; i++ {
					t.pixels[i] = kernel.VP8LAdd(t.pixels[i], t.pixels[i-1])
				}
				t.pixels = append(t.pixels, make([]uint32, 256-n)...)
			}
			w = tiles(w, t.bits)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	if err := d.r.ended(); err != nil {
		return nil, err
	}
	pixels, err := d.image(d.pixels, w, height, true)
	if err != nil {
		return nil, err
	}
	d.pixels = pixels
	for i := len(list) - 1; i >= 0; i-- {
		if t := &list[i]; t.kind == colorIndexing && t.bits > 0 {
			if cap(d.other) < t.width*height {
				d.other = make([]uint32, t.width*height)
			}
			d.other = d.other[:t.width*height]
			t.unpack(d.other, pixels, w)
			pixels, w = d.other, t.width
		} else {
			t.invert(pixels)
		}
	}
	return pixels, nil
}

// tiles returns the number of tiles of 1<<bits pixels that n pixels need.
func tiles(n int, bits uint) int { return (n + 1<<bits - 1) >> bits }

// The alphabets of the codes of a group: of green, lengths and places in the
// cache, of red, of blue, of alpha and of distances.
const (
	lengthCodes   = 24
	distanceCodes = 40
	maxCacheBits  = 11
	alphabetMax   = 256 + lengthCodes + 1<<maxCacheBits
)

var alphabets = [5]int{256 + lengthCodes, 256, 256, 256, distanceCodes}

// first is the number of bits that index the first table of a code.
const first = kernel.VP8LFirst

// group has the tables of five codes, as offsets in Decoder.codes.
type group [5]int32

var symbols [alphabetMax]uint32

func init() {
	for i := range symbols {
		symbols[i] = uint32(i) << 16
	}
}

// image reads an image of width by height pixels, with memory of pixels if that
// is enough. Only the main image has several groups.
func (d *Decoder) image(pixels []uint32, width, height int, main bool) ([]uint32, error) {
	r := &d.r
	r.fill()
	cacheBits := uint(0)
	if r.read(1) != 0 {
		if cacheBits = r.read(4); cacheBits < 1 || cacheBits > maxCacheBits {
			return nil, ErrData
		}
	}
	var indices []uint32 // of the groups of tiles
	tileBits := uint(0)
	most := 0 // the largest index
	if main && r.read(1) != 0 {
		tileBits = r.read(3) + 2
		var err error
		if indices, err = d.image(nil, tiles(width, tileBits), tiles(height, tileBits), false); err != nil {
			return nil, err
		}
		for i, p := range indices {
			indices[i] = p >> 8 & 0xFFFF
			most = max(most, int(indices[i]))
		}
		if most >= maxGroups {
			return nil, ErrData
		}
	}
	if err := d.readGroups(most+1, indices, cacheBits); err != nil {
		return nil, err
	}
	if cap(pixels) < width*height {
		pixels = make([]uint32, width*height)
	}
	pixels = pixels[:width*height]
	if cacheBits > 0 {
		if cap(d.cache) < 1<<maxCacheBits {
			d.cache = make([]uint32, 1<<maxCacheBits)
		}
		d.cache = d.cache[:1<<cacheBits]
		clear(d.cache)
	}
	return pixels, d.read(pixels, width, indices, tileBits, cacheBits)
}

// readGroups reads n groups of codes. It keeps those that indices name, or all
// if that is nil.
func (d *Decoder) readGroups(n int, indices []uint32, cacheBits uint) error {
	used := make([]bool, n)
	for _, i := range indices {
		used[i] = true
	}
	used[0] = used[0] || indices == nil
	if cap(d.groups) < n {
		d.groups = make([]group, n)
	}
	d.groups = d.groups[:n]
	d.codes = d.codes[:0] // those of the image before are done
	for i := range d.groups {
		for k, size := range alphabets {
			if k == 0 && cacheBits > 0 {
				size += 1 << cacheBits
			}
			if err := d.readCode(&d.groups[i][k], size, used[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readCode reads a code of size symbols.
func (d *Decoder) readCode(to *int32, size int, keep bool) error {
	r := &d.r
	lengths := d.lengths[:]
	clear(lengths)
	r.fill()
	if r.read(1) != 0 { // one or two symbols
		two := r.read(1) != 0
		bits := uint(1)
		if r.read(1) != 0 {
			bits = 8
		}
		lengths[r.read(bits)] = 1
		if two {
			lengths[r.read(8)] = 1
		}
	} else if err := d.readLengths(lengths[:size]); err != nil {
		return err
	}
	if err := r.ended(); err != nil {
		return err
	}
	lengths = lengths[:size]
	kind := prefix.Kind(lengths)
	if kind == prefix.Empty || kind == prefix.Invalid {
		return ErrData
	}
	if keep {
		*to = int32(len(d.codes))
		d.codes = d.build(d.codes, first, lengths, kind)
	}
	return nil
}

// build appends the table of a code. A single symbol takes no bits.
func (d *Decoder) build(to []uint32, first uint, lengths []uint8, kind prefix.Code) []uint32 {
	at := len(to)
	most := 1 << first
	if int(slices.Max(lengths)) > int(first) {
		most += 1 << prefix.MaxBits // each entry of a second table has bits of its own among 15
	}
	if cap(to)-at < most {
		grown := make([]uint32, at, 2*cap(to)+most)
		copy(grown, to)
		to = grown
	}
	table := to[at : at+most]
	if kind == prefix.Single {
		for s, l := range lengths {
			if l > 0 {
				for i := range table[:1<<first] {
					table[i] = symbols[s]
				}
			}
		}
		return to[:at+1<<first]
	}
	return to[:at+d.builder.Build(table, first, lengths, symbols[:])]
}

// order is the order of the lengths of the codes of code lengths.
var order = [19]uint8{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// readLengths reads the lengths of codes, which are coded themselves.
func (d *Decoder) readLengths(lengths []uint8) error {
	r := &d.r
	var of [19]uint8
	n := int(r.read(4)) + 4
	if n > len(order) {
		return ErrData
	}
	for i := range n {
		r.fill()
		of[order[i]] = uint8(r.read(3))
	}
	kind := prefix.Kind(of[:])
	if kind == prefix.Empty || kind == prefix.Invalid {
		return ErrData
	}
	table := d.build(d.table[:0], 7, of[:], kind)
	r.fill()
	left := len(lengths) // codes to read
	if r.read(1) != 0 {
		bits := 2 + 2*r.read(3)
		if left = 2 + int(r.read(bits)); left > len(lengths) {
			return ErrData
		}
	}
	last := uint8(8)
	for i := 0; i < len(lengths) && left > 0; left-- {
		r.fill()
		if r.over > r.N {
			return io.ErrUnexpectedEOF
		}
		e := table[r.Bits&127]
		r.skip(uint(e & 63))
		s := e >> 16
		if s < 16 {
			lengths[i] = uint8(s)
			i++
			if s > 0 {
				last = uint8(s)
			}
			continue
		}
		value, repeat := uint8(0), 0
		switch s {
		case 16:
			value, repeat = last, 3+int(r.read(2))
		case 17:
			repeat = 3 + int(r.read(3))
		default:
			repeat = 11 + int(r.read(7))
		}
		if repeat > len(lengths)-i {
			return ErrData
		}
		for range repeat {
			lengths[i] = value
			i++
		}
	}
	return nil
}

// read reads pixels.
func (d *Decoder) read(pixels []uint32, width int, indices []uint32, tileBits, cacheBits uint) error {
	r := d.r
	cached := 0
	for at := 0; at < len(pixels); {
		// The codes are those of the tile, which ends with the row at the
		// latest, or those of the image. A copy may go beyond.
		end, g := len(pixels), &d.groups[0]
		if indices != nil {
			y := at / width
			x := at - y*width
			end = y*width + min(width, (x>>tileBits+1)<<tileBits)
			g = &d.groups[indices[y>>tileBits*tiles(width, tileBits)+x>>tileBits]]
		}
		green, red, blue, alpha, distance := d.codes[g[0]:], d.codes[g[1]:], d.codes[g[2]:], d.codes[g[3]:], d.codes[g[4]:]
		codes := kernel.VP8LCodes{green, red, blue, alpha}
		for at < end {
			if at += r.Literals(pixels[at:end], &codes); at == end {
				break
			}
			r.fill()
			if r.over > r.N {
				return io.ErrUnexpectedEOF
			}
			s := r.symbol(green)
			switch {
			case s < 256:
				v := s<<8 | r.symbol(red)<<16
				r.fill()
				v |= r.symbol(blue)
				pixels[at] = v | r.symbol(alpha)<<24
				at++
			case s < 256+lengthCodes:
				length := r.value(s - 256)
				r.fill()
				code := r.symbol(distance)
				r.fill()
				back := place(r.value(code), width)
				if back > at || length > len(pixels)-at {
					return ErrData
				}
				to := pixels[at : at+length]
				if back >= length {
					copy(to, pixels[at-back:])
				} else {
					for i := range to { // forward: it repeats what it writes
						to[i] = pixels[at-back+i]
					}
				}
				at += length
			default:
				for ; cached < at; cached++ {
					d.cache[pixels[cached]*cacheFactor>>(32-cacheBits)] = pixels[cached]
				}
				if s -= 256 + lengthCodes; cacheBits == 0 || int(s) >= len(d.cache) {
					return ErrData
				}
				pixels[at] = d.cache[s]
				at++
			}
		}
	}
	if r.over > r.N {
		return io.ErrUnexpectedEOF
	}
	d.r = r
	return nil
}

// cacheFactor is the multiplier of the hash of a colour.
const cacheFactor = 0x1E35A7BD

// near has the offsets of the 120 nearest pixels: rows up << 4 | 8 - columns
// left.
var near = [120]uint8{
	0x18, 0x07, 0x17, 0x19, 0x28, 0x06, 0x27, 0x29, 0x16, 0x1a, 0x26, 0x2a, 0x38, 0x05, 0x37, 0x39, 0x15, 0x1b, 0x36, 0x3a,
	0x25, 0x2b, 0x48, 0x04, 0x47, 0x49, 0x14, 0x1c, 0x35, 0x3b, 0x46, 0x4a, 0x24, 0x2c, 0x58, 0x45, 0x4b, 0x34, 0x3c, 0x03,
	0x57, 0x59, 0x13, 0x1d, 0x56, 0x5a, 0x23, 0x2d, 0x44, 0x4c, 0x55, 0x5b, 0x33, 0x3d, 0x68, 0x02, 0x67, 0x69, 0x12, 0x1e,
	0x66, 0x6a, 0x22, 0x2e, 0x54, 0x5c, 0x43, 0x4d, 0x65, 0x6b, 0x32, 0x3e, 0x78, 0x01, 0x77, 0x79, 0x53, 0x5d, 0x11, 0x1f,
	0x64, 0x6c, 0x42, 0x4e, 0x76, 0x7a, 0x21, 0x2f, 0x75, 0x7b, 0x31, 0x3f, 0x63, 0x6d, 0x52, 0x5e, 0x00, 0x74, 0x7c, 0x41,
	0x4f, 0x10, 0x20, 0x62, 0x6e, 0x30, 0x73, 0x7d, 0x51, 0x5f, 0x40, 0x72, 0x7e, 0x61, 0x6f, 0x50, 0x71, 0x7f, 0x60, 0x70,
}

// place returns the number of pixels back of a distance, 1 or more.
func place(distance, width int) int {
	if distance > len(near) {
		return distance - len(near)
	}
	n := int(near[distance-1])
	return max(1, n>>4*width+8-n&15)
}
