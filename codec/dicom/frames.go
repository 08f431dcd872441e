package dicom

import (
	"bytes"
	"encoding/binary"
)

// fragments reads the fragments of encapsulated pixels.
type fragments struct {
	data []byte
	pos  int
}

// next returns the next fragment, nil at the end.
func (f *fragments) next() []byte {
	if len(f.data)-f.pos < 8 || binary.LittleEndian.Uint16(f.data[f.pos+2:]) != tagItem&0xFFFF {
		return nil // the delimiter
	}
	n := int(binary.LittleEndian.Uint32(f.data[f.pos+4:]))
	f.pos += 8
	if n > len(f.data)-f.pos { // of a frame that the offset table cuts
		n = len(f.data) - f.pos
	}
	f.pos += n
	return f.data[f.pos-n : f.pos : f.pos]
}

// frame returns the bytes of encapsulated frame i, as pydicom's get_frame does:
// by the extended offset table, by the basic one, by the number of fragments,
// or by the ends of JPEG images. It joins several fragments in *buf.
func (h *header) frame(i int, buf *[]byte) ([]byte, error) {
	all := fragments{data: h.pixels.value}
	basic := all.next()
	if basic == nil && len(h.pixels.value) < 16 {
		return nil, bad(-1, "encapsulated pixels without items")
	}
	if len(basic)%4 != 0 {
		return nil, bad(-1, "a basic offset table of %d bytes: want 4 for each frame", len(basic))
	}
	rest := all.data[all.pos:]
	if n := len(h.offsets) / 8; n > 0 && n == len(h.length)/8 {
		if i >= n {
			return nil, bad(-1, "frame %d: the extended offset table has %d", i, n)
		}
		at, size := binary.LittleEndian.Uint64(h.offsets[8*i:]), binary.LittleEndian.Uint64(h.length[8*i:])
		if at > uint64(len(rest)) || uint64(len(rest))-at < 8 || size > uint64(len(rest))-at-8 {
			return nil, bad(-1, "frame %d has %d bytes at %d of the fragments: there are %d", i, size, at, len(rest))
		}
		return rest[at+8:][:size], nil
	}
	if n := len(basic) / 4; n > 0 {
		if i >= n {
			return nil, bad(-1, "frame %d: the basic offset table has %d", i, n)
		}
		from, to := uint64(binary.LittleEndian.Uint32(basic[4*i:])), uint64(len(rest))
		if i+1 < n {
			to = uint64(binary.LittleEndian.Uint32(basic[4*i+4:]))
		}
		if from > to || to > uint64(len(rest)) {
			return nil, bad(-1, "frame %d is at %d to %d of the fragments: there are %d bytes", i, from, to, len(rest))
		}
		f := fragments{data: rest[from:to]}
		return join(&f, buf, func([]byte) bool { return false }), nil
	}
	n := 0
	for f := (fragments{data: rest}); f.next() != nil; {
		n++
	}
	f := fragments{data: rest}
	switch {
	case n == 0:
		return nil, bad(-1, "encapsulated pixels without fragments")
	case n == 1 && i > 0 || n < h.frames && n > 1:
		return nil, bad(-1, "frame %d of %d: there are %d fragments", i, h.frames, n)
	case n == 1:
		return f.next(), nil
	case n == h.frames:
		for range i {
			f.next()
		}
		return f.next(), nil
	case h.frames == 1:
		return join(&f, buf, func([]byte) bool { return false }), nil
	}
	for range i + 1 {
		if *buf = join(&f, buf, ends); len(*buf) == 0 {
			return nil, bad(-1, "frame %d: the fragments have fewer JPEG images", i)
		}
	}
	return *buf, nil
}

// ends reports whether a fragment is the last one of a JPEG image.
func ends(fragment []byte) bool {
	return bytes.Contains(fragment[max(len(fragment)-10, 0):], []byte{0xFF, 0xD9})
}

// join joins fragments up to the first one for which last is true. It returns a
// single one as it is.
func join(f *fragments, buf *[]byte, last func([]byte) bool) []byte {
	one := f.next()
	if one == nil || last(one) {
		return one
	}
	b := append((*buf)[:0], one...)
	for {
		part := f.next()
		if part == nil {
			break
		}
		b = append(b, part...)
		if last(part) {
			break
		}
	}
	*buf = b
	return b
}
