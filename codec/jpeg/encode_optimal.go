package jpeg

// reserved is a pseudo-symbol with a count of one. It sorts last and so takes
// the code of all ones, which T.81 forbids.
const reserved = 256

// optimalSpec computes the Huffman table for counts of symbols by the procedure
// of T.81 section K.2. Codes have up to most bits; libjpeg's have up to 16.
// Among equal counts, larger symbols merge first, and a merged pair takes the
// place of its rarer half, as in libjpeg.
func optimalSpec(s *huffSpec, counts []int64, most int) {
	*s = huffSpec{}
	// The heap holds count<<9 | 511-symbol for each tree, smallest first.
	var memory [reserved + 1]uint64
	heap := memory[:0]
	var node [reserved + 1]int // the root of the tree that a symbol stands for
	var parent, depth [2*reserved + 2]int
	for sym, n := range counts {
		if n > 0 {
			node[sym] = len(heap)
			heap = append(heap, uint64(n)<<9|uint64(511-sym))
		}
	}
	node[reserved] = len(heap)
	heap = append(heap, 1<<9|511-reserved)
	leaves := len(heap)
	if leaves == 1 {
		return
	}

	down := func(i int) {
		for {
			c := 2*i + 1
			if c >= len(heap) {
				return
			}
			if c+1 < len(heap) && heap[c+1] < heap[c] {
				c++
			}
			if heap[i] <= heap[c] {
				return
			}
			heap[i], heap[c] = heap[c], heap[i]
			i = c
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		down(i)
	}
	root := leaves - 1
	for len(heap) > 1 {
		a := heap[0]
		heap[0] = heap[len(heap)-1]
		heap = heap[:len(heap)-1]
		down(0)
		b := heap[0]
		root++
		sa, sb := 511-a&511, 511-b&511
		parent[node[sa]], parent[node[sb]] = root, root
		node[sa] = root
		heap[0] = a + b&^511
		down(0)
	}

	var bits [reserved + 2]int // number of codes of each length
	for i := root - 1; i >= 0; i-- {
		depth[i] = depth[parent[i]] + 1
		if i < leaves {
			bits[depth[i]]++
		}
	}
	// The symbols are sorted by the lengths before they are limited.
	var at [reserved + 2]int
	for l := 1; l < len(bits); l++ {
		at[l] = at[l-1] + bits[l-1]
	}
	leaf := 0
	for sym, n := range counts {
		if n > 0 {
			l := depth[leaf]
			s.vals[at[l]] = uint8(sym)
			at[l]++
			leaf++
		}
	}
	// Limit the lengths: two codes of the largest length l become one of
	// l-1, and a shorter code becomes two.
	for l := len(bits) - 1; l > most; l-- {
		for bits[l] > 0 {
			j := l - 2
			for bits[j] == 0 {
				j--
			}
			bits[l] -= 2
			bits[l-1]++
			bits[j+1] += 2
			bits[j]--
		}
	}
	l := most
	for bits[l] == 0 {
		l--
	}
	bits[l]-- // the reserved code
	for l := range s.bits[1:] {
		s.bits[l+1] = uint8(bits[l+1])
	}
}
