package mp3

import (
	"bytes"
	"io"
	"math"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/sound"
)

const name = "mp3"

func init() {
	sound.Register(sound.Format{
		Name: name,
		// The headers of frames of layer III, and ID3v2 tags.
		Magic: []string{"\xff\xfb", "\xff\xfa", "\xff\xf3", "\xff\xf2", "\xff\xe3", "\xff\xe2", "ID3"},
		New:   func() sound.FormatDecoder { return &decoder{} },
	})
}

const (
	maxJunk   = 64 << 10 // bytes before the first frame, mpg123's limit
	maxResync = 1024     // bytes between frames, mpg123's limit
	// filterDelay is the delay of the decoder, which is cut off together with
	// the encoder's.
	filterDelay = 529
)

type decoder struct {
	in     *sound.Input
	frames layer3
	first  frameHeader
	// The samples from begin to end, of those that are decoded, belong to the
	// sound.
	begin, end int64
	decoded    int64
	pos, len   int // samples of the frame that have been returned, and all
}

func (d *decoder) errorf(kind error, format string, args ...any) error {
	return codec.Errorf(name, d.in.Offset(), kind, format, args...)
}

// Open skips tags, finds the first frame and reads the encoder's tag.
func (d *decoder) Open(in *sound.Input, l codec.Limits) (h sound.Header, err error) {
	d.in = in
	d.frames.reset()
	d.begin, d.end, d.decoded, d.pos, d.len = 0, math.MaxInt64, 0, 0, 0
	if err = d.find(); err != nil {
		return h, err
	}
	if frames, delay, padding, ok := d.tag(in.Peek(d.first.size)[:d.first.size]); ok {
		in.Skip(d.first.size)
		if frames > 0 {
			d.begin = delay + filterDelay
			d.end = max(d.begin, frames*int64(d.first.samples())-padding+filterDelay)
		}
	}
	h = sound.Header{Variant: d.first.variant(), Rate: d.first.rate, Channels: d.first.channels, Samples: -1}
	if !in.Whole() {
		if d.end < math.MaxInt64 {
			h.Samples = d.end - d.begin
		}
		return h, nil
	}
	total, err := d.count()
	h.Samples = max(0, min(total, d.end)-d.begin)
	return h, err
}

// count returns the number of samples of all frames up to the end of the sound.
// The position does not move.
func (d *decoder) count() (n int64, err error) {
	start := *d.in
	for n < d.end {
		frame, err := d.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		n += int64(d.first.samples())
		d.in.Skip(len(frame))
	}
	*d.in = start
	d.frames.reset()
	return n, nil
}

// skipTag skips an ID3 or APE tag at the position. It reports whether there was
// one.
func (d *decoder) skipTag() bool {
	const id3v1, id3v2, ape = 128, 10, 32
	b := d.in.Peek(ape)
	size := int64(0)
	switch {
	case len(b) >= id3v2 && string(b[:3]) == "ID3" && (b[6]|b[7]|b[8]|b[9])&0x80 == 0:
		size = id3v2 + (int64(b[6])<<21 | int64(b[7])<<14 | int64(b[8])<<7 | int64(b[9]))
		if b[5]&0x10 != 0 { // a footer
			size += id3v2
		}
	case len(b) >= 3 && string(b[:3]) == "TAG":
		size = id3v1
	case len(b) >= ape && string(b[:8]) == "APETAGEX":
		size = ape + (int64(b[12]) | int64(b[13])<<8 | int64(b[14])<<16 | int64(b[15])<<24)
	default:
		return false
	}
	d.in.Discard(size) // if the data ends earlier, no frame follows
	return true
}

// find moves the position to the first frame and sets first.
func (d *decoder) find() error {
	h := &d.first
	for d.skipTag() {
	}
	b := d.in.Peek(headerBytes)
	if bytes.HasPrefix(b, []byte("fLaC")) {
		return d.errorf(codec.ErrUnsupported, "FLAC behind an ID3 tag: remove the tag")
	}
	if h.parse(b) {
		if h.layer != 3 {
			return d.errorf(codec.ErrUnsupported, "%s: want layer III", h.variant())
		}
		if h.bitrate == 0 {
			return d.errorf(codec.ErrUnsupported, "a free bit rate: want one of the bit rates of layer III")
		}
	}
	for skipped := 0; ; skipped++ {
		if skipped > 0 && d.skipTag() {
			continue
		}
		b := d.in.Peek(headerBytes)
		if len(b) < headerBytes {
			return d.errorf(codec.ErrFormat, "the data ends without a frame")
		}
		if h.parse(b) && h.usable() {
			// The next frame confirms that this is one.
			var next frameHeader
			b = d.in.Peek(h.size + headerBytes)
			if len(b) >= h.size+headerBytes && next.parse(b[h.size:]) && next.follows(h) {
				return nil
			}
		}
		if skipped == maxJunk {
			return d.errorf(codec.ErrFormat, "no two frames of MPEG audio in %d bytes", maxJunk)
		}
		d.in.Skip(1)
	}
}

// tag reads the tag of Xing or LAME in the first frame. padding are samples
// that the encoder added at the end.
func (d *decoder) tag(frame []byte) (frames, delay, padding int64, ok bool) {
	// The position of the tag does not depend on a checksum.
	at := headerBytes + d.first.sideBytes()
	if len(frame) < at+8 {
		return 0, 0, 0, false
	}
	for _, x := range frame[headerBytes+2 : at] {
		if x != 0 {
			return 0, 0, 0, false
		}
	}
	if id := string(frame[at : at+4]); id != "Xing" && id != "Info" {
		return 0, 0, 0, false
	}
	flags := frame[at+7]
	b := frame[at+8:]
	for i, n := range [4]int{4, 4, 100, 4} {
		if flags&(1<<i) == 0 {
			continue
		}
		if len(b) < n {
			return frames, 0, 0, true
		}
		if i == 0 {
			frames = int64(b[0])<<24 | int64(b[1])<<16 | int64(b[2])<<8 | int64(b[3])
		}
		b = b[n:]
	}
	if len(b) >= 24 && b[0] != 0 {
		delay = int64(b[21])<<4 | int64(b[22])>>4
		padding = int64(b[22]&15)<<8 | int64(b[23])
	}
	return frames, delay, padding, true
}

// next returns the frame at the position, whose header it parses. It skips tags
// and data that is no frame. It returns io.EOF if no frame is complete.
func (d *decoder) next() ([]byte, error) {
	h := &d.frames.frameHeader
	for skipped := 0; ; {
		b := d.in.Peek(headerBytes)
		if len(b) < headerBytes {
			return nil, io.EOF
		}
		id3v1 := b[0] == 'T'
		switch {
		case h.parse(b) && h.usable() && h.follows(&d.first):
			b := d.in.Peek(h.size)
			if len(b) < h.size {
				return nil, io.EOF
			}
			return b[:h.size], nil
		case d.skipTag():
			if !id3v1 {
				d.frames.gap()
			}
			continue
		case skipped == maxResync:
			return nil, d.errorf(codec.ErrFormat, "no frame of %d Hz in %d bytes", d.first.rate, maxResync)
		}
		d.frames.usage = 0 // earlier frames are no longer near
		d.frames.gap()
		d.in.Skip(1)
		skipped++
	}
}

// Read is FormatDecoder's.
func (d *decoder) Read(dst [][]float32) (n int, err error) {
	for n < len(dst[0]) {
		if d.pos == d.len {
			if d.decoded >= d.end {
				return n, io.EOF
			}
			frame, err := d.next()
			if err != nil {
				return n, err
			}
			d.frames.decode(frame)
			d.in.Skip(len(frame))
			samples := int64(d.first.samples())
			d.pos = int(min(samples, max(0, d.begin-d.decoded)))
			d.len = int(min(samples, max(int64(d.pos), d.end-d.decoded)))
			d.decoded += samples
			continue
		}
		k := min(d.len-d.pos, len(dst[0])-n)
		for c, out := range dst {
			copy(out[n:n+k], d.frames.pcm[c][d.pos:])
		}
		d.pos += k
		n += k
	}
	return n, nil
}
