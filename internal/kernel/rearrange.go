package kernel

// Rearrange writes pixels of len(from) bytes from pixels of size bytes: byte i
// of a pixel of dst is byte from[i] of the pixel of src, or the constant
// ^from[i] if from[i] is negative. dst has as many pixels as src and must not
// overlap it.
func Rearrange(dst, src []uint8, size int, from []int) {
	r := Rearranger{size: size, from: from}
	r.vectors.prepare(size, from, vectorWidth(len(src)))
	r.Row(dst, src)
}

// Rearranger is Rearrange for many short rows. Several goroutines may use it.
type Rearranger struct {
	size    int
	from    []int
	vectors rearrangeVectors
}

// NewRearranger returns the Rearranger of Rearrange's size and from.
func NewRearranger(size int, from ...int) *Rearranger {
	r := &Rearranger{size: size, from: from}
	r.vectors.prepare(size, from, 16)
	return r
}

// Row is Rearrange.
func (r *Rearranger) Row(dst, src []uint8) {
	if len(src) == 0 {
		return
	}
	size, step := r.size, len(r.from)
	n := len(src) / size
	src, dst = src[:n*size], dst[:n*step]
	if head, end := r.vectors.whole(dst, src, size); end > 0 {
		r.plain(dst[:head*step], src[:head*size])
		dst, src = dst[end*step:], src[end*size:]
	}
	i := r.vectors.row(dst, src, size, step)
	r.plain(dst[i*step:], src[i*size:])
}

// plain is Row in Go for whole pixels.
func (r *Rearranger) plain(dst, src []uint8) {
	size, from := r.size, r.from
	n, step := len(src)/size, len(from)
	i := 0
	if step == 3 && from[0] >= 0 && from[1] >= 0 && from[2] >= 0 { // the most common case
		a, b, c := from[0], from[1], from[2]
		for ; i < n; i++ {
			p, q := src[i*size:][:size], dst[i*3:][:3]
			q[0], q[1], q[2] = p[a], p[b], p[c]
		}
	}
	for ; i < n; i++ {
		p, q := src[i*size:][:size], dst[i*step:][:step]
		for j, at := range from {
			if at >= 0 {
				q[j] = p[at]
			} else {
				q[j] = uint8(^at)
			}
		}
	}
}
