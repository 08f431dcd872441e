package hdf5

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// Limits of a dataset.
const (
	maxAxes    = 8
	maxFilters = 8
	maxSide    = 1 << 40 // elements of an axis
	maxRow     = 1 << 30 // bytes
	maxChunk   = 64 << 20
	// Up to maxSlots decoded chunks of maxKept bytes together are kept, but
	// always one.
	maxKept  = 64 << 20
	maxSlots = 16
)

// deflateRatio bounds the bytes that one byte of deflate data can expand to: a
// match of 258 bytes takes at least two bits.
const deflateRatio = 1032

// Type describes the integers of a dataset.
type Type struct {
	Size   int // in bytes: 1, 2, 4 or 8
	Signed bool
	Order  binary.ByteOrder
}

// Int returns the number at the start of b. A uint64 beyond int64 is negative.
func (t *Type) Int(b []byte) int64 {
	switch {
	case t.Size == 1 && t.Signed:
		return int64(int8(b[0]))
	case t.Size == 1:
		return int64(b[0])
	case t.Size == 2 && t.Signed:
		return int64(int16(t.Order.Uint16(b)))
	case t.Size == 2:
		return int64(t.Order.Uint16(b))
	case t.Size == 4 && t.Signed:
		return int64(int32(t.Order.Uint32(b)))
	case t.Size == 4:
		return int64(t.Order.Uint32(b))
	}
	return int64(t.Order.Uint64(b))
}

// Dataset is an open array. Its methods are safe for concurrent use.
type Dataset struct {
	f    *File
	Dims []int64 // sizes of the axes, one at least; the first is that of rows
	Type Type

	rowSize int64
	start   int64 // of a contiguous dataset, without chunks

	// The remaining fields are those of chunks.
	chunkRows int64
	chunkSize int64 // bytes of a decoded chunk
	// axes are those after the first, up to the last one that chunks divide;
	// run is the number of bytes of an element of the last of them.
	axes    []axis
	run     int64
	filters []filter
	chunks  []chunk // in the order of their places in the array
	slots   []slot
}

// axis is an axis of n elements, of which chunks have side each.
type axis struct{ n, side int64 }

func (a axis) chunks() int64 { return (a.n + a.side - 1) / a.side }

type filter struct {
	id   uint16
	size int // of shuffled elements
}

const (
	deflate = 1
	shuffle = 2
)

// chunk is the place of a chunk in the file.
type chunk struct {
	at   int64
	size uint32
	skip uint32 // a bit for each filter that was not applied
}

// slot keeps a decoded chunk. A chunk has one slot, so goroutines that read
// rows of one chunk decode it once.
type slot struct {
	mu      sync.Mutex
	n       int64 // the chunk's number, or -1
	b       []byte
	packed  []byte
	in      bytes.Reader
	inflate io.ReadCloser
}

// Rows returns the size of the first axis.
func (d *Dataset) Rows() int64 { return d.Dims[0] }

// RowSize returns the bytes of a row: all elements with one index of the first
// axis. It is 1 GiB at most.
func (d *Dataset) RowSize() int64 { return d.rowSize }

// Dataset opens a dataset of the root group. It reads the list of its chunks,
// 16 bytes for each, which must be complete. A chunk has 64 MiB at most. Up to
// 16 decoded chunks of 64 MiB together stay in memory, and as much memory again
// to decode the next ones.
func (f *File) Dataset(ctx context.Context, name string) (*Dataset, error) {
	at, err := f.find(name)
	if err != nil {
		return nil, err
	}
	messages, err := f.header(fmt.Sprintf("dataset %.80q", name), at)
	if err != nil {
		return nil, err
	}
	if m, ok := messages[msgExternal]; ok {
		return nil, unsupported(m.at, "dataset %.80q: data in other files", name)
	}
	d := &Dataset{f: f}
	for _, k := range []struct {
		kind uint16
		what string
		read func(message) error
	}{{msgDatatype, "type", d.datatype}, {msgDataspace, "sizes", d.dataspace}, {msgFilters, "", d.pipeline}, {msgLayout, "layout", func(m message) error { return d.layout(ctx, m) }}} {
		m, ok := messages[k.kind]
		switch {
		case ok:
			err = k.read(m)
		case k.what != "":
			err = invalid(at, "an object without %s, want a dataset", k.what)
		}
		if err != nil {
			return nil, fmt.Errorf("dataset %.80q: %w", name, err)
		}
	}
	return d, nil
}

// want checks the length of a message.
func want(m message, what string, n int) error {
	if len(m.b) < n {
		return invalid(m.at, "%s of %d bytes, want %d", what, len(m.b), n)
	}
	return nil
}

func (d *Dataset) datatype(m message) error {
	if err := want(m, "a type", 12); err != nil {
		return err
	}
	// h5py writes booleans as an enumeration. The type of its integers follows.
	const enumeration = 8
	if m.b[0]&15 == enumeration {
		m = message{m.at + 8, m.b[8:]}
		if err := want(m, "a type", 12); err != nil {
			return err
		}
	}
	if class := m.b[0] & 15; class != 0 {
		return unsupported(m.at, "numbers of class %d, want integers (0)", class)
	}
	size, offset, precision := u32(m.b[4:]), u16(m.b[8:]), u16(m.b[10:])
	switch size {
	case 1, 2, 4, 8:
	default:
		return unsupported(m.at+4, "integers of %d bytes, want 1, 2, 4 or 8", size)
	}
	if offset != 0 || uint32(precision) != 8*size {
		return unsupported(m.at+8, "integers with %d of %d bits from bit %d on, want all", precision, 8*size, offset)
	}
	d.Type = Type{int(size), m.b[1]&8 != 0, binary.LittleEndian}
	if m.b[1]&1 != 0 {
		d.Type.Order = binary.BigEndian
	}
	return nil
}

func (d *Dataset) dataspace(m message) error {
	if err := want(m, "a list of sizes", 4); err != nil {
		return err
	}
	var at int
	switch m.b[0] {
	case 1:
		at = 8
	case 2:
		at = 4
	default:
		return unsupported(m.at, "a list of sizes of version %d, want 1 or 2", m.b[0])
	}
	axes := int(m.b[1])
	if axes < 1 || axes > maxAxes {
		return unsupported(m.at+1, "%d axes, want 1 to %d", axes, maxAxes)
	}
	if err := want(m, "a list of sizes", at+8*axes); err != nil {
		return err
	}
	d.rowSize = int64(d.Type.Size)
	for i := range axes {
		at := at + 8*i
		n := u64(m.b[at:])
		if n < 1 || n > maxSide {
			return unsupported(m.at+int64(at), "size %d of axis %d, want 1 to %d", n, i, int64(maxSide))
		}
		d.Dims = append(d.Dims, int64(n))
		// The product may overflow: divide instead.
		if i > 0 && int64(n) > maxRow/d.rowSize {
			return unsupported(m.at+int64(at), "rows of more than %d bytes", maxRow)
		}
		if i > 0 {
			d.rowSize *= int64(n)
		}
	}
	return nil
}

// pipeline reads the list of filters.
func (d *Dataset) pipeline(m message) error {
	if err := want(m, "a list of filters", 2); err != nil {
		return err
	}
	version, n := m.b[0], int(m.b[1])
	if version != 1 && version != 2 {
		return unsupported(m.at, "a list of filters of version %d, want 1 or 2", version)
	}
	if n > maxFilters {
		return unsupported(m.at+1, "%d filters, want at most %d", n, maxFilters)
	}
	at := 2
	if version == 1 {
		at = 8
	}
	next := func() (v int, err error) {
		if err := want(m, "a list of filters", at+2); err != nil {
			return 0, err
		}
		at += 2
		return int(u16(m.b[at-2:])), nil
	}
	for range n {
		place := m.at + int64(at)
		id, err := next()
		if err != nil {
			return err
		}
		name := 0
		if version == 1 || id >= 256 {
			if name, err = next(); err != nil {
				return err
			}
		}
		if _, err := next(); err != nil { // flags
			return err
		}
		values, err := next()
		if err != nil {
			return err
		}
		if version == 1 {
			name = (name + 7) &^ 7
		}
		at += name
		if err := want(m, "a list of filters", at+4*values); err != nil {
			return err
		}
		f := filter{uint16(id), d.Type.Size}
		switch {
		case id != deflate && id != shuffle:
			return unsupported(place, "filter %d, want deflate (1) or shuffle (2)", id)
		case id == shuffle && values > 0:
			if size := u32(m.b[at:]); size != uint32(f.size) {
				return unsupported(place, "shuffled elements of %d bytes, want %d", size, f.size)
			}
		}
		d.filters = append(d.filters, f)
		at += 4 * values
		if version == 1 && values%2 == 1 {
			at += 4
		}
	}
	return nil
}

func (d *Dataset) layout(ctx context.Context, m message) error {
	if err := want(m, "a layout", 2); err != nil {
		return err
	}
	if m.b[0] != 3 {
		return unsupported(m.at, "a layout of version %d, want 3", m.b[0])
	}
	if class := m.b[1]; class != 1 && class != 2 {
		return unsupported(m.at+1, "a layout of class %d, want contiguous (1) or chunks (2)", class)
	}
	if err := want(m, "a layout", 18); err != nil {
		return err
	}
	if m.b[1] == 1 {
		return d.contiguous(m)
	}
	return d.chunked(ctx, m)
}

func (d *Dataset) contiguous(m message) error {
	at, size := u64(m.b[2:]), u64(m.b[10:])
	if at == none {
		return unsupported(m.at+2, "a dataset that was never written")
	}
	if d.Rows() > d.f.size/d.rowSize || uint64(d.Rows()*d.rowSize) != size {
		return invalid(m.at+10, "%d bytes, want %v elements of %d bytes in a file of %d bytes", size, d.Dims, d.Type.Size, d.f.size)
	}
	if len(d.filters) > 0 {
		return invalid(m.at, "filters without chunks")
	}
	var err error
	if d.start, err = d.f.address("a dataset", at, m.at+2); err != nil {
		return err
	}
	return d.f.within("a dataset", d.start, int64(size))
}

func (d *Dataset) chunked(ctx context.Context, m message) error {
	axes := len(d.Dims)
	if int(m.b[2]) != axes+1 {
		return invalid(m.at+2, "chunks of %d axes, want %d and that of an element's bytes", m.b[2], axes)
	}
	const first = 11 // of the sides
	if err := want(m, "a layout", first+4*(axes+1)); err != nil {
		return err
	}
	if n := u32(m.b[first+4*axes:]); n != uint32(d.Type.Size) {
		return invalid(m.at+first+4*int64(axes), "elements of %d bytes, want %d", n, d.Type.Size)
	}
	sides := make([]int64, axes)
	d.chunkSize = int64(d.Type.Size)
	for i := range sides {
		sides[i] = int64(u32(m.b[first+4*i:]))
		if sides[i] < 1 || sides[i] > maxChunk/d.chunkSize {
			return unsupported(m.at+first+4*int64(i), "chunks of %d elements along axis %d, want 1 at least and %d bytes in all at most", sides[i], i, maxChunk)
		}
		d.chunkSize *= sides[i]
	}
	d.chunkRows = sides[0]
	// The last axes that are whole in each chunk are one run of bytes.
	last := axes - 1
	d.run = int64(d.Type.Size)
	for ; last > 0 && sides[last] == d.Dims[last]; last-- {
		d.run *= sides[last]
	}
	for i := 1; i <= last; i++ {
		d.axes = append(d.axes, axis{d.Dims[i], sides[i]})
	}
	if u64(m.b[3:]) == none {
		return unsupported(m.at+3, "a dataset that was never written")
	}
	tree, err := d.f.address("a list of chunks", u64(m.b[3:]), m.at+3)
	if err != nil {
		return err
	}
	return d.list(ctx, tree, sides)
}

// list reads the list of chunks.
func (d *Dataset) list(ctx context.Context, tree int64, sides []int64) error {
	// place is where the next chunk must be.
	place := make([]int64, len(sides))
	ended := false
	walk := &tree1{File: d.f, kind: 1, key: 8 + 8*int64(len(sides)+1)}
	walk.leaf = func(key []byte, child, at int64) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, p := range place {
			if got := u64(key[8+8*i:]); ended || got != uint64(p) {
				return unsupported(at+8+8*int64(i), "a chunk at %d of axis %d, want %d: chunks are missing or in another order", got, i, p)
			}
		}
		c := chunk{child, u32(key), u32(key[4:])}
		if err := d.f.within("a chunk", child, int64(c.size)); err != nil {
			return err
		}
		least, most := d.chunkSize, d.chunkSize
		for i, f := range d.filters {
			if f.id == deflate && c.skip>>i&1 == 0 {
				// Incompressible data is stored with some bytes for each block,
				// for the header and for the checksum.
				least, most = d.chunkSize/deflateRatio, d.chunkSize+d.chunkSize/1024+64
			}
		}
		if n := int64(c.size); n < least || n > most {
			return invalid(at, "a chunk of %d bytes, want %d to %d for %d unpacked ones", n, least, most, d.chunkSize)
		}
		d.chunks = append(d.chunks, c)
		ended = true
		for i := len(place) - 1; i >= 0; i-- {
			if place[i] += sides[i]; place[i] < d.Dims[i] {
				ended = false
				break
			}
			place[i] = 0
		}
		return nil
	}
	if err := walk.node(tree, -1); err != nil {
		return err
	}
	if !ended {
		return unsupported(tree, "%d chunks, and none at %v: it was never written", len(d.chunks), place)
	}
	n := min(max(maxKept/d.chunkSize, 1), maxSlots, int64(len(d.chunks)))
	d.slots = make([]slot, n)
	for i := range d.slots {
		d.slots[i].n = -1
	}
	return nil
}

// Read reads the rows from i on that fill out, as they are in the file. The
// length of out is a multiple of RowSize.
func (d *Dataset) Read(i int64, out []byte) error {
	n := int64(len(out)) / d.rowSize
	if i < 0 || i > d.Rows() || n > d.Rows()-i || n*d.rowSize != int64(len(out)) {
		return fmt.Errorf("hdf5: %d bytes from row %d on, want a multiple of %d up to row %d", len(out), i, d.rowSize, d.Rows())
	}
	if d.chunks == nil {
		return d.f.fill(out, d.start+i*d.rowSize)
	}
	for k := range n {
		if err := d.row(i+k, out[k*d.rowSize:][:d.rowSize]); err != nil {
			return err
		}
	}
	return nil
}

// row reads a row from its chunks.
func (d *Dataset) row(i int64, out []byte) error {
	parts := int64(1)
	for _, a := range d.axes {
		parts *= a.chunks()
	}
	first := i / d.chunkRows * parts
	within := i % d.chunkRows * (d.chunkSize / d.chunkRows)
	for k := range parts {
		// origin is the first element of chunk k along each axis.
		var origin [maxAxes]int64
		rest := k
		for x := len(d.axes) - 1; x >= 0; x-- {
			n := d.axes[x].chunks()
			origin[x] = rest % n * d.axes[x].side
			rest /= n
		}
		if err := d.with(first+k, func(b []byte) { d.copy(out, b[within:], d.axes, origin[:]) }); err != nil {
			return err
		}
	}
	return nil
}

// copy copies what a chunk has of a row. It calls itself for each index of the
// first of axes, with the parts of in and out at that index. origin is the
// chunk's place in out.
func (d *Dataset) copy(out, in []byte, axes []axis, origin []int64) {
	if len(axes) == 0 {
		copy(out, in[:d.run])
		return
	}
	a := axes[0]
	outer, inner := d.run, d.run // bytes of an element of this axis in out and in
	for _, b := range axes[1:] {
		outer *= b.n
		inner *= b.side
	}
	n := min(a.side, a.n-origin[0])
	out = out[origin[0]*outer:]
	if len(axes) == 1 {
		copy(out, in[:n*d.run])
		return
	}
	for i := range n {
		d.copy(out[i*outer:], in[i*inner:], axes[1:], origin[1:])
	}
}

// with calls f with the bytes of a chunk.
func (d *Dataset) with(number int64, f func([]byte)) error {
	s := &d.slots[number%int64(len(d.slots))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n != number {
		s.n = -1
		if err := d.decode(s, &d.chunks[number]); err != nil {
			return err
		}
		s.n = number
	}
	f(s.b)
	return nil
}

// decode reads and unpacks a chunk into a slot.
func (d *Dataset) decode(s *slot, c *chunk) error {
	s.packed = resize(s.packed, int64(c.size))
	if err := d.f.fill(s.packed, c.at); err != nil {
		return err
	}
	s.b, s.packed = s.packed, s.b
	// The filters were applied in their order. Only deflate changes the length.
	for i := len(d.filters) - 1; i >= 0; i-- {
		f := d.filters[i]
		if c.skip>>i&1 != 0 || f.id == shuffle && f.size == 1 {
			continue
		}
		s.packed = resize(s.packed, d.chunkSize)
		if f.id == deflate {
			if err := s.unpack(); err != nil {
				return invalid(c.at, "%v, want a chunk of %d bytes", err, d.chunkSize)
			}
		} else {
			if int64(len(s.b)) != d.chunkSize {
				break
			}
			unshuffle(s.packed, s.b, f.size)
		}
		s.b, s.packed = s.packed, s.b
	}
	if int64(len(s.b)) != d.chunkSize {
		return invalid(c.at, "a chunk of %d bytes, want %d", len(s.b), d.chunkSize)
	}
	return nil
}

func resize(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// unpack unpacks s.b to s.packed.
func (s *slot) unpack() error {
	s.in.Reset(s.b)
	var err error
	if s.inflate == nil {
		s.inflate, err = zlib.NewReader(&s.in)
	} else {
		err = s.inflate.(zlib.Resetter).Reset(&s.in, nil)
	}
	if err != nil {
		return err
	}
	n, err := io.ReadFull(s.inflate, s.packed)
	if err != nil {
		return fmt.Errorf("%w after %d bytes", err, n)
	}
	// The checksum is verified when the end is read.
	var more [1]byte
	if k, err := s.inflate.Read(more[:]); k != 0 || err != io.EOF {
		if err == nil || err == io.EOF {
			err = errors.New("more data")
		}
		return err
	}
	return nil
}

// unshuffle puts the bytes of elements together: in has the first byte of all
// elements, then their second, and so on.
func unshuffle(out, in []byte, size int) {
	n := len(in) / size
	for k := range size {
		for i, v := range in[k*n:][:n] {
			out[i*size+k] = v
		}
	}
}
