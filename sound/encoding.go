package sound

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
)

// Encoding is the form of a sample in uncompressed data.
type Encoding uint8

// The encodings. LE is little-endian, BE big-endian.
const (
	U8    Encoding = iota // (v-128)/128
	S8                    // v/128
	S16LE                 // v/32768
	S16BE
	S24LE // v/8388608, three bytes
	S24BE
	S32LE // v/2147483648, rounded to float32
	S32BE
	F32LE // as stored
	F32BE
	F64LE // rounded to float32
	F64BE
	ALaw  // G.711: 13 bits, scaled to 16
	MuLaw // G.711: 14 bits, scaled to 16
)

var encodingNames = []string{"u8", "s8", "s16le", "s16be", "s24le", "s24be", "s32le", "s32be", "f32le", "f32be", "f64le", "f64be", "alaw", "mulaw"}
var encodingSizes = [...]int{1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 8, 8, 1, 1}

// String returns the name, such as "s16le".
func (e Encoding) String() string { return enum.String("encoding", encodingNames, e) }

// MarshalText returns the name.
func (e Encoding) MarshalText() ([]byte, error) { return enum.Format("encoding", encodingNames, e) }

// UnmarshalText parses the name.
func (e *Encoding) UnmarshalText(t []byte) error { return enum.Parse(e, "encoding", encodingNames, t) }

// EncodingNames returns the names of all encodings.
func EncodingNames() []string { return append([]string(nil), encodingNames...) }

// Size returns the number of bytes of a sample.
func (e Encoding) Size() int { return encodingSizes[e] }

// Convert decodes interleaved samples into dst, one slice for each channel. All
// slices have the length of the first, and src the bytes of all samples.
func (e Encoding) Convert(dst [][]float32, src []byte) {
	size := e.Size()
	step := size * len(dst)
	for c, out := range dst {
		out = out[:len(dst[0])]
		e.convert(out, src[c*size:], step)
	}
}

// convert decodes a sample at every step-th byte.
func (e Encoding) convert(out []float32, src []byte, step int) {
	const norm16, norm24, norm32 = 1.0 / (1 << 15), 1.0 / (1 << 23), 1.0 / (1 << 31)
	le, be := binary.LittleEndian, binary.BigEndian
	at := 0
	switch e {
	case U8:
		for i := range out {
			out[i] = float32(float32(int(src[at])-128) * (1.0 / 128))
			at += step
		}
	case S8:
		for i := range out {
			out[i] = float32(float32(int8(src[at])) * (1.0 / 128))
			at += step
		}
	case S16LE:
		for i := range out {
			out[i] = float32(float32(int16(le.Uint16(src[at:]))) * norm16)
			at += step
		}
	case S16BE:
		for i := range out {
			out[i] = float32(float32(int16(be.Uint16(src[at:]))) * norm16)
			at += step
		}
	case S24LE:
		for i := range out {
			b := src[at : at+3]
			out[i] = float32(float32(int32(b[2])<<24>>8|int32(b[1])<<8|int32(b[0])) * norm24)
			at += step
		}
	case S24BE:
		for i := range out {
			b := src[at : at+3]
			out[i] = float32(float32(int32(b[0])<<24>>8|int32(b[1])<<8|int32(b[2])) * norm24)
			at += step
		}
	case S32LE:
		for i := range out {
			out[i] = float32(float32(int32(le.Uint32(src[at:]))) * norm32)
			at += step
		}
	case S32BE:
		for i := range out {
			out[i] = float32(float32(int32(be.Uint32(src[at:]))) * norm32)
			at += step
		}
	case F32LE:
		for i := range out {
			out[i] = math.Float32frombits(le.Uint32(src[at:]))
			at += step
		}
	case F32BE:
		for i := range out {
			out[i] = math.Float32frombits(be.Uint32(src[at:]))
			at += step
		}
	case F64LE:
		for i := range out {
			out[i] = float32(math.Float64frombits(le.Uint64(src[at:])))
			at += step
		}
	case F64BE:
		for i := range out {
			out[i] = float32(math.Float64frombits(be.Uint64(src[at:])))
			at += step
		}
	case ALaw:
		for i := range out {
			out[i] = float32(float32(expandA(src[at])) * norm16)
			at += step
		}
	case MuLaw:
		for i := range out {
			out[i] = float32(float32(expandMu(src[at])) * norm16)
			at += step
		}
	}
}

// expandA decodes a byte of A-law.
func expandA(b byte) int {
	b ^= 0x55
	v, segment := int(b&0x0f)<<4+8, b>>4&7
	if segment > 0 {
		v = (v + 0x100) << (segment - 1)
	}
	if b&0x80 == 0 {
		return -v
	}
	return v
}

// expandMu decodes a byte of mu-law.
func expandMu(b byte) int {
	const bias = 0x84
	b = ^b
	v := (int(b&0x0f)<<3+bias)<<(b>>4&7) - bias
	if b&0x80 != 0 {
		return -v
	}
	return v
}

// PCM reads uncompressed samples of an Input. A format's decoder calls Reset
// once it has read the header.
type PCM struct {
	in       *Input
	encoding Encoding
	left     int64 // samples; -1 is up to the end
	part     [][]float32
}

// Reset prepares to read samples of interleaved channels from in's position on.
// A negative number of samples means all up to the end of the data.
func (p *PCM) Reset(in *Input, e Encoding, samples int64) {
	p.in, p.encoding, p.left = in, e, samples
}

// pcmBytes is the number of bytes that PCM converts at once.
const pcmBytes = 32 << 10

// Read is FormatDecoder's.
func (p *PCM) Read(dst [][]float32) (n int, err error) {
	block := p.encoding.Size() * len(dst)
	for n < len(dst[0]) {
		want := min(len(dst[0])-n, max(1, pcmBytes/block))
		if p.left >= 0 {
			want = int(min(int64(want), p.left))
		}
		src := p.in.Peek(want * block)
		want = min(want, len(src)/block)
		if want == 0 {
			return n, io.EOF
		}
		p.part = p.part[:0]
		for _, d := range dst {
			p.part = append(p.part, d[n:n+want])
		}
		p.encoding.Convert(p.part, src[:want*block])
		p.in.Skip(want * block)
		n += want
		if p.left >= 0 {
			p.left -= int64(want)
		}
	}
	return n, nil
}
