package mindrecord

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// readIndex reads the positions of all rows of a data file and checks them
// against the header's pages. Every row must be in its group's pages and begin
// where the one before it ends.
func (d *data) readIndex(in source) (err error) {
	name := indexName(d.name)
	file, err := in.store.Open(in.ctx, name)
	if err != nil {
		return fmt.Errorf("mindrecord: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	f := &database{ctx: in.ctx, r: file, size: file.Size()}
	switch err := d.readTables(f); {
	case f.err != nil: // of the store
		return fmt.Errorf("mindrecord: %s: %w", store.Redact(name), f.err)
	case err != nil:
		return records.Corruptf(formatName, name, -1, "%v", err)
	}
	return nil
}

func (d *data) readTables(f *database) error {
	tables, err := f.schema()
	if err != nil {
		return err
	}
	shards := 0
	if err := f.walk(tables["SHARD_NAME"], 0, func(r *row) error {
		name, err := r.text(0, len(d.address())+1)
		if err != nil {
			return err
		}
		if shards++; name != d.address() || shards > 1 {
			return fmt.Errorf("it is the index of %.80q, want %q alone", name, d.address())
		}
		return nil
	}); err != nil {
		return err
	}
	if shards != 1 {
		return fmt.Errorf("it names no data file, want %q", d.address())
	}

	// The header cannot have more rows than the file has room for.
	d.blobEnds, d.rawEnds = make([]uint32, 0, d.rows()), make([]uint32, 0, d.rows())
	n := int64(0)
	if err := f.walk(tables["INDEXES"], 0, func(r *row) error {
		if n == d.rows() {
			return fmt.Errorf("more rows than %d, which the pages have", n)
		}
		v, err := r.integers()
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if err := d.addRow(n, v); err != nil {
			return err
		}
		n++
		return nil
	}); err != nil {
		return err
	}
	if n != d.rows() {
		return fmt.Errorf("%d rows, the pages have %d", n, d.rows())
	}
	return nil
}

// addRow checks row n of the index and adds its positions. v has the values of
// columns.
func (d *data) addRow(n int64, v [8]int64) error {
	id, rawPage, rawAt, rawEnd, groupID, blobPage, blobAt, blobEnd := v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
	k := d.group(n)
	g := d.groups[k]
	wantBlob, wantRaw := int64(0), g.rawStart
	if n > g.start {
		wantBlob, wantRaw = int64(d.blobEnds[n-1]), int64(d.rawEnds[n-1])
	}
	switch {
	case id != n:
		return fmt.Errorf("row %d, want %d", id, n)
	case groupID != int64(k) || blobPage != int64(g.blob) || rawPage != int64(g.raw):
		return fmt.Errorf("row %d is in group %d, blob page %d, raw page %d, want %d, %d and %d", n, groupID, blobPage, rawPage, k, g.blob, g.raw)
	case blobAt != wantBlob || blobEnd < blobAt+leastBlob || blobEnd > g.blobEnd || n == g.end-1 && blobEnd != g.blobEnd:
		return fmt.Errorf("row %d is in bytes %d to %d of a blob page, want them to begin with %d, and end by %d", n, blobAt, blobEnd, wantBlob, g.blobEnd)
	case rawAt != wantRaw || rawEnd < rawAt+leastRaw || rawEnd > g.rawEnd || n == g.end-1 && rawEnd != g.rawEnd:
		return fmt.Errorf("row %d is in bytes %d to %d of a raw page, want them to begin with %d, and end by %d", n, rawAt, rawEnd, wantRaw, g.rawEnd)
	}
	d.blobEnds, d.rawEnds = append(d.blobEnds, uint32(blobEnd)), append(d.rawEnds, uint32(rawEnd))
	return nil
}

// database reads the tables of a SQLite file (sqlite.org/fileformat2.html).
//
// It is not SQLite, which runs what a schema asks for: generated columns and
// views are programs, and the tables of statistics are queried when a file is
// opened. Here a schema only names tables. Each page is read once at most, so
// time is linear in the size of the file, and memory is a page for each level
// and the longest row.
type database struct {
	ctx    context.Context
	r      io.ReaderAt
	size   int64
	err    error // of r, or of ctx
	page   int   // bytes of a page
	usable int   // bytes of a page that hold data
	seen   []uint64
}

// Limits of SQLite, and of a schema's text: 992 names of 1 KiB, which are there
// twice.
const (
	maxLevels  = 20
	maxColumns = 2000
	maxSchema  = 4 << 20
)

var errEnds = errors.New("the file ends too early")

// plainTable matches a table without expressions: they need parentheses.
var plainTable = regexp.MustCompile(`^CREATE TABLE ([A-Za-z_]+)\s*\(([A-Za-z0-9_,\s]+?)(?:,\s*PRIMARY KEY\s*\([A-Za-z0-9_,\s]+\)\s*)?\)$`)

// schema checks the header and returns the first pages of the tables INDEXES
// and SHARD_NAME. Anything else in the schema but the index of the primary key
// is an error.
func (f *database) schema() (map[string]uint32, error) {
	var h [100]byte
	if err := f.read(h[:], 0); err != nil {
		return nil, err
	}
	f.page = int(binary.BigEndian.Uint16(h[16:]))
	if f.page == 1 {
		f.page = 1 << 16
	}
	f.usable = f.page - int(h[20])
	switch encoding := binary.BigEndian.Uint32(h[56:]); {
	case !bytes.Equal(h[:16], []byte("SQLite format 3\x00")):
		return nil, errors.New("not a SQLite database of version 3")
	case f.page < 512 || f.page&(f.page-1) != 0 || f.usable < 480:
		return nil, fmt.Errorf("pages of %d bytes, %d of them usable, want a power of 2 from 512 to 65536", f.page, f.usable)
	case encoding != 1:
		return nil, fmt.Errorf("text encoding %d, want 1, UTF-8", encoding)
	}
	f.seen = make([]uint64, f.size/int64(f.page)/64+1)
	tables := map[string]uint32{}
	entries := 0
	err := f.walk(1, 0, func(r *row) error {
		if entries++; entries > 3 {
			return errors.New("more than 3 entries in its schema, want the tables INDEXES and SHARD_NAME and the index of a primary key")
		}
		var s [3]string // type, name and table
		for i := range s {
			var err error
			if s[i], err = r.text(i, 256); err != nil {
				return fmt.Errorf("schema: %w", err)
			}
		}
		if s[0] == "index" && s[1] == "sqlite_autoindex_INDEXES_1" && s[2] == "INDEXES" {
			return nil
		}
		want, ok := map[string][]string{"INDEXES": columns, "SHARD_NAME": {"NAME"}}[s[1]]
		if s[0] != "table" || !ok || tables[s[1]] != 0 {
			return fmt.Errorf("the %.80q %.80q in its schema, want the tables INDEXES and SHARD_NAME alone", s[0], s[1])
		}
		sql, err := r.text(4, maxSchema)
		if err != nil {
			return fmt.Errorf("schema: %w", err)
		}
		m := plainTable.FindStringSubmatch(sql)
		if m == nil || m[1] != s[1] {
			return fmt.Errorf("the table %s is %.200q, want plain columns and a primary key", s[1], sql)
		}
		defs := strings.Split(m[2], ",")
		if len(defs) < len(want) || s[1] == "SHARD_NAME" && len(defs) != 1 {
			return fmt.Errorf("the table %s has %d columns, want %q", s[1], len(defs), want)
		}
		for i, c := range want {
			if words := strings.Fields(defs[i]); len(words) == 0 || words[0] != c {
				return fmt.Errorf("column %d of the table %s is %.80q, want %s", i, s[1], defs[i], c)
			}
			// Such a column is stored as the key of the row.
			if strings.Contains(strings.ToUpper(defs[i]), "PRIMARY") {
				return fmt.Errorf("column %d of the table %s is its key, want a plain column", i, s[1])
			}
		}
		root, err := r.integer(3)
		if err != nil || root < 2 || root > f.size/int64(f.page) {
			return fmt.Errorf("the table %s begins in page %d, want 2 to %d", s[1], root, f.size/int64(f.page))
		}
		tables[s[1]] = uint32(root)
		return nil
	})
	if err == nil && len(tables) != 2 {
		err = errors.New("a table INDEXES or SHARD_NAME is missing")
	}
	return tables, err
}

func (f *database) read(b []byte, at int64) error {
	if err := f.ctx.Err(); err != nil {
		f.err = err
		return err
	}
	if at < 0 || at > f.size-int64(len(b)) {
		return errEnds
	}
	if _, err := f.r.ReadAt(b, at); err != nil && err != io.EOF {
		f.err = err
		return err
	}
	return nil
}

// readPage reads a page. A page has one use, or the file is damaged.
func (f *database) readPage(n uint32, b []byte) error {
	if n == 0 || int64(n) > f.size/int64(f.page) {
		return fmt.Errorf("page %d of %d", n, f.size/int64(f.page))
	}
	if f.seen[n/64]&(1<<(n%64)) != 0 {
		return fmt.Errorf("page %d has two uses", n)
	}
	f.seen[n/64] |= 1 << (n % 64)
	return f.read(b[:f.page], int64(n-1)*int64(f.page))
}

// walk calls visit with each row of a table, in order of their keys, which is
// the order of their insertion.
func (f *database) walk(page uint32, level int, visit func(*row) error) error {
	if level == maxLevels {
		return fmt.Errorf("a tree of more than %d levels", maxLevels)
	}
	b := make([]byte, f.page)
	if err := f.readPage(page, b); err != nil {
		return err
	}
	head := b
	if page == 1 {
		head = b[100:]
	}
	kind, cells := head[0], int(binary.BigEndian.Uint16(head[3:]))
	const leaf, inner = 13, 5
	size := 8
	if kind == inner {
		size = 12
	}
	switch {
	case kind != leaf && kind != inner:
		return fmt.Errorf("page %d is of type %d, want %d or %d, of a table", page, kind, leaf, inner)
	case 2*cells > len(head)-size || cells == 0 && level > 0:
		return fmt.Errorf("page %d has %d cells", page, cells)
	}
	r := &row{f: f}
	for i := range cells {
		at := int(binary.BigEndian.Uint16(head[size+2*i:]))
		if at < size || at+4 > f.usable {
			return fmt.Errorf("page %d has a cell at byte %d", page, at)
		}
		var err error
		if kind == inner {
			err = f.walk(binary.BigEndian.Uint32(b[at:]), level+1, visit)
		} else if err = r.set(b[at:f.usable]); err == nil {
			err = visit(r)
		}
		if err != nil {
			return err
		}
	}
	if kind == inner {
		return f.walk(binary.BigEndian.Uint32(head[8:]), level+1, visit)
	}
	return nil
}

// row is a row of a table.
type row struct {
	f    *database
	size int64  // its bytes
	b    []byte // those that were read
	next uint32 // the page with those that follow
	over []byte // a page
}

// set sets the row to that of a cell, whose first bytes are in its page.
func (r *row) set(cell []byte) error {
	size, n := varint(cell)
	_, k := varint(cell[n:])
	if n == 0 || k == 0 || size < 0 {
		return fmt.Errorf("a row of %d bytes", size)
	}
	cell = cell[n+k:]
	usable := int64(r.f.usable)
	local := size
	if most := usable - 35; size > most {
		least := (usable-12)*32/255 - 23
		if local = least + (size-least)%(usable-4); local > most {
			local = least
		}
	}
	r.size, r.next = size, 0
	if local < size {
		if local+4 > int64(len(cell)) {
			return errEnds
		}
		r.next = binary.BigEndian.Uint32(cell[local:])
	}
	if local > int64(len(cell)) {
		return errEnds
	}
	r.b = append(r.b[:0], cell[:local]...)
	return nil
}

// first returns the first n bytes of the row.
func (r *row) first(n int64) ([]byte, error) {
	if n > r.size {
		return nil, fmt.Errorf("a row of %d bytes, want %d", r.size, n)
	}
	for int64(len(r.b)) < n {
		if r.over == nil {
			r.over = make([]byte, r.f.page)
		}
		if err := r.f.readPage(r.next, r.over); err != nil {
			return nil, err
		}
		r.next = binary.BigEndian.Uint32(r.over)
		r.b = append(r.b, r.over[4:min(int64(r.f.usable), 4+r.size-int64(len(r.b)))]...)
	}
	return r.b[:n], nil
}

// column returns the serial type of a column, and where its value is.
func (r *row) column(i int) (kind, at, n int64, err error) {
	b, err := r.first(min(r.size, 9))
	if err != nil {
		return 0, 0, 0, err
	}
	end, pos := varint(b)
	if pos == 0 || end < int64(pos) || end > 9*(maxColumns+1) {
		return 0, 0, 0, fmt.Errorf("a row's header of %d bytes", end)
	}
	if b, err = r.first(end); err != nil {
		return 0, 0, 0, err
	}
	at = end
	for k := 0; ; k++ {
		kind, used := varint(b[pos:])
		if used == 0 || kind < 0 || kind == 10 || kind == 11 {
			return 0, 0, 0, fmt.Errorf("column %d is missing, or of type %d", k, kind)
		}
		pos += used
		switch {
		case kind >= 12:
			n = (kind - 12) / 2
		default:
			n = []int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[kind]
		}
		if n > r.size-at {
			return 0, 0, 0, fmt.Errorf("column %d has %d bytes, the row %d", k, n, r.size)
		}
		if k == i {
			return kind, at, n, nil
		}
		at += n
	}
}

// integer returns the value of a column.
func (r *row) integer(i int) (int64, error) {
	kind, at, n, err := r.column(i)
	if err != nil {
		return 0, err
	}
	if kind == 0 || kind == 7 || kind > 9 {
		return 0, fmt.Errorf("column %d is no integer", i)
	}
	if kind >= 8 {
		return kind - 8, nil
	}
	b, err := r.first(at + n)
	if err != nil {
		return 0, err
	}
	v := int64(int8(b[at]))
	for _, c := range b[at+1:] {
		v = v<<8 | int64(c)
	}
	return v, nil
}

// integers returns the values of columns.
func (r *row) integers() (v [8]int64, err error) {
	for i := range v {
		if v[i], err = r.integer(i); err != nil {
			return v, err
		}
	}
	return v, nil
}

// text returns the value of a column, at most limit bytes of it.
func (r *row) text(i, limit int) (string, error) {
	kind, at, n, err := r.column(i)
	if err != nil {
		return "", err
	}
	if kind < 13 || kind%2 == 0 {
		return "", fmt.Errorf("column %d is no text", i)
	}
	b, err := r.first(at + min(n, int64(limit)))
	if err != nil {
		return "", err
	}
	return string(b[at:]), nil
}

// varint returns a number of 1 to 9 bytes and its length, which is 0 if it does
// not end.
func varint(b []byte) (int64, int) {
	var v uint64
	for i := range min(9, len(b)) {
		if i == 8 {
			return int64(v<<8 | uint64(b[i])), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return int64(v), i + 1
		}
	}
	return 0, 0
}
