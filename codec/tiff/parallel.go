//go:build !small

package tiff

import "sync"

// workers returns the number of goroutines that decode n blocks. Each needs the
// memory of a block and of its compressed bytes.
func (d *decoder) workers(n int) int {
	h := &d.h
	switch h.compression {
	case none, ccittRLE, ccittG3, ccittG4:
		// Uncompressed blocks are copied at the memory's speed. libtiff decodes
		// a block of CCITT by what it met in the blocks before.
		return 1
	}
	w := int64(min(d.o.Workers, n, maxWorkers))
	if limit := d.o.Limits.Bytes; limit > 0 && w > 1 {
		w = min(w, limit/max(1, 2*int64(h.rowBytes())*int64(h.blockH)))
	}
	return int(max(1, w))
}

// each calls do for the numbers from 0 to n-1 on several goroutines, each with
// a block reader of its own, and waits for them. It returns the error of the
// lowest number that failed, as one goroutine would. No number is begun after
// an error.
func (d *decoder) each(n int, do func(b *blockReader, k int) error) error {
	workers := d.workers(n)
	if workers < 2 {
		return inOrder(&d.blocks, n, do)
	}
	var (
		mu     sync.Mutex
		next   int
		failed = n
		first  error
		thrown any
		all    sync.WaitGroup
	)
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1
	}
	fail := func(k int, err error, v any) {
		mu.Lock()
		defer mu.Unlock()
		next = n
		if thrown == nil {
			thrown = v
		}
		if k < failed {
			failed, first = k, err
		}
	}
	for w := range workers {
		all.Go(func() {
			b := &d.blocks
			if w > 0 {
				b = d.readers.take()
			}
			k := 0
			defer func() {
				if v := recover(); v != nil { // a bug; b may be broken
					fail(k, nil, v)
				} else if w > 0 {
					d.readers.give(b)
				}
			}()
			if w > 0 {
				if err := b.begin(&d.file, d.dir.order, &d.h.layout); err != nil {
					fail(-1, err, nil)
					return
				}
			}
			for k = take(); k < n; k = take() {
				if err := do(b, k); err != nil {
					fail(k, err, nil)
					return
				}
			}
		})
	}
	all.Wait()
	if thrown != nil {
		panic(thrown)
	}
	return first
}

// groupRows returns the number of rows of blocks that DecodeRows decodes at
// once, so that each goroutine has some blocks. Their pixels are in memory.
func (d *decoder) groupRows(blocksInRow int) int {
	h := &d.h
	w := d.workers(h.blocks())
	if w < 2 {
		return 1
	}
	rows := (groupBlocks*w + blocksInRow - 1) / blocksInRow
	if limit := d.o.Limits.Bytes; limit > 0 {
		row := int64(h.blockH) * int64(h.width) * int64(h.mode.Size())
		rows = int(min(int64(rows), limit/4/max(1, row)))
	}
	return max(1, rows)
}

// groupBlocks is the number of blocks of a group for each goroutine. Several
// blocks even out those that take long.
const groupBlocks = 4
