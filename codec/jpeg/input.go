package jpeg

import (
	"errors"

	"github.com/infer-prep/infer-prep/codec"
)

const (
	// chunk is the number of bytes that Pillow reads at a time
	// (ImageFile.MAXBLOCK) and appends to the data that libjpeg has not
	// consumed.
	chunk = 65536
	// stdioChunk is the size of the buffer of libjpeg's jpeg_stdio_src, with
	// which imread reads.
	stdioChunk = 4096
)

// errSuspended reports that libjpeg would wait for more data, which Pillow
// ignores.
var errSuspended = errors.New("suspended")

// input is the file: its bytes, the position among them, and the damage found.
type input struct {
	data []byte
	pos  int // next byte
	// end is the end of the data that the reference's decoder has received so
	// far. It grows by chunk, which is 0 if it is len(data) from the beginning.
	end   int
	chunk int
	hold  bool // keep end, because all rows are decoded
	// marker is the code of a pending marker, 0 if none.
	marker byte
	// discarded is the number of bytes skipped before a marker.
	discarded int

	damage  codec.Damage
	err     error // in strict mode, the first damage
	damaged error // in lenient mode, the first damage
}

func (in *input) reset(data []byte, damage codec.Damage) {
	*in = input{data: data, damage: damage, end: len(data)}
	switch damage {
	case codec.DamagePillow:
		in.chunk = chunk
	case codec.DamageImread:
		in.chunk = stdioChunk
	default:
		return
	}
	in.end = min(in.end, in.chunk)
}

// warns reports whether warn has an effect. Otherwise the decoder may run
// libjpeg's code without checks where libjpeg does.
func (in *input) warns() bool {
	return in.damage == codec.DamageStrict || in.damage == codec.DamageLenient
}

// padded reports whether the end of the data counts as EOI, as with Pillow's
// LOAD_TRUNCATED_IMAGES and libjpeg's jpeg_stdio_src.
func (in *input) padded() bool {
	return in.damage == codec.DamageLenient || in.damage == codec.DamageImread
}

func (in *input) errorf(kind error, msg string, args ...any) error {
	return codec.Errorf(format, int64(in.pos), kind, msg, args...)
}

func (in *input) truncated() error {
	if in.hold {
		return errSuspended
	}
	return in.errorf(codec.ErrFormat, "the file ends in the middle of the image")
}

// warn records damage for which libjpeg only warns.
func (in *input) warn(msg string) {
	switch in.damage {
	case codec.DamageStrict:
		if in.err == nil {
			in.err = in.errorf(codec.ErrFormat, "%s", msg)
		}
	case codec.DamageLenient:
		if in.damaged == nil {
			in.damaged = in.errorf(codec.ErrFormat, "%s", msg)
		}
	}
}

// more reports whether a byte is available at pos. It first moves end to the
// next chunk if the decoder has used up the last one.
func (in *input) more() bool {
	for in.pos >= in.end {
		if in.end >= len(in.data) || in.hold {
			return false
		}
		in.end = min(in.end+in.chunk, len(in.data))
	}
	return true
}

// u8 reads a byte of a marker segment.
func (in *input) u8() (int, error) {
	if !in.more() {
		return 0, in.truncated()
	}
	b := in.data[in.pos]
	in.pos++
	return int(b), nil
}

// u16 reads two bytes of a marker segment.
func (in *input) u16() (int, error) {
	hi, err := in.u8()
	if err != nil {
		return 0, err
	}
	lo, err := in.u8()
	return hi<<8 | lo, err
}

// read fills b with bytes of a marker segment.
func (in *input) read(b []byte) error {
	if in.pos+len(b) <= in.end {
		in.pos += copy(b, in.data[in.pos:])
		return nil
	}
	for i := range b {
		v, err := in.u8()
		if err != nil {
			return err
		}
		b[i] = byte(v)
	}
	return nil
}

// skip skips n bytes. As in Pillow's source, they need not exist; the next read
// fails instead.
func (in *input) skip(n int) {
	if n > 0 {
		in.pos += n
	}
}

// nextMarker finds the next marker and stores it in in.marker.
func (in *input) nextMarker() error {
	for {
		for {
			if !in.more() {
				return in.noMarker()
			}
			b := in.data[in.pos]
			in.pos++
			if b == 0xFF {
				break
			}
			in.discarded++
		}
		b := byte(0xFF)
		for b == 0xFF {
			if !in.more() {
				return in.noMarker()
			}
			b = in.data[in.pos]
			in.pos++
		}
		if b != 0 {
			in.marker = b
			break
		}
		in.discarded += 2 // a stuffed zero
	}
	if in.discarded != 0 {
		in.discarded = 0
		in.warn("bytes that belong to nothing before a marker")
	}
	return nil
}

// noMarker handles the end of the data before a required marker. It counts as
// EOI if padded.
func (in *input) noMarker() error {
	if in.padded() {
		in.warn("the file ends without EOI")
		in.marker = mEOI
		return nil
	}
	return in.truncated()
}

func codecLimit(err error) bool { return errors.Is(err, codec.ErrLimit) }
