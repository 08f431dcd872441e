// Package inflate decompresses zlib streams (RFC 1950 and 1951). It accepts
// what zlib 1.3.1 accepts, and differs from compress/zlib in these streams: a
// block without an end-of-block code, and an incomplete code for the code
// lengths, are errors.
//
// A Reader lends its output row by row from its window, so that a row is not
// copied before its filter is reversed. The plain decoder does the ends of a
// piece of input, a loop without checks the rest.
package inflate

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/infer-prep/infer-prep/internal/kernel"
)

// The errors of a stream that is not one of zlib's. A stream that ends too
// early is io.ErrUnexpectedEOF.
var (
	ErrHeader = errors.New("not a zlib header")
	ErrData   = errors.New("invalid compressed data")
	// ErrDistance reports a match from before the stream. zlib does not look at
	// one behind the bytes that it was asked for.
	ErrDistance = errors.New("invalid compressed data: a match from before its start")
	ErrChecksum = errors.New("the checksum of the compressed data differs")
)

const (
	window = 1 << 15 // the largest distance
	batch  = 1 << 15 // bytes that are decoded at once
	slack  = kernel.InflateSlack
)

// state is what comes next in the stream.
type state uint8

const (
	atHeader state = iota
	atBlock
	inStored
	inCodes
	atTrailer
)

// Reader decompresses one stream after the other. It keeps its memory. The zero
// value is ready for Reset.
type Reader struct {
	next  func() []byte // the following piece of the stream
	in    []byte        // the current piece
	pos   int           // in it
	bits  uint64        // bits of the stream, the first one lowest
	n     uint          // number of bits
	state state
	final bool // the block is the last one
	rest  int  // bytes of a stored block

	out  []byte // window, then output
	r, w int    // bytes of out that were read, and that are written
	sum  kernel.Adler
	err  error

	tables
}

// Reset begins a stream. Function next returns its pieces in order, and nil
// after the last one. A piece must stay as it is until next is called again.
func (r *Reader) Reset(next func() []byte) {
	r.next, r.in, r.pos, r.bits, r.n = next, nil, 0, 0, 0
	r.state, r.final, r.rest = atHeader, false, 0
	r.r, r.w, r.sum, r.err = 0, 0, kernel.NewAdler(), nil
}

// Piece is a source of one piece, for Reset.
func Piece(b []byte) func() []byte {
	return func() []byte {
		p := b
		b = nil
		return p
	}
}

// Next returns the next n bytes of output, valid until the next call of a
// method. If it returns fewer, the error says why: io.EOF if there is no byte
// left and the checksum holds, io.ErrUnexpectedEOF if the stream ends before n
// bytes. n is at least 1.
func (r *Reader) Next(n int) ([]byte, error) {
	for r.w-r.r < n && r.err == nil {
		r.decode(n)
	}
	b := r.out[r.r:min(r.r+n, r.w)]
	r.r += len(b)
	if len(b) == n {
		return b, nil
	}
	if len(b) > 0 && r.err == io.EOF {
		return b, io.ErrUnexpectedEOF
	}
	return b, r.err
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	for r.w == r.r && r.err == nil && len(p) > 0 {
		r.decode(1)
	}
	n := copy(p, r.out[r.r:r.w])
	r.r += n
	if n == 0 && len(p) > 0 {
		return 0, r.err
	}
	return n, nil
}

// FillSlack is the number of bytes after the output that Fill may overwrite.
const FillSlack = 1 + slack

// Fill decompresses the stream from its beginning to the first n bytes of dst,
// without a copy, and returns the number of bytes written. dst has n+FillSlack
// bytes, those after the written ones are undefined. With whole, a checksum
// after n bytes is verified if it is there. Excess data is ignored. If the
// stream ends before n bytes, the error is io.ErrUnexpectedEOF. Only Reset may
// follow.
func (r *Reader) Fill(dst []byte, n int, whole bool) (int, error) {
	own := r.out
	r.out = dst[:n+FillSlack]
	for r.err == nil && (r.w < n || r.w == n && whole) {
		r.part()
	}
	r.out = own
	switch {
	case r.w > n || r.w == n && (!whole || r.err == io.EOF || r.err == io.ErrUnexpectedEOF || r.err == ErrDistance):
		return n, nil
	case r.err == io.EOF:
		return r.w, io.ErrUnexpectedEOF
	}
	return r.w, r.err
}

// decode decodes until n bytes are there, a part of the stream is done, or it
// fails.
func (r *Reader) decode(n int) {
	if size := window + 2*max(n, batch) + slack; len(r.out) < size {
		out := make([]byte, size)
		copy(out, r.out[:r.w])
		r.out = out
	}
	if len(r.out)-slack-r.w < batch/2 {
		from := max(0, min(r.r, r.w-window))
		copy(r.out, r.out[from:r.w])
		r.r, r.w = r.r-from, r.w-from
	}
	r.part()
}

// part decodes a part of the stream into out.
//
//go:noinline
func (r *Reader) part() {
	start := r.w
	switch r.state {
	case atHeader:
		r.header()
	case atBlock:
		r.block()
	case inStored:
		r.stored()
	case inCodes:
		r.codes()
	case atTrailer:
		r.trailer()
	}
	r.sum.Add(r.out[start:r.w])
}

// piece moves to the next piece with bytes, and reports whether there is one.
func (r *Reader) piece() bool {
	for r.pos == len(r.in) {
		r.in, r.pos = r.next(), 0
		if r.in == nil {
			return false
		}
	}
	return true
}

// need makes the bits at least k, at most 48, and reports whether the stream
// has them.
func (r *Reader) need(k uint) bool {
	for r.n < k {
		if r.pos == len(r.in) && !r.piece() {
			return false
		}
		r.bits |= uint64(r.in[r.pos]) << r.n
		r.pos++
		r.n += 8
	}
	return true
}

// take returns the next k bits, which must be there.
func (r *Reader) take(k uint) uint {
	v := uint(r.bits) & (1<<k - 1)
	r.bits >>= k
	r.n -= k
	return v
}

func (r *Reader) header() {
	if !r.need(16) {
		r.err = io.ErrUnexpectedEOF
		return
	}
	cmf, flg := r.take(8), r.take(8)
	if cmf&15 != 8 || cmf>>4 > 7 || (cmf<<8|flg)%31 != 0 || flg&32 != 0 {
		r.err = ErrHeader
		return
	}
	r.state = atBlock
}

func (r *Reader) trailer() {
	r.take(r.n & 7)
	if !r.need(32) {
		r.err = io.ErrUnexpectedEOF
		return
	}
	var want uint32
	for range 4 {
		want = want<<8 | uint32(r.take(8))
	}
	r.err = io.EOF
	if want != r.sum.Value() {
		r.err = ErrChecksum
	}
}

func (r *Reader) block() {
	if r.final {
		r.state = atTrailer
		return
	}
	if !r.need(3) {
		r.err = io.ErrUnexpectedEOF
		return
	}
	r.final = r.take(1) == 1
	switch r.take(2) {
	case 0:
		r.take(r.n & 7)
		if !r.need(32) {
			r.err = io.ErrUnexpectedEOF
			return
		}
		n, not := r.take(16), r.take(16)
		if n != not^0xFFFF {
			r.err = ErrData
			return
		}
		r.rest, r.state = int(n), inStored
	case 1:
		r.fixed()
		r.state = inCodes
	case 2:
		if r.err = r.dynamic(); r.err == nil {
			r.state = inCodes
		}
	default:
		r.err = ErrData
	}
}

// stored copies bytes of a stored block.
func (r *Reader) stored() {
	for r.rest > 0 && r.w < len(r.out)-slack {
		if r.n > 0 { // whole bytes
			r.out[r.w] = byte(r.take(8))
			r.w++
			r.rest--
			continue
		}
		if r.pos == len(r.in) && !r.piece() {
			r.err = io.ErrUnexpectedEOF
			return
		}
		n := copy(r.out[r.w:len(r.out)-slack], r.in[r.pos:min(len(r.in), r.pos+r.rest)])
		r.pos, r.w, r.rest = r.pos+n, r.w+n, r.rest-n
	}
	if r.rest == 0 {
		r.state = atBlock
	}
}

// codes decodes symbols until the block ends or the output is full.
func (r *Reader) codes() {
	for r.err == nil && r.state == inCodes && r.w < len(r.out)-slack {
		if len(r.in)-r.pos >= 8 {
			z := kernel.Inflate{Bits: r.bits, N: r.n}
			r.pos, r.w = z.Run(&r.lit, &r.dist, r.in, r.pos, r.out, r.w)
			r.bits, r.n = z.Bits, z.N
			r.fast()
		} else {
			r.symbol()
		}
	}
}

// symbol decodes one symbol, or a pair of literals, with a check before each
// byte of input.
func (r *Reader) symbol() {
	whole := r.need(48)
	if !whole && r.n == 0 {
		r.err = io.ErrUnexpectedEOF
		return
	}
	bits := r.bits
	used := uint(0)
	e := r.lit.Entries[bits&(1<<litBits-1)]
	switch {
	case e&(isLiteral|isOther|isAfter) == isAfter:
		e, _ = r.literal(uint32(r.lit.Literals[bits&(1<<litBits-1)]))
	case e&(isLiteral|isOther) == isOther && e&(isEnd|isBad) == 0:
		e = r.lit.Entries[e>>16+uint32(bits>>litBits)&(1<<(e>>8&15)-1)]
	}
	switch {
	case e&isLiteral != 0:
		if used = uint(e & 63); used > r.n && e>>24&3 == 2 {
			// Two literals of which the stream may have one.
			e, used = r.literal(e >> 8 & 255)
		}
		if used <= r.n {
			binary.LittleEndian.PutUint16(r.out[r.w:], uint16(e>>8))
			r.w += int(e >> 24 & 3)
		}
	case e&isEnd != 0:
		if used = uint(e & 63); used <= r.n {
			r.state = atBlock
		}
	case e&isOther != 0:
		r.err = ErrData
		return
	default:
		used = uint(e & 63)
		length := int(e>>16) + int(bits&(1<<used-1)>>(e>>8&15))
		bits >>= used
		d := r.dist[bits&(1<<distBits-1)]
		if d&isOther != 0 && d&isBad == 0 {
			d = r.dist[d>>16+uint32(bits>>distBits)&(1<<(d>>8&15)-1)]
		}
		if d&isOther != 0 {
			if used <= r.n {
				r.err = ErrData
			} else {
				r.err = io.ErrUnexpectedEOF
			}
			return
		}
		k := uint(d & 63)
		distance := int(d>>16) + int(bits&(1<<k-1)>>(d>>8&15))
		if used += k; used <= r.n {
			if distance > r.w {
				r.err = ErrDistance
				return
			}
			for i := range length {
				r.out[r.w+i] = r.out[r.w+i-distance]
			}
			r.w += length
		}
	}
	if used > r.n {
		r.err = io.ErrUnexpectedEOF
		return
	}
	r.bits >>= used
	r.n -= used
}

// fast decodes symbols until the block ends, the output is full, or fewer than
// 8 bytes of input are left.
func (r *Reader) fast() {
	in, pos, out, w := r.in, r.pos, r.out, r.w
	lit, literals, dist := &r.lit.Entries, &r.lit.Literals, &r.dist
	bits, n := r.bits, r.n
	last, full := len(in)-8, len(out)-slack
loop:
	for pos <= last && w < full {
		bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
		pos += int(63-n) >> 3
		n |= 56
		// At least 56 bits. A literal of this table has at most 11.
		e := lit[bits&(1<<litBits-1)]
		if e&isLiteral != 0 {
			binary.LittleEndian.PutUint16(out[w:], uint16(e>>8))
			w += int(e >> 24 & 3)
			bits >>= e & 63
			n -= uint(e & 63)
			e = lit[bits&(1<<litBits-1)]
			if e&isLiteral != 0 {
				binary.LittleEndian.PutUint16(out[w:], uint16(e>>8))
				w += int(e >> 24 & 3)
				bits >>= e & 63
				n -= uint(e & 63)
				e = lit[bits&(1<<litBits-1)]
				if e&isLiteral != 0 {
					binary.LittleEndian.PutUint16(out[w:], uint16(e>>8))
					w += int(e >> 24 & 3)
					bits >>= e & 63
					n -= uint(e & 63)
					e = lit[bits&(1<<litBits-1)]
					if e&isLiteral != 0 {
						binary.LittleEndian.PutUint16(out[w:], uint16(e>>8))
						w += int(e >> 24 & 3)
						bits >>= e & 63
						n -= uint(e & 63)
						continue
					}
				}
			}
			// A length and a distance have at most 48.
			if n < 48 {
				if pos > last {
					break
				}
				bits |= binary.LittleEndian.Uint64(in[pos:]) << (n & 63)
				pos += int(63-n) >> 3
				n |= 56
			}
		}
		if e&isOther != 0 {
			if e&(isEnd|isBad) == 0 {
				e = lit[(e>>16+uint32(bits>>litBits)&(1<<(e>>8&15)-1))%litSize]
				if e&isLiteral != 0 {
					out[w] = byte(e >> 8)
					w++
					bits >>= e & 63
					n -= uint(e & 63)
					continue
				}
			}
			if e&isOther != 0 {
				if e&isEnd != 0 {
					bits >>= e & 63
					n -= uint(e & 63)
					r.state = atBlock
				} else {
					r.err = ErrData
				}
				break loop
			}
		}
		// The literal before a length, or a byte that the match overwrites.
		out[w] = literals[bits&(1<<litBits-1)]
		w += int(e >> 30)
		length := int(e>>16&511) + int(bits&(1<<(e&63)-1)>>(e>>8&15))
		bits >>= e & 63
		n -= uint(e & 63)
		d := dist[bits&(1<<distBits-1)]
		if d&isOther != 0 {
			if d&isBad == 0 {
				d = dist[(d>>16+uint32(bits>>distBits)&(1<<(d>>8&15)-1))%distSize]
			}
			if d&isOther != 0 {
				r.err = ErrData
				break loop
			}
		}
		distance := int(d>>16) + int(bits&(1<<(d&63)-1)>>(d>>8&15))
		bits >>= d & 63
		n -= uint(d & 63)
		from := w - distance
		if from < 0 {
			r.err = ErrDistance
			break loop
		}
		to := w
		w += length
		if distance < 8 {
			// A pattern of 8 bytes, and as many of them as repeat it.
			v := binary.LittleEndian.Uint64(out[from:]) & (1<<(uint(distance)*8&63) - 1) * repeat[distance]
			for to < w {
				binary.LittleEndian.PutUint64(out[to:], v)
				to += int(step[distance])
			}
			continue
		}
		if length >= 64 && distance >= length {
			copy(out[to:w], out[from:])
			continue
		}
		for to < w {
			binary.LittleEndian.PutUint64(out[to:], binary.LittleEndian.Uint64(out[from:]))
			to += 8
			from += 8
		}
	}
	r.pos, r.w, r.bits, r.n = pos, w, bits&(1<<n-1), n
}

// repeat multiplies the first bytes of a pattern, whose number is the index, so
// that they fill 8 bytes. step is the largest multiple of that number up to 8.
var (
	repeat = [8]uint64{1: 0x0101010101010101, 2: 0x0001000100010001, 3: 0x0001000001000001, 4: 0x0000000100000001, 5: 0x0000010000000001, 6: 0x0001000000000001, 7: 0x0100000000000001}
	step   = [8]uint8{1: 8, 2: 8, 3: 6, 4: 8, 5: 5, 6: 6, 7: 7}
)
