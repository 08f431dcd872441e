//go:build !purego

package kernel

import (
	"unsafe"

	"github.com/infer-prep/infer-prep/internal/cpu"
)

// vectorWidth returns the best width for n bytes.
func vectorWidth(n int) int {
	if cpu.Has(cpu.VBMI) && n >= 4096 {
		return 64
	}
	return 16
}

// run permutes vectors times times, an even number and not 0. Each time it
// moves src by from and dst by to bytes.
func (r *rearrangeVectors) run(dst, src *byte, times, from, to int) {
	if r.width == 64 {
		rearrangeVBMI(dst, src, times, &r.order, &r.fill, r.keep, from, to)
	} else {
		rearrangeSIMD(dst, src, times, (*[16]uint8)(r.order[:]), (*[16]uint8)(r.fill[:]), from, to)
	}
}

// wholeBytes is what rearrangeWholeAVX2 writes at a time.
const wholeBytes = 96

// sameSize is what rearrangeWholeAVX2 needs for pixels that keep their size.
type sameSize struct {
	masks [2 * wholeBytes]uint8
	shift int // 0 if the assembly does not support the pixels
}

func (s *sameSize) prepare(size int, from []int) {
	s.shift = 0
	if size != len(from) || wholeBytes/2%size != 0 {
		return
	}
	shift := 0
	for i, at := range from {
		if at < 0 {
			return
		}
		shift = max(shift, at-i, i-at)
	}
	if shift > 8 { // the two lanes would leave bytes out between them
		return
	}
	s.shift = shift
	c := 0 // of the pixel
	for i := range wholeBytes / 2 {
		at, m := i%16+from[c]-c, s.masks[i/32*64+i%32:]
		if m[0], m[32] = uint8(at+shift), 0x80; at+shift > 15 {
			m[0], m[32] = 0x80, uint8(at-shift)
		}
		if c++; c == size {
			c = 0
		}
	}
	// The lanes are a, b; c, a; b, c.
	copy(s.masks[80:96], s.masks[:16])
	copy(s.masks[112:128], s.masks[32:48])
	copy(s.masks[128:144], s.masks[16:32])
	copy(s.masks[160:176], s.masks[48:64])
	copy(s.masks[144:160], s.masks[64:80])
	copy(s.masks[176:192], s.masks[96:112])
}

// whole writes pixels from pixel head to pixel end in assembly. It may choose
// head so that the stores are aligned. end is 0 if it writes none.
func (r *rearrangeVectors) whole(dst, src []uint8, size int) (head, end int) {
	s := &r.same
	const aligned = 4096 // bytes from which it pays off
	if s.shift == 0 || len(src) < 2*wholeBytes || len(dst) < len(src) || !hasSIMD() {
		return 0, 0
	}
	least := (s.shift + size - 1) / size
	head = least
	if len(src) >= aligned {
		for at := uintptr(unsafe.Pointer(&dst[0])); (at+uintptr(head*size))%32 != 0; head++ {
			if head == least+32 { // no pixel is aligned
				head = least
				break
			}
		}
	}
	n := (len(src) - head*size - s.shift) / wholeBytes
	if n < 1 {
		return 0, 0
	}
	rearrangeWholeAVX2(&dst[head*size], &src[head*size], n, &s.masks, s.shift)
	return head, head + n*wholeBytes/size
}
