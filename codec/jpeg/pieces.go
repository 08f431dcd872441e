package jpeg

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/internal/kernel"
)

// A baseline scan without restart markers is split into pieces of equal size.
// Each worker decodes a piece from a guess: that an MCU begins with its first
// bit. Codes of variable length synchronise themselves: after some wrong MCUs,
// MCUs begin where they do in the true decoding (Klein and Wiseman, Parallel
// Huffman decoding with applications to JPEG files, 2003). The pieces are then
// settled in order. The true decoding goes on from the end of the piece before,
// MCU by MCU, until one of the guessed MCUs begins at the same bit. The MCUs
// from there on are right, but for the DC values, which miss a constant. The
// rows of MCUs that a piece completes are a band. The last bytes before the
// marker, where the reference's checks matter, are decoded as without workers.

const (
	// pieceBlocks is the number of blocks that a piece has on average. Their
	// coefficients take 384 KiB, which fit the L2 cache.
	pieceBlocks = 3072
	// pieceMin and pieceMax bound the length of a piece in bytes.
	pieceMin, pieceMax = 1 << 13, 1 << 18
	// blockBits is the minimum number of bits of a block: two codes.
	blockBits = 2
	// strayPieces is the number of consecutive pieces that may fail to
	// synchronise. The rest of the scan is then decoded without workers.
	strayPieces = 3
)

// pieces is the state of decoding a scan in pieces. Its fields change under
// the mutex of bands, or by the worker whose turn it is.
type pieces struct {
	size   int   // length of a piece in bytes, for tests; 0 for the default
	starts []int // offset in the file of each piece, then the end of the last one
	bounds []int // the first row of MCUs of each band, then the end of the last one

	taken   int   // pieces that a worker has begun
	settled int   // pieces whose MCUs are numbered
	at      place // where the true decoding goes on, in piece number settled
	stray   int   // the latest settled pieces that did not synchronise
	ended   bool  // the last band was planned
	runs    []run // MCUs that follow those of the last planned band
	waiting int   // the number of MCUs in runs

	bands int // planned bands
	pool  stripPool
}

// place is a place in the scan where an MCU begins.
type place struct {
	mcu  int      // the number of the MCU
	bit  int      // its first bit, counted from a piece's start without stuffed zeros
	pred [4]int32 // the DC predictors, modulo 1<<16
}

// strip is the coefficients of consecutive MCUs, as many as a segment has and
// in its layout.
type strip struct {
	blocks [][64]int16
	last   []uint8
	marks  []uint32 // the first bit of each MCU, then that of the next
	n      int      // decoded MCUs
	uses   atomic.Int32
	pool   *stripPool
}

// run is some MCUs of a strip. delta is missing in their DC values.
type run struct {
	strip    *strip
	from, to int
	delta    [4]int32
}

// planPieces reports whether the scan is decoded in pieces, and plans them.
func (d *decoder) planPieces() bool {
	e, h := &d.ent, &d.head
	if e.quick.off || d.in.warns() || d.in.marker != 0 {
		return false
	}
	end := segmentEnd(d.in.data, d.in.pos)
	if end < 0 || e.quick.fetches(end) {
		return false
	}
	b, p := d.bands, &d.bands.pieces
	blocks := h.mcus() * h.blocksInMCU
	last := end - pieceSlack(h.blocksInMCU) - e.quick.margin
	bytes := last - d.in.pos
	size := p.size
	if size == 0 {
		size = int(int64(bytes) * pieceBlocks / int64(blocks))
		size = max(pieceMin, min(size, pieceMax, bytes/(2*d.o.Workers)))
	}
	n := bytes / size
	b.used = min(d.o.Workers, n)
	if b.used < 2 {
		return false
	}
	p.starts = p.starts[:0]
	for i := range n + 1 {
		at := d.in.pos + int(int64(bytes)*int64(i)/int64(n))
		for d.in.data[at-1] == 0xFF { // before a stuffed zero
			at++
		}
		p.starts = append(p.starts, at)
	}
	b.n, b.jobs, b.first = n+1, n+1, 0
	b.ahead = b.jobs
	if d.out.sink != nil {
		b.ahead = min(b.ahead, b.used*sinkBands)
	}
	p.bounds = grow(p.bounds, n+2)
	p.bounds[0] = 0
	p.taken, p.settled, p.stray, p.ended, p.waiting, p.bands = 0, 0, 0, false, 0, 0
	p.at, p.runs = place{}, p.runs[:0]
	// The most blocks of a piece, once guessed and once replaced, for each
	// worker, and two rows that wait.
	most := int64(b.used)*2*int64(8*size/blockBits+2*segment) + 2*int64(h.mcusPerRow*h.mcuRows(0)*h.blocksInMCU)
	rows := 0
	if d.out.sink != nil {
		rows = h.iMCURows
	}
	return d.bandsFit(b.used, rows, most*(2*64+1))
}

// pieceSlack returns the number of bytes after a piece that its decoding may
// need.
func pieceSlack(blocks int) int { return 2*kernel.HuffBlockBytes*blocks + 16 }

// stripPool keeps strips for reuse.
type stripPool struct {
	mu   sync.Mutex
	free []*strip
}

// get returns a strip of zero coefficients for n MCUs.
func (p *stripPool) get(n, blocksInMCU int) *strip {
	p.mu.Lock()
	var s *strip
	if k := len(p.free); k > 0 {
		s, p.free = p.free[k-1], p.free[:k-1]
	}
	p.mu.Unlock()
	if s == nil {
		s = &strip{pool: p}
	}
	if k := n * blocksInMCU; len(s.blocks) != k {
		s.blocks, s.last = make([][64]int16, k), make([]uint8, k)
	}
	s.marks = grow(s.marks, n+1)
	s.n = 0
	s.uses.Store(1)
	return s
}

func (s *strip) share() { s.uses.Add(1) }

// drop ends a use. After the last one, the strip is used again.
func (s *strip) drop() {
	if s.uses.Add(-1) > 0 {
		return
	}
	clear(s.blocks)
	clear(s.last)
	s.pool.mu.Lock()
	s.pool.free = append(s.pool.free, s)
	s.pool.mu.Unlock()
}

// pieceReader decodes MCUs of one piece into strips.
type pieceReader struct {
	ent    *entropy
	huff   *kernel.HuffReader
	pool   *stripPool
	bits   int // length of the piece
	strips []*strip
	spare  []*strip // memory
	to     [maxMCU]target
	band   []run // the memory of the runs of a band
}

// open copies the piece from offset start to end of the file.
func (r *pieceReader) open(data []byte, start, end int) {
	h := r.ent.head
	stop := end + pieceSlack(h.blocksInMCU)
	for data[stop-1] == 0xFF {
		stop++
	}
	room := kernel.HuffBlockBytes * h.blocksInMCU
	buf := grow(r.huff.Buf, stop-start+room+quickAhead)
	n := kernel.Unstuff(buf, data[start:end])
	all := n + kernel.Unstuff(buf[n:], data[end:stop])
	r.huff.Buf = buf[:all+room+quickAhead]
	clear(r.huff.Buf[all:])
	r.bits = 8 * n
}

// seek moves to a bit of the piece.
func (r *pieceReader) seek(at place) {
	h := r.huff
	h.Pos, h.Acc, h.N, h.Pred = at.bit>>3, 0, 0, at.pred
	if k := uint(at.bit & 7); k != 0 {
		h.Acc, h.N = uint64(h.Buf[h.Pos])<<(56+k), 8-k
		h.Pos++
	}
}

// bit returns the place of the next MCU.
func (r *pieceReader) bit() int { return 8*r.huff.Pos - int(r.huff.N) }

// decode decodes up to n MCUs that begin in the piece, at most as many as fit
// the strip.
func (r *pieceReader) decode(n int) {
	h, e := r.huff, r.ent
	var s *strip
	if k := len(r.strips); k > 0 {
		s = r.strips[k-1]
	}
	if s == nil || s.n == e.segMCUs {
		s = r.pool.get(e.segMCUs, e.head.blocksInMCU)
		e.head.layout(&r.to, s.blocks, s.last, e.segMCUs)
		e.quick.target(&r.to)
		r.strips = append(r.strips, s)
	}
	h.X, h.Marks = s.n, s.marks
	// An MCU that begins with Pos up to Stop begins in the piece. Near the end,
	// bits that were fetched before are left.
	h.Limit, h.Stop = min(h.X+n, e.segMCUs), r.bits>>3-1
	if h.Pos > h.Stop {
		h.Limit, h.Stop = h.X+1, h.Pos
	}
	h.Decode()
	h.Marks = nil
	s.n = h.X
	s.marks[s.n] = uint32(r.bit())
}

// guess decodes the piece as if an MCU began with it.
func (r *pieceReader) guess() {
	r.seek(place{})
	for r.bit() < r.bits {
		r.decode(r.ent.segMCUs)
	}
}

// drop ends the use of the strips.
func (r *pieceReader) drop() {
	for _, s := range r.strips {
		s.drop()
	}
	r.strips = r.strips[:0]
}

// pred returns the DC values at the end of MCU x of a strip.
func (r *pieceReader) pred(s *strip, x int) (pred [4]int32) {
	r.ent.head.layout(&r.to, s.blocks, s.last, r.ent.segMCUs)
	for b, c := range r.ent.head.member[:r.ent.head.blocksInMCU] {
		t := &r.to[b]
		pred[c] = int32(t.blocks[x*t.step][0])
	}
	return pred
}

// settle appends the piece's MCUs to runs, given where the true decoding enters
// the piece, and returns where it leaves it. It reports whether the guess was
// useful.
func (r *pieceReader) settle(at place, runs []run) ([]run, place, bool) {
	guessed, guessEnd := r.strips, place{bit: r.bit(), pred: r.huff.Pred}
	r.strips, r.spare = r.spare[:0], guessed
	i, x := 0, 0
	if at.bit < r.bits {
		r.seek(at)
	}
	found := false
	for at.bit < r.bits {
		for i < len(guessed) && int(guessed[i].marks[x]) < at.bit {
			if x++; x == guessed[i].n {
				i, x = i+1, 0
			}
		}
		if found = i < len(guessed) && int(guessed[i].marks[x]) == at.bit; found {
			break
		}
		r.decode(1)
		at.mcu++
		at.bit, at.pred = r.bit(), r.huff.Pred
	}
	for _, s := range r.strips {
		runs = append(runs, run{strip: s, to: s.n})
	}
	r.strips = r.strips[:0]
	if !found {
		for _, s := range guessed {
			s.drop()
		}
		at.bit -= r.bits
		return runs, at, false
	}
	var delta [4]int32
	switch {
	case x > 0:
		delta = r.pred(guessed[i], x-1)
	case i > 0:
		delta = r.pred(guessed[i-1], guessed[i-1].n-1)
	}
	for c := range delta {
		delta[c] = at.pred[c] - delta[c]
		at.pred[c] = guessEnd.pred[c] + delta[c]
	}
	for _, s := range guessed[:i] {
		s.drop()
	}
	for _, s := range guessed[i:] {
		runs = append(runs, run{strip: s, from: x, to: s.n, delta: delta})
		at.mcu += s.n - x
		x = 0
	}
	at.bit = guessEnd.bit - r.bits
	return runs, at, true
}

// decodePieces runs a worker, which decodes pieces until none is left.
func (b *bands) decodePieces(d, w *decoder) {
	p, r := &b.pieces, &w.pieces
	r.ent, r.huff, r.pool = &w.ent, &w.ent.quick.huff, &p.pool
	for {
		b.mu.Lock()
		k := p.taken
		p.taken++
		b.mu.Unlock()
		rest := k >= len(p.starts)-1 // what follows the last piece
		if !rest {
			r.open(w.in.data, p.starts[k], p.starts[k+1])
			r.guess()
		}
		if !b.awaitTurn(k) {
			r.drop()
			return
		}
		if rest || !b.settle(d, r) {
			b.decodeRest(d, w)
			return
		}
		j, some := b.planBand(w)
		b.mu.Lock()
		p.settled++
		b.mu.Unlock()
		b.changed.Broadcast()
		if some && !b.decodeJob(d, w, j) {
			return
		}
	}
}

// awaitTurn waits until the pieces before piece k are settled. It returns false
// if piece k is not needed.
func (b *bands) awaitTurn(k int) bool {
	p := &b.pieces
	b.mu.Lock()
	defer b.mu.Unlock()
	for p.settled < k && !p.ended && !b.stop {
		b.changed.Wait()
	}
	return p.settled == k && !p.ended && !b.stop
}

// settle numbers the MCUs of a guessed piece. It returns false, and changes
// nothing, if the rest of the scan must be decoded without workers.
func (b *bands) settle(d *decoder, r *pieceReader) bool {
	p := &b.pieces
	if p.stray == strayPieces {
		r.drop()
		return false
	}
	n := len(p.runs)
	runs, at, useful := r.settle(p.at, p.runs)
	if at.mcu >= d.head.mcus() { // the last MCU is left for the careful decoders
		for _, u := range runs[n:] {
			u.strip.drop()
		}
		return false
	}
	p.waiting += at.mcu - p.at.mcu
	p.at, p.runs = at, runs
	if p.stray++; useful {
		p.stray = 0
	}
	return true
}

// planBand plans the band of the complete rows, if there are any, and passes
// its MCUs to w. It returns the band's number.
func (b *bands) planBand(w *decoder) (j int, some bool) {
	p, h := &b.pieces, &w.head
	j = p.bands
	row, mcus := p.bounds[j], 0
	for {
		n := h.mcusPerRow * h.mcuRows(row)
		if mcus+n > p.waiting {
			break
		}
		row, mcus = row+1, mcus+n
	}
	if mcus == 0 {
		return 0, false
	}
	p.waiting -= mcus
	runs, n := w.pieces.band[:0], 0
	for mcus > 0 {
		u := p.runs[n]
		if k := u.to - u.from; k > mcus {
			u.strip.share()
			u.to = u.from + mcus
			p.runs[n].from = u.to
		} else {
			n++
		}
		runs = append(runs, u)
		mcus -= u.to - u.from
	}
	p.runs = slices.Delete(p.runs, 0, n)
	p.bands++
	p.bounds[p.bands] = row
	w.pieces.band, w.ent.runs = runs, runs
	return j, true
}

// decodeRest decodes the rest of the scan as the last band, without other
// workers.
func (b *bands) decodeRest(d, w *decoder) {
	p := &b.pieces
	b.mu.Lock()
	p.ended = true
	j := p.bands
	b.jobs, p.bounds[j+1] = j+1, d.head.iMCURows
	b.mu.Unlock()
	b.changed.Broadcast()
	w.resume(p.starts[p.settled], p.at, d.in.end)
	w.ent.runs = p.runs
	b.decodeJob(d, w, j)
}

// resume moves the careful decoders to a place in the piece that starts at an
// offset of the file. end is the input's end at the scan's start.
func (d *decoder) resume(start int, at place, end int) {
	d.in.reset(d.in.data, d.in.damage)
	d.ent.begin(0)
	copy(d.ent.lastDC[:], at.pred[:])
	pos := start
	skip := func() (b byte) {
		b = d.in.data[pos]
		if pos++; b == 0xFF {
			pos++ // a stuffed zero
		}
		return b
	}
	for range at.bit >> 3 {
		skip()
	}
	if k := at.bit & 7; k != 0 {
		d.ent.bits.nbits = 8 - k
		d.ent.bits.acc = uint64(skip()) & (1<<(8-k) - 1)
	}
	d.in.pos = pos
	for d.in.end = end; d.in.end < pos; {
		d.in.end = min(d.in.end+chunk, len(d.in.data))
	}
}

// decodeRun computes the samples of MCUs that are in memory: from column x on
// of row y of row's MCUs. It returns their number.
func (d *decoder) decodeRun(row, y, x int, wanted bool) int {
	e, h := &d.ent, &d.head
	u := &e.runs[0]
	n := min(u.to-u.from, h.mcusPerRow-x)
	if wanted {
		to := &d.pieces.to
		h.layout(to, u.strip.blocks, u.strip.last, e.segMCUs)
		for b := range h.blocksInMCU {
			t := &to[b]
			t.blocks, t.last = t.blocks[u.from*t.step:], t.last[u.from*t.step:]
			if delta := u.delta[h.member[b]]; delta != 0 {
				for i := range n {
					t.blocks[i*t.step][0] += int16(delta)
				}
			}
		}
		d.out.transform(to, row, y, x, n)
	}
	if u.from += n; u.from == u.to {
		u.strip.drop()
		e.runs = e.runs[1:]
	}
	return n
}
