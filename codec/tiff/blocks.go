package tiff

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/codec/internal/inflate"
	"github.com/infer-prep/infer-prep/codec/internal/lzw"
	"github.com/infer-prep/infer-prep/internal/kernel"
)

// blockReader reads strips and tiles. It keeps its memory from block to block.
// One goroutine at a time may use it.
type blockReader struct {
	file  *file
	order binary.ByteOrder
	l     *layout

	oldLZW bool // LZW in the order of bits of TIFF 5.0

	raw   []byte // a block's compressed bytes, if the file is not in memory
	run   []byte // bytes of several blocks, empty if none were read
	runAt uint64 // their place in the file
	in    []byte // a block's compressed bytes with reversed bits
	block []byte // a decompressed block
	row   []byte // of the predictor of floats
	zr    inflate.Reader
	fax   fax
	lzw   *lzw.Decoder
	zstd  unzstd
	inner inner
}

// blockSlack is the number of bytes after a decompressed block that may be
// overwritten.
const blockSlack = inflate.FillSlack

// freeReaders holds block readers that are not in use, for their memory.
type freeReaders struct {
	mu   sync.Mutex
	free []*blockReader
}

// take lends a block reader.
func (f *freeReaders) take() *blockReader {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.free); n > 0 {
		b := f.free[n-1]
		f.free = f.free[:n-1]
		return b
	}
	return new(blockReader)
}

// give takes a block reader back.
func (f *freeReaders) give(b *blockReader) {
	b.file, b.l, b.run = nil, nil, b.run[:0] // of an image that may be closed
	f.mu.Lock()
	defer f.mu.Unlock()
	f.free = append(f.free, b)
}

// begin prepares the blocks of an image.
func (b *blockReader) begin(f *file, order binary.ByteOrder, l *layout) error {
	b.file, b.order, b.l = f, order, l
	b.fax.reset()
	if l.compression != lzwPacked {
		return nil
	}
	// libtiff keeps the order of bits of the first block.
	b.oldLZW = false
	if at := l.offsets.at64(0); at < uint64(f.size) && uint64(f.size)-at >= 2 {
		head, err := f.bytes(b.raw, at, 2)
		if err != nil {
			return err
		}
		if l.reverse {
			head = b.reversed(head)
		}
		b.oldLZW = isOldLZW(head)
	}
	return nil
}

// read returns the bytes of block i, valid until the next call. Its
// decompressed size is rows x rowBytes. An uncompressed block needs only the
// used bytes. Samples of more than 8 bits are in the file's order of bytes, or
// in little-endian order if the compression or the predictor has made them so.
func (b *blockReader) read(i, used int) ([]byte, error) {
	return b.readLines(i, used, 0, b.l.lines(i))
}

// readLines is read of the lines from to to of a block, each of rowBytes. Other
// lines are undefined. Data of Deflate, LZW and PackBits after these lines is
// not read, nor is its damage found.
func (b *blockReader) readLines(i, used, from, to int) ([]byte, error) {
	l := b.l
	rows, rowBytes := l.lines(i), l.rowBytes()
	offset := l.offset(i)
	if offset > uint64(b.file.size) {
		return nil, bad(-1, "block %d is at %d, the file ends at %d", i, offset, b.file.size)
	}
	left := uint64(b.file.size) - offset
	n := rows * rowBytes
	count := uint64(used)
	if l.compression != none {
		var err error
		if count, err = l.size(i, left, uint64(n)); err != nil {
			return nil, err
		}
	} else if left < count {
		return nil, bad(int(offset), "block %d has %d bytes, want %d", i, left, used)
	}
	var in []byte
	if end := b.runAt + uint64(len(b.run)); offset >= b.runAt && offset < end && count <= end-offset {
		in = b.run[offset-b.runAt:][:count]
	} else {
		var err error
		if in, err = b.file.bytes(b.raw, offset, int(count)); err != nil {
			return nil, err
		}
		if b.file.r != nil {
			b.raw = in
		}
	}
	if l.reverse {
		in = b.reversed(in)
	}
	if l.compression == none {
		return in, nil
	}
	if cap(b.block) < n+blockSlack {
		b.block = make([]byte, n+blockSlack)
	}
	out := b.block[:n]
	if l.tolerant {
		clear(out)
	}
	b.inner.last = !l.tiled && (i/l.across+1)%l.down == 0
	from, to = from*rowBytes, to*rowBytes
	if small || !l.partial() { // small builds have no windows
		from, to = 0, n
	}
	if err := b.inflate(out[:to], in, rows); err != nil {
		if l.tolerant {
			return out, nil // without the predictor, as libtiff
		}
		if _, ok := errors.AsType[*codec.Error](err); ok {
			return nil, err
		}
		return nil, bad(int(offset), "block %d: %v", i, err)
	}
	switch l.predictor {
	case horizontalPredictor:
		b.unpredict(out[from:to], rowBytes)
	case floatPredictor:
		b.unpredictFloats(out[from:to], rowBytes)
	}
	return out, nil
}

// partial reports whether the first lines of a compressed block can be decoded
// without those after them.
func (l *layout) partial() bool {
	switch l.compression {
	case packBits, lzwPacked, deflate, deflateOld:
		return true
	}
	return false
}

// size returns the number of bytes of compressed block i. left of them are in
// the file, and it has n bytes when decompressed.
func (l *layout) size(i int, left, n uint64) (uint64, error) {
	if l.counts.len() == 0 {
		count := uint64(l.room)
		if i == l.blocks()-1 {
			count = min(count, left)
		}
		if count > 0 && count <= left {
			return count, nil
		}
		return 0, bad(-1, "block %d has no size, and %d bytes are left", i, left)
	}
	count := l.counts.at64(i)
	if count == 0 {
		return 0, bad(-1, "block %d has 0 bytes", i)
	}
	// libtiff's bound.
	const large, slack, ratio = 1 << 20, 4096, 10
	if count > large && (count-slack)/ratio > n {
		count = n*ratio + slack
	}
	if count > left {
		return 0, bad(int(l.offsets.at64(i)), "block %d has %d bytes, %d are left", i, count, left)
	}
	return count, nil
}

func (b *blockReader) reversed(in []byte) []byte {
	b.in = append(b.in[:0], in...)
	for i, v := range b.in {
		b.in[i] = bits.Reverse8(v)
	}
	return b.in
}

// inflate decompresses in to out.
func (b *blockReader) inflate(out, in []byte, rows int) error {
	l := b.l
	switch l.compression {
	case packBits:
		return unpackBits(out, in)
	case lzwPacked:
		if b.lzw == nil {
			b.lzw = new(lzw.Decoder)
		}
		_, err := b.lzw.Decode(out, in, tiffLZW(b.oldLZW))
		return err
	case ccittRLE, ccittG3, ccittG4:
		n, err := b.fax.decode(out, in, l.blockW, rows, l.compression, l.twoD) // black is 1 for every photometric interpretation
		if err != nil && l.tiled {
			return unsupported("a damaged CCITT tile (%v), whose other rows are undefined in libtiff", err)
		}
		if err == nil && n < rows {
			return unsupported("CCITT data that ends at row %d of %d, whose other rows are undefined in libtiff", n, rows)
		}
		return err
	case zstandard:
		return b.zstd.decode(out, in)
	case lzma2:
		return unlzma(out, in)
	case jpegCoded:
		return b.inner.jpeg(out, in, l, rows)
	case webP:
		return b.inner.webp(out, in, l, rows)
	default:
		b.zr.Reset(inflate.Piece(in))
		n, err := b.zr.Fill(out[:len(out)+blockSlack], len(out), len(out) == rows*l.rowBytes())
		if l.tolerant {
			clear(out[n:])
		}
		return err
	}
}

func unpackBits(out, in []byte) error {
	for len(out) > 0 {
		if len(in) < 2 {
			return io.ErrUnexpectedEOF
		}
		n, b := int(int8(in[0])), in[1]
		switch {
		case n == -128: // no data
			in = in[1:]
		case n < 0:
			run := out[:min(1-n, len(out))]
			for i := range run {
				run[i] = b
			}
			in, out = in[2:], out[len(run):]
		default:
			n = min(n+1, len(out))
			if len(in)-1 < n {
				return io.ErrUnexpectedEOF
			}
			copy(out, in[1:1+n])
			in, out = in[1+n:], out[n:]
		}
	}
	return nil
}

// unpredict adds to every sample its left neighbour.
func (b *blockReader) unpredict(block []byte, rowBytes int) {
	n := b.l.samples / b.l.planes
	order, big := b.order, b.order == binary.ByteOrder(binary.BigEndian)
	for ; len(block) > 0; block = block[rowBytes:] {
		row := block[:rowBytes]
		switch b.l.bits {
		case 8:
			kernel.AddLeft(row, n)
		case 16:
			if big {
				for i := 2 * n; i+1 < len(row); i += 2 {
					binary.BigEndian.PutUint16(row[i:], binary.BigEndian.Uint16(row[i:])+binary.BigEndian.Uint16(row[i-2*n:]))
				}
				continue
			}
			kernel.AddLeft16(row, n)
		case 32:
			for i := 4 * n; i+3 < len(row); i += 4 {
				order.PutUint32(row[i:], order.Uint32(row[i:])+order.Uint32(row[i-4*n:]))
			}
		case 64:
			for i := 8 * n; i+7 < len(row); i += 8 {
				order.PutUint64(row[i:], order.Uint64(row[i:])+order.Uint64(row[i-8*n:]))
			}
		}
	}
}

// unpredictFloats reverses predictor 3 (Adobe Photoshop TIFF Technical Note 3):
// each row holds the highest bytes of its samples, then the next ones, as
// differences. The result has the file's order of bytes.
func (b *blockReader) unpredictFloats(block []byte, rowBytes int) {
	n, size := b.l.samples/b.l.planes, b.l.bits/8
	big := b.order == binary.ByteOrder(binary.BigEndian)
	b.row = append(b.row[:0], make([]byte, rowBytes)...)
	for ; len(block) > 0; block = block[rowBytes:] {
		row, tmp := block[:rowBytes], b.row
		kernel.AddLeft(row, n)
		copy(tmp, row)
		count := rowBytes / size
		for k := range size {
			at := k
			if !big {
				at = size - 1 - k
			}
			for i, v := range tmp[k*count:][:count] {
				row[i*size+at] = v
			}
		}
	}
}
