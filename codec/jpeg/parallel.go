package jpeg

import (
	"runtime"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
)

// Several goroutines decode bands of rows of MCUs, each with its own decoder.
// The caller's goroutine returns the pixels in order, and computes the rows
// that upsampling makes from samples of two bands. pieces.go plans the bands of
// files without restart markers.
//
// If a baseline file has all its restart markers in order, the state at the
// start of each segment does not depend on earlier segments. Excess bits of a
// segment are skipped up to its marker, missing bits are zero, and a segment
// before a marker cannot fail. So the rows of MCUs are split into bands that
// begin with a segment.

// parallel is whether images are decoded in bands. WebAssembly has one thread,
// and its small build no bytes to spare.
const parallel = runtime.GOARCH != "wasm"

const (
	// bandsPerWorker is the number of bands for each worker if the whole image
	// is decoded. Several bands even out the slow parts of an image.
	bandsPerWorker = 4
	// sinkRows is the minimum number of rows of MCUs in a band if the pixels
	// wait in memory for a sink.
	sinkRows = 4
	// sinkBands is the number of bands that wait there for each worker.
	sinkBands = 2
)

// bands is the state of decoding in bands.
type bands struct {
	workers []*decoder
	used    int // number of workers for this image

	inPieces bool  // the bands do not begin with segments, but are found in pieces
	n        int   // bands
	mcuRows  int   // rows of MCUs of the image
	rows     int   // rows of MCUs of a band between segments; the last one may have fewer
	starts   []int // offset of each band's data
	step     int   // segments from one band to the next
	first    int   // the first band that is decoded
	jobs     int   // number of decoded bands: those of the region, and the last one for the state after it
	ahead    int   // number of bands decoded ahead of the band whose pixels are returned
	seams    [maxComps][]byte
	pieces   pieces   // if the scan has no restart markers
	bufs     [][]byte // the pixels of bands for the sink: job j's are in bufs[j%ahead]

	mu      sync.Mutex
	changed *sync.Cond // signals a change of the fields below
	next    int        // number of started jobs
	given   int        // number of jobs whose pixels were returned
	done    []bool     // of each job
	stop    bool       // the workers must end
	err     error
	thrown  any   // the value of a worker's panic
	tail    input // state after the last band
	running sync.WaitGroup
}

// begin returns band k's first row of MCUs.
func (b *bands) begin(k int) int {
	if b.inPieces {
		return b.pieces.bounds[k]
	}
	return k * b.rows
}

// end returns the end of band k's rows of MCUs.
func (b *bands) end(k int) int { return min(b.begin(k+1), b.mcuRows) }

// band returns the number of job j's band.
func (b *bands) band(j int) int {
	if !b.inPieces && j == b.jobs-1 {
		return b.n - 1
	}
	return b.first + j
}

func newBands() *bands {
	b := &bands{}
	b.changed = sync.NewCond(&b.mu)
	return b
}

// planBands reports whether the scan is decoded in bands, and plans them.
func (d *decoder) planBands() bool {
	if d.o.Workers < 2 || d.in.damage != codec.DamagePillow || d.head.arithmetic {
		return false
	}
	if d.bands == nil {
		d.bands = newBands()
	}
	b := d.bands
	b.mcuRows = d.head.iMCURows
	b.inPieces = d.head.restartInterval == 0
	plan := d.planSegments
	if b.inPieces {
		plan = d.planPieces
	}
	if !plan() {
		return false
	}
	for len(b.workers) < b.used {
		w := newDecoder()
		w.work = func() { b.work(d, w) } // made once, as it is allocated
		b.workers = append(b.workers, w)
	}
	for i := range d.head.comps {
		b.seams[i] = grow(b.seams[i], 2*b.n*d.out.comp[i].stride)
	}
	for len(b.bufs) < b.ahead {
		b.bufs = append(b.bufs, nil)
	}
	b.done = grow(b.done, b.jobs)
	clear(b.done)
	b.next, b.given, b.stop, b.err, b.thrown = 0, 0, false, nil, nil
	return d.readyWorkers()
}

// planSegments plans bands that begin with a restart segment.
func (d *decoder) planSegments() bool {
	perRow := d.head.mcusPerRow * d.head.mcuRows(0)
	// Each unit'th row of MCUs begins with a segment.
	unit := d.head.restartInterval / gcd(d.head.restartInterval, perRow)
	units := ceilDiv(d.head.iMCURows, unit)
	workers := min(d.o.Workers, units)
	if workers < 2 {
		return false
	}
	b := d.bands
	b.rows = unit * ceilDiv(units, workers*bandsPerWorker)
	if d.out.sink != nil {
		b.rows = min(b.rows, unit*ceilDiv(sinkRows, unit))
	}
	b.n = ceilDiv(d.head.iMCURows, b.rows)
	b.step = b.rows * perRow / d.head.restartInterval
	b.first = d.out.firstRow / b.rows
	last := (min(d.out.lastRow, d.head.iMCURows) - 1) / b.rows
	b.jobs = last - b.first + 1
	if last < b.n-1 {
		b.jobs++
	}
	workers = min(workers, b.jobs)
	b.ahead = b.jobs
	if d.out.sink != nil {
		b.ahead = min(b.ahead, workers*sinkBands)
	}
	b.used = workers
	rows := 0
	if d.out.sink != nil {
		rows = b.ahead * b.rows
	}
	if !d.bandsFit(workers, rows, 0) {
		return false
	}
	var ok bool
	b.starts, ok = findSegments(b.starts, d.in.data, d.in.pos, ceilDiv(d.head.mcus(), d.head.restartInterval), b.step)
	return ok
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// bandsFit checks the additional memory of the bands against the limit: of the
// workers, of rows of MCUs that wait for the sink, and other bytes.
func (d *decoder) bandsFit(workers, rows int, other int64) bool {
	l := d.o.Limits.Bytes
	if l <= 0 {
		return true
	}
	n := d.need + other
	for i := range d.head.comps {
		p := &d.out.comp[i]
		n += int64(workers)*(p.ringBytes()+int64(d.head.width)+64) + int64(2*d.bands.n)*int64(p.stride)
	}
	n += int64(rows*d.head.maxV*d.out.samples) * int64(d.out.region.Width*d.head.mode().Size())
	return n <= l
}

// findSegments returns the offsets of the data of each step'th restart segment,
// where the scan's data begins at pos. It returns false unless data has the
// restart markers of all segments without fill bytes, and then another marker.
// It uses the memory of starts.
func findSegments(starts []int, data []byte, pos, segments, step int) ([]int, bool) {
	starts = append(starts[:0], pos)
	for i := 1; ; i++ {
		if pos = segmentEnd(data, pos); pos < 0 {
			return starts, false
		}
		m := data[pos+1]
		if i == segments {
			return starts, m < mRST0 || m > mRST7
		}
		if m != byte(mRST0+(i-1)&7) {
			return starts, false
		}
		pos += 2
		if i%step == 0 {
			starts = append(starts, pos)
		}
	}
}

// readyWorkers prepares the workers for the scan. It returns false if a worker
// refuses a scan that d accepts; the serial way then decodes it.
func (d *decoder) readyWorkers() bool {
	for _, w := range d.bands.workers[:d.bands.used] {
		w.o, w.out.region = d.o, d.out.region
		w.in.reset(d.in.data, d.in.damage)
		w.head = d.head
		w.head.plugin = plugin{}
		w.head.comps = w.head.compStore[:len(d.head.comps)]
		for i, c := range d.head.scan[:d.head.nScan] {
			w.head.scan[i] = &w.head.compStore[c.index]
		}
		w.out.setup(d.o.Scale)
		w.out.alloc()
		w.out.aim()
		w.ent.quick.off = d.ent.quick.off
		if w.startScan() != nil {
			return false
		}
		w.ent.allocSegment()
		w.ent.runs = nil
	}
	return true
}

// decodeBands returns the pixels of the bands and leaves d.s input after the
// last segment.
func (d *decoder) decodeBands() error {
	b := d.bands
	defer b.leave()
	for _, w := range b.workers[:b.used] {
		b.running.Add(1)
		go w.work()
	}
	for j := 0; ; j++ {
		if more, err := b.await(j); !more {
			if err != nil {
				return err
			}
			break
		}
		k := b.band(j)
		if d.out.context && k > 0 {
			d.giveSeam(k)
		}
		if d.out.sink != nil {
			if from, to := d.bandPixels(b, k); from < to {
				d.out.sink.Rows(from, to-from, b.bufs[j%b.ahead])
			}
		}
		b.mu.Lock()
		b.given++
		b.mu.Unlock()
		b.changed.Broadcast()
	}
	d.in.pos, d.in.end, d.in.marker, d.in.discarded = b.tail.pos, b.tail.end, b.tail.marker, b.tail.discarded
	return nil
}

// await waits for job j. It returns false at the end. It panics if a worker
// panicked.
func (b *bands) await(j int) (more bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for j < b.jobs && !b.done[j] && b.err == nil && b.thrown == nil {
		b.changed.Wait()
	}
	if b.thrown != nil {
		panic(b.thrown)
	}
	return j < b.jobs && b.err == nil, b.err
}

// leave stops the workers and waits for them.
func (b *bands) leave() {
	b.mu.Lock()
	b.stop = true
	b.mu.Unlock()
	b.changed.Broadcast()
	b.running.Wait()
	b.tail = input{}
	for _, w := range b.workers {
		w.release()
	}
}

// work runs a worker, which decodes bands until none is left.
func (b *bands) work(d, w *decoder) {
	defer b.running.Done()
	defer func() {
		if v := recover(); v != nil {
			b.mu.Lock()
			b.thrown, b.stop = v, true
			b.mu.Unlock()
			b.changed.Broadcast()
		}
	}()
	if b.inPieces {
		b.decodePieces(d, w)
		return
	}
	for {
		b.mu.Lock()
		j := b.next
		b.next++
		b.mu.Unlock()
		if j >= b.jobs {
			return
		}
		k := b.band(j)
		w.startSegment(k*b.step, b.starts[k], d.in.end)
		if !b.decodeJob(d, w, j) {
			return
		}
	}
}

// decodeJob decodes job j once its pixels have a place to wait. It returns
// false if the workers must end.
func (b *bands) decodeJob(d, w *decoder, j int) bool {
	b.mu.Lock()
	for !b.stop && j >= b.given+b.ahead {
		b.changed.Wait()
	}
	stop := b.stop
	b.mu.Unlock()
	if stop {
		return false
	}
	k := b.band(j)
	if d.out.sink == nil {
		w.out.out, w.out.outStride, w.out.outTop = d.out.out, d.out.outStride, 0
	} else {
		from, to := d.bandPixels(b, k)
		w.out.outStride, w.out.outTop = d.out.region.Width*d.head.mode().Size(), from
		w.out.out = grow(b.bufs[j%b.ahead], (to-from)*w.out.outStride)
		b.bufs[j%b.ahead] = w.out.out
	}
	err := w.decodeBand(b, k)
	b.mu.Lock()
	b.done[j] = true
	if err != nil {
		b.err, b.stop = err, true
	}
	if b.end(k) == b.mcuRows {
		b.tail = w.in
	}
	b.mu.Unlock()
	b.changed.Broadcast()
	return true
}

// startSegment sets the state after the restart marker before a segment whose
// data starts at an offset, or at the scan's start. end is the input's end at
// the scan's start.
func (d *decoder) startSegment(segment, start, end int) {
	// The reference has received the chunks of the file up to the one with the
	// marker's last byte.
	d.in.reset(d.in.data, d.in.damage)
	d.in.pos = start
	d.in.end = min(max(end, ceilDiv(start, chunk)*chunk), len(d.in.data))
	d.ent.begin(segment & 7)
}

// decodeBand decodes band k and computes its pixels, except the rows at its
// ends that need samples of other bands.
func (d *decoder) decodeBand(b *bands, k int) error {
	first, last := b.begin(k), b.end(k)
	d.out.rowsOut, _ = d.bandPixels(b, k)
	for row := first; row < last; row++ {
		if err := d.decodeRow(row); err != nil {
			return err
		}
		if d.out.context {
			if row == first && k > 0 {
				d.keepSeam(b, k, first, 0)
			}
			if row == last-1 && last < b.mcuRows {
				d.keepSeam(b, k+1, last, -1)
			}
		}
		d.out.emit(row)
	}
	d.ent.leaveQuick()
	return nil
}

// bandPixels returns the rows of pixels that are computed with band k.
func (d *decoder) bandPixels(b *bands, k int) (from, to int) {
	first, last := b.begin(k), b.end(k)
	h := d.head.maxV * d.out.samples
	from, to = first*h, last*h
	if d.out.context && first > 0 {
		from++
	}
	if d.out.context && last < b.mcuRows {
		to--
	}
	from = max(from, d.out.region.Top)
	return from, max(from, min(to, d.out.region.Top+d.out.region.Height))
}

// keepSeam saves a row of samples of each component for the seam above band k.
// row is the row of MCUs below the seam. offset 0 selects the first row of
// samples below the seam, -1 the last one above it.
func (d *decoder) keepSeam(b *bands, k, row, offset int) {
	for i := range d.head.comps {
		p := &d.out.comp[i]
		y := row*p.comp.v*p.samples + offset
		copy(b.seams[i][(2*k+y&1)*p.stride:][:p.stride], p.row(y))
	}
}

// giveSeam returns the rows of pixels above and below the seam above band k.
// They are computed from the two saved rows of samples.
func (d *decoder) giveSeam(k int) {
	y := d.bands.begin(k) * d.head.maxV * d.out.samples
	from, to := max(y-1, d.out.region.Top), min(y+1, d.out.region.Top+d.out.region.Height)
	if from >= to {
		return
	}
	for i := range d.head.comps {
		p := &d.out.comp[i]
		p.ring, p.ringH = d.bands.seams[i][2*k*p.stride:][:2*p.stride], 2
	}
	d.out.give(from, to)
}
