// Package wav decodes WAV files: PCM of 8 to 32 bits, floating point, A-law and
// mu-law, in RIFF, RIFX (big-endian), RF64 and BW64. Encode writes samples in
// memory as such a file.
//
// The samples and the treatment of damaged sizes are those of libsndfile. Data
// that ends before its stated size is decoded as far as it goes, so the size
// 0xFFFFFFFF that programs write into pipes is accepted. A size of 0 means all
// data up to the end if the RIFF size is 8, which is the header of an
// unfinished file; otherwise the sound has no samples. libsndfile does not know
// BW64, which is read as RF64.
package wav

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
)

const name = "wav"

func init() {
	sound.Register(sound.Format{
		Name: name, Magic: []string{"RIFF????WAVE", "RIFX????WAVE", "RF64????WAVE", "BW64????WAVE"},
		New: func() sound.FormatDecoder { return &decoder{} },
	})
}

type decoder struct {
	sound.PCM
	in    *sound.Input
	order binary.ByteOrder
	long  bool  // RF64 or BW64
	data  int64 // size of the data, from ds64; -1 without
}

// The format tags of WAVE files.
const (
	tagPCM        = 1
	tagFloat      = 3
	tagALaw       = 6
	tagMuLaw      = 7
	tagExtensible = 0xfffe
)

// tags names the unsupported formats.
var tags = map[uint16]string{
	0x0002: "Microsoft ADPCM", 0x0011: "IMA ADPCM", 0x0031: "GSM 6.10", 0x0040: "G.721 ADPCM", 0x0050: "MPEG audio", 0x0055: "MP3",
	0x0092: "AC-3", 0x00ff: "AAC", 0x0161: "WMA", 0x0162: "WMA Pro", 0x566f: "Vorbis", 0x1610: "AAC",
}

// The rest of the GUIDs of WAVE_FORMAT_EXTENSIBLE, after the tag: that of
// Microsoft and that of ambisonic B-format.
const (
	guidMicrosoft = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
	guidAmbisonic = "\x00\x00\x21\x07\xd3\x11\x86\x44\xc8\xc1\xca\x00\x00\x00"
)

// errorf returns an error at the position.
func (d *decoder) errorf(kind error, format string, args ...any) error {
	return codec.Errorf(name, d.in.Offset(), kind, format, args...)
}

// Open reads the chunks up to the data.
func (d *decoder) Open(in *sound.Input, _ codec.Limits) (h sound.Header, err error) {
	*d = decoder{PCM: d.PCM, in: in, order: binary.LittleEndian, data: -1}
	head := in.Peek(12)
	if len(head) < 12 {
		return h, d.errorf(codec.ErrFormat, "the header ends early")
	}
	switch string(head[:4]) {
	case "RIFX":
		d.order = binary.BigEndian
	case "RF64", "BW64":
		d.long = true
	}
	riff := d.order.Uint32(head[4:])
	if in.Whole() {
		riff = min(riff, uint32(min(int64(len(head))-8, 1<<32-1)))
	}
	in.Skip(12)
	var e sound.Encoding
	known := false
	for {
		chunk := in.Peek(8)
		if len(chunk) < 8 {
			return h, d.errorf(codec.ErrFormat, "the file ends without a chunk \"data\"")
		}
		id, size := [4]byte(chunk), int64(d.order.Uint32(chunk[4:]))
		switch string(id[:]) {
		case "fmt ":
			in.Skip(8)
			if known {
				return h, d.errorf(codec.ErrFormat, "a second chunk \"fmt \"")
			}
			if h, e, err = d.format(size); err != nil {
				return h, err
			}
			known = true
		case "ds64":
			in.Skip(8)
			if d.long && d.data < 0 {
				if err := d.sizes(size); err != nil {
					return h, err
				}
			}
		case "data":
			in.Skip(8)
			if !known {
				return h, d.errorf(codec.ErrFormat, "chunk \"data\" comes before chunk \"fmt \"")
			}
			return h, d.samples(&h, e, size, riff)
		default:
			if !printable(id) {
				return h, d.errorf(codec.ErrFormat, "chunk %q: want four printable characters", string(id[:]))
			}
			in.Skip(8)
		}
		if size&1 != 0 && !d.long {
			size++
		}
		if !in.Discard(size) {
			return h, d.errorf(codec.ErrFormat, "chunk %q of %d bytes: the file ends in it", string(id[:]), size)
		}
	}
}

func printable(id [4]byte) bool {
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

// format reads the chunk "fmt " without moving the position.
func (d *decoder) format(size int64) (h sound.Header, e sound.Encoding, err error) {
	const least, extended = 16, 40
	b := d.in.Peek(int(min(size, extended)))
	b = b[:min(size, int64(len(b)))]
	if len(b) < least {
		return h, e, d.errorf(codec.ErrFormat, "chunk \"fmt \" has %d bytes: want at least %d", len(b), least)
	}
	tag := d.order.Uint16(b)
	rate := d.order.Uint32(b[4:])
	h.Channels, h.Rate = int(d.order.Uint16(b[2:])), int(rate)
	align, bits := int(d.order.Uint16(b[12:])), int(d.order.Uint16(b[14:]))
	if rate > 1<<31-1 {
		return h, e, d.errorf(codec.ErrFormat, "a sampling rate of %d Hz: want at most 2147483647", rate)
	}
	if tag == tagPCM && bits == 24 && align == 4*h.Channels {
		return h, e, d.errorf(codec.ErrUnsupported, "24 bits in blocks of %d bytes for each channel, which programs use for different formats", align/max(h.Channels, 1))
	}
	if tag == tagExtensible {
		if len(b) < extended {
			return h, e, d.errorf(codec.ErrFormat, "chunk \"fmt \" has %d bytes: want %d for WAVE_FORMAT_EXTENSIBLE", len(b), extended)
		}
		guid := string(b[26:40])
		tag = d.order.Uint16(b[24:])
		if d.order == binary.BigEndian { // the first three fields are numbers
			tag = d.order.Uint16(b[26:])
			guid = string([]byte{b[25], b[24], b[29], b[28], b[31], b[30]}) + string(b[32:40])
		}
		if guid != guidMicrosoft && (guid != guidAmbisonic || tag != tagPCM && tag != tagFloat) {
			return h, e, d.errorf(codec.ErrUnsupported, "WAVE_FORMAT_EXTENSIBLE with the GUID %x", b[24:40])
		}
	}
	big := 0
	if d.order == binary.BigEndian {
		big = 1
	}
	switch bytes := (bits + 7) / 8; {
	case tag == tagPCM && bytes == 1:
		e, h.Variant = sound.U8, "8-bit PCM"
	case tag == tagPCM && bytes == 2:
		e, h.Variant = sound.S16LE+sound.Encoding(big), "16-bit PCM"
	case tag == tagPCM && bytes == 3:
		e, h.Variant = sound.S24LE+sound.Encoding(big), "24-bit PCM"
	case tag == tagPCM && bytes == 4:
		e, h.Variant = sound.S32LE+sound.Encoding(big), "32-bit PCM"
	case tag == tagFloat && bytes == 4:
		e, h.Variant = sound.F32LE+sound.Encoding(big), "32-bit float"
	case tag == tagFloat && bytes == 8:
		e, h.Variant = sound.F64LE+sound.Encoding(big), "64-bit float"
	case tag == tagALaw:
		e, h.Variant = sound.ALaw, "A-law"
	case tag == tagMuLaw:
		e, h.Variant = sound.MuLaw, "mu-law"
	case tag == tagPCM || tag == tagFloat:
		return h, e, d.errorf(codec.ErrUnsupported, "%d bits a sample: want 8 to 32 for PCM, 32 or 64 for floating point", bits)
	default:
		what := tags[tag]
		if what == "" {
			what = "format"
		}
		return h, e, d.errorf(codec.ErrUnsupported, "%s (tag %#04x): want PCM, floating point, A-law or mu-law", what, tag)
	}
	return h, e, nil
}

// sizes reads the chunk "ds64" without moving the position.
func (d *decoder) sizes(size int64) error {
	const need = 24 // riff size, data size, samples
	b := d.in.Peek(need)
	if size < need || len(b) < need {
		return d.errorf(codec.ErrFormat, "chunk \"ds64\" has %d bytes: want at least %d", min(size, int64(len(b))), need)
	}
	n := d.order.Uint64(b[8:])
	if n > 1<<62 {
		return d.errorf(codec.ErrFormat, "chunk \"ds64\": %d bytes of data", n)
	}
	d.data = int64(n)
	return nil
}

// samples computes the number of samples, with the position at the first.
func (d *decoder) samples(h *sound.Header, e sound.Encoding, size int64, riff uint32) error {
	if d.long {
		if d.data < 0 {
			return d.errorf(codec.ErrFormat, "no chunk \"ds64\" before chunk \"data\"")
		}
		size = d.data
	}
	if b := d.in.Peek(4); len(b) >= 4 && (string(b[:4]) == "wvpk" || string(b[:4]) == "OggS") {
		return d.errorf(codec.ErrUnsupported, "the data is WavPack or Ogg")
	}
	all := size == 0 && riff == 8 // an unfinished file
	if d.in.Whole() {
		if have := int64(len(d.in.Peek(0))); all || size > have {
			size, all = have, false
		}
	} else if size >= 1<<32-2 && !d.long {
		all = true // a pipe's
	}
	h.Samples = -1
	if block := int64(e.Size() * h.Channels); !all && block > 0 {
		h.Samples = size / block
	}
	d.PCM.Reset(d.in, e, h.Samples)
	return nil
}
