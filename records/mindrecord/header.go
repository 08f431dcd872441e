package mindrecord

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// The limits and defaults of MindSpore.
const (
	minHeader, maxHeader, defaultHeader = 1 << 14, 1 << 27, 1 << 24
	minPage, maxPage, defaultPage       = 1 << 15, 1 << 28, 1 << 25
	maxShards                           = 1000
)

const version = "3.0"

// header is the header of a data file.
type header struct {
	size, page  int64
	compression int64 // bytes saved by packing, negative if it took more
	shard       int
	shards      []string // the files' names
	schema      Schema
	pages       []page // by id
}

// page is a raw or a blob page.
type page struct {
	raw        bool
	kind       int   // page_type_id
	used       int64 // bytes
	start, end int64 // rows of a blob page
	groups     []place
}

// place is the position of a group's rows in a raw page.
type place struct {
	group  int
	offset int64
}

// object is a JSON object with a fixed set of keys.
type object map[string]json.RawMessage

func parseObject(b []byte, what string, keys ...string) (object, error) {
	var m object
	if err := json.Unmarshal(b, &m); err != nil || m == nil {
		return nil, fmt.Errorf("%s: %.80q, want an object", what, b)
	}
	for _, k := range keys {
		if _, ok := m[k]; !ok {
			return nil, fmt.Errorf("%s: no %q", what, k)
		}
	}
	if len(m) != len(keys) {
		return nil, fmt.Errorf("%s: %d keys, want %q", what, len(m), keys)
	}
	return m, nil
}

func (m object) list(key string, null bool) (l []json.RawMessage, err error) {
	b := m[key]
	if err := json.Unmarshal(b, &l); err != nil || l == nil && !null {
		return nil, fmt.Errorf("%s: %.80q, want a list", key, b)
	}
	return l, nil
}

func (m object) number(key string, lo, hi int64) (int64, error) {
	n, err := strconv.ParseInt(string(m[key]), 10, 64)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("%s: %.80q, want %d to %d", key, m[key], lo, hi)
	}
	return n, nil
}

func (m object) text(key string) (s string, err error) {
	b := m[key]
	if len(b) == 0 || b[0] != '"' || json.Unmarshal(b, &s) != nil {
		return "", fmt.Errorf("%s: %.80q, want text", key, b)
	}
	return s, nil
}

// parseHeader parses the JSON text of a header.
func parseHeader(b []byte) (*header, error) {
	m, err := parseObject(b, "the header", "header_size", "index_fields", "page", "page_size", "compression_size", "schema", "shard_addresses", "shard_id", "statistics", "version")
	if err != nil {
		return nil, err
	}
	h := &header{}
	if v, err := m.text("version"); err != nil || v != version {
		return nil, fmt.Errorf("version: %.80q, want %q", m["version"], version)
	}
	if h.size, err = m.number("header_size", minHeader, maxHeader); err != nil {
		return nil, err
	}
	if h.page, err = m.number("page_size", minPage, maxPage); err != nil {
		return nil, err
	}
	if h.compression, err = m.number("compression_size", 0, math.MaxInt64); err != nil {
		return nil, err
	}
	l, err := m.list("shard_addresses", false)
	if err != nil || len(l) < 1 || len(l) > maxShards {
		return nil, fmt.Errorf("shard_addresses: %.80q, want 1 to %d names", m["shard_addresses"], maxShards)
	}
	for _, b := range l {
		var s string
		if json.Unmarshal(b, &s) != nil || s == "" || filepath.Base(s) != s || strings.IndexByte(s, 0) >= 0 || slices.Contains(h.shards, s) {
			return nil, fmt.Errorf("shard_addresses: %.80q, want a file's name, once", b)
		}
		h.shards = append(h.shards, s)
	}
	shard, err := m.number("shard_id", 0, int64(len(l)-1))
	if err != nil {
		return nil, err
	}
	h.shard = int(shard)
	if err := h.parseSchema(m); err != nil {
		return nil, err
	}
	if l, err = m.list("page", true); err != nil {
		return nil, err
	}
	for i, b := range l {
		if err := h.parsePage(i, b); err != nil {
			return nil, fmt.Errorf("page %d: %w", i, err)
		}
	}
	return h, nil
}

func (h *header) parseSchema(m object) error {
	l, err := m.list("schema", false)
	if err != nil || len(l) != 1 {
		return fmt.Errorf("schema: %d of them, want one", len(l))
	}
	s, err := parseObject(l[0], "schema", "desc", "blob_fields", "schema")
	if err != nil {
		return err
	}
	if h.schema.Doc, err = s.text("desc"); err != nil {
		return err
	}
	var fields object
	if err := json.Unmarshal(s["schema"], &fields); err != nil {
		return fmt.Errorf("schema: %.80q, want an object", s["schema"])
	}
	for name, b := range fields {
		keys := []string{"type"}
		if bytes.Contains(b, []byte(`"shape"`)) {
			keys = append(keys, "shape")
		}
		o, err := parseObject(b, name, keys...)
		if err != nil {
			return err
		}
		kind, err := o.text("type")
		f, ok := kinds[kind]
		if err != nil || !ok {
			return fmt.Errorf("%s: type %.80q, want int32, int64, float32, float64, string or bytes", name, o["type"])
		}
		if len(keys) == 2 {
			var dims []int
			if err := json.Unmarshal(o["shape"], &dims); err != nil || len(dims) < 1 || len(dims) > tensor.MaxRank {
				return fmt.Errorf("%s: shape %.80q, want a list of 1 to %d sizes", name, o["shape"], tensor.MaxRank)
			}
			f.Desc.Shape = tensor.Dims(dims...)
		}
		f.Name = name
		h.schema.Fields = append(h.schema.Fields, f)
	}
	h.schema.Index = []string{}
	if l, err = m.list("index_fields", true); err != nil {
		return err
	}
	for _, b := range l {
		o, err := parseObject(b, "index_fields", "index_field", "schema_id")
		if err != nil {
			return err
		}
		name, err := o.text("index_field")
		if err == nil {
			_, err = o.number("schema_id", 0, 0)
		}
		if err != nil {
			return err
		}
		h.schema.Index = append(h.schema.Index, name)
	}
	if err := h.schema.Validate(); err != nil {
		return err
	}
	var blob []string
	if err := json.Unmarshal(s["blob_fields"], &blob); err != nil || !slices.Equal(blob, h.schema.blobs()) {
		return fmt.Errorf("blob_fields: %.80q, want %q", s["blob_fields"], h.schema.blobs())
	}
	return nil
}

// blobs returns the names of the blob fields, in the order of a record.
func (s *Schema) blobs() (l []string) {
	for _, f := range s.Fields {
		if f.blob() {
			l = append(l, f.Name)
		}
	}
	return l
}

func (h *header) parsePage(id int, b []byte) error {
	m, err := parseObject(b, "it", "end_row_id", "page_id", "page_size", "page_type", "page_type_id", "row_group_ids", "shard_id", "start_row_id")
	if err != nil {
		return err
	}
	var p page
	kind, err := m.text("page_type")
	if err != nil || kind != "BLOB_DATA" && kind != "RAW_DATA" {
		return fmt.Errorf("page_type: %.80q, want BLOB_DATA or RAW_DATA", m["page_type"])
	}
	p.raw = kind == "RAW_DATA"
	if _, err = m.number("page_id", int64(id), int64(id)); err != nil {
		return err
	}
	if _, err = m.number("shard_id", int64(h.shard), int64(h.shard)); err != nil {
		return err
	}
	if p.used, err = m.number("page_size", 1, h.page); err != nil {
		return err
	}
	if p.start, err = m.number("start_row_id", 0, 1<<40); err != nil {
		return err
	}
	if p.end, err = m.number("end_row_id", 0, 1<<40); err != nil {
		return err
	}
	typeID, err := m.number("page_type_id", 0, math.MaxInt32)
	if err != nil {
		return err
	}
	p.kind = int(typeID)
	l, err := m.list("row_group_ids", false)
	if err != nil {
		return err
	}
	for _, b := range l {
		o, err := parseObject(b, "row_group_ids", "id", "offset")
		if err != nil {
			return err
		}
		group, err := o.number("id", 0, math.MaxInt32)
		if err != nil {
			return err
		}
		offset, err := o.number("offset", 0, p.used-1)
		if err != nil {
			return err
		}
		p.groups = append(p.groups, place{int(group), offset})
	}
	h.pages = append(h.pages, p)
	return nil
}

// group is the rows of one blob page. Their raw records are adjacent too.
type group struct {
	start, end       int64 // rows
	blob, raw        int   // pages
	blobEnd          int64 // bytes of the blob page
	rawStart, rawEnd int64
}

// least returns the smallest size of a record: its length, and an empty map in
// a raw page.
const leastBlob, leastRaw = 8, 9

// groups returns the groups. They must be contiguous and each have one place.
func (h *header) groups() ([]group, error) {
	var l []group
	rows := int64(0)
	for i, p := range h.pages {
		if p.raw {
			continue
		}
		if p.start != rows || p.end <= rows || (p.end-rows) > p.used/leastBlob {
			return nil, fmt.Errorf("page %d has rows %d to %d in %d bytes, want them to begin with %d", i, p.start, p.end, p.used, rows)
		}
		if p.kind != len(l) {
			return nil, fmt.Errorf("page %d is blob page %d, want %d", i, p.kind, len(l))
		}
		if len(p.groups) != 1 || p.groups[0] != (place{}) {
			return nil, fmt.Errorf("page %d has groups, as raw pages have", i)
		}
		l = append(l, group{start: rows, end: p.end, blob: i, blobEnd: p.used, raw: -1})
		rows = p.end
	}
	for i, p := range h.pages {
		if !p.raw {
			continue
		}
		if p.start != 0 || p.end != 0 || len(p.groups) == 0 || p.groups[0].offset != 0 {
			return nil, fmt.Errorf("raw page %d has rows %d to %d, or does not begin with a group", i, p.start, p.end)
		}
		for k, at := range p.groups {
			end := p.used
			if k+1 < len(p.groups) {
				end = p.groups[k+1].offset
			}
			if at.group >= len(l) || l[at.group].raw >= 0 || end-at.offset < leastRaw*(l[at.group].end-l[at.group].start) {
				return nil, fmt.Errorf("raw page %d has group %d of %d in bytes %d to %d", i, at.group, len(l), at.offset, end)
			}
			g := &l[at.group]
			g.raw, g.rawStart, g.rawEnd = i, at.offset, end
		}
	}
	for i, g := range l {
		if g.raw < 0 {
			return nil, fmt.Errorf("no raw page has group %d", i)
		}
	}
	return l, nil
}

// at returns the position of a page.
func (h *header) at(page int) int64 { return h.size + int64(page)*h.page }

// appendJSON appends the text of the header, in the same bytes as MindSpore.
func (h *header) appendJSON(b []byte) []byte {
	b = fmt.Appendf(b, `{"header_size":%d,"index_fields":`, h.size)
	if len(h.schema.Index) == 0 {
		b = append(b, "null"...)
	}
	for i, name := range h.schema.Index {
		b = fmt.Appendf(b, `%c{"index_field":"%s","schema_id":0}`, "[,"[min(i, 1)], name)
	}
	if len(h.schema.Index) > 0 {
		b = append(b, ']')
	}
	b = append(b, `,"page":`...)
	if len(h.pages) == 0 {
		b = append(b, "null"...)
	}
	for i := range h.pages {
		b = append(b, "[,"[min(i, 1)])
		b = h.pages[i].appendJSON(b, i, h.shard)
	}
	if len(h.pages) > 0 {
		b = append(b, ']')
	}
	b = fmt.Appendf(b, `,"page_size":%d,"compression_size":%d,"schema":[{"blob_fields":[`, h.page, max(h.compression, 0))
	for i, name := range h.schema.blobs() {
		b = fmt.Appendf(b, `%s"%s"`, ","[:min(i, 1)], name)
	}
	b = append(b, `],"desc":`...)
	b = appendText(b, h.schema.Doc)
	b = append(b, `,"schema":{`...)
	for i, f := range h.schema.Fields {
		b = fmt.Appendf(b, `%s"%s":{`, ","[:min(i, 1)], f.Name)
		for a := range f.Desc.Shape.Rank() {
			if a == 0 {
				b = append(b, `"shape":[`...)
			}
			b = fmt.Appendf(b, `%s%d`, ","[:min(a, 1)], f.Desc.Shape.At(a))
		}
		if f.Desc.Shape.Rank() > 0 {
			b = append(b, `],`...)
		}
		b = fmt.Appendf(b, `"type":"%s"}`, f.kind())
	}
	b = append(b, `}}],"shard_addresses":`...)
	for i, s := range h.shards {
		b = append(b, "[,"[min(i, 1)])
		b = appendText(b, s)
	}
	return fmt.Appendf(b, `],"shard_id":%d,"statistics":null,"version":"%s"}`, h.shard, version)
}

func (p *page) appendJSON(b []byte, id, shard int) []byte {
	kind, groups := "BLOB_DATA", []place{{}}
	if p.raw {
		kind, groups = "RAW_DATA", p.groups
	}
	b = fmt.Appendf(b, `{"end_row_id":%d,"page_id":%d,"page_size":%d,"page_type":"%s","page_type_id":%d,"row_group_ids":`, p.end, id, p.used, kind, p.kind)
	for i, g := range groups {
		b = fmt.Appendf(b, `%c{"id":%d,"offset":%d}`, "[,"[min(i, 1)], g.group, g.offset)
	}
	return fmt.Appendf(b, `],"shard_id":%d,"start_row_id":%d}`, shard, p.start)
}

// appendText appends a JSON string. The caller has checked that the text is
// UTF-8.
func appendText(b []byte, s string) []byte {
	const short = "\b\f\n\r\t\"\\"
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if k := strings.IndexByte(short, c); k >= 0 {
			b = append(b, '\\', `bfnrt"\`[k])
		} else if c < ' ' {
			b = fmt.Appendf(b, `\u%04x`, c)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// readHeader reads the header of a file. Its errors have offset 0. Memory grows
// with the input.
func readHeader(name string, r io.ReaderAt, size int64) (*header, error) {
	corrupt := func(format string, args ...any) error {
		return records.Corruptf(formatName, name, 0, format, args...)
	}
	var first [8]byte
	if size < int64(len(first)) {
		return nil, corrupt("%d bytes, want a header", size)
	}
	if _, err := r.ReadAt(first[:], 0); err != nil {
		return nil, fmt.Errorf("mindrecord: %s: %w", store.Redact(name), err)
	}
	n := binary.LittleEndian.Uint64(first[:])
	if n > maxHeader-8 || int64(n) > size-8 {
		return nil, corrupt("a header of %d bytes in a file of %d, want at most %d", n, size, maxHeader-8)
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, 8); err != nil {
		return nil, fmt.Errorf("mindrecord: %s: %w", store.Redact(name), err)
	}
	h, err := parseHeader(b)
	if err != nil {
		return nil, corrupt("%v", err)
	}
	if int64(n)+8 > h.size {
		return nil, corrupt("a header of %d bytes, want at most %d", n+8, h.size)
	}
	return h, nil
}
