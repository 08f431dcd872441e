package jpeg

import (
	"sync"

	"github.com/infer-prep/infer-prep/codec"
)

// If a baseline file has all its restart markers in order, the state at the
// start of each segment does not depend on earlier segments. Excess bits of a
// segment are skipped up to its marker, missing bits are zero, and a segment
// before a marker cannot fail. So the rows of MCUs are split into bands that
// begin with a segment. Several goroutines decode bands, each with its own
// decoder. The caller's goroutine returns the pixels in order, and computes the
// rows that upsampling makes from samples of two bands.

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
	used    int   // number of workers for this image
	n       int   // bands
	rows    int   // rows of MCUs of a band; the last one may have fewer
	starts  []int // offset of each band's data
	step    int   // segments from one band to the next
	first   int   // the first band that is decoded
	jobs    int   // number of decoded bands: those of the region, and the last one for the state after it
	ahead   int   // number of bands decoded ahead of the band whose pixels are returned
	seams   [maxComps][]byte
	bufs    [][]byte // the pixels of bands for the sink: job j's are in bufs[j%ahead]

	mu      sync.Mutex
	changed *sync.Cond // signals a change of the fields below
	next    int        // number of started jobs
	given   int        // number of jobs whose pixels were returned
	done    []bool     // of each job
	stop    bool       // the workers must end
	err     error
	thrown  any    // the value of a worker's panic
	tail    reader // state after the last band
	running sync.WaitGroup
}

// band returns the number of job j's band.
func (b *bands) band(j int) int {
	if j == b.jobs-1 {
		return b.n - 1
	}
	return b.first + j
}

// planBands reports whether the scan is decoded in bands, and plans them.
func (d *decoder) planBands() bool {
	if d.o.Workers < 2 || d.damage != codec.DamagePillow || d.arithmetic || d.restartInterval == 0 {
		return false
	}
	perRow := d.mcusPerRow * d.mcuRows(0)
	all := perRow*(d.iMCURows-1) + d.mcusPerRow*d.mcuRows(d.iMCURows-1)
	// Each unit'th row of MCUs begins with a segment.
	unit := d.restartInterval / gcd(d.restartInterval, perRow)
	units := ceilDiv(d.iMCURows, unit)
	workers := min(d.o.Workers, units)
	if workers < 2 {
		return false
	}
	if d.bands == nil {
		d.bands = &bands{}
		d.bands.changed = sync.NewCond(&d.bands.mu)
	}
	b := d.bands
	b.rows = unit * ceilDiv(units, workers*bandsPerWorker)
	if d.sink != nil {
		b.rows = min(b.rows, unit*ceilDiv(sinkRows, unit))
	}
	b.n = ceilDiv(d.iMCURows, b.rows)
	b.step = b.rows * perRow / d.restartInterval
	b.first = d.firstRow / b.rows
	last := (min(d.lastRow, d.iMCURows) - 1) / b.rows
	b.jobs = last - b.first + 1
	if last < b.n-1 {
		b.jobs++
	}
	workers = min(workers, b.jobs)
	b.ahead = b.jobs
	if d.sink != nil {
		b.ahead = min(b.ahead, workers*sinkBands)
	}
	if !d.bandsFit(workers) || !b.find(d.data, d.pos, ceilDiv(all, d.restartInterval)) {
		return false
	}
	for len(b.workers) < workers {
		b.workers = append(b.workers, newDecoder())
	}
	for i := range d.comps {
		c := &d.comps[i]
		b.seams[i] = grow(b.seams[i], 2*b.n*c.stride)
	}
	for len(b.bufs) < b.ahead {
		b.bufs = append(b.bufs, nil)
	}
	b.done = grow(b.done, b.jobs)
	clear(b.done)
	b.next, b.given, b.stop, b.err, b.thrown = 0, 0, false, nil, nil
	b.used = workers
	return d.readyWorkers()
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// bandsFit checks the additional memory of the bands against the limit.
func (d *decoder) bandsFit(workers int) bool {
	l := d.o.Limits.Bytes
	if l <= 0 {
		return true
	}
	b := d.bands
	n := d.need
	for i := range d.comps {
		c := &d.comps[i]
		n += int64(workers)*(c.ringBytes()+int64(d.width)+64) + int64(2*b.n)*int64(c.stride)
	}
	if d.sink != nil {
		n += int64(b.ahead) * int64(b.rows*d.maxV*d.samples) * int64(d.region.Width*d.mode().Size())
	}
	return n <= l
}

// find finds the bands' data in data, where the scan's data begins at pos. It
// returns false unless data has the restart markers of all segments without
// fill bytes, and then another marker.
func (b *bands) find(data []byte, pos, segments int) bool {
	b.starts = append(b.starts[:0], pos)
	for i := 1; ; i++ {
		if pos = segmentEnd(data, pos); pos < 0 {
			return false
		}
		m := data[pos+1]
		if i == segments {
			return m < mRST0 || m > mRST7
		}
		if m != byte(mRST0+(i-1)&7) {
			return false
		}
		pos += 2
		if i%b.step == 0 {
			b.starts = append(b.starts, pos)
		}
	}
}

// readyWorkers prepares the workers for the scan. It returns false if a worker
// refuses a scan that d accepts; the serial way then decodes it.
func (d *decoder) readyWorkers() bool {
	for _, w := range d.bands.workers[:d.bands.used] {
		w.o, w.region, w.toLuma = d.o, d.region, d.toLuma
		w.reader.reset(d.data, d.damage)
		w.header = d.header
		w.meta = meta{}
		w.comps = w.compStore[:len(d.comps)]
		for i, c := range d.scan[:d.nScan] {
			w.scan[i] = &w.compStore[c.index]
		}
		w.context, w.samples = d.context, d.samples
		w.allocPlanes()
		w.quick.off = d.quick.off
		if w.startScan() != nil {
			return false
		}
		w.aimRegion()
		w.allocSegment()
	}
	return true
}

// decodeBands returns the pixels of the bands and leaves d's reader after the
// last segment.
func (d *decoder) decodeBands() error {
	b := d.bands
	defer b.leave()
	for _, w := range b.workers[:b.used] {
		b.running.Add(1)
		go b.work(d, w)
	}
	for j := range b.jobs {
		if err := b.await(j); err != nil {
			return err
		}
		k := b.band(j)
		if d.context && k > 0 {
			d.giveSeam(k)
		}
		if d.sink != nil {
			if from, to := d.bandPixels(b, k); from < to {
				d.sink.Rows(from, to-from, b.bufs[j%b.ahead])
			}
		}
		b.mu.Lock()
		b.given++
		b.mu.Unlock()
		b.changed.Broadcast()
	}
	d.pos, d.end, d.marker, d.discarded = b.tail.pos, b.tail.end, b.tail.marker, b.tail.discarded
	return nil
}

// await waits for job j. It panics if a worker panicked.
func (b *bands) await(j int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for !b.done[j] && b.err == nil && b.thrown == nil {
		b.changed.Wait()
	}
	if b.thrown != nil {
		panic(b.thrown)
	}
	return b.err
}

// leave stops the workers and waits for them.
func (b *bands) leave() {
	b.mu.Lock()
	b.stop = true
	b.mu.Unlock()
	b.changed.Broadcast()
	b.running.Wait()
	b.tail = reader{}
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
	for {
		b.mu.Lock()
		for !b.stop && b.next < b.jobs && b.next == b.given+b.ahead {
			b.changed.Wait()
		}
		j := b.next
		if b.stop || j == b.jobs {
			b.mu.Unlock()
			return
		}
		b.next++
		b.mu.Unlock()
		k := b.band(j)
		if d.sink == nil {
			w.out, w.outStride, w.outTop = d.out, d.outStride, 0
		} else {
			from, to := d.bandPixels(b, k)
			w.outStride, w.outTop = d.region.Width*d.mode().Size(), from
			w.out = grow(b.bufs[j%b.ahead], (to-from)*w.outStride)
			b.bufs[j%b.ahead] = w.out
		}
		err := w.decodeBand(b, k, d.end)
		b.mu.Lock()
		b.done[j] = true
		if err != nil {
			b.err, b.stop = err, true
		}
		if k == b.n-1 {
			b.tail = w.reader
		}
		b.mu.Unlock()
		b.changed.Broadcast()
	}
}

// decodeBand decodes band k and computes its pixels, except the rows at its
// ends that need samples of other bands. end is the reader's end at the scan's
// start.
func (d *decoder) decodeBand(b *bands, k, end int) error {
	// The state after a restart marker. The reference has received the chunks
	// of the file up to the one with the marker's last byte.
	d.reader.reset(d.data, d.damage)
	d.pos = b.starts[k]
	d.end = min(max(end, ceilDiv(d.pos, chunk)*chunk), len(d.data))
	d.acc, d.nbits, d.insufficient = 0, 0, false
	d.lastDC = [maxScan]int32{}
	d.restartsToGo = d.restartInterval
	d.nextRestart = k * b.step & 7
	d.quick.on, d.quick.tried = false, false

	first := k * b.rows
	last := min(first+b.rows, d.iMCURows)
	d.rowsOut, _ = d.bandPixels(b, k)
	for row := first; row < last; row++ {
		if err := d.decodeIMCURow(row); err != nil {
			return err
		}
		if d.context {
			if row == first && k > 0 {
				d.keepSeam(b, k, first, 0)
			}
			if row == last-1 && last < d.iMCURows {
				d.keepSeam(b, k+1, last, -1)
			}
		}
		d.emit(row)
	}
	d.leaveQuick()
	return nil
}

// bandPixels returns the rows of pixels that are computed with band k.
func (d *decoder) bandPixels(b *bands, k int) (from, to int) {
	first := k * b.rows
	last := min(first+b.rows, d.iMCURows)
	h := d.maxV * d.samples
	from, to = first*h, last*h
	if d.context && first > 0 {
		from++
	}
	if d.context && last < d.iMCURows {
		to--
	}
	from = max(from, d.region.Top)
	return from, max(from, min(to, d.region.Top+d.region.Height))
}

// keepSeam saves a row of samples of each component for the seam above band k.
// row is the row of MCUs below the seam. offset 0 selects the first row of
// samples below the seam, -1 the last one above it.
func (d *decoder) keepSeam(b *bands, k, row, offset int) {
	for i := range d.comps {
		c := &d.comps[i]
		y := row*c.v*c.samples + offset
		copy(b.seams[i][(2*k+y&1)*c.stride:][:c.stride], c.row(y))
	}
}

// giveSeam returns the rows of pixels above and below the seam above band k.
// They are computed from the two saved rows of samples.
func (d *decoder) giveSeam(k int) {
	y := k * d.bands.rows * d.maxV * d.samples
	from, to := max(y-1, d.region.Top), min(y+1, d.region.Top+d.region.Height)
	if from >= to {
		return
	}
	for i := range d.comps {
		c := &d.comps[i]
		c.ring, c.ringH = d.bands.seams[i][2*k*c.stride:][:2*c.stride], 2
	}
	d.give(from, to)
}
