package flac

import (
	"encoding/binary"
	"io"
	"strconv"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
)

const name = "flac"

func init() {
	sound.Register(sound.Format{Name: name, Magic: []string{"fLaC"}, New: func() sound.FormatDecoder { return &decoder{} }})
}

// streamInfo is the metadata block STREAMINFO.
type streamInfo struct {
	leastBlock, mostBlock int
	mostFrame             int // bytes of the largest frame, 0 if unknown
	rate, channels, bits  int
	samples               int64 // 0 if unknown
}

func (s *streamInfo) parse(b []byte) {
	s.leastBlock, s.mostBlock = int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	s.mostFrame = int(b[7])<<16 | int(b[8])<<8 | int(b[9])
	x := binary.BigEndian.Uint64(b[10:])
	s.rate, s.channels, s.bits = int(x>>44), int(x>>41&7)+1, int(x>>36&31)+1
	s.samples = int64(x & (1<<36 - 1))
}

// variant names the number of bits.
func (s *streamInfo) variant() string {
	switch s.bits {
	case 8:
		return "8-bit"
	case 16:
		return "16-bit"
	case 24:
		return "24-bit"
	}
	return strconv.Itoa(s.bits) + "-bit"
}

type decoder struct {
	in     *sound.Input
	limits codec.Limits
	stream streamInfo
	frame  frame
	pos    int   // samples of frame that have been returned
	len    int   // samples of frame
	next   int64 // number of the first sample of the next frame
	left   int64 // samples to return; -1 if unknown
}

// Open reads the metadata.
func (d *decoder) Open(in *sound.Input, l codec.Limits) (h sound.Header, err error) {
	*d = decoder{in: in, limits: l, frame: d.frame}
	in.Skip(4)
	found := false
	for last := false; !last; {
		b := in.Peek(4)
		if len(b) < 4 {
			return h, codec.Errorf(name, in.Offset(), codec.ErrFormat, "the metadata ends early")
		}
		kind, size := b[0]&0x7f, int64(b[1])<<16|int64(b[2])<<8|int64(b[3])
		last = b[0]&0x80 != 0
		in.Skip(4)
		if kind == 0 {
			b := in.Peek(streamBlock)
			if size < streamBlock || len(b) < streamBlock {
				return h, codec.Errorf(name, in.Offset(), codec.ErrFormat, "STREAMINFO has %d bytes: want %d", min(size, int64(len(b))), streamBlock)
			}
			d.stream.parse(b)
			found = true
		}
		if !in.Discard(size) {
			return h, codec.Errorf(name, in.Offset(), codec.ErrFormat, "a metadata block of %d bytes: the file ends in it", size)
		}
	}
	s := &d.stream
	switch {
	case !found:
		return h, codec.Errorf(name, -1, codec.ErrFormat, "no metadata block STREAMINFO")
	case s.bits < 4:
		return h, codec.Errorf(name, -1, codec.ErrFormat, "%d bits a sample: want 4 to 32", s.bits)
	}
	d.left = -1
	if s.samples > 0 {
		d.left = s.samples
	}
	if d.left < 0 && in.Whole() {
		if d.left, err = d.count(); err != nil {
			return h, err
		}
	}
	return sound.Header{Variant: s.variant(), Rate: s.rate, Channels: s.channels, Samples: d.left}, nil
}

// count decodes the frames up to the end of the data, or up to more than the
// limit, and returns their samples. The position does not move.
func (d *decoder) count() (n int64, err error) {
	start := *d.in
	for err == nil && (d.limits.Bytes <= 0 || 4*n*int64(d.stream.channels) <= d.limits.Bytes) {
		if err = d.read(); err == nil {
			n += int64(d.len)
		}
	}
	*d.in = start
	d.pos, d.len, d.next = 0, 0, 0
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// Read is FormatDecoder's.
func (d *decoder) Read(dst [][]float32) (n int, err error) {
	for n < len(dst[0]) {
		if d.left == 0 {
			return n, io.EOF
		}
		if d.pos == d.len {
			if err := d.read(); err != nil {
				return n, err
			}
		}
		k := min(d.len-d.pos, len(dst[0])-n)
		if d.left > 0 {
			k = int(min(int64(k), d.left))
			d.left -= int64(k)
		}
		scale := 1 / float32(uint32(1)<<uint(d.frame.bits-1))
		for c, out := range dst {
			out, in := out[n:n+k], d.frame.samples[c][d.pos:d.pos+k]
			for i, x := range in {
				out[i] = float32(float32(x) * scale)
			}
		}
		d.pos += k
		n += k
	}
	return n, nil
}

// maxFrame bounds the bytes of a frame: more than that no encoder writes for
// the largest block of eight channels.
const maxFrame = maxBlock*maxChannels*4 + 4096

// firstPeek is the number of bytes that are first asked for to decode a frame.
const firstPeek = 32 << 10

// read decodes the next frame. It returns io.EOF if there is no more data.
func (d *decoder) read() error {
	d.pos, d.len = 0, 0
	f := &d.frame
	for want := firstPeek; ; want *= 2 {
		b := d.in.Peek(want)
		if len(b) == 0 {
			if d.left > 0 {
				return damaged(d.in.Offset(), "the data ends, "+strconv.FormatInt(d.left, 10)+" samples are missing")
			}
			return io.EOF
		}
		more := !d.in.Whole() && len(b) >= want && want < maxFrame
		what, err := f.parse(b, &d.stream)
		size := 0
		if err == nil && what == "" {
			if what = d.fits(); what == "" {
				size, what, err = f.decode(b)
			}
		}
		switch {
		case err == errShort && more:
			continue
		case err == errShort:
			return damaged(d.in.Offset(), "the data ends in it")
		case err != nil:
			return err
		case what != "":
			return damaged(d.in.Offset(), what)
		}
		d.in.Skip(size)
		d.len, d.next = f.block, f.first+int64(f.block)
		return nil
	}
}

// fits checks a frame's header against the stream and the frames before. It
// returns what is wrong.
func (d *decoder) fits() string {
	f := &d.frame
	if f.channels != d.stream.channels {
		return strconv.Itoa(f.channels) + " channels, the stream has " + strconv.Itoa(d.stream.channels)
	}
	if f.fixed {
		block := d.stream.leastBlock
		if block != d.stream.mostBlock {
			block = f.block
		}
		f.first *= int64(block)
	}
	if d.next > 0 && f.first > d.next {
		return "frames are missing before it: its first sample is " + strconv.FormatInt(f.first, 10) + ", want " + strconv.FormatInt(d.next, 10)
	}
	return ""
}
