package kernel

import (
	"math"
	"unsafe"
)

// Word is an element of 1, 2, 4 or 8 bytes. The functions here move or look up
// elements but do not compute with them. An unsigned integer therefore stands
// for any type of its size: float16 is uint16, float32 is uint32 or itself.
type Word interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~uint64 | ~int64 | ~float32 | ~float64
}

// RepeatPixel fills dst with copies of the pixel p. len(p) must divide
// len(dst).
func RepeatPixel(dst, p []uint8) {
	some := uint8(0)
	for _, v := range p {
		some |= v
	}
	if some == 0 {
		clear(dst)
		return
	}
	n := copy(dst, p)
	for n > 0 && n < len(dst) {
		n += copy(dst[n:], dst[:n])
	}
}

// LookupCHW looks up the bytes of len(src)/ch interleaved pixels in tables and
// writes the results as planes. Byte v of channel c of pixel i becomes
// tables[c*256+v] at dst[c*plane+i]. tables has ch tables of 256 entries. dst
// starts at the first pixel of the first plane and must contain the last pixel
// of the last plane.
func LookupCHW[T Word](dst []T, plane int, src []uint8, ch int, tables []T) {
	if len(src) == 0 { // ch may be 0
		return
	}
	n := len(src) / ch
	tables = tables[: ch*256 : ch*256]
	done := lookupCHW(dst, plane, src, ch, tables)
	for c := range ch {
		out, table, at := dst[c*plane:][:n], (*[256]T)(tables[c*256:]), done*ch+c
		for i := done; i < n; i++ {
			out[i] = table[src[at]]
			at += ch
		}
	}
}

// LookupHWC is LookupCHW without the change of layout: dst[i*ch+c] is
// tables[c*256+src[i*ch+c]]. With ch = 1 it looks up all bytes in one table.
func LookupHWC[T Word](dst []T, src []uint8, ch int, tables []T) {
	if len(src) == 0 {
		return
	}
	n := len(src) / ch * ch
	src, dst, tables = src[:n], dst[:n], tables[:ch*256:ch*256]
	i := lookupHWC(dst, src, ch, tables)
	switch ch {
	case 1:
		table := (*[256]T)(tables)
		for ; i < n; i++ {
			dst[i] = table[src[i]]
		}
		return
	case 3:
		t0, t1, t2 := (*[256]T)(tables), (*[256]T)(tables[256:]), (*[256]T)(tables[512:])
		for ; i+2 < n; i += 3 {
			p, q := src[i:i+3:i+3], dst[i:i+3:i+3]
			q[0], q[1], q[2] = t0[p[0]], t1[p[1]], t2[p[2]]
		}
		return
	}
	for ; i < n; i += ch {
		for c := range ch {
			dst[i+c] = tables[c*256+int(src[i+c])]
		}
	}
}

// Deinterleave writes len(src)/ch interleaved pixels as planes: element c of
// pixel i goes to dst[c*plane+i]. dst and src must not overlap.
func Deinterleave[T Word](dst []T, plane int, src []T, ch int) {
	if len(src) == 0 { // ch may be 0
		return
	}
	n := len(src) / ch
	done := deinterleave(dst, plane, src, ch)
	for c := range ch {
		out, at := dst[c*plane:][:n], done*ch+c
		for i := done; i < n; i++ {
			out[i] = src[at]
			at += ch
		}
	}
}

// Interleave is the inverse of Deinterleave: element c of pixel i, of
// len(dst)/ch pixels, comes from src[c*plane+i].
func Interleave[T Word](dst, src []T, plane, ch int) {
	if len(dst) == 0 {
		return
	}
	n := len(dst) / ch
	done := interleave(dst, src, plane, ch)
	for c := range ch {
		in, at := src[c*plane:][:n], done*ch+c
		for i := done; i < n; i++ {
			dst[at] = in[i]
			at += ch
		}
	}
}

// FlipRow writes the pixels of src, of size bytes each, in reverse order. dst
// must have the length of src and must not overlap it.
func FlipRow(dst, src []uint8, size int) {
	if len(src) == 0 {
		return
	}
	n := len(src) / size * size
	src, dst = src[:n], dst[:n]
	done := flipRow(dst, src, size)
	for x := done; x < n; x += size {
		copy(dst[n-size-x:][:size], src[x:][:size])
	}
}

// NormalizeF32 computes (x - mean[c]) / std[c] for element c of
// len(src)/len(mean) interleaved pixels. Both operations are rounded. dst may
// be src.
func NormalizeF32(dst, src, mean, std []float32) {
	if len(src) == 0 {
		return
	}
	ch := len(mean)
	n := len(src) / ch * ch
	src, dst, std = src[:n], dst[:n], std[:ch]
	i := normalizeF32(dst, src, mean, std)
	switch ch {
	case 1:
		m, s := mean[0], std[0]
		for ; i < n; i++ {
			dst[i] = (src[i] - m) / s
		}
	case 3:
		m0, m1, m2 := mean[0], mean[1], mean[2]
		s0, s1, s2 := std[0], std[1], std[2]
		for ; i+2 < n; i += 3 {
			p, q := src[i:i+3:i+3], dst[i:i+3:i+3]
			q[0], q[1], q[2] = (p[0]-m0)/s0, (p[1]-m1)/s1, (p[2]-m2)/s2
		}
	default:
		for ; i < n; i += ch {
			for c, m := range mean {
				dst[i+c] = (src[i+c] - m) / std[c]
			}
		}
	}
}

// QuantizeF32 computes x / scale[c], rounded half to even, plus zero[c], for
// element c of len(src)/len(scale) interleaved pixels. It clamps the sum to the
// range of the type. A NaN quotient counts as 0. zero must be in the range of
// the type.
func QuantizeF32[T uint8 | int8 | uint16 | int16](dst []T, src, scale []float32, zero []int32) {
	if len(src) == 0 {
		return
	}
	ch := len(scale)
	n := len(src) / ch * ch
	src, dst, zero = src[:n], dst[:n], zero[:ch]
	var z T
	lo, hi := 0.0, float64(int64(1)<<(8*unsafe.Sizeof(z))-1)
	if ^z < 0 { // signed
		lo = float64(-(hi + 1) / 2)
		hi += lo
	}
	for i := quantizeF32(dst, src, scale, zero); i < n; i += ch {
		for c, s := range scale {
			q := src[i+c] / s
			if q != q {
				q = 0
			}
			v := math.RoundToEven(float64(q)) + float64(zero[c])
			dst[i+c] = T(int32(min(max(v, lo), hi)))
		}
	}
}
