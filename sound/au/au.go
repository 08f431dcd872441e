// Package au decodes AU files, those of Sun and NeXT: PCM of 8 to 32 bits,
// floating point, A-law and mu-law, in both byte orders.
//
// The samples are those of libsndfile. Data that ends before its stated size is
// decoded as far as it goes, and a size of 0xFFFFFFFF means all data up to the
// end.
package au

import (
	"encoding/binary"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
)

const name = "au"

func init() {
	sound.Register(sound.Format{Name: name, Magic: []string{".snd", "dns."}, New: func() sound.FormatDecoder { return &decoder{} }})
}

type decoder struct{ sound.PCM }

// encoding is a sample's form in big-endian files. order is 1 if little-endian
// files have the encoding before it.
type encoding struct {
	encoding sound.Encoding
	order    sound.Encoding
	variant  string
}

// encodings are the ones that are decoded, by their numbers in the header.
var encodings = map[uint32]encoding{
	1: {sound.MuLaw, 0, "mu-law"}, 2: {sound.S8, 0, "8-bit PCM"}, 3: {sound.S16BE, 1, "16-bit PCM"}, 4: {sound.S24BE, 1, "24-bit PCM"},
	5: {sound.S32BE, 1, "32-bit PCM"}, 6: {sound.F32BE, 1, "32-bit float"}, 7: {sound.F64BE, 1, "64-bit float"}, 27: {sound.ALaw, 0, "A-law"},
}

// others names encodings that are not decoded.
var others = map[uint32]string{23: "G.721 ADPCM", 24: "G.722 ADPCM", 25: "G.723 ADPCM", 26: "G.723 ADPCM"}

// headerBytes is the size of the header without its text.
const headerBytes = 24

// Open reads the header.
func (d *decoder) Open(in *sound.Input, _ codec.Limits) (h sound.Header, err error) {
	b := in.Peek(headerBytes)
	if len(b) < headerBytes {
		return h, codec.Errorf(name, 0, codec.ErrFormat, "the header ends early: %d of %d bytes", len(b), headerBytes)
	}
	var order binary.ByteOrder = binary.BigEndian
	if b[0] == 'd' {
		order = binary.LittleEndian
	}
	field := func(i int) uint32 { return order.Uint32(b[4*i:]) }
	offset, size, number, rate, channels := int64(field(1)), int64(field(2)), field(3), field(4), field(5)
	e, ok := encodings[number]
	switch {
	case !ok && others[number] != "":
		return h, codec.Errorf(name, 12, codec.ErrUnsupported, "%s: want PCM, floating point, A-law or mu-law", others[number])
	case !ok:
		return h, codec.Errorf(name, 12, codec.ErrUnsupported, "encoding %d: want PCM, floating point, A-law or mu-law", number)
	case rate > 1<<31-1:
		return h, codec.Errorf(name, 16, codec.ErrFormat, "a sampling rate of %d Hz: want at most 2147483647", rate)
	case offset < headerBytes:
		return h, codec.Errorf(name, 4, codec.ErrFormat, "the samples begin at byte %d: want at least %d", offset, headerBytes)
	case channels > sound.MaxChannels:
		return h, codec.Errorf(name, 20, codec.ErrFormat, "%d channels: want 1 to %d", channels, sound.MaxChannels)
	}
	if order == binary.LittleEndian {
		e.encoding -= e.order
	}
	if !in.Discard(offset) {
		return h, codec.Errorf(name, 4, codec.ErrFormat, "the samples begin at byte %d: the file ends before it", offset)
	}
	h = sound.Header{Variant: e.variant, Rate: int(rate), Channels: int(channels), Samples: -1}
	all := size == 1<<32-1
	if in.Whole() {
		if have := int64(len(in.Peek(0))); all || size > have {
			size, all = have, false
		}
	}
	if block := int64(e.encoding.Size()) * int64(channels); !all && block > 0 {
		h.Samples = size / block
	}
	d.PCM.Reset(in, e.encoding, h.Samples)
	return h, nil
}
