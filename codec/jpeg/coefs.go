package jpeg

import "math/bits"

// coefBits holds the number of unknown low bits of each component's
// coefficients in zigzag order, -1 if all bits are unknown. prev is the state
// before the component's last scan.
type coefBits struct {
	cur, prev [maxComps][64]int
}

func (b *coefBits) reset(n int) {
	for i := range n {
		for k := range 64 {
			b.cur[i][k], b.prev[i][k] = -1, -1
		}
	}
}

// A slab hands out zeroed pieces of memory and keeps them from image to image.
// It doubles as it grows, up to the most that the image can need.
type slab[T any] struct {
	parts [][]T
	next  int // the first part that this image has not used
	free  []T
	total int // elements in parts
	want  int // most elements that can still be requested
}

// reset starts an image. The parts stay as they are: one large part in their
// place would need as much memory again until the collector frees them.
func (s *slab[T]) reset(want int) { s.next, s.free, s.want = 0, nil, want }

func (s *slab[T]) alloc(n int) []T {
	for len(s.free) < n && s.next < len(s.parts) {
		s.free = s.parts[s.next]
		s.next++
	}
	if len(s.free) < n {
		m := max(n, min(s.total, s.want))
		s.free = make([]T, m)
		s.parts = append(s.parts, s.free)
		s.next = len(s.parts)
		s.total += m
	}
	b := s.free[:n:n]
	s.free = s.free[n:]
	s.want -= n
	clear(b)
	return b
}

// stored is a row of MCUs of a component, in files with several scans.
type stored struct {
	blocks [][64]int16
	last   []uint8  // sequential: upper bound of the zigzag index of each block's last coefficient
	again  bool     // sequential: more than one scan stored here, so last is invalid
	masks  []uint64 // progressive: bit k is set if coefficient k in zigzag order is not 0
}

// coefStore holds the coefficients of files with several scans, and which of
// their bits are known. It allocates a component's row of MCUs when the first
// data for it is decoded.
type coefStore struct {
	head   *header
	blocks slab[[64]int16]
	lasts  slab[uint8]
	masks  slab[uint64]
	rows   [maxComps][]stored // of each row of MCUs
	zero   [][64]int16        // a row of blocks of zeros
	known  coefBits
	// lastGoodRow is the last row of MCUs for which the last scan had data.
	lastGoodRow int
}

// reset starts an image.
func (s *coefStore) reset() {
	want := 0
	for i := range s.head.comps {
		c := &s.head.comps[i]
		want += c.padW * c.padH
		s.rows[i] = grow(s.rows[i], s.head.iMCURows)
		clear(s.rows[i])
	}
	s.blocks.reset(want)
	s.lasts.reset(want)
	s.masks.reset(want)
	s.known.reset(len(s.head.comps))
}

// touch allocates the row of MCUs of c and reports whether it was allocated
// before.
func (s *coefStore) touch(c *component, row int) bool {
	r := &s.rows[c.index][row]
	if r.blocks != nil {
		return true
	}
	n := c.padW * c.v
	r.blocks = s.blocks.alloc(n)
	if s.head.progressive {
		r.masks = s.masks.alloc(n)
	} else {
		r.last = s.lasts.alloc(n)
	}
	return false
}

// row returns row y of the blocks of c.
func (s *coefStore) row(c *component, y int) [][64]int16 {
	r := s.rows[c.index][y/c.v].blocks
	if r == nil {
		s.zero = grow(s.zero, c.padW)
		clear(s.zero)
		return s.zero
	}
	return r[y%c.v*c.padW:][:c.padW]
}

// lastCoefs fills last with upper bounds of the zigzag index of the last
// coefficients of the blocks from number from on.
func (r *stored) lastCoefs(last []uint8, from int) {
	for i := range last {
		switch {
		case r.masks != nil:
			last[i] = uint8(63 - bits.LeadingZeros64(r.masks[from+i]|1))
		case r.again:
			last[i] = 63
		default:
			last[i] = r.last[from+i]
		}
	}
}
