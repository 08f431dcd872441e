package flac

import (
	"encoding/binary"
	"math/bits"
)

// bitReader reads bits, the most significant first. Beyond the end of the data
// it reads zeros; over then reports it.
type bitReader struct {
	data  []byte
	at    int    // bytes that are in the accumulator, or were
	acc   uint64 // the next bits, at the top; bits below the first n may be set
	n     int    // valid bits of acc
	extra int    // zero bytes that were read beyond the end
}

func (r *bitReader) reset(data []byte, at int) { *r = bitReader{data: data, at: at} }

// refill makes 56 bits or more valid.
func (r *bitReader) refill() {
	if r.at+8 <= len(r.data) {
		r.acc |= binary.BigEndian.Uint64(r.data[r.at:]) >> uint(r.n)
		r.at += (63 - r.n) >> 3
		r.n |= 56
		return
	}
	if r.n > 0 {
		r.acc &= ^uint64(0) << uint(64-r.n) // what comes next is no longer or-ed with itself
	} else {
		r.acc = 0
	}
	for r.n <= 56 {
		x := uint64(0)
		if r.at < len(r.data) {
			x = uint64(r.data[r.at])
			r.at++
		} else {
			r.extra++
		}
		r.acc |= x << uint(56-r.n)
		r.n += 8
	}
}

// over reports whether bits beyond the end of the data were used.
func (r *bitReader) over() bool { return r.extra*8 > r.n }

// bits reads up to 56 bits as an unsigned number.
func (r *bitReader) bits(count int) uint64 {
	if r.n < count {
		r.refill()
	}
	v := r.acc >> 1 >> uint(63-count)
	r.acc <<= uint(count)
	r.n -= count
	return v
}

// signed reads up to 56 bits as a number in two's complement.
func (r *bitReader) signed(count int) int64 {
	if count == 0 {
		return 0
	}
	return int64(r.bits(count)<<uint(64-count)) >> uint(64-count)
}

// unary reads the number of zeros before the next one, and the one. It returns
// -1 if the data ends before it.
func (r *bitReader) unary() int {
	zeros := 0
	for {
		if r.n == 0 {
			r.refill()
		}
		z := bits.LeadingZeros64(r.acc)
		if z < r.n {
			r.acc <<= uint(z + 1)
			r.n -= z + 1
			return zeros + z
		}
		zeros += r.n
		r.acc, r.n = 0, 0
		if r.over() || r.extra > 0 {
			return -1
		}
	}
}

// align drops the bits up to the next whole byte, and returns them.
func (r *bitReader) align() uint64 { return r.bits(r.n & 7) }

// offset returns the position in bytes, of an aligned reader.
func (r *bitReader) offset() int { return r.at + r.extra - r.n>>3 }

// rice reads numbers of a Rice code with parameter k, 0 to 30. It reports false
// if the data ends or a number has more than 32 bits.
func (r *bitReader) rice(out []int32, k int) bool {
	data, at, acc, n := r.data, r.at, r.acc, r.n
	for i := range out {
		if n < 48 {
			if at+8 > len(data) {
				r.at, r.acc, r.n = at, acc, n
				return r.slowRice(out[i:], k)
			}
			acc |= binary.BigEndian.Uint64(data[at:]) >> uint(n&63)
			at += (63 - n) >> 3
			n |= 56
		}
		z := bits.LeadingZeros64(acc)
		used := z + 1 + k
		if used > n {
			r.at, r.acc, r.n = at, acc, n
			if !r.slowRice(out[i:i+1], k) {
				return false
			}
			at, acc, n = r.at, r.acc, r.n
			continue
		}
		acc <<= uint(z+1) & 63
		v := uint64(z)<<uint(k&63) | acc>>1>>uint((63-k)&63)
		if v > 1<<32-1 {
			return false
		}
		acc <<= uint(k & 63)
		n -= used
		out[i] = int32(v>>1) ^ -int32(v&1)
	}
	r.at, r.acc, r.n = at, acc, n
	return true
}

// slowRice is rice for long codes and for the end of the data.
func (r *bitReader) slowRice(out []int32, k int) bool {
	for i := range out {
		z := r.unary()
		if z < 0 {
			return false
		}
		v := uint64(z)<<uint(k) | r.bits(k)
		if v > 1<<32-1 {
			return false
		}
		out[i] = int32(v>>1) ^ -int32(v&1)
	}
	return true
}
