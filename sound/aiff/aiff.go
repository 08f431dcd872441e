// Package aiff decodes AIFF and AIFF-C files: PCM of 8 to 32 bits, floating
// point, A-law and mu-law.
//
// The samples are those of libsndfile. Their number follows from the size of
// the data, not from the number in the chunk "COMM". Data that ends before its
// stated size is decoded as far as it goes. The chunk "COMM" must come before
// "SSND", because sounds are read from front to end.
package aiff

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
)

const name = "aiff"

func init() {
	sound.Register(sound.Format{Name: name, Magic: []string{"FORM????AIFF", "FORM????AIFC"}, New: func() sound.FormatDecoder { return &decoder{} }})
}

type decoder struct {
	sound.PCM
	in *sound.Input
}

// errorf returns an error at the position.
func (d *decoder) errorf(kind error, format string, args ...any) error {
	return codec.Errorf(name, d.in.Offset(), kind, format, args...)
}

// Open reads the chunks up to the data.
func (d *decoder) Open(in *sound.Input, _ codec.Limits) (h sound.Header, err error) {
	d.in = in
	in.Skip(12)
	var e sound.Encoding
	known := false
	for {
		b := in.Peek(8)
		if len(b) < 8 {
			return h, d.errorf(codec.ErrFormat, "the file ends without a chunk \"SSND\"")
		}
		id, size := [4]byte(b), int64(binary.BigEndian.Uint32(b[4:]))
		in.Skip(8)
		switch string(id[:]) {
		case "COMM":
			if known {
				return h, d.errorf(codec.ErrFormat, "a second chunk \"COMM\"")
			}
			if h, e, err = d.common(size); err != nil {
				return h, err
			}
			known = true
		case "SSND":
			if !known {
				return h, d.errorf(codec.ErrUnsupported, "chunk \"SSND\" comes before chunk \"COMM\"")
			}
			return h, d.samples(&h, e, size)
		}
		if !in.Discard(size + size&1) {
			return h, d.errorf(codec.ErrFormat, "chunk %q of %d bytes: the file ends in it", string(id[:]), size)
		}
	}
}

// common reads the chunk "COMM" without moving the position.
func (d *decoder) common(size int64) (h sound.Header, e sound.Encoding, err error) {
	const least, extended = 18, 22
	b := d.in.Peek(extended)
	if size < least || len(b) < least {
		return h, e, d.errorf(codec.ErrFormat, "chunk \"COMM\" has %d bytes: want at least %d", min(size, int64(len(b))), least)
	}
	h.Channels = int(binary.BigEndian.Uint16(b))
	bits := int(binary.BigEndian.Uint16(b[6:]))
	if h.Rate = rate(b[8:18]); h.Rate < 1 {
		return h, e, d.errorf(codec.ErrFormat, "the sampling rate is the 80-bit number %x: want 1 to %d Hz", b[8:18], maxRate)
	}
	kind := "NONE"
	if size >= extended {
		if len(b) < extended {
			return h, e, d.errorf(codec.ErrFormat, "chunk \"COMM\": the file ends in it")
		}
		kind = string(b[18:22])
	}
	little := sound.Encoding(0)
	switch kind {
	case "fl32", "FL32":
		e, h.Variant = sound.F32BE, "32-bit float"
	case "fl64", "FL64":
		e, h.Variant = sound.F64BE, "64-bit float"
	case "ulaw", "ULAW":
		e, h.Variant = sound.MuLaw, "mu-law"
	case "alaw", "ALAW":
		e, h.Variant = sound.ALaw, "A-law"
	case "raw ":
		if e, h.Variant = sound.U8, "8-bit PCM"; bits != 8 {
			return h, e, d.errorf(codec.ErrUnsupported, "%d bits of compression \"raw \": want 8", bits)
		}
	case "sowt", "42n1", "23ni":
		little = 1
		fallthrough
	case "NONE", "twos", "in24", "in32":
		switch (bits + 7) / 8 {
		case 1:
			e, h.Variant, little = sound.S8, "8-bit PCM", 0
		case 2:
			e, h.Variant = sound.S16BE, "16-bit PCM"
		case 3:
			e, h.Variant = sound.S24BE, "24-bit PCM"
		case 4:
			e, h.Variant = sound.S32BE, "32-bit PCM"
		default:
			return h, e, d.errorf(codec.ErrUnsupported, "%d bits a sample: want 8 to 32", bits)
		}
		e -= little
	default:
		return h, e, d.errorf(codec.ErrUnsupported, "compression %q: want PCM, floating point, A-law or mu-law", kind)
	}
	return h, e, nil
}

// maxRate is the largest sampling rate. The exponent of its 80-bit number is
// 0x401c.
const maxRate = 1<<30 - 1

// rate returns the integer part of an 80-bit floating-point number, -1 outside
// of 1 to maxRate.
func rate(b []byte) int {
	exponent := int(binary.BigEndian.Uint16(b)) - 0x3fff
	if exponent < 0 || exponent > 29 {
		return -1
	}
	return int(binary.BigEndian.Uint32(b[2:]) >> (31 - exponent))
}

// samples computes the number of samples, with the position behind the header
// of the chunk "SSND".
func (d *decoder) samples(h *sound.Header, e sound.Encoding, size int64) error {
	b := d.in.Peek(8)
	if size < 8 || len(b) < 8 {
		return d.errorf(codec.ErrFormat, "chunk \"SSND\" has %d bytes: want at least 8", min(size, int64(len(b))))
	}
	offset := int64(binary.BigEndian.Uint32(b))
	d.in.Skip(8)
	size -= 8 + offset
	if size < 0 || !d.in.Discard(offset) {
		return d.errorf(codec.ErrFormat, "the samples begin %d bytes after the header of chunk \"SSND\": the data ends before it", offset)
	}
	if d.in.Whole() {
		size = min(size, int64(len(d.in.Peek(0))))
	}
	h.Samples = 0
	if block := int64(e.Size() * h.Channels); block > 0 {
		h.Samples = size / block
	}
	d.PCM.Reset(d.in, e, h.Samples)
	return nil
}
