package jpeg

import (
	"errors"

	"github.com/infer-prep/infer-prep/codec"
)

// chunk is how many bytes Pillow reads at a time (ImageFile.MAXBLOCK) and adds
// to what libjpeg has not consumed yet.
const chunk = 65536

// errSuspended says that libjpeg would wait for more data and Pillow would not care.
var errSuspended = errors.New("suspended")

// reader is the input: data, and how far it has been read.
type reader struct {
	data []byte
	pos  int // next byte
	// end is the end of what the reference's decoder has been given so far. It
	// matters in DamagePillow only; else it is len(data).
	end  int
	hold bool // do not move end: all rows are there
	// marker is a marker code that was met and not yet acted on, 0 if there is none.
	marker byte
	// discarded counts bytes skipped before a marker.
	discarded int

	damage  codec.Damage
	err     error // in strict mode, the first damage
	damaged error // in lenient mode, the first damage
}

func (r *reader) reset(data []byte, damage codec.Damage) {
	*r = reader{data: data, damage: damage, end: len(data)}
	if damage == codec.DamagePillow {
		r.end = min(r.end, chunk)
	}
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

// warn notes damage that libjpeg only warns of.
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

// more reports whether there is a byte at pos, after reading the next pieces of
// the file if the decoder has used up what it had.
func (r *reader) more() bool {
	for r.pos >= r.end {
		if r.end >= len(r.data) || r.hold {
			return false
		}
		r.end = min(r.end+chunk, len(r.data))
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

// skip passes over n bytes. As with Pillow's source they need not exist: the
// next read notices.
func (r *reader) skip(n int) {
	if n > 0 {
		r.pos += n
	}
}

// nextMarker finds the next marker and puts it into r.marker.
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

// noMarker is the end of the data where a marker is wanted. In lenient mode it
// counts as EOI, as with Pillow's LOAD_TRUNCATED_IMAGES.
func (r *reader) noMarker() error {
	if r.damage == codec.DamageLenient {
		r.warn("the file ends without EOI")
		r.marker = mEOI
		return nil
	}
	return r.truncated()
}

func codecLimit(err error) bool { return errors.Is(err, codec.ErrLimit) }
