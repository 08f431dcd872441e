package dicom

import (
	"encoding/binary"
	"math"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// source is a frame of samples.
type source struct {
	data   []byte
	size   int  // bytes of a sample; 0 for bits
	at     int  // the first bit, if the samples are bits
	planar bool // a plane for each sample
	big    bool // big-endian
	swap   bool // pairs of bytes are exchanged
	half   bool // Y1 Y2 Cb Cr for two pixels
}

// bigEndian reports whether the machine is.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// DecodeNative implements codec.NativeDecoder.
func (d *decoder) DecodeNative(dst []byte, region codec.Region) error {
	h := &d.h
	s, err := d.source()
	// Keep no memory of the caller's.
	defer func() { d.h, d.o = header{}, nil }()
	if err != nil {
		return err
	}
	ybr := h.is("YBR_FULL") || h.is("YBR_FULL_422")
	if ybr && d.dtype != tensor.Uint8 {
		return unsupported("%s of %v: want uint8", h.photometric, d.dtype)
	}
	samples, width := int(h.samples), int(h.columns)
	pixel := samples * d.dtype.Size()
	n := int(h.rows) * width
	for y := range region.Height {
		row := dst[y*region.Width*pixel:][:region.Width*pixel]
		s.row(row, (region.Top+y)*width+region.Left, n, samples)
		if s.size > 1 && s.big != bigEndian {
			reverse(row, s.size)
		}
		if unused := int(h.allocated) - int(h.stored); unused > 0 && h.pixels.tag == 0x7FE00010 && h.syntax.coding != jpeg2000 {
			dropUnused(row, d.dtype, unused)
		}
		if ybr {
			ybrToRGB(row)
		}
	}
	return nil
}

// source finds the frame, and decompresses it.
func (d *decoder) source() (source, error) {
	h := &d.h
	size := int(h.allocated) / 8
	samples, n := int(h.samples), int(h.rows)*int(h.columns)
	if h.syntax.coding == native {
		return h.native(d.index, n)
	}
	if size > 0 {
		if err := d.o.Limits.CheckSize(name, int(h.columns), int(h.rows), samples*size); err != nil {
			return source{}, err
		}
	}
	frame, err := h.frame(d.index, &d.joined)
	if err != nil {
		return source{}, err
	}
	if need := n * samples * size; cap(d.frame) < need {
		d.frame = make([]byte, need)
	} else {
		d.frame = d.frame[:need]
	}
	s := source{data: d.frame, size: size}
	switch s.planar, s.big = false, bigEndian; h.syntax.coding {
	case rle:
		s.planar, s.big = samples > 1, false
		return s, decodeRLE(d.frame, frame, n, samples, size)
	case jpeg2000:
		return s, d.decodeJPEG2000(frame)
	}
	return s, d.decodeJPEG(frame)
}

// native returns the samples of uncompressed frame i of n pixels, as pydicom's
// Decoder._as_array_native finds them.
func (h *header) native(i, n int) (source, error) {
	samples, data := int(h.samples), h.pixels.value
	s := source{data: data, size: int(h.allocated) / 8, planar: h.planar == 1 && samples > 1, big: h.syntax.big}
	bits := int64(n) * int64(samples) * int64(h.allocated)
	if h.is("YBR_FULL_422") {
		s.half = true
		bits = bits / 3 * 2
	}
	if s.size == 1 && h.syntax.big && h.pixels.vr == "OW" {
		s.swap = true
	}
	have := int64(len(data)) * 8
	if bits > 0 && int64(h.frames) > have/bits {
		return s, bad(-1, "Pixel Data (7FE0,0010) of %d bytes: want %d for %d frames", len(data), (bits+7)/8*int64(h.frames), h.frames)
	}
	if s.half && have/8 >= (bits*int64(h.frames)/8)/2*3 {
		return s, bad(-1, "Pixel Data (7FE0,0010) of %d bytes: too many for YBR_FULL_422", len(data))
	}
	at := int64(i) * bits
	if s.size == 0 {
		s.at = int(at % 8)
		s.data = data[at/8:]
		return s, nil
	}
	if s.swap && at/8%2 == 1 {
		// The bytes of a pair stay together.
		s.data, s.at = data[at/8-1:], 1
	} else {
		s.data = data[at/8:]
	}
	if s.swap && (int64(s.at)+bits/8)%2 == 1 && int64(len(s.data)) < int64(s.at)+bits/8+1 {
		return s, bad(-1, "Pixel Data (7FE0,0010) ends within a word")
	}
	return s, nil
}

// row copies the samples of pixels from pixel at on to dst, all samples of a
// pixel together. The frame has n pixels.
func (s *source) row(dst []byte, at, n, samples int) {
	switch {
	case s.size == 0:
		for i := range dst {
			k := s.at + at + i
			dst[i] = s.data[k>>3] >> (k & 7) & 1
		}
	case s.half:
		pair := 0
		if s.swap {
			pair = 1
		}
		for i := 0; i+3 <= len(dst); i += 3 {
			k := s.at + at/2*4
			dst[i], dst[i+1], dst[i+2] = s.data[(k+at%2)^pair], s.data[(k+2)^pair], s.data[(k+3)^pair]
			at++
		}
	case s.swap:
		for i := range dst {
			x, c := at+i/samples, i%samples
			k := x*samples + c
			if s.planar {
				k = c*n + x
			}
			dst[i] = s.data[(s.at+k)^1]
		}
	case s.planar:
		pixel := samples * s.size
		for c := range samples {
			from := s.data[(c*n+at)*s.size:]
			for i, k := c*s.size, 0; i < len(dst); i, k = i+pixel, k+s.size {
				copy(dst[i:i+s.size], from[k:k+s.size])
			}
		}
	default:
		copy(dst, s.data[at*samples*s.size:])
	}
}

// reverse reverses the bytes of every sample.
func reverse(b []byte, size int) {
	switch size {
	case 2:
		for i := 0; i+2 <= len(b); i += 2 {
			b[i], b[i+1] = b[i+1], b[i]
		}
	case 4:
		for i := 0; i+4 <= len(b); i += 4 {
			b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
		}
	case 8:
		for i := 0; i+8 <= len(b); i += 8 {
			binary.BigEndian.PutUint64(b[i:], binary.LittleEndian.Uint64(b[i:]))
		}
	}
}

// dropUnused makes the n highest bits of every sample 0, or the sign.
func dropUnused(b []byte, d tensor.DType, n int) {
	switch d {
	case tensor.Uint8:
		for i, v := range b {
			b[i] = v << n >> n
		}
	case tensor.Int8:
		for i, v := range b {
			b[i] = byte(int8(v<<n) >> n)
		}
	case tensor.Uint16:
		for i, w := 0, tensor.Cast[uint16](b); i < len(w); i++ {
			w[i] = w[i] << n >> n
		}
	case tensor.Int16:
		for i, w := 0, tensor.Cast[int16](b); i < len(w); i++ {
			w[i] = w[i] << n >> n
		}
	case tensor.Int32:
		for i, w := 0, tensor.Cast[int32](b); i < len(w); i++ {
			w[i] = w[i] << n >> n
		}
	case tensor.Int64:
		for i, w := 0, tensor.Cast[int64](b); i < len(w); i++ {
			w[i] = w[i] << n >> n
		}
	}
}

// ybrToRGB converts pixels as pydicom's _convert_YBR_FULL_to_RGB, in float32.
func ybrToRGB(b []byte) {
	const (
		gb = float32(-0.114 * 1.772 / 0.587)
		gr = float32(-0.299 * 1.402 / 0.587)
	)
	for i := 0; i+3 <= len(b); i += 3 {
		y, cb, cr := float32(b[i]), float32(b[i+1])-128, float32(b[i+2])-128
		b[i] = floor(y + float32(1.402*cr))
		b[i+1] = floor(float32(y+float32(gb*cb)) + float32(gr*cr))
		b[i+2] = floor(y + float32(1.772*cb))
	}
}

// floor rounds half up and clips to a byte.
func floor(v float32) byte {
	return byte(min(max(math.Floor(float64(v+0.5)), 0), 255))
}
