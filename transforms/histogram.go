package transforms

import "github.com/infer-prep/infer-prep/tensor"

// histogram counts the values of a channel.
type histogram [256]int

// countValues adds the values of a dense uint8 image to the histograms of its
// channels.
func countValues(h []histogram, s *tensor.Tensor) {
	data := s.Data[:s.Len()]
	if len(h) == 3 && s.Layout == tensor.HWC {
		h0, h1, h2 := &h[0], &h[1], &h[2]
		for ; len(data) >= 3; data = data[3:] {
			h0[data[0]]++
			h1[data[1]]++
			h2[data[2]]++
		}
		return
	}
	n := len(data) / len(h)
	for i := range h {
		// Two counters for each value: equal neighbours do not wait for each
		// other.
		var odd histogram
		plane := data[i*n:][:n]
		for ; len(plane) >= 2; plane = plane[2:] {
			h[i][plane[0]]++
			odd[plane[1]]++
		}
		for _, v := range plane {
			odd[v]++
		}
		for v, k := range odd {
			h[i][v] += k
		}
	}
}

// sum returns the number of pixels.
func (h *histogram) sum() int {
	n := 0
	for _, k := range h {
		n += k
	}
	return n
}

// cut takes n pixels away, from a value on upwards (step 1) or downwards (-1).
func (h *histogram) cut(n, from, step int) {
	for v := from; v >= 0 && v < len(h) && n > 0; v += step {
		k := min(n, h[v])
		h[v] -= k
		n -= k
	}
}

// bounds returns the least and the greatest value; lo > hi without pixels.
func (h *histogram) bounds() (lo, hi int) {
	lo, hi = 255, 0
	for v, k := range h {
		if k > 0 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}
