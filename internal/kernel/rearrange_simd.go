//go:build (amd64 || arm64) && !purego

package kernel

// rearrangeVectors are a Rearranger's constants for vectors of width bytes. The
// width is 0 if the pixels do not fit them.
type rearrangeVectors struct {
	order, fill   [64]uint8
	keep          uint64
	width, pixels int
	same          sameSize
}

func (r *rearrangeVectors) prepare(size int, from []int, width int) {
	r.same.prepare(size, from)
	if size > width || len(from) > width || size*len(from) == 0 {
		return
	}
	r.width, r.pixels = width, min(width/size, width/len(from))
	for i := range r.order {
		r.order[i] = 0x80 // selects no byte
	}
	for p := range r.pixels {
		for j, at := range from {
			i := p*len(from) + j
			if at < 0 {
				r.fill[i] = uint8(^at)
				continue
			}
			r.order[i] = uint8(p*size + at)
			r.keep |= 1 << i
		}
	}
}

// row processes the first pixels in assembly and returns how many.
func (r *rearrangeVectors) row(dst, src []uint8, size, step int) int {
	// Each time whole vectors are read and written. The bytes after the pixels
	// are written again later.
	if r.width == 0 || len(src) < r.width || len(dst) < r.width || !hasSIMD() {
		return 0
	}
	in, out := r.pixels*size, r.pixels*step
	times := (min((len(src)-r.width)/in, (len(dst)-r.width)/out) + 1) &^ 1
	if times > 0 {
		r.run(&dst[0], &src[0], times, in, out)
	}
	return times * r.pixels
}
