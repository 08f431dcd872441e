package mindrecord

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
)

// Pages of the databases that are written, as SQLite makes them by default.
const (
	dbPage = 4096
	// The parts of long cells that stay in their page; the rest is in overflow
	// pages (sqlite.org/fileformat2.html, section 1.6).
	mostTable = dbPage - 35
	mostIndex = (dbPage-12)*64/255 - 23
	leastCell = (dbPage-12)*32/255 - 23
	dbHeader  = 100 // bytes of the file's header, in page 1
)

// The types of pages.
const (
	indexInner = 2
	tableInner = 5
	indexLeaf  = 10
	tableLeaf  = 13
)

// databaseWriter writes the tables of a SQLite file (see database) whose rows
// come in the order of their keys. It writes each page once, and page 1 last.
type databaseWriter struct {
	f     *os.File
	w     *bufio.Writer
	pages uint32 // so far, with page 1
	err   error
	page  [dbPage]byte
	cell  []byte
}

func newDatabaseWriter(f *os.File) *databaseWriter {
	w := &databaseWriter{f: f, w: bufio.NewWriterSize(f, 1<<16)}
	w.write() // room for page 1
	return w
}

func (w *databaseWriter) table() *tree {
	return &tree{f: w, leaf: tableLeaf, inner: tableInner, room: dbPage}
}

func (w *databaseWriter) index() *tree {
	return &tree{f: w, leaf: indexLeaf, inner: indexInner, room: dbPage}
}

// schema is the table whose root is page 1.
func (w *databaseWriter) schema() *tree {
	return &tree{f: w, leaf: tableLeaf, inner: tableInner, room: dbPage - dbHeader}
}

// write writes the page and returns its number.
func (w *databaseWriter) write() uint32 {
	if w.pages == math.MaxUint32-1 && w.err == nil {
		w.err = fmt.Errorf("more than %d pages", w.pages)
	}
	if w.err == nil {
		_, w.err = w.w.Write(w.page[:])
	}
	w.pages++
	return w.pages
}

// finish writes page 1: the file's header and the root of the schema.
func (w *databaseWriter) finish(schema *tree) error {
	right := uint32(0)
	top := len(schema.levels) - 1
	for level := range top {
		right = schema.write(level, right)
	}
	schema.fill(top, right, dbHeader)
	h := w.page[:dbHeader]
	copy(h, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(h[16:], dbPage)
	copy(h[18:], []byte{1, 1, 0, 64, 32, 32}) // no write-ahead log, nothing reserved, the fractions of cells
	for at, v := range map[int]uint32{
		24: 1, // changes of the file
		28: w.pages,
		40: 1,       // version of the schema
		44: 4,       // format of the schema
		56: 1,       // UTF-8
		92: 1,       // the change for which the next number is valid
		96: 3040001, // of the SQLite whose rules these are
	} {
		binary.BigEndian.PutUint32(h[at:], v)
	}
	if w.err == nil {
		w.err = w.w.Flush()
	}
	if w.err == nil {
		_, w.err = w.f.WriteAt(w.page[:], 0)
	}
	return w.err
}

// overflow writes the end of a long cell into pages of its own, and returns the
// first one.
func (w *databaseWriter) overflow(b []byte) uint32 {
	first := w.pages + 1
	for len(b) > 0 {
		clear(w.page[:])
		n := copy(w.page[4:], b)
		if b = b[n:]; len(b) > 0 {
			binary.BigEndian.PutUint32(w.page[:], w.pages+2)
		}
		w.write()
	}
	return first
}

// tree builds a b-tree from its leaves up. It keeps one page for each level.
type tree struct {
	f           *databaseWriter
	leaf, inner byte  // types of its pages
	room        int   // bytes of a page; a cell alone may have dbPage
	last        int64 // key of the last row of a table
	levels      []*node
}

// node is a page that is being filled.
type node struct {
	data []byte // the cells
	ends []int  // of each cell in data
	size int    // of the page
}

func (n *node) reset(level int) {
	n.data, n.ends, n.size = n.data[:0], n.ends[:0], 8
	if level > 0 {
		n.size = 12
	}
}

func (n *node) add(parts ...[]byte) {
	at := len(n.data)
	for _, p := range parts {
		n.data = append(n.data, p...)
	}
	n.ends = append(n.ends, len(n.data))
	n.size += len(n.data) - at + 2
}

// pop removes the last cell, which is valid until the next add.
func (n *node) pop() []byte {
	at, k := 0, len(n.ends)-1
	if k > 0 {
		at = n.ends[k-1]
	}
	cell := n.data[at:]
	n.data, n.ends, n.size = n.data[:at], n.ends[:k], n.size-len(cell)-2
	return cell
}

// add adds a row with the next key, or the next row of an index, whose key is
// ignored.
func (t *tree) add(key int64, record []byte) {
	b := appendVarint(t.f.cell[:0], uint64(len(record)))
	most := mostIndex
	if t.leaf == tableLeaf {
		b, most = appendVarint(b, uint64(key)), mostTable
	}
	if n := len(record); n > most {
		local := leastCell + (n-leastCell)%(dbPage-4)
		if local > most {
			local = leastCell
		}
		b = append(b, record[:local]...)
		b = binary.BigEndian.AppendUint32(b, t.f.overflow(record[local:]))
	} else {
		b = append(b, record...)
	}
	t.f.cell = b
	t.insert(0, b)
	t.last = key
}

// insert adds the parts of a cell to a level's page.
func (t *tree) insert(level int, parts ...[]byte) {
	if level == len(t.levels) {
		t.levels = append(t.levels, &node{})
		t.levels[level].reset(level)
	}
	n, size := t.levels[level], 2
	for _, p := range parts {
		size += len(p)
	}
	if len(n.ends) > 0 && n.size+size > t.room {
		t.spill(level)
	}
	n.add(parts...)
}

// spill writes the page of a level, with a cell for it one level above.
func (t *tree) spill(level int) {
	n := t.levels[level]
	var child [4]byte
	switch {
	case level > 0:
		// The last cell's page follows all cells: its key separates this page
		// from the next one.
		last := append([]byte(nil), n.pop()...)
		binary.BigEndian.PutUint32(child[:], t.write(level, binary.BigEndian.Uint32(last)))
		t.insert(level+1, child[:], last[4:])
	case t.leaf == indexLeaf: // the rows of inner pages are not in leaves
		last := append([]byte(nil), n.pop()...)
		binary.BigEndian.PutUint32(child[:], t.write(level, 0))
		t.insert(level+1, child[:], last)
	default:
		binary.BigEndian.PutUint32(child[:], t.write(level, 0))
		t.insert(level+1, child[:], appendVarint(nil, uint64(t.last)))
	}
}

// finish writes the pages that are left and returns the root.
func (t *tree) finish() (root uint32) {
	if len(t.levels) == 0 { // no rows
		t.levels = []*node{{}}
		t.levels[0].reset(0)
	}
	for level := range t.levels {
		root = t.write(level, root)
	}
	return root
}

// write writes the page of a level and returns its number. right is the page
// behind its last cell.
func (t *tree) write(level int, right uint32) uint32 {
	t.fill(level, right, 0)
	t.levels[level].reset(level)
	return t.f.write()
}

// fill makes the page of a level. It begins at byte head.
func (t *tree) fill(level int, right uint32, head int) {
	n, p := t.levels[level], t.f.page[:]
	clear(p)
	h := p[head:]
	h[0] = t.leaf
	pointers := 8
	if level > 0 {
		h[0], pointers = t.inner, 12
		binary.BigEndian.PutUint32(h[8:], right)
	}
	end, from := len(p), 0
	for i, to := range n.ends {
		end -= to - from
		copy(p[end:], n.data[from:to])
		binary.BigEndian.PutUint16(h[pointers+2*i:], uint16(end))
		from = to
	}
	binary.BigEndian.PutUint16(h[3:], uint16(len(n.ends)))
	binary.BigEndian.PutUint16(h[5:], uint16(end))
}

// rowWriter encodes the values of a row as SQLite does.
type rowWriter struct {
	kinds, values, all []byte
}

func (r *rowWriter) reset() { r.kinds, r.values = r.kinds[:0], r.values[:0] }

func (r *rowWriter) null() { r.kinds = append(r.kinds, 0) }

func (r *rowWriter) text(s string) {
	r.kinds = appendVarint(r.kinds, uint64(13+2*len(s)))
	r.values = append(r.values, s...)
}

// integer adds an integer in as few bytes as it needs.
func (r *rowWriter) integer(v int64) {
	if v == 0 || v == 1 {
		r.kinds = append(r.kinds, byte(8+v))
		return
	}
	for kind, size := range [...]int{1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8} {
		if shift := 64 - 8*size; size > 0 && v<<shift>>shift == v {
			r.kinds = append(r.kinds, byte(kind))
			r.values = append(r.values, binary.BigEndian.AppendUint64(nil, uint64(v))[8-size:]...)
			return
		}
	}
}

// real adds a number of a column of type REAL: one without fraction is stored
// as an integer of at most 6 bytes, and NaN as NULL.
func (r *rowWriter) real(v float64) {
	switch {
	case v != v:
		r.null()
	case v == math.Trunc(v) && math.Abs(v) < 1<<47:
		r.integer(int64(v))
	default:
		r.kinds = append(r.kinds, 7)
		r.values = binary.BigEndian.AppendUint64(r.values, math.Float64bits(v))
	}
}

// record returns the row, which is valid until the next call.
func (r *rowWriter) record() []byte {
	size := len(r.kinds) + 1
	for size != len(r.kinds)+len(appendVarint(nil, uint64(size))) {
		size++
	}
	r.all = append(appendVarint(r.all[:0], uint64(size)), r.kinds...)
	r.all = append(r.all, r.values...)
	return r.all
}

// appendVarint appends a number below 2^56 as varint reads it.
func appendVarint(b []byte, v uint64) []byte {
	for shift := 49; shift > 0; shift -= 7 {
		if v>>shift != 0 {
			b = append(b, byte(v>>shift)|0x80)
		}
	}
	return append(b, byte(v&0x7f))
}
