package flac

import (
	"errors"

	"github.com/infer-prep/infer-prep/codec"
)

// The limits of the format.
const (
	maxChannels  = 8
	maxBlock     = 65535 // samples of a frame
	maxHeader    = 16    // bytes
	streamBlock  = 34    // bytes of STREAMINFO
	maxPartition = 15
)

// errShort reports that a frame needs more data than there is.
var errShort = errors.New("flac: the data ends in a frame")

// frameHeader is the header of a frame.
type frameHeader struct {
	block, channels, bits int
	// side is the channel that holds the difference, of two: 1 for left and
	// side, 0 for side and right, 2 for mid and side, -1 for none.
	side  int
	first int64 // number of the first sample, or of the frame if fixed
	fixed bool  // all frames but the last have the same number of samples
	size  int   // of the header, in bytes
}

// parse reads a header at the start of b. It returns errShort if b ends in it,
// or a text that says what is invalid.
func (h *frameHeader) parse(b []byte, s *streamInfo) (what string, err error) {
	const least = 6
	if len(b) < least {
		return "", errShort
	}
	if b[0] != 0xff || b[1]>>2 != 0x3e {
		return "no frame begins here", nil
	}
	if b[1]&2 != 0 || b[3]&1 != 0 {
		return "a reserved bit is set", nil
	}
	*h = frameHeader{fixed: b[1]&1 == 0, side: -1}
	block, rate, channels, bits := b[2]>>4, b[2]&15, int(b[3]>>4), b[3]>>1&7
	switch {
	case channels < maxChannels:
		h.channels = channels + 1
	case channels <= 10:
		h.channels = 2
		h.side = [3]int{1, 0, 2}[channels-8]
	default:
		return "reserved channels", nil
	}
	h.bits = [8]int{s.bits, 8, 12, 0, 16, 20, 24, 32}[bits]
	if h.bits == 0 {
		return "a reserved number of bits", nil
	}
	at := 4
	n, ok := h.number(b[at:])
	if n < 0 {
		return "", errShort
	}
	if !ok {
		return "an invalid frame number", nil
	}
	at += n
	more := 0
	switch {
	case block == 6:
		more = 1
	case block == 7:
		more = 2
	}
	switch {
	case rate == 12:
		more++
	case rate == 13 || rate == 14:
		more += 2
	case rate == 15:
		return "an invalid sampling rate", nil
	}
	if len(b) < at+more+1 {
		return "", errShort
	}
	switch {
	case block == 0:
		return "a reserved block size", nil
	case block == 1:
		h.block = 192
	case block <= 5:
		h.block = 576 << (block - 2)
	case block == 6:
		h.block = int(b[at]) + 1
	case block == 7:
		h.block = int(b[at])<<8 + int(b[at+1]) + 1
	default:
		h.block = 256 << (block - 8)
	}
	at += more
	if h.block > maxBlock {
		return "65536 samples", nil
	}
	if crc8(b[:at]) != b[at] {
		return "the checksum of the header does not match", nil
	}
	h.size = at + 1
	return "", nil
}

// number reads the number in UTF-8's form, of up to 7 bytes. It returns the
// bytes read, -1 if b ends in it.
func (h *frameHeader) number(b []byte) (n int, ok bool) {
	if len(b) == 0 {
		return -1, false
	}
	x := b[0]
	switch {
	case x < 0x80:
		h.first = int64(x)
		return 1, true
	case x < 0xc0 || x == 0xff:
		return 1, false
	}
	n = 2
	for n < 7 && x&(0x80>>n) != 0 {
		n++
	}
	if h.fixed && n > 6 {
		return n, false
	}
	if len(b) < n {
		return -1, false
	}
	v := int64(x) & (0x7f >> n)
	for _, c := range b[1:n] {
		if c>>6 != 2 {
			return n, false
		}
		v = v<<6 | int64(c&0x3f)
	}
	h.first = v
	return n, true
}

// frame is the memory of a decoded frame.
type frame struct {
	frameHeader
	samples [maxChannels][]int32
	wide    []int64 // a channel of 33 bits
	reader  bitReader
}

// decode decodes the frame at the start of b, whose header has been parsed, and
// returns its size. It returns errShort if b ends in it, or a text that says
// what is invalid. Errors do not depend on bytes after the frame.
func (f *frame) decode(b []byte) (size int, what string, err error) {
	for c := range f.channels {
		if cap(f.samples[c]) < f.block {
			f.samples[c] = make([]int32, f.block)
		}
		f.samples[c] = f.samples[c][:f.block]
	}
	r := &f.reader
	r.reset(b, f.size)
	for c := range f.channels {
		bits := f.bits
		if f.side == c || f.side == 2 && c == 1 {
			bits++
		}
		if bits == 33 {
			if cap(f.wide) < f.block {
				f.wide = make([]int64, f.block)
			}
			f.wide = f.wide[:f.block]
			what = subframe(r, f.wide, f.samples[c], bits)
		} else {
			what = subframe(r, f.samples[c], f.samples[c], bits)
		}
		if r.over() {
			return 0, "", errShort
		}
		if what != "" {
			return 0, what, nil
		}
	}
	if r.align() != 0 {
		return 0, "bits after the last sample are set", nil
	}
	end := r.offset()
	if end+2 > len(b) {
		return 0, "", errShort
	}
	if crc16(b[:end]) != uint16(b[end])<<8|uint16(b[end+1]) {
		return 0, "the checksum of the frame does not match", nil
	}
	f.join()
	if !f.inRange() {
		return 0, "a sample of more bits than the frame states", nil
	}
	return end + 2, "", nil
}

// inRange reports whether all samples have the frame's number of bits, as
// libFLAC checks it: a prediction may lead beyond them.
func (f *frame) inRange() bool {
	beyond := uint32(0)
	for c := range f.channels {
		for _, x := range f.samples[c] {
			beyond |= uint32(x ^ x>>31)
		}
	}
	return beyond>>uint(f.bits-1) == 0
}

// join undoes the coding of two channels as one and a difference.
func (f *frame) join() {
	if f.side < 0 {
		return
	}
	a, b := f.samples[0], f.samples[1]
	b = b[:len(a)]
	if f.bits == 32 {
		joinWide(a, b, f.wide, f.side)
		return
	}
	switch f.side {
	case 0:
		for i, r := range b {
			a[i] += r
		}
	case 1:
		for i, l := range a {
			b[i] = l - b[i]
		}
	case 2:
		for i, s := range b {
			m := a[i]<<1 | s&1
			a[i], b[i] = (m+s)>>1, (m-s)>>1
		}
	}
}

func joinWide(a, b []int32, side []int64, kind int) {
	for i, s := range side {
		switch kind {
		case 0:
			a[i] = int32(int64(b[i]) + s)
		case 1:
			b[i] = int32(int64(a[i]) - s)
		case 2:
			m := int64(a[i])<<1 | s&1
			a[i], b[i] = int32((m+s)>>1), int32((m-s)>>1)
		}
	}
}

// subframe decodes the samples of a channel into v. residual has memory for as
// many residuals; it is v unless samples have more than 32 bits. It returns
// what is invalid; data that ends early is for the caller to notice.
func subframe[T int32 | int64](r *bitReader, v []T, residual []int32, bits int) string {
	kind := r.bits(8)
	if kind&0x80 != 0 {
		return "a reserved bit is set"
	}
	wasted := 0
	if kind&1 != 0 {
		z := r.unary()
		if z < 0 {
			return ""
		}
		if wasted = z + 1; wasted >= bits {
			return "more unused bits than a sample has"
		}
		bits -= wasted
	}
	what := ""
	switch kind >>= 1; {
	case kind == 0:
		x := T(r.signed(bits))
		for i := range v {
			v[i] = x
		}
	case kind == 1:
		for i := range v {
			v[i] = T(r.signed(bits))
		}
	case kind >= 8 && kind <= 12:
		what = predicted(r, v, residual, bits, int(kind-8), false)
	case kind >= 32:
		what = predicted(r, v, residual, bits, int(kind-31), true)
	default:
		return "a reserved kind of subframe"
	}
	if wasted > 0 {
		for i := range v {
			v[i] <<= uint(wasted)
		}
	}
	return what
}

// predicted decodes a channel of samples and residuals.
func predicted[T int32 | int64](r *bitReader, v []T, residual []int32, bits, order int, lpc bool) string {
	if order > len(v) {
		return "fewer samples than the order of the prediction"
	}
	for i := range order {
		v[i] = T(r.signed(bits))
	}
	var coefs [32]int64
	shift := int64(0)
	if lpc {
		precision := int(r.bits(4)) + 1
		if precision > 15 {
			return "an invalid precision of coefficients"
		}
		if shift = r.signed(5); shift < 0 {
			return "a negative shift of the prediction"
		}
		for i := range order {
			coefs[i] = r.signed(precision)
		}
	}
	if what := residuals(r, residual, order); what != "" || r.over() {
		return what
	}
	out, same := any(v).([]int32)
	if !same {
		for i := order; i < len(v); i++ {
			v[i] = T(residual[i])
		}
	}
	switch {
	case !lpc:
		fixed(v, order)
	case same && order <= maxFast:
		linearFast(out, coefs[:order], uint(shift))
	default:
		linear(v, coefs[:order], uint(shift))
	}
	return ""
}

// residuals decodes residuals into v from order on.
func residuals(r *bitReader, v []int32, order int) string {
	width := 4
	switch r.bits(2) {
	case 0:
	case 1:
		width = 5
	default:
		return "a reserved coding of residuals"
	}
	partitions := uint(r.bits(4))
	size := len(v) >> partitions
	if size<<partitions != len(v) || size < order {
		return "partitions that do not divide the samples"
	}
	escape := 1<<uint(width) - 1
	for end := size; end <= len(v); end += size {
		part := v[end-size : end]
		if end == size {
			part = part[order:]
		}
		k := int(r.bits(width))
		if k == escape {
			raw := int(r.bits(5))
			for i := range part {
				part[i] = int32(r.signed(raw))
			}
		} else if !r.rice(part, k) {
			if r.extra > 0 {
				r.n = 0 // over is true
				return ""
			}
			return "a residual of more than 32 bits"
		}
		if r.over() {
			return ""
		}
	}
	return ""
}

// kinds of damage have the position of the frame.
func damaged(at int64, what string) error {
	return codec.Errorf(name, at, codec.ErrFormat, "frame: %s", what)
}
