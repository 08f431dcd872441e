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

// reader holds the input and the position in it.
type reader struct {
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

func (r *reader) reset(data []byte, damage codec.Damage) {
	*r = reader{data: data, damage: damage, end: len(data)}
	switch damage {
	case codec.DamagePillow:
		r.chunk = chunk
	case codec.DamageImread:
		r.chunk = stdioChunk
	default:
		return
	}
	r.end = min(r.end, r.chunk)
}

// warns reports whether warn has an effect. Otherwise the decoder may run
// libjpeg's code without checks where libjpeg does.
func (r *reader) warns() bool {
	return r.damage == codec.DamageStrict || r.damage == codec.DamageLenient
}

// padded reports whether the end of the data counts as EOI, as with Pillow's
// LOAD_TRUNCATED_IMAGES and libjpeg's jpeg_stdio_src.
func (r *reader) padded() bool {
	return r.damage == codec.DamageLenient || r.damage == codec.DamageImread
}

func (r *reader) errorf(kind error, msg string, args ...any) error {
	return codec.Errorf(format, int64(r.pos), kind, msg, args...)
}

func (r *reader) truncated() error {
	if r.hold {
		return errSuspended
	}
	return r.errorf(codec.ErrFormat, "the file ends in the middle of the image")
}

// warn records damage for which libjpeg only warns.
func (r *reader) warn(msg string) {
	switch r.damage {
	case codec.DamageStrict:
		if r.err == nil {
			r.err = r.errorf(codec.ErrFormat, "%s", msg)
		}
	case codec.DamageLenient:
		if r.damaged == nil {
			r.damaged = r.errorf(codec.ErrFormat, "%s", msg)
		}
	}
}

// more reports whether a byte is available at pos. It first moves end to the
// next chunk if the decoder has used up the last one.
func (r *reader) more() bool {
	for r.pos >= r.end {
		if r.end >= len(r.data) || r.hold {
			return false
		}
		r.end = min(r.end+r.chunk, len(r.data))
	}
	return true
}

// u8 reads a byte of a marker segment.
func (r *reader) u8() (int, error) {
	if !r.more() {
		return 0, r.truncated()
	}
	b := r.data[r.pos]
	r.pos++
	return int(b), nil
}

// u16 reads two bytes of a marker segment.
func (r *reader) u16() (int, error) {
	hi, err := r.u8()
	if err != nil {
		return 0, err
	}
	lo, err := r.u8()
	return hi<<8 | lo, err
}

// skip skips n bytes. As in Pillow's source, they need not exist; the next read
// fails instead.
func (r *reader) skip(n int) {
	if n > 0 {
		r.pos += n
	}
}

// nextMarker finds the next marker and stores it in r.marker.
func (r *reader) nextMarker() error {
	for {
		for {
			if !r.more() {
				return r.noMarker()
			}
			b := r.data[r.pos]
			r.pos++
			if b == 0xFF {
				break
			}
			r.discarded++
		}
		b := byte(0xFF)
		for b == 0xFF {
			if !r.more() {
				return r.noMarker()
			}
			b = r.data[r.pos]
			r.pos++
		}
		if b != 0 {
			r.marker = b
			break
		}
		r.discarded += 2 // a stuffed zero
	}
	if r.discarded != 0 {
		r.discarded = 0
		r.warn("bytes that belong to nothing before a marker")
	}
	return nil
}

// noMarker handles the end of the data before a required marker. It counts as
// EOI if padded.
func (r *reader) noMarker() error {
	if r.padded() {
		r.warn("the file ends without EOI")
		r.marker = mEOI
		return nil
	}
	return r.truncated()
}

func codecLimit(err error) bool { return errors.Is(err, codec.ErrLimit) }
