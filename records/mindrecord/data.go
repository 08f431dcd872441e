package mindrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
)

// data is an open data file.
type data struct {
	name   string
	file   store.File
	mapped []byte // nil if the file is not in memory
	h      *header
	groups []group
	// ends are the ends of the rows' records in their pages: a record begins
	// where the one before it ends.
	blobEnds, rawEnds []uint32
}

// openData opens a data file and checks its header.
func openData(in source, name string) (*data, error) {
	f, err := in.store.Open(in.ctx, name)
	if err != nil {
		return nil, fmt.Errorf("mindrecord: %w", err)
	}
	d, err := newData(name, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return d, nil
}

func newData(name string, f store.File) (*data, error) {
	h, err := readHeader(name, f, f.Size())
	if err != nil {
		return nil, err
	}
	d := &data{name: name, file: f, h: h}
	for i, p := range h.pages {
		if end := h.at(i) + p.used; end > f.Size() {
			return nil, records.Corruptf(formatName, name, h.at(i), "page %d ends at byte %d of a file of %d", i, end, f.Size())
		}
	}
	if d.groups, err = h.groups(); err != nil {
		return nil, records.Corruptf(formatName, name, 0, "%v", err)
	}
	d.mapped = store.MappedBytes(f)
	return d, nil
}

func (d *data) Close() error { return d.file.Close() }

// rows returns the number of rows.
func (d *data) rows() int64 {
	if len(d.groups) == 0 {
		return 0
	}
	return d.groups[len(d.groups)-1].end
}

// group returns the group of a row.
func (d *data) group(row int64) int {
	return sort.Search(len(d.groups), func(i int) bool { return d.groups[i].end > row })
}

// places returns the positions of a row's records in its pages.
func (d *data) places(row int64) (g int, blob, raw [2]int64) {
	g = d.group(row)
	raw[0] = d.groups[g].rawStart
	if row > d.groups[g].start {
		blob[0], raw[0] = int64(d.blobEnds[row-1]), int64(d.rawEnds[row-1])
	}
	blob[1], raw[1] = int64(d.blobEnds[row]), int64(d.rawEnds[row])
	return g, blob, raw
}

// bytes returns the bytes of a page between two positions, in buf if the file
// is not in memory.
func (d *data) bytes(page int, place [2]int64, buf *[]byte) ([]byte, error) {
	at, n := d.h.at(page)+place[0], place[1]-place[0]
	if d.mapped != nil {
		return d.mapped[at : at+n : at+n], nil
	}
	if int64(cap(*buf)) < n {
		*buf = make([]byte, n+n/4)
	}
	b := (*buf)[:n]
	if _, err := d.file.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("mindrecord: %s: at byte %d: %w", store.Redact(d.name), at, err)
	}
	return b, nil
}

// record returns a record without its length, which must match the index.
func (d *data) record(page int, place [2]int64, buf *[]byte) ([]byte, error) {
	b, err := d.bytes(page, place, buf)
	if err != nil {
		return nil, err
	}
	if n := binary.LittleEndian.Uint64(b); n != uint64(len(b)-8) {
		return nil, d.corrupt(page, place[0], "a record of %d bytes, the index has %d", n, len(b)-8)
	}
	return b[8:], nil
}

func (d *data) corrupt(page int, offset int64, format string, args ...any) error {
	return records.Corruptf(formatName, d.name, d.h.at(page)+offset, format, args...)
}

// walk finds the ends of all records from their lengths, without the index.
func (d *data) walk() error {
	d.blobEnds, d.rawEnds = make([]uint32, d.rows()), make([]uint32, d.rows())
	for _, g := range d.groups {
		if err := d.walkPage(g.blob, 0, g.blobEnd, leastBlob, d.blobEnds[g.start:g.end]); err != nil {
			return err
		}
		if err := d.walkPage(g.raw, g.rawStart, g.rawEnd, leastRaw, d.rawEnds[g.start:g.end]); err != nil {
			return err
		}
	}
	return nil
}

func (d *data) walkPage(page int, at, end, least int64, ends []uint32) error {
	var buf []byte
	for i := range ends {
		n := uint64(0)
		if end-at >= least {
			b, err := d.bytes(page, [2]int64{at, at + 8}, &buf)
			if err != nil {
				return err
			}
			n = binary.LittleEndian.Uint64(b)
		}
		if end-at < least || n > uint64(end-at-8) {
			return d.corrupt(page, at, "a record of %d bytes, %d are left", n, end-at)
		}
		at += 8 + int64(n)
		ends[i] = uint32(at)
	}
	if at != end {
		return d.corrupt(page, at, "%d bytes behind the last record of a group", end-at)
	}
	return nil
}

// indexName returns the name of a data file's index.
func indexName(name string) string { return store.Beside(name, "", ".db") }

// address returns the file's own name as stored in the header. It differs from
// the actual name after a rename.
func (d *data) address() string { return d.h.shards[d.h.shard] }

// siblings returns the names of all files of the set, in the folder of this
// one. After a rename they have a new stem and the same numbers.
func (d *data) siblings() ([]string, error) {
	dir, base := filepath.Split(d.name)
	if len(d.h.shards) == 1 {
		return []string{d.name}, nil
	}
	first, last := d.h.shards[0], d.h.shards[len(d.h.shards)-1]
	stem := 0 // length of the common prefix
	for stem < len(first) && stem < len(last) && first[stem] == last[stem] {
		stem++
	}
	number := d.address()[min(stem, len(d.address())):]
	have, ok := strings.CutSuffix(base, number)
	if !ok {
		return nil, fmt.Errorf("mindrecord: %s: its header says that its name is %s, one of %d files of a set", store.Redact(d.name), d.address(), len(d.h.shards))
	}
	l := make([]string, len(d.h.shards))
	for i, s := range d.h.shards {
		l[i] = dir + have + s[min(stem, len(s)):]
	}
	return l, nil
}
