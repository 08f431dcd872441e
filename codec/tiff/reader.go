package tiff

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// Options configures a Reader. The zero value is valid.
type Options struct {
	// Limits bounds the pixels and bytes of a window, and the bytes of a strip,
	// a tile or a tag. The strips or tiles that a window needs have at most 4
	// times as many pixels as a window. Default codec.DefaultLimits.
	Limits codec.Limits
	// Workers is the number of goroutines that decode the strips or tiles of
	// one window. Default 1, which is the caller's goroutine; at most 256.
	Workers int
	// Cache keeps decompressed strips and tiles for later windows. Default
	// none.
	Cache *Cache
}

// Reader reads windows of the images in a TIFF or BigTIFF of either byte order.
// It reads directories when they are asked for, and only those strips and tiles
// that a window needs. It is safe for concurrent use.
type Reader struct {
	file    file
	limits  codec.Limits
	workers int
	cache   *Cache // nil for none
	readers *freeReaders

	mu     sync.Mutex
	images []*Image       // those of the chain that were read
	seen   map[uint64]int // offsets of their directories
	next   uint64         // the offset of the following directory, 0 if none
	head   directory      // the header only
}

// maxImages bounds the chain of directories.
const maxImages = 1 << 16

// NewReader reads the header of a TIFF of size bytes. A nil o means the zero
// Options. The Reader keeps r, which must allow concurrent calls of ReadAt if
// Workers is above 1 or several goroutines use the Reader.
//
// Errors about the file are of type *codec.Error. Those of r are wrapped, too.
func NewReader(r io.ReaderAt, size int64, o *Options) (*Reader, error) {
	if o == nil {
		o = &Options{}
	}
	if o.Workers < 0 || o.Workers > maxWorkers {
		return nil, fmt.Errorf("tiff: workers %d: want 0 to %d", o.Workers, maxWorkers)
	}
	readers := &freeReaders{}
	if o.Cache != nil {
		readers = &o.Cache.readers
	}
	t, err := newReader(file{r: r, size: size}, o.Limits.WithDefaults(), o.Workers, readers)
	if err == nil {
		t.cache = o.Cache
	}
	return t, err
}

// newReader reads the header of f. The limits have no zero fields.
func newReader(f file, limits codec.Limits, workers int, readers *freeReaders) (*Reader, error) {
	t := &Reader{file: f, limits: limits, workers: max(1, workers), readers: readers, seen: map[uint64]int{}}
	next, err := t.head.header(&t.file)
	if err != nil {
		return nil, err
	}
	magic, err := t.file.bytes(nil, 0, 4)
	if err != nil {
		return nil, err
	}
	switch string(magic) {
	case "II*\x00", "MM\x00*", "II+\x00", "MM\x00+":
	default:
		return nil, bad(0, "the file begins with %q, want a TIFF or BigTIFF header", magic)
	}
	t.next = next
	return t, nil
}

// maxWorkers bounds Options.Workers.
const maxWorkers = 256

// Image returns image n, from 0, in the order of the file's directories. If the
// file has n images or fewer, the error is io.EOF.
func (r *Reader) Image(n int) (*Image, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n < 0 {
		return nil, fmt.Errorf("tiff: image %d: want 0 or more", n)
	}
	for n >= len(r.images) {
		if r.next == 0 {
			return nil, io.EOF
		}
		if k, ok := r.seen[r.next]; ok {
			return nil, bad(int(min(r.next, math.MaxInt32)), "the directory after image %d is that of image %d", len(r.images)-1, k)
		}
		if len(r.images) == maxImages {
			return nil, codec.Errorf(name, -1, codec.ErrLimit, "more than %d images", maxImages)
		}
		i := &Image{r: r}
		if r.cache != nil {
			i.id = r.cache.ids.Add(1)
		}
		if err := i.dir.from(&r.head, r.next); err != nil {
			return nil, err
		}
		r.seen[r.next] = len(r.images)
		r.images, r.next = append(r.images, i), i.dir.next
	}
	return r.images[n], nil
}

// Overviews returns the reduced images that follow image n, the largest first
// in files of GDAL. They describe the same scene in fewer pixels. Masks are
// left out.
func (r *Reader) Overviews(n int) ([]*Image, error) {
	var list []*Image
	for n++; ; n++ {
		i, err := r.Image(n)
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		switch kind := i.dir.get(tagSubfileType, 0); {
		case kind&reducedImage == 0 && kind&maskImage == 0:
			return list, nil
		case kind&maskImage == 0:
			list = append(list, i)
		}
	}
}

// Image is an image of a Reader. It is safe for concurrent use.
type Image struct {
	r    *Reader
	id   uint64 // in the Reader's cache
	dir  directory
	once sync.Once
	info Info
	l    layout
	fill []byte // a sample of a missing block, nil if it is 0
	err  error  // of once

	geoOnce sync.Once
	geo     Geo
	geoErr  error
}

// Info describes the samples of an image.
type Info struct {
	Width, Height int // in pixels, as stored: the orientation is not applied
	Bands         int // samples per pixel, 1 to 64
	// Type is NumPy's name of the type of the samples: "uint8", "int8",
	// "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16",
	// "float32" or "float64". Unsigned samples of fewer bits than the type are
	// neither scaled nor inverted: those of 1 bit are 0 and 1, palettes are
	// indices. YCbCr of JPEG becomes RGB.
	Type string
	// DType is the type of a tensor of the samples, tensor.Invalid for uint32
	// and uint64.
	DType tensor.DType
	Bits  int // of a stored sample, 1 to 64
	// BlockWidth and BlockHeight are the size of a tile or strip in pixels. A
	// window that begins and ends with blocks decodes no other pixels.
	BlockWidth, BlockHeight int
	Tiled                   bool
	Planar                  bool // each band has strips or tiles of its own
	Compression             int  // the tag's value: 1 is none, 5 LZW, 8 Deflate, …
	Photometric             int  // the tag's value: 1 is gray, 2 RGB, 3 a palette, …
	Reduced                 bool // an overview of another image
}

// maxBands bounds the samples per pixel.
const maxBands = 64

// Info reads the rest of the image's directory at the first call. It returns
// the same values or error from then on.
func (i *Image) Info() (Info, error) {
	i.once.Do(func() { i.err = i.open() })
	return i.info, i.err
}

// open reads the description of the samples.
func (i *Image) open() error {
	t, l := &i.dir, &i.l
	if err := t.load(&i.r.limits, tagBits, tagSampleFormat, tagStripOffsets, tagStripCounts, tagTileOffsets, tagTileCounts, tagJPEGTables, tagGDALNoData); err != nil {
		return err
	}
	if err := t.checkTypes(); err != nil {
		return err
	}
	if err := l.setSize(t); err != nil {
		return err
	}
	n := t.get(tagSamplesPerPixel, 1)
	if n < 1 || n > maxBands {
		return unsupported("%d samples per pixel, want 1 to %d", n, maxBands)
	}
	l.samples, l.planes = int(n), 1
	l.bits = int(min(t.get(tagBits, 1), 1<<16))
	kind := t.get(tagSampleFormat, unsignedSample)
	for k := range l.samples {
		if v := t.tags[tagBits].at(k, uint32(l.bits)); int(v) != l.bits {
			return unsupported("samples of %d and of %d bits", l.bits, v)
		}
		if v := t.tags[tagSampleFormat].at(k, kind); v != kind {
			return unsupported("samples of formats %d and %d", kind, v)
		}
	}
	if err := i.setType(kind); err != nil {
		return err
	}
	switch v := t.get(tagPlanar, chunky); {
	case v == separatePlanes:
		l.planes = l.samples
	case v != chunky:
		return bad(-1, "planar configuration %d, want 1 or 2", v)
	}
	switch fill := t.get(tagFillOrder, msbFirst); fill {
	case msbFirst, lsbFirst:
		l.reverse = fill == lsbFirst && l.compression != jpegCoded && l.compression != webP
	default:
		return bad(-1, "fill order %d, want 1 or 2", fill)
	}
	if l.photo == yCbCr && l.compression != jpegCoded {
		if s := t.tags[tagSubsampling]; s.at(0, 2) != 1 || s.at(1, 2) != 1 {
			return unsupported("YCbCr with fewer chroma samples, compression %d", l.compression)
		}
	}
	if err := l.setBlocks(t, false); err != nil {
		return err
	}
	l.chop()
	i.info = Info{
		Width: l.width, Height: l.height, Bands: l.samples, Type: i.info.Type, DType: i.info.DType, Bits: l.bits,
		BlockWidth: l.blockW, BlockHeight: l.blockH, Tiled: l.tiled, Planar: l.planes > 1,
		Compression: int(l.compression), Photometric: int(l.photo), Reduced: t.get(tagSubfileType, 0)&reducedImage != 0,
	}
	if v, ok := t.noData(); ok {
		i.fill = i.sample(v)
	}
	return nil
}

// setType sets the type of the samples.
func (i *Image) setType(kind uint32) error {
	bits := i.l.bits
	switch kind {
	case unsignedSample, untypedSample:
		switch {
		case bits >= 1 && bits <= 8:
			i.info.Type, i.info.DType = "uint8", tensor.Uint8
		case bits > 8 && bits <= 16:
			i.info.Type, i.info.DType = "uint16", tensor.Uint16
		case bits == 32:
			i.info.Type = "uint32"
		case bits == 64:
			i.info.Type = "uint64"
		}
	case signedSample:
		switch bits {
		case 8:
			i.info.Type, i.info.DType = "int8", tensor.Int8
		case 16:
			i.info.Type, i.info.DType = "int16", tensor.Int16
		case 32:
			i.info.Type, i.info.DType = "int32", tensor.Int32
		case 64:
			i.info.Type, i.info.DType = "int64", tensor.Int64
		}
	case floatSample:
		switch bits {
		case 16:
			i.info.Type, i.info.DType = "float16", tensor.Float16
		case 32:
			i.info.Type, i.info.DType = "float32", tensor.Float32
		case 64:
			i.info.Type, i.info.DType = "float64", tensor.Float64
		}
	}
	if i.info.Type == "" {
		return unsupported("samples of %d bits and format %d", bits, kind)
	}
	return nil
}

// sampleSize returns the bytes of a sample in a window.
func (l *layout) sampleSize() int {
	switch {
	case l.bits <= 8:
		return 1
	case l.bits <= 16:
		return 2
	}
	return l.bits / 8
}

// Size checks a window against the image and the limits. It returns the bytes
// that Read needs for it.
func (i *Image) Size(w codec.Region) (int, error) {
	f, err := i.Info()
	if err != nil {
		return 0, err
	}
	if w.Left < 0 || w.Top < 0 || w.Width < 1 || w.Height < 1 || w.Width > f.Width-w.Left || w.Height > f.Height-w.Top {
		return 0, fmt.Errorf("tiff: window of %dx%d pixels at (%d, %d): want at least 1x1 within %dx%d", w.Width, w.Height, w.Left, w.Top, f.Width, f.Height)
	}
	pixel := f.Bands * i.l.sampleSize()
	if err := i.r.limits.CheckSize(name, w.Width, w.Height, pixel); err != nil {
		return 0, err
	}
	if n := int64(w.Width) * int64(w.Height) * int64(pixel); n > math.MaxInt {
		return 0, codec.Errorf(name, -1, codec.ErrBytes, "a window of %d bytes does not fit the address space", n)
	}
	return w.Width * w.Height * pixel, nil
}

// Tensor reads a window into a new HWC tensor of the image's type. It fails for
// the types uint32 and uint64, which tensors do not have; Read reads them.
func (i *Image) Tensor(w codec.Region) (*tensor.Tensor, error) {
	if _, err := i.Size(w); err != nil {
		return nil, err
	}
	if i.info.DType == tensor.Invalid {
		return nil, unsupported("a tensor of %s", i.info.Type)
	}
	t, err := tensor.New(tensor.Image(i.info.DType, tensor.HWC, w.Height, w.Width, i.info.Bands))
	if err != nil {
		return nil, err
	}
	return t, i.Read(t.Data, w)
}

// Read decodes a window into dst: dense rows of pixels, all bands of a pixel
// together, in the machine's byte order. dst has the bytes that Size returns.
// Missing strips and tiles have the no-data value, or 0. After an error the
// contents of dst are undefined.
func (i *Image) Read(dst []byte, w codec.Region) error {
	n, err := i.Size(w)
	if err != nil {
		return err
	}
	if len(dst) != n {
		return fmt.Errorf("tiff: read: destination of %d bytes: want %d", len(dst), n)
	}
	return i.read(&window{i: i, dst: dst, Region: w, width: w.Width})
}

// ReadPadded is Read of some bands, and of a window that may reach past the
// right and bottom edges of the image but has a pixel within it. bands are
// numbers from 0 in the wanted order; nil means all. Pixels past the edges have
// the no-data value, or 0. dst has len(bands) samples for each pixel. Strips
// and tiles of bands apart that are not wanted are not read.
func (i *Image) ReadPadded(dst []byte, w codec.Region, bands []int) error {
	f, err := i.Info()
	if err != nil {
		return err
	}
	n := f.Bands
	if bands != nil {
		if n = len(bands); n < 1 || n > maxBands {
			return fmt.Errorf("tiff: read: %d bands: want 1 to %d", n, maxBands)
		}
	}
	for _, b := range bands {
		if b < 0 || b >= f.Bands {
			return fmt.Errorf("tiff: read: band %d: want 0 to %d", b, f.Bands-1)
		}
	}
	part := w
	part.Width, part.Height = min(w.Width, f.Width-w.Left), min(w.Height, f.Height-w.Top)
	if _, err := i.Size(part); err != nil {
		return err
	}
	pixel := n * i.l.sampleSize()
	if err := i.r.limits.CheckSize(name, w.Width, w.Height, pixel); err != nil {
		return err
	}
	line := w.Width * pixel
	if len(dst)%line != 0 || len(dst)/line != w.Height || line/pixel != w.Width {
		return fmt.Errorf("tiff: read: destination of %d bytes: want %d rows of %d pixels of %d bytes", len(dst), w.Height, w.Width, pixel)
	}
	for y := range part.Height {
		fillSamples(dst[y*line+part.Width*pixel:], w.Width-part.Width, n, pixel, i.l.sampleSize(), i.fill)
	}
	for y := part.Height; y < w.Height; y++ {
		fillSamples(dst[y*line:], w.Width, n, pixel, i.l.sampleSize(), i.fill)
	}
	return i.read(&window{i: i, dst: dst, Region: part, width: w.Width, bands: bands})
}

// Missing reports whether all strips and tiles of a window within the image are
// missing in the file, as in sparse files of GDAL. Read then gives the no-data
// value, or 0.
func (i *Image) Missing(w codec.Region) (bool, error) {
	if _, err := i.Size(w); err != nil {
		return false, err
	}
	j := &window{i: i, Region: w}
	j.begin()
	for k := range j.n {
		if n, _, _, _ := j.place(k); !i.l.missing(n) {
			return false, nil
		}
	}
	return true, nil
}

// missing reports whether block n is not in the file.
func (l *layout) missing(n int) bool {
	if l.chopped {
		n /= l.down
	}
	return l.offsets.at64(n) == 0 || l.counts.len() > 0 && l.counts.at64(n) == 0
}

// read decodes a window.
func (i *Image) read(j *window) error {
	l := &i.l
	if err := l.check(&i.r.limits); err != nil {
		return err
	}
	j.begin()
	if err := l.checkWork(&i.r.limits, int64(j.x1-j.x0)*int64(j.y1-j.y0)); err != nil {
		return err
	}
	workers := int(min(int64(i.r.workers), j.n))
	if limit := i.r.limits.Bytes; limit > 0 && workers > 1 {
		// A worker has a block, and its compressed bytes.
		block := 2 * int64(l.rowBytes()) * int64(l.blockH)
		workers = int(max(1, min(int64(workers), limit/max(1, block))))
	}
	j.run = j.n / int64(max(1, workers))
	if workers < 2 {
		return j.work()
	}
	errs := make([]error, workers)
	var all sync.WaitGroup
	for k := range workers {
		all.Go(func() { errs[k] = j.work() })
	}
	all.Wait()
	return j.first
}

// window is a Read in progress.
type window struct {
	i   *Image
	dst []byte
	codec.Region
	width          int   // pixels of a row of dst
	bands          []int // nil for all
	x0, x1, y0, y1 int   // columns and rows of blocks
	n              int64 // blocks of all planes that are read
	run            int64 // the most blocks that are read at once

	mu    sync.Mutex
	next  int64 // the next block
	first error // of the block with the lowest number
	at    int64 // that block
}

// begin sets the blocks.
func (j *window) begin() {
	l := &j.i.l
	j.x0, j.x1 = j.Left/l.blockW, (j.Left+j.Width-1)/l.blockW+1
	j.y0, j.y1 = j.Top/l.blockH, (j.Top+j.Height-1)/l.blockH+1
	planes := l.planes
	if planes > 1 && j.bands != nil {
		planes = len(j.bands)
	}
	j.n = int64(j.x1-j.x0) * int64(j.y1-j.y0) * int64(planes)
}

// place returns the number in the file of block k of the window, its column and
// row, and the number of its plane among those of the window.
func (j *window) place(k int64) (n, bx, by, plane int) {
	l := &j.i.l
	across := int64(j.x1 - j.x0)
	plane = int(k / (across * int64(j.y1-j.y0)))
	bx, by = j.x0+int(k%across), j.y0+int(k/across%int64(j.y1-j.y0))
	band := plane
	if l.planes > 1 && j.bands != nil {
		band = j.bands[plane]
	}
	return (band*l.down+by)*l.across + bx, bx, by, plane
}

// work decodes blocks until there are none left, and returns the error of the
// first block that failed. Blocks after it are not begun.
func (j *window) work() (err error) {
	b, k := j.i.r.readers.take(), int64(-1)
	defer func() {
		if v := recover(); v != nil { // a bug; b may be broken
			err = j.fail(k, codec.Errorf(name, -1, codec.ErrInternal, "block %d of the window: %v", k, v))
			return
		}
		j.i.r.readers.give(b)
	}()
	if err := b.begin(&j.i.r.file, j.i.dir.order, &j.i.l); err != nil {
		return j.fail(-1, err)
	}
	for {
		var end int64
		if k, end = j.take(b); k >= j.n {
			return nil
		}
		for ; k < end; k++ {
			if err := j.block(b, k); err != nil {
				return j.fail(k, err)
			}
		}
	}
}

// Bounds of the blocks that are read at once.
const (
	maxRun = 1 << 20 // bytes
	maxGap = 64      // bytes between two; those of a COG have 8
)

// take returns the next blocks, from k to end. If they follow each other in the
// file, b has read their bytes at once: a store then sends one request, and no
// bytes ahead of a reader in order.
func (j *window) take(b *blockReader) (k, end int64) {
	j.mu.Lock()
	k = j.next
	end = min(k+1, j.n)
	b.run = b.run[:0]
	at, next, ok := j.bytes(k)
	for ok && end < j.n && end-k < j.run {
		from, to, more := j.bytes(end)
		if !more || from < next || from-next > maxGap || to-at > maxRun {
			break
		}
		next = to
		end++
	}
	j.next = end
	j.mu.Unlock()
	if end-k > 1 {
		// Block after block shows which one an error belongs to.
		if run, err := j.i.r.file.bytes(b.run, at, int(next-at)); err == nil {
			b.run, b.runAt = run, at
		}
	}
	return k, end
}

// bytes returns where the bytes of block k of the window begin and end in the
// file. ok is false if it is not read from there.
func (j *window) bytes(k int64) (at, end uint64, ok bool) {
	l, r := &j.i.l, j.i.r
	if k >= j.n || j.run < 2 || r.file.r == nil {
		return 0, 0, false
	}
	n, _, _, _ := j.place(k)
	at = l.offset(n)
	if l.missing(n) || at >= uint64(r.file.size) || r.cache != nil && r.cache.has(blockID{j.i.id, n}) {
		return 0, 0, false
	}
	size := uint64(l.rows(n) * l.rowBytes())
	if l.compression != none {
		var err error
		if size, err = l.size(n, uint64(r.file.size)-at, size); err != nil {
			return 0, 0, false
		}
	}
	return at, at + size, size <= uint64(r.file.size)-at
}

// fail notes the error of block k. No block is begun from then on.
func (j *window) fail(k int64, err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.next = j.n
	if j.first == nil || k < j.at {
		j.first, j.at = err, k
	}
	return err
}

// block decodes block k of the window.
func (j *window) block(b *blockReader, k int64) error {
	l := &j.i.l
	n, bx, by, plane := j.place(k)
	// The part of the window in the block, in pixels of the block.
	left, top := max(j.Left-bx*l.blockW, 0), max(j.Top-by*l.blockH, 0)
	right, bottom := min(j.Left+j.Width-bx*l.blockW, l.blockW), min(j.Top+j.Height-by*l.blockH, l.blockH)
	size, stored := l.sampleSize(), l.samples/l.planes
	samples, out := stored, l.samples // of a pixel in dst: those of the block, and all
	if j.bands != nil {
		if out = len(j.bands); l.planes == 1 {
			samples = out
		}
	}
	pixel := out * size
	// The first sample of the block in the window.
	dst := j.dst[((by*l.blockH+top-j.Top)*j.width+bx*l.blockW+left-j.Left)*pixel+plane*size:]
	line := j.width * pixel
	w, h := right-left, bottom-top
	if l.missing(n) {
		for y := range h {
			fillSamples(dst[y*line:], w, samples, pixel, size, j.i.fill)
		}
		return nil
	}
	rowBytes := l.rowBytes()
	var src []byte
	if total := rowBytes * l.rows(n); j.i.r.cache == nil || l.compression == none || int64(total) > j.i.r.cache.limit {
		var err error
		// The last row of the image in the block needs all of it, so that
		// whole images show damage anywhere.
		from, to := top, bottom
		if lines := l.lines(n); by*l.blockH+bottom >= l.height || bottom == l.blockH || l.subX > 0 {
			to = lines
		}
		if src, err = b.readLines(n, total, from, to); err != nil {
			return err
		}
	} else {
		c, err := j.i.r.cache.get(blockID{j.i.id, n}, b, total+blockSlack)
		if err != nil {
			return err
		}
		defer j.i.r.cache.release(c)
		src = c.data
	}
	chosen := j.bands != nil && l.planes == 1
	for y := range h {
		out, row := dst[y*line:], src[(top+y)*rowBytes:][:rowBytes]
		switch {
		case l.bits%8 != 0 && chosen:
			b.row = slices.Grow(b.row[:0], w*stored*size)[:w*stored*size]
			unpackBitsOf(b.row, row, l.bits, left*stored, w, stored, stored*size, size)
			gather(out, b.row, w, pixel, stored*size, size, j.bands)
		case l.bits%8 != 0:
			unpackBitsOf(out, row, l.bits, left*samples, w, samples, pixel, size)
		case chosen:
			gather(out, row[left*stored*size:], w, pixel, stored*size, size, j.bands)
		case l.planes == 1:
			copy(out[:w*pixel], row[left*pixel:])
		default:
			scatter(out, row[left*size:], w, pixel, size)
		}
	}
	if size > 1 && l.bits%8 == 0 && j.i.dir.swapped() {
		for y := range h {
			swapSamples(dst[y*line:], w, samples, pixel, size)
		}
	}
	return nil
}
