package tiff

import (
	"encoding/binary"
	"math/bits"
)

// hostBig reports whether the machine is big-endian.
var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// swapped reports whether the samples of the file have another byte order than
// the machine's.
func (d *directory) swapped() bool { return (d.order == binary.ByteOrder(binary.BigEndian)) != hostBig }

// fillSamples writes w times n samples of size bytes, or zeros if sample is
// nil. A pixel of dst has the given bytes.
func fillSamples(dst []byte, w, n, pixel, size int, sample []byte) {
	for x := range w {
		p := dst[x*pixel:][:n*size]
		if sample == nil {
			clear(p)
			continue
		}
		for k := 0; k < len(p); k += size {
			copy(p[k:], sample)
		}
	}
}

// scatter writes w samples of one band.
func scatter(dst, src []byte, w, pixel, size int) { stride(dst, src, w, pixel, size, size) }

// gather writes the samples of the bands for w pixels. A pixel of src has from
// bytes, one of dst has to.
func gather(dst, src []byte, w, to, from, size int, bands []int) {
	for k, band := range bands {
		stride(dst[k*size:], src[band*size:], w, to, from, size)
	}
}

// stride copies w samples that are from bytes apart to places that are to bytes
// apart.
func stride(dst, src []byte, w, to, from, size int) {
	switch size {
	case 1:
		for x := range w {
			dst[x*to] = src[x*from]
		}
	case 2:
		for x := range w {
			*(*[2]byte)(dst[x*to:]) = [2]byte(src[x*from:])
		}
	case 4:
		for x := range w {
			*(*[4]byte)(dst[x*to:]) = [4]byte(src[x*from:])
		}
	default:
		for x := range w {
			*(*[8]byte)(dst[x*to:]) = [8]byte(src[x*from:])
		}
	}
}

// swapSamples exchanges the bytes of w times n samples.
func swapSamples(dst []byte, w, n, pixel, size int) {
	for x := range w {
		p := dst[x*pixel:][:n*size]
		switch size {
		case 2:
			for k := 0; k < len(p); k += 2 {
				p[k], p[k+1] = p[k+1], p[k]
			}
		case 4:
			for k := 0; k < len(p); k += 4 {
				binary.NativeEndian.PutUint32(p[k:], bits.ReverseBytes32(binary.NativeEndian.Uint32(p[k:])))
			}
		case 8:
			for k := 0; k < len(p); k += 8 {
				binary.NativeEndian.PutUint64(p[k:], bits.ReverseBytes64(binary.NativeEndian.Uint64(p[k:])))
			}
		}
	}
}

// unpackBitsOf writes w times n samples of fewer bits than the bytes that they
// get. The first one is sample number from of the row src, whose samples follow
// each other without gaps, the highest bit first.
func unpackBitsOf(dst, src []byte, width, from, w, n, pixel, size int) {
	at := from * width
	for x := range w {
		p := dst[x*pixel:]
		for k := range n {
			v := uint32(0)
			for i := range 3 {
				v <<= 8
				if at/8+i < len(src) {
					v |= uint32(src[at/8+i])
				}
			}
			v = v >> (24 - width - at%8) & (1<<width - 1)
			if size == 1 {
				p[k] = byte(v)
			} else {
				binary.NativeEndian.PutUint16(p[2*k:], uint16(v))
			}
			at += width
		}
	}
}
