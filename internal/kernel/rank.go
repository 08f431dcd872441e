package kernel

// Window is a neighbourhood of a pixel for rank filters: pixels at most Half[j]
// columns away in row j. The rows lie in memory with Radius more pixels at
// each end, row j from At[j] on.
type Window struct {
	Radius int
	Half   []int64
	At     []int64
}

// SetSquare makes the window a square, in which every row counts.
func (w *Window) SetSquare() {
	for j := range w.Half {
		w.Half[j] = int64(w.Radius)
	}
}

// SetDisk makes the window a disk: the pixels whose distance from the centre is
// at most Radius.
func (w *Window) SetDisk() {
	for j := range w.Half {
		y, x := j-w.Radius, w.Radius
		for x*x+y*y > w.Radius*w.Radius {
			x--
		}
		w.Half[j] = int64(x)
	}
}

// Min sets dst to the smallest values within the window. dst is a row of pixels
// with interleaved channels. spare is scratch memory of the length of a row
// with its ends.
func (w *Window) Min(dst, rows, spare []uint8, channels int) {
	for j, at := range w.At {
		half := int(w.Half[j])
		from := int(at) + (w.Radius-half)*channels
		least := minAlong(spare, rows[from:from+len(dst)+2*half*channels], 2*half+1, channels)
		if j == 0 {
			copy(dst, least)
			continue
		}
		least = least[:len(dst)]
		for i, v := range dst {
			dst[i] = min(v, least[i])
		}
	}
}

// minAlong returns the least of n neighbours along a row, for every pixel that
// has n-1 pixels after it. The result is row itself or in spare.
func minAlong(spare, row []uint8, n, channels int) []uint8 {
	if n == 1 {
		return row
	}
	// Minima over 1, 2, 4, … pixels, and two of them for n.
	have := 1
	for src := row; have < n; src = spare {
		step := min(have, n-have)
		count := len(row) - (have+step-1)*channels
		next := src[step*channels:][:count]
		out := spare[:count]
		for i, v := range src[:count] {
			out[i] = min(v, next[i])
		}
		have += step
	}
	return spare[:len(row)-(n-1)*channels]
}

// Median sets dst to the median of the values within the window, of an even
// number the upper one. It slides a histogram along the row.
func (w *Window) Median(dst, rows []uint8, channels int) {
	count := 0
	for _, half := range w.Half {
		count += 2*int(half) + 1
	}
	for c := range channels {
		w.median(dst[c:], rows[c:], count/2, channels)
	}
}

// median writes every step-th element of dst: the value of this rank.
func (w *Window) median(dst, rows []uint8, rank, step int) {
	var counts [256]int32
	for j, half := range w.Half {
		from := int(w.At[j]) + (w.Radius-int(half))*step
		for x := range 2*int(half) + 1 {
			counts[rows[from+x*step]]++
		}
	}
	m, below := 0, 0 // below: how many values are less than m
	for i := 0; ; i += step {
		for below > rank {
			m--
			below -= int(counts[m])
		}
		for below+int(counts[m]) <= rank {
			below += int(counts[m])
			m++
		}
		dst[i] = uint8(m)
		if i+step >= len(dst) {
			return
		}
		for j, half := range w.Half {
			at := int(w.At[j]) + i
			out, in := rows[at+(w.Radius-int(half))*step], rows[at+(w.Radius+int(half)+1)*step]
			counts[out]--
			counts[in]++
			if int(out) < m {
				below--
			}
			if int(in) < m {
				below++
			}
		}
	}
}
