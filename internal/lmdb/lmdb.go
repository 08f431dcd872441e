// Package lmdb reads the main database of an LMDB environment: its entries in
// the order of their keys, by number. It needs no memory map and no lock; the
// file must not change while it is open.
//
// The format is that of OpenLDAP's LMDB 0.9 (data version 1), as 64-bit
// little-endian machines write it; mdb.c describes it. Named databases,
// duplicate keys, other orders of keys, and files of 32-bit or big-endian
// machines are ErrUnsupported.
package lmdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"sync"
	"sync/atomic"
)

// Kinds of errors.
var (
	ErrInvalid     = errors.New("invalid LMDB file")
	ErrUnsupported = errors.New("unsupported LMDB file")
)

// Error describes what is wrong at a place of a file. Errors of the reader that
// Open was given are none: they are returned as they are.
type Error struct {
	Kind   error // ErrInvalid or ErrUnsupported
	Page   int64 // number of the page
	Offset int64 // in bytes from the start of the file
	Text   string
}

// Error returns the kind, the place and the text.
func (e *Error) Error() string {
	return fmt.Sprintf("%v: page %d (offset %d): %s", e.Kind, e.Page, e.Offset, e.Text)
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Sizes and flags of the format.
const (
	magic       = 0xBEEFC0DE
	dataVersion = 1
	pageHead    = 16 // bytes of a page's header
	nodeHead    = 8  // bytes of a node's header
	metaSize    = 136
	metaPages   = 2

	pageBranch   = 0x01
	pageLeaf     = 0x02
	pageOverflow = 0x04
	pageMeta     = 0x08
	pageKinds    = 0x6f // all flags of a page in a file but that of a dirty one

	nodeOverflow = 0x01 // the value is in overflow pages
	nodeDatabase = 0x02 // the value is a named database
	nodeDups     = 0x04 // the value is a list of duplicates
)

// Limits. LMDB's cursors hold 32 pages, and its pages have up to 32,768 bytes.
const (
	maxDepth = 32
	minPage  = 256
	maxPage  = 1 << 16
)

// DB is an open database. Its methods are safe for concurrent use.
type DB struct {
	r        io.ReaderAt
	pageSize int64
	pages    int64 // complete pages in the file, and none beyond the last used one
	root     int64
	depth    int
	leaves   []leaf
	entries  int64

	pool sync.Pool // of *cached

	mu  sync.Mutex
	hot *cached // the leaf page that was read last
}

// leaf is a leaf page, and the number of its first entry.
type leaf struct{ page, first int64 }

type cached struct {
	page int64
	b    []byte
}

// Open opens the data.mdb file of an environment, which r reads and which has
// size bytes. It reads both meta pages, and every branch and leaf page of the
// state that was committed last. It reads no values. The index takes 16 bytes
// for each leaf page; one of 4,096 bytes holds about 70 entries whose values
// have pages of their own. Open reads up to 16 pages at the same time.
//
// As in LMDB, both meta pages must be intact. Open checks that page numbers are
// in the file, that the tree has its depth and its number of entries, and that
// the keys ascend.
func Open(ctx context.Context, r io.ReaderAt, size int64) (*DB, error) {
	d := &DB{r: r}
	entries, err := d.meta(size)
	if err != nil {
		return nil, err
	}
	d.pool.New = func() any { return &cached{b: make([]byte, d.pageSize)} }
	if d.root >= 0 {
		w := &walker{DB: d}
		if err := w.tree(ctx); err != nil {
			return nil, err
		}
	}
	if d.entries != entries {
		return nil, &Error{ErrInvalid, 0, pageHead, fmt.Sprintf("%d entries in the tree, want %d as its meta page says", d.entries, entries)}
	}
	return d, nil
}

// Len returns the number of entries.
func (d *DB) Len() int64 { return d.entries }

// errorf returns an Error at an offset of a page.
//
//go:noinline
func (d *DB) errorf(kind error, page, at int64, format string, args ...any) error {
	return &Error{kind, page, page*d.pageSize + at, fmt.Sprintf(format, args...)}
}

// fill reads len(b) bytes of a page, from an offset in it.
func (d *DB) fill(b []byte, page, at int64) error {
	n, err := d.r.ReadAt(b, page*d.pageSize+at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return d.errorf(ErrInvalid, page, at, "the file ends after %d bytes, want %d", n, len(b))
	}
	return fmt.Errorf("page %d (offset %d): %w", page, page*d.pageSize+at, err)
}

// meta reads both meta pages, sets what the younger one says of the main
// database, and returns its number of entries.
func (d *DB) meta(size int64) (entries int64, err error) {
	var all [metaPages][pageHead + metaSize]byte
	newest := 0
	for page := range metaPages {
		b := &all[page]
		if err := d.fill(b[:], int64(page), 0); err != nil {
			return 0, err
		}
		if err := d.header(b, int64(page)); err != nil {
			return 0, err
		}
		// Two databases of 48 bytes each begin at byte 24 of 136: that of free
		// pages, whose first number is the size of a page, and the main one.
		pageSize := int64(binary.LittleEndian.Uint32(b[pageHead+24:]))
		if pageSize < minPage || pageSize > maxPage || pageSize&(pageSize-1) != 0 {
			return 0, d.errorf(ErrInvalid, int64(page), pageHead+24, "pages of %d bytes, want a power of two from %d to %d", pageSize, minPage, maxPage)
		}
		if page > 0 && pageSize != d.pageSize {
			return 0, d.errorf(ErrInvalid, int64(page), pageHead+24, "pages of %d bytes, want %d as in meta page 0", pageSize, d.pageSize)
		}
		d.pageSize = pageSize
		const transaction = pageHead + 128
		if binary.LittleEndian.Uint64(b[transaction:]) > binary.LittleEndian.Uint64(all[newest][transaction:]) {
			newest = page
		}
	}
	m := all[newest][pageHead:]
	return d.database(m[72:120], binary.LittleEndian.Uint64(m[120:]), int64(newest), size)
}

// header checks the header of a meta page, its magic number and its version.
func (d *DB) header(b *[pageHead + metaSize]byte, page int64) error {
	m := b[pageHead:]
	switch word := binary.LittleEndian.Uint32(m); {
	case word == magic:
	case binary.BigEndian.Uint32(m) == magic || binary.BigEndian.Uint32(b[pageHead-4:]) == magic:
		return d.errorf(ErrUnsupported, page, pageHead, "written by a big-endian machine")
	case binary.LittleEndian.Uint32(b[pageHead-4:]) == magic:
		return d.errorf(ErrUnsupported, page, pageHead-4, "written by a 32-bit machine")
	default:
		return d.errorf(ErrInvalid, page, pageHead, "%#x, want LMDB's magic number %#x", word, uint32(magic))
	}
	if v := binary.LittleEndian.Uint32(m[4:]); v != dataVersion {
		return d.errorf(ErrUnsupported, page, pageHead+4, "data version %d, want %d (LMDB 0.9)", v, dataVersion)
	}
	if flags := binary.LittleEndian.Uint16(b[10:]); flags&pageMeta == 0 {
		return d.errorf(ErrInvalid, page, 10, "flags %#x, want a meta page", flags)
	}
	return nil
}

// database reads the description of the main database in a meta page. last is
// the greatest number of a page in use.
func (d *DB) database(b []byte, last uint64, meta, size int64) (entries int64, err error) {
	const at = pageHead + 72
	d.pages = size / d.pageSize
	if last < uint64(d.pages) {
		d.pages = int64(last) + 1
	}
	if flags := binary.LittleEndian.Uint16(b[4:]); flags != 0 {
		return 0, d.errorf(ErrUnsupported, meta, at+4, "database flags %#x: duplicate keys, or keys in another order than that of their bytes", flags)
	}
	depth, count, root := binary.LittleEndian.Uint16(b[6:]), binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:])
	if count > math.MaxInt64 {
		return 0, d.errorf(ErrInvalid, meta, at+32, "%d entries", count)
	}
	d.root = -1
	if root == math.MaxUint64 { // an empty database
		return int64(count), nil
	}
	if depth < 1 || depth > maxDepth {
		return 0, d.errorf(ErrInvalid, meta, at+6, "a tree of depth %d, want 1 to %d", depth, maxDepth)
	}
	d.depth = int(depth)
	d.root, err = d.number(root, meta, at+40)
	return int64(count), err
}

// number checks the number of a page that stands at a place.
func (d *DB) number(n uint64, page, at int64) (int64, error) {
	if n < metaPages || n >= uint64(d.pages) {
		return 0, d.errorf(ErrInvalid, page, at, "page number %d, want %d to %d", n, metaPages, d.pages-1)
	}
	return int64(n), nil
}

// read reads a page of the tree into b and returns its number of nodes.
func (d *DB) read(b []byte, page int64, kind uint16) (nodes int, err error) {
	if err := d.fill(b, page, 0); err != nil {
		return 0, err
	}
	if n := binary.LittleEndian.Uint64(b); n != uint64(page) {
		return 0, d.errorf(ErrInvalid, page, 0, "the page says that it is number %d", n)
	}
	if flags := binary.LittleEndian.Uint16(b[10:]); flags&pageKinds != kind {
		return 0, d.errorf(ErrInvalid, page, 10, "flags %#x, want %#x as the depth of the tree requires", flags, kind)
	}
	lower, upper := int64(binary.LittleEndian.Uint16(b[12:])), int64(binary.LittleEndian.Uint16(b[14:]))
	if lower <= pageHead || lower%2 != 0 || upper < lower || upper > d.pageSize {
		return 0, d.errorf(ErrInvalid, page, 12, "free space from %d to %d, want a part of %d to %d", lower, upper, pageHead+2, d.pageSize)
	}
	return int(lower-pageHead) / 2, nil
}

// node is an element of a branch or leaf page.
type node struct {
	at    int64 // in the page
	size  uint32
	flags uint16
	key   []byte // part of the page
}

// child returns the page number of a branch's node.
func (n *node) child() uint64 { return uint64(n.size) | uint64(n.flags)<<32 }

// node returns node i of a page. Its key is in the page.
func (d *DB) node(b []byte, page int64, i int) (n node, err error) {
	slot := pageHead + 2*int64(i)
	n.at = int64(binary.LittleEndian.Uint16(b[slot:]))
	if upper := int64(binary.LittleEndian.Uint16(b[14:])); n.at < upper || n.at+nodeHead > d.pageSize {
		return n, d.errorf(ErrInvalid, page, slot, "node %d at offset %d, want %d to %d", i, n.at, upper, d.pageSize-nodeHead)
	}
	h := b[n.at:]
	n.size = uint32(binary.LittleEndian.Uint16(h)) | uint32(binary.LittleEndian.Uint16(h[2:]))<<16
	n.flags = binary.LittleEndian.Uint16(h[4:])
	k := int64(binary.LittleEndian.Uint16(h[6:]))
	if n.at+nodeHead+k > d.pageSize {
		return n, d.errorf(ErrInvalid, page, n.at+6, "a key of %d bytes, want at most the %d up to the end of the page", k, d.pageSize-n.at-nodeHead)
	}
	n.key = h[nodeHead : nodeHead+k]
	return n, nil
}

// Entry is the place of a key's value.
type Entry struct {
	Key  []byte
	Size int64 // of the value in bytes

	page, at int64 // of the value in the file: a page, and an offset in it
	head     int64 // bytes of the header of overflow pages before the value
}

// Need returns the length of the buffer that Value takes: that of the value,
// and some bytes more.
func (e *Entry) Need() int64 { return e.Size + e.head }

// entry returns the entry of a leaf's node. Its key is in the page.
func (d *DB) entry(b []byte, page int64, n *node) (e Entry, err error) {
	e = Entry{Key: n.key, Size: int64(n.size), page: page, at: n.at + nodeHead + int64(len(n.key))}
	switch {
	case n.flags&nodeDatabase != 0:
		return e, d.errorf(ErrUnsupported, page, n.at+4, "a named database %.80q", n.key)
	case n.flags&nodeDups != 0:
		return e, d.errorf(ErrUnsupported, page, n.at+4, "duplicates of the key %.80q", n.key)
	case n.flags&nodeOverflow == 0:
		if e.at+e.Size > d.pageSize {
			return e, d.errorf(ErrInvalid, page, n.at, "a value of %d bytes, want at most the %d up to the end of the page", e.Size, d.pageSize-e.at)
		}
		return e, nil
	}
	if e.at+8 > d.pageSize {
		return e, d.errorf(ErrInvalid, page, e.at, "%d bytes up to the end of the page, want a page number", d.pageSize-e.at)
	}
	first, err := d.number(binary.LittleEndian.Uint64(b[e.at:]), page, e.at)
	if err != nil {
		return e, err
	}
	// A size has 32 bits, so nothing here overflows.
	e.head = pageHead
	if have := (d.pages - first) * d.pageSize; e.Need() > have {
		return e, d.errorf(ErrInvalid, page, n.at, "a value of %d bytes from page %d on, want at most %d", e.Size, first, have-e.head)
	}
	e.page, e.at = first, 0
	return e, nil
}

// Pages are read in batches, by several goroutines: a store of objects takes
// some milliseconds for each read.
const (
	batch   = 256
	readers = 16
)

// walker reads the pages of a tree, once, level by level and in the order of
// the keys.
type walker struct {
	*DB
	loaded []loaded // pages of a batch
	next   []int64  // pages of the next level
	seen   int64    // pages
	key    []byte   // of the last entry
}

// loaded is a page that was read.
type loaded struct {
	b     []byte
	nodes int
	err   error
}

func (w *walker) tree(ctx context.Context) error {
	level := []int64{w.root}
	w.seen = 1
	for depth := range w.depth {
		kind, visit := uint16(pageBranch), w.branch
		if depth == w.depth-1 {
			kind, visit = pageLeaf, w.leaf
			w.leaves = make([]leaf, 0, len(level))
		}
		w.next = nil
		for ; len(level) > 0; level = level[min(batch, len(level)):] {
			if err := ctx.Err(); err != nil {
				return err
			}
			numbers := level[:min(batch, len(level))]
			w.readAll(numbers, kind)
			for i, n := range numbers {
				p := &w.loaded[i]
				if p.err != nil {
					return p.err
				}
				if err := visit(p.b, n, p.nodes); err != nil {
					return err
				}
			}
		}
		level = w.next
	}
	return nil
}

// readAll reads pages.
func (w *walker) readAll(numbers []int64, kind uint16) {
	for len(w.loaded) < len(numbers) {
		w.loaded = append(w.loaded, loaded{b: make([]byte, w.pageSize)})
	}
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(readers, len(numbers)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(numbers)); i = next.Add(1) - 1 {
				p := &w.loaded[i]
				p.nodes, p.err = w.read(p.b, numbers[i], kind)
			}
		})
	}
	wg.Wait()
}

func (w *walker) branch(b []byte, page int64, nodes int) error {
	// A page is part of a tree once. This bounds the time and the memory for a
	// file whose pages refer to each other in circles.
	if w.seen += int64(nodes); w.seen > w.pages {
		return w.errorf(ErrInvalid, page, 12, "the tree has more pages than the file, which has %d", w.pages)
	}
	for i := range nodes {
		n, err := w.node(b, page, i)
		if err != nil {
			return err
		}
		child, err := w.number(n.child(), page, n.at)
		if err != nil {
			return err
		}
		w.next = append(w.next, child)
	}
	return nil
}

func (w *walker) leaf(b []byte, page int64, nodes int) error {
	for i := range nodes {
		n, err := w.node(b, page, i)
		if err != nil {
			return err
		}
		if _, err := w.entry(b, page, &n); err != nil {
			return err
		}
		// No key is empty, so the first one is greater than none.
		if bytes.Compare(n.key, w.key) <= 0 {
			return w.errorf(ErrInvalid, page, n.at, "key %.80q, want one after %.80q", n.key, w.key)
		}
		w.key = append(w.key[:0], n.key...)
	}
	w.leaves = append(w.leaves, leaf{page, w.entries})
	w.entries += int64(nodes)
	return nil
}

// Entry returns entry i, from 0 to below Len, in the order of the keys. The
// bytes of its key are appended to key[:0]. It reads the leaf page that holds
// the entry, unless the last call read it.
func (d *DB) Entry(i int64, key []byte) (Entry, error) {
	if i < 0 || i >= d.entries {
		return Entry{}, fmt.Errorf("lmdb: entry %d, want 0 to %d", i, d.entries-1)
	}
	k := sort.Search(len(d.leaves), func(k int) bool { return d.leaves[k].first > i }) - 1
	page, n := d.leaves[k].page, int(i-d.leaves[k].first)
	d.mu.Lock()
	if d.hot != nil && d.hot.page == page {
		defer d.mu.Unlock()
		return d.at(d.hot.b, page, n, key)
	}
	d.mu.Unlock()
	c := d.pool.Get().(*cached)
	c.page = page
	nodes, err := d.read(c.b, page, pageLeaf)
	if err == nil && n >= nodes {
		err = d.errorf(ErrInvalid, page, 12, "%d nodes; the file changed after it was opened", nodes)
	}
	var e Entry
	if err == nil {
		e, err = d.at(c.b, page, n, key)
	}
	if err == nil {
		d.mu.Lock()
		d.hot, c = c, d.hot
		d.mu.Unlock()
	}
	if c != nil {
		d.pool.Put(c)
	}
	return e, err
}

// at returns the entry of node i of a leaf page, with a copy of its key.
func (d *DB) at(b []byte, page int64, i int, key []byte) (Entry, error) {
	n, err := d.node(b, page, i)
	if err != nil {
		return Entry{}, err
	}
	e, err := d.entry(b, page, &n)
	e.Key = append(key[:0], n.key...)
	return e, err
}

// Value reads the value of an entry with one call of ReadAt. b has Need bytes,
// which are overwritten. The value is b[:e.Size].
func (d *DB) Value(e *Entry, b []byte) error {
	if int64(len(b)) != e.Need() {
		return fmt.Errorf("lmdb: a buffer of %d bytes, want %d", len(b), e.Need())
	}
	if err := d.fill(b, e.page, e.at); err != nil {
		return err
	}
	if e.head == 0 {
		return nil
	}
	if n := binary.LittleEndian.Uint64(b); n != uint64(e.page) {
		return d.errorf(ErrInvalid, e.page, 0, "the page says that it is number %d", n)
	}
	if flags := binary.LittleEndian.Uint16(b[10:]); flags&pageKinds != pageOverflow {
		return d.errorf(ErrInvalid, e.page, 10, "flags %#x, want an overflow page", flags)
	}
	if n := int64(binary.LittleEndian.Uint32(b[12:])); n*d.pageSize < e.Need() || n > d.pages-e.page {
		return d.errorf(ErrInvalid, e.page, 12, "%d overflow pages, want enough for %d bytes and at most %d", n, e.Need(), d.pages-e.page)
	}
	copy(b, b[e.head:])
	return nil
}
