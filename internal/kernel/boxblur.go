package kernel

import "math"

// BoxBlur is a box blur along one axis, as Pillow 13.0.0 computes it (BoxBlur.c
// of libImaging). The box has 2*radius+1 whole pixels and a part of one more
// pixel on each side. Weights have 24 bits. Pixels outside the image are the
// nearest ones inside.
type BoxBlur struct {
	radius      int
	whole, part uint32 // weights of a pixel
}

// GaussianBox returns the box that, applied passes times, approximates a
// Gaussian of standard deviation sigma. Its width solves the equation of
// variances (Gwosdek and others, 2011) in float32. ok is false if the blur
// changes nothing.
func GaussianBox(sigma float64, passes int) (b BoxBlur, ok bool) {
	s := float32(sigma)
	v := float32(s*s) / float32(passes)
	length := float32(math.Sqrt(float64(12*float64(v)) + 1))
	l := float32(math.Floor((float64(length) - 1) / 2))
	over := float32((float32(2*l) + 1) * (float32(l*(l+1)) - float32(3*v)))
	r := l + over/float32(6*(v-float32((l+1)*(l+1))))
	return newBoxBlur(r), r != 0
}

func newBoxBlur(radius float32) BoxBlur {
	b := BoxBlur{radius: int(radius), whole: uint32((1 << 24) / (float32(radius*2) + 1))}
	b.part = (1<<24 - uint32(2*b.radius+1)*b.whole) / 2
	return b
}

// at returns the blurred pixel for the sum of the whole pixels and the two
// pixels beyond them.
func (b BoxBlur) at(sum, left, right uint32) uint8 {
	return uint8((sum*b.whole + (left+right)*b.part + 1<<23) >> 24)
}

// Row blurs a row of n pixels with interleaved channels. dst must not overlap
// src.
func (b BoxBlur) Row(dst, src []uint8, n, channels int) {
	for c := range channels {
		b.channel(dst[c:], src[c:], n, channels)
	}
}

// channel blurs n values at a distance of step.
func (b BoxBlur) channel(dst, src []uint8, n, step int) {
	r, end := b.radius, (n-1)*step
	inside := min(r, n-1)
	// The sum around pixel -1.
	sum := uint32(src[0])*uint32(r+1) + uint32(src[end])*uint32(r-inside)
	for x := range inside {
		sum += uint32(src[x*step])
	}
	x := 0
	clamped := func(to int) {
		for ; x < to; x++ {
			left := uint32(src[max(x-r-1, 0)*step])
			sum += uint32(src[min(x+r, n-1)*step]) - left
			dst[x*step] = b.at(sum, left, uint32(src[min(x+r+1, n-1)*step]))
		}
	}
	clamped(inside + 1)
	left, right := (x-r-1)*step, (x+r)*step
	for ; x < n-1-r; x++ {
		l := uint32(src[left])
		sum += uint32(src[right]) - l
		left += step
		right += step
		dst[x*step] = b.at(sum, l, uint32(src[right]))
	}
	clamped(n)
}

// Rows blurs h rows of n values along the columns. dst must not overlap src.
// sums is scratch memory of n elements.
func (b BoxBlur) Rows(dst, src []uint8, sums []int32, n, h int) {
	row := func(y int) []uint8 { return src[min(max(y, 0), h-1)*n:][:n] }
	r := b.radius
	inside := min(r, h-1)
	first, last := row(0), row(h-1)
	sums = sums[:n]
	for i := range sums {
		sums[i] = int32(first[i])*int32(r+1) + int32(last[i])*int32(r-inside)
	}
	for y := range inside {
		for i, v := range row(y) {
			sums[i] += int32(v)
		}
	}
	for y := range h {
		left, next, right := row(y-r-1), row(y+r), row(y+r+1)
		out := dst[y*n:][:n]
		for i, sum := range sums {
			sum += int32(next[i]) - int32(left[i])
			sums[i] = sum
			out[i] = b.at(uint32(sum), uint32(left[i]), uint32(right[i]))
		}
	}
}
