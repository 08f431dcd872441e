package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sort"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/infer-prep/infer-prep/dataset/columnar/internal/table"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// page is the place of a data page, with its header.
type page struct{ at, size int64 }

// unit is the rows that are decoded together: those of a page, or all rows of a
// list whose pages have no index, since a row may then span pages.
type unit struct {
	first, rows int64 // in the group of rows
	pages       []page
}

// plainDictionary is the encoding of pages with a dictionary in old files.
const plainDictionary format.Encoding = 2

// dictionary is the number that cache has for the dictionary of a chunk.
const dictionary = -1

// maxHeader is the most bytes of a page's header, which may have the smallest
// and the largest value.
const maxHeader = 1 << 20

// find returns the number of the unit that has a row.
func (h *chunk) find(c *column, row int64) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.units == nil {
		l, err := h.locate(c)
		if err != nil {
			return 0, err
		}
		h.units = l
	}
	return sort.Search(len(h.units)-1, func(i int) bool { return h.units[i+1].first > row }), nil
}

// meta returns what the footer says about the chunk.
func (h *chunk) meta() *format.ColumnChunk {
	return &h.file.meta.Metadata().RowGroups[h.group].Columns[h.leaf]
}

// span returns the bytes of the chunk's pages in the file, and of its
// dictionary's.
func (h *chunk) span() (at, data, end int64, err error) {
	m := &h.meta().MetaData
	at, data = m.DataPageOffset, m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < at {
		at = d
	}
	end = at + m.TotalCompressedSize
	if at < 4 || data < at || end < data || end > h.file.Size() || h.meta().FilePath != "" {
		return 0, 0, 0, h.file.corrupt("pages from byte %d to %d of %d", at, end, h.file.Size())
	}
	return at, data, end, nil
}

// locate finds the pages, from their index if there is one.
func (h *chunk) locate(c *column) (l []unit, err error) {
	f := h.file
	defer f.guard("pages", &err)
	m := h.meta()
	at, data, end, err := h.span()
	if err != nil {
		return nil, err
	}
	if format.Type(c.kind) != m.MetaData.Type {
		return nil, f.corrupt("column %q: pages of %v, want %v", c.Name, m.MetaData.Type, c.kind)
	}
	if n := int64(m.OffsetIndexLength); n > 0 {
		b, err := f.readAt(m.OffsetIndexOffset, n)
		if err != nil {
			return nil, err
		}
		if _, err := checkThrift(b); err != nil {
			return nil, f.failed("index of pages", err)
		}
		var x format.OffsetIndex
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), b, &x); err != nil {
			return nil, f.failed("index of pages", err)
		}
		for i, p := range x.PageLocations {
			q := page{p.Offset, int64(p.CompressedPageSize)}
			rows := h.rows - p.FirstRowIndex
			if i+1 < len(x.PageLocations) {
				rows = x.PageLocations[i+1].FirstRowIndex - p.FirstRowIndex
			}
			if q.at < at || q.size <= 0 || q.at > end-q.size || p.FirstRowIndex < 0 || rows < 0 || i == 0 && p.FirstRowIndex != 0 {
				return nil, f.corrupt("index of pages: page %d: %d bytes at byte %d, from row %d on", i, q.size, q.at, p.FirstRowIndex)
			}
			if rows > 0 {
				l = append(l, unit{p.FirstRowIndex, rows, []page{q}})
			}
		}
		if len(l) == 0 {
			return nil, f.corrupt("index of pages: no rows, want %d", h.rows)
		}
		return l, nil
	}
	var all []page
	first := int64(0)
	for values := int64(0); values < m.MetaData.NumValues; {
		p, head, err := h.header(data, end)
		if err != nil {
			return nil, err
		}
		q := page{data, int64(head) + int64(p.CompressedPageSize)}
		data += q.size
		rows := int64(0)
		switch {
		case p.DataPageHeader.Valid:
			rows = int64(p.DataPageHeader.V.NumValues)
		case p.DataPageHeaderV2.Valid:
			rows = int64(p.DataPageHeaderV2.V.NumValues)
		default:
			continue // a dictionary that the footer does not place
		}
		values += rows
		all = append(all, q)
		if rows > 0 {
			l = append(l, unit{first, rows, []page{q}})
		}
		first += rows
	}
	switch {
	case c.maxRep > 0:
		l = []unit{{0, h.rows, all}}
	case first != h.rows || len(l) == 0:
		return nil, f.corrupt("column %q: pages with %d rows, want %d", c.Name, first, h.rows)
	}
	return l, nil
}

// header reads the header of a page, and returns its size.
func (h *chunk) header(at, end int64) (*format.PageHeader, int, error) {
	f := h.file
	for size := int64(256); ; size *= 8 {
		b, err := f.readAt(at, min(size, end-at))
		if err != nil {
			return nil, 0, err
		}
		n, err := checkThrift(b)
		if errors.Is(err, io.ErrUnexpectedEOF) && size < min(end-at, maxHeader) {
			continue
		}
		var p format.PageHeader
		if err == nil {
			err = thrift.NewDecoder(new(thrift.CompactProtocol).NewReaderFromBytes(b)).Decode(&p)
		}
		if err != nil {
			return nil, 0, f.failed(fmt.Sprintf("header of the page at byte %d", at), err)
		}
		values := int32(0)
		switch {
		case p.DataPageHeader.Valid:
			values = p.DataPageHeader.V.NumValues
		case p.DataPageHeaderV2.Valid:
			values = p.DataPageHeaderV2.V.NumValues
		case p.DictionaryPageHeader.Valid:
			values = p.DictionaryPageHeader.V.NumValues
		}
		if c := int64(p.CompressedPageSize); c < 0 || c > end-at-int64(n) || p.UncompressedPageSize < 0 || p.UncompressedPageSize > limit || values < 0 || values > maxValues {
			return nil, 0, f.corrupt("the page at byte %d: %d values in %d bytes, %d unpacked: want at most %d values and %d bytes", at, values, p.CompressedPageSize, p.UncompressedPageSize, maxValues, limit)
		}
		return &p, n, nil
	}
}

// block is the decoded values of a unit, or of a dictionary.
type block struct {
	data   []byte // bytes values lie in it
	spans  []span
	elems  []byte  // numbers, dense
	count  int     // values
	valid  []int32 // the value of each row, -1 for null; nil if all rows have one
	rep    []byte  // of lists
	def    []byte
	starts []int32 // of each row, its first level, and the end
	values []int32 // and its first value
	cost   int64
}

type span struct{ at, n uint32 }

func (b *block) bytes(i int) []byte {
	s := b.spans[i]
	return b.data[s.at : s.at+s.n : s.at+s.n]
}

// decode decodes a unit.
func (h *chunk) decode(c *column, cache *cache, number int) (b *block, err error) {
	f := h.file
	defer f.guard(fmt.Sprintf("column %q", c.Name), &err)
	b = &block{}
	if number == dictionary {
		return h.dictionary(c)
	}
	u := h.units[number]
	total := int64(0)
	for _, p := range u.pages {
		n, err := h.page(c, cache, p, b)
		if err != nil {
			return nil, err
		}
		if total += n; total > limit || b.count > maxValues || len(b.def) > maxValues {
			return nil, fmt.Errorf("parquet: %s: %w: column %q: pages of a list of over %d bytes or %d values, decoded together", store.Redact(f.name), records.ErrTooLarge, c.Name, limit, maxValues)
		}
	}
	if err := b.index(c, u.rows); err != nil {
		return nil, f.corrupt("column %q: %v", c.Name, err)
	}
	b.cost += int64(len(b.elems)+len(b.rep)+len(b.def)) + 8*int64(len(b.spans)) + 4*int64(len(b.valid)+len(b.starts)+len(b.values))
	return b, nil
}

// index finds the values of the rows.
func (b *block) index(c *column, rows int64) error {
	present := b.count
	if c.maxDef > 0 {
		present = 0
		for _, d := range b.def {
			if int(d) > c.maxDef {
				return fmt.Errorf("a level %d, want at most %d", d, c.maxDef)
			}
			if int(d) == c.maxDef {
				present++
			}
		}
	}
	if present != b.count {
		return fmt.Errorf("%d values, want %d", b.count, present)
	}
	if c.maxRep == 0 {
		n := b.count
		if c.maxDef > 0 {
			n = len(b.def)
		}
		if int64(n) != rows {
			return fmt.Errorf("a page of %d rows, want %d", n, rows)
		}
		if present < n {
			b.valid = make([]int32, n)
			next := int32(0)
			for i, d := range b.def {
				b.valid[i] = -1
				if int(d) == c.maxDef {
					b.valid[i] = next
					next++
				}
			}
		}
		b.def = nil
		return nil
	}
	next := int32(0)
	for i, r := range b.rep {
		if r == 0 {
			b.starts = append(b.starts, int32(i))
			b.values = append(b.values, next)
		} else if i == 0 || int(r) > c.maxRep {
			return fmt.Errorf("a row that begins with level %d", r)
		}
		if int(b.def[i]) == c.maxDef {
			next++
		}
	}
	if int64(len(b.starts)) != rows {
		return fmt.Errorf("%d rows, want %d", len(b.starts), rows)
	}
	b.starts = append(b.starts, int32(len(b.rep)))
	return nil
}

// page decodes a page, and returns its unpacked size.
func (h *chunk) page(c *column, cache *cache, p page, b *block) (int64, error) {
	f := h.file
	head, n, err := h.header(p.at, p.at+p.size)
	if err != nil {
		return 0, err
	}
	data, err := f.readAt(p.at+int64(n), int64(head.CompressedPageSize))
	if err != nil {
		return 0, err
	}
	bad := func(err error) (int64, error) {
		return 0, f.corrupt("column %q: the page at byte %d: %v", c.Name, p.at, err)
	}
	codec, size := h.meta().MetaData.Codec, int64(head.UncompressedPageSize)
	unpack := func(data []byte, size int64) ([]byte, error) {
		if codec != format.Uncompressed || f.mapped == nil {
			b.cost += size // in memory
		}
		return unpack(codec, data, size)
	}
	var values int
	var rep, def []byte
	var enc format.Encoding
	switch {
	case head.DataPageHeader.Valid:
		x := &head.DataPageHeader.V
		values, enc = int(x.NumValues), x.Encoding
		if data, err = unpack(data, size); err != nil {
			return bad(err)
		}
		if c.maxRep > 0 {
			if rep, data, err = levels1(x.RepetitionLevelEncoding, data, values, c.maxRep); err != nil {
				return bad(err)
			}
		}
		if c.maxDef > 0 {
			if def, data, err = levels1(x.DefinitionLevelEncoding, data, values, c.maxDef); err != nil {
				return bad(err)
			}
		}
	case head.DataPageHeaderV2.Valid:
		x := &head.DataPageHeaderV2.V
		values, enc = int(x.NumValues), x.Encoding
		r, d := int64(x.RepetitionLevelsByteLength), int64(x.DefinitionLevelsByteLength)
		if r < 0 || d < 0 || r+d > int64(len(data)) || r+d > size {
			return bad(fmt.Errorf("%d and %d bytes of levels", r, d))
		}
		if c.maxRep > 0 {
			if rep, err = levels(data[:r], values, c.maxRep); err != nil {
				return bad(err)
			}
		}
		if c.maxDef > 0 {
			if def, err = levels(data[r:r+d], values, c.maxDef); err != nil {
				return bad(err)
			}
		}
		if data = data[r+d:]; !x.IsCompressed.Valid || x.IsCompressed.V {
			if data, err = unpack(data, size-r-d); err != nil {
				return bad(err)
			}
		}
	default:
		return bad(fmt.Errorf("a page of type %v, want data", head.Type))
	}
	present := values
	if def != nil {
		present = bytes.Count(def, []byte{byte(c.maxDef)})
	}
	b.rep, b.def = append(b.rep, rep...), append(b.def, def...)
	if enc == plainDictionary || enc == format.RLEDictionary {
		d, err := cache.block(h, c, dictionary)
		if err != nil {
			return 0, err
		}
		if err := b.look(c, d, data, present); err != nil {
			return bad(err)
		}
		return size, nil
	}
	if err := b.plain(c, enc, data, present); err != nil {
		if errors.Is(err, records.ErrUnsupported) {
			return 0, fmt.Errorf("parquet: %s: column %q: %w", store.Redact(f.name), c.Name, err)
		}
		return bad(err)
	}
	return size, nil
}

// dictionary decodes the dictionary.
func (h *chunk) dictionary(c *column) (*block, error) {
	f := h.file
	at, _, end, err := h.span()
	if err != nil {
		return nil, err
	}
	head, n, err := h.header(at, end)
	if err != nil {
		return nil, err
	}
	if !head.DictionaryPageHeader.Valid {
		return nil, f.corrupt("column %q: a page of type %v at byte %d, want a dictionary", c.Name, head.Type, at)
	}
	data, err := f.readAt(at+int64(n), int64(head.CompressedPageSize))
	if err != nil {
		return nil, err
	}
	if data, err = unpack(h.meta().MetaData.Codec, data, int64(head.UncompressedPageSize)); err == nil {
		b := &block{cost: int64(head.UncompressedPageSize)}
		if err = b.plain(c, format.Plain, data, int(head.DictionaryPageHeader.V.NumValues)); err == nil {
			b.cost += int64(len(b.elems)) + 8*int64(len(b.spans))
			return b, nil
		}
	}
	return nil, f.corrupt("column %q: the dictionary at byte %d: %v", c.Name, at, err)
}

// look appends the values that a page refers to by their numbers in d.
func (b *block) look(c *column, d *block, data []byte, n int) error {
	if n == 0 {
		return nil
	}
	if len(data) == 0 || data[0] > 32 {
		return errors.New("no width of the dictionary's numbers, want at most 32 bits")
	}
	index := make([]uint32, n)
	if err := hybrid(data[1:], int(data[0]), n, func(i int, v uint32) { index[i] = v }); err != nil {
		return err
	}
	size := c.Desc.DType.Size()
	if c.Desc.DType == tensor.Bytes {
		b.data = d.data
		b.cost += d.cost
	}
	for _, i := range index {
		if int64(i) >= int64(d.count) {
			return fmt.Errorf("value %d of a dictionary of %d", i, d.count)
		}
		if c.Desc.DType == tensor.Bytes {
			b.spans = append(b.spans, d.spans[i])
		} else {
			b.elems = append(b.elems, d.elems[int(i)*size:(int(i)+1)*size]...)
		}
	}
	b.count += n
	return nil
}

// plain appends n values of any encoding without a dictionary.
func (b *block) plain(c *column, enc format.Encoding, data []byte, n int) (err error) {
	if c.Desc.DType == tensor.Bytes {
		if err := b.plainBytes(c, enc, data, n); err != nil {
			return err
		}
		b.count += n
		return nil
	}
	var raw []byte
	size := map[parquet.Kind]int{parquet.Int32: 4, parquet.Int64: 8, parquet.Float: 4, parquet.Double: 8, parquet.FixedLenByteArray: 2}[c.kind]
	switch {
	case enc == format.Plain && c.kind == parquet.Boolean:
		if len(data) < (n+7)/8 {
			return fmt.Errorf("%d bytes for %d bits", len(data), n)
		}
		for i := range n {
			b.elems = append(b.elems, data[i/8]>>(i%8)&1)
		}
		b.count += n
		return nil
	case enc == format.RLE && c.kind == parquet.Boolean:
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return errors.New("its bits are too short")
		}
		bits := make([]byte, n)
		if err := hybrid(data[4:4+binary.LittleEndian.Uint32(data)], 1, n, func(i int, v uint32) { bits[i] = byte(v) }); err != nil {
			return err
		}
		b.elems = append(b.elems, bits...)
		b.count += n
		return nil
	case enc == format.Plain:
		raw = data
	case enc == format.ByteStreamSplit && len(data) == n*size:
		raw = make([]byte, len(data))
		for k := range size {
			for i := range n {
				raw[i*size+k] = data[k*n+i]
			}
		}
	case enc == format.DeltaBinaryPacked && (c.kind == parquet.Int32 || c.kind == parquet.Int64):
		if err := deltaCount(data, n); err != nil {
			return err
		}
		var v encoding.Values
		if c.kind == parquet.Int32 {
			v, err = encoding.DecodeInt32(encoding.Int32Values(make([]int32, 0, n)), data, &parquet.DeltaBinaryPacked)
		} else {
			v, err = encoding.DecodeInt64(encoding.Int64Values(make([]int64, 0, n)), data, &parquet.DeltaBinaryPacked)
		}
		if err != nil {
			return err
		}
		raw, _ = v.Data()
	default:
		return fmt.Errorf("%w: %v pages with encoding %v", records.ErrUnsupported, c.kind, enc)
	}
	if len(raw) < n*size {
		return fmt.Errorf("%d bytes for %d values of %d bytes", len(raw), n, size)
	}
	raw = raw[:n*size]
	b.count += n
	return b.numbers(c, raw, size)
}

// numbers appends numbers in the machine's order of bytes. Parquet's are little
// endian, as the machines are that this module runs on.
func (b *block) numbers(c *column, raw []byte, size int) error {
	switch to := c.Desc.DType.Size(); {
	case to == size:
		if c.unsigned && size == 8 {
			if err := uint64s(raw); err != nil {
				return err
			}
		}
		b.elems = append(b.elems, raw...)
	case to > size: // uint32
		for i := 0; i < len(raw); i += size {
			b.elems = binary.LittleEndian.AppendUint64(b.elems, uint64(binary.LittleEndian.Uint32(raw[i:])))
		}
	default: // 8 and 16 bits
		for i := 0; i < len(raw); i += size {
			b.elems = append(b.elems, raw[i:i+to]...)
		}
	}
	return nil
}

// plainBytes appends n values of bytes.
func (b *block) plainBytes(c *column, enc format.Encoding, data []byte, n int) error {
	switch {
	case enc == format.Plain && c.kind == parquet.FixedLenByteArray:
		if c.width <= 0 || len(data)/c.width < n {
			return fmt.Errorf("%d bytes for %d values of %d bytes", len(data), n, c.width)
		}
		for i := range n {
			b.spans = append(b.spans, span{uint32(i * c.width), uint32(c.width)})
		}
		b.data = data
		return nil
	case enc == format.Plain:
		if n > len(data)/4 {
			return fmt.Errorf("%d bytes for %d values", len(data), n)
		}
		b.spans = make([]span, n)
		at := 0
		for i := range n {
			if len(data)-at < 4 || uint64(binary.LittleEndian.Uint32(data[at:])) > uint64(len(data)-at-4) {
				return fmt.Errorf("value %d of %d is longer than the page", i, n)
			}
			k := binary.LittleEndian.Uint32(data[at:])
			b.spans[i] = span{uint32(at + 4), k}
			at += 4 + int(k)
		}
		b.data = data
		return nil
	case enc == format.DeltaLengthByteArray && c.kind == parquet.ByteArray:
		if err := deltaCount(data, n); err != nil {
			return err
		}
		v, err := encoding.DecodeByteArray(encoding.ByteArrayValues(nil, make([]uint32, 0, n+1)), data, &parquet.DeltaLengthByteArray)
		if err != nil {
			return err
		}
		values, offsets := v.ByteArray()
		if len(offsets) != n+1 {
			return fmt.Errorf("%d values, want %d", len(offsets)-1, n)
		}
		for i := range n {
			if offsets[i] > offsets[i+1] || uint64(offsets[i+1]) > uint64(len(values)) {
				return fmt.Errorf("value %d from byte %d to %d of %d", i, offsets[i], offsets[i+1], len(values))
			}
			b.spans = append(b.spans, span{offsets[i], offsets[i+1] - offsets[i]})
		}
		b.data = values
		return nil
	}
	return fmt.Errorf("%w: %v pages with encoding %v", records.ErrUnsupported, c.kind, enc)
}

// deltaCount checks the number of values that delta-encoded data claims.
func deltaCount(data []byte, n int) error {
	for k := range 3 {
		v, size := binary.Uvarint(data)
		if size <= 0 {
			return io.ErrUnexpectedEOF
		}
		data = data[size:]
		if k < 2 && v > 1<<20 || k == 2 && v != uint64(n) {
			return fmt.Errorf("delta-encoded data of %d values, want %d", v, n)
		}
	}
	return nil
}

// unpack decompresses a page to exactly size bytes.
func unpack(codec format.CompressionCodec, data []byte, size int64) (b []byte, err error) {
	if codec == format.Uncompressed {
		if int64(len(data)) != size {
			return nil, fmt.Errorf("%d bytes, want %d", len(data), size)
		}
		return data, nil
	}
	whole := func(r io.Reader) ([]byte, error) {
		var b bytes.Buffer // grows with the data, not with what its header claims
		_, err := io.Copy(&b, io.LimitReader(r, size+1))
		return b.Bytes(), err
	}
	switch codec {
	case format.Snappy:
		n, err := snappy.DecodedLen(data)
		if err != nil || int64(n) != size {
			return nil, fmt.Errorf("%d bytes unpacked, want %d", n, size)
		}
		if b, err = snappy.Decode(nil, data); err != nil {
			return nil, err
		}
	case format.Zstd:
		d, _ := decoders.Get().(*zstd.Decoder)
		if d == nil {
			if d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(limit), zstd.WithDecoderMaxWindow(limit)); err != nil {
				return nil, err
			}
		}
		defer decoders.Put(d)
		if b, err = d.DecodeAll(data, make([]byte, 0, min(size, 64*int64(len(data))))); err != nil {
			return nil, err
		}
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if b, err = whole(z); err != nil {
			return nil, err
		}
	case format.Brotli:
		if b, err = whole(brotli.NewReader(bytes.NewReader(data))); err != nil {
			return nil, err
		}
	case format.Lz4Raw:
		if size > 255*int64(len(data))+64 {
			return nil, fmt.Errorf("%d bytes from %d", size, len(data))
		}
		b = make([]byte, size)
		n, err := lz4.UncompressBlock(data, b)
		if err != nil {
			return nil, err
		}
		b = b[:n]
	default:
		return nil, fmt.Errorf("compression %v, want snappy, gzip, brotli, zstd or lz4_raw", codec)
	}
	if int64(len(b)) != size {
		return nil, fmt.Errorf("%d bytes unpacked, want %d", len(b), size)
	}
	return b, nil
}

// decoders holds zstd decoders.
var decoders sync.Pool

// levels1 decodes the levels that precede a page's values, in version 1.
func levels1(enc format.Encoding, data []byte, n, most int) (l, rest []byte, err error) {
	if enc != format.RLE {
		return nil, nil, fmt.Errorf("levels with encoding %v, want %v", enc, format.RLE)
	}
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, fmt.Errorf("levels longer than the page of %d bytes", len(data))
	}
	k := 4 + int(binary.LittleEndian.Uint32(data))
	l, err = levels(data[4:k], n, most)
	return l, data[k:], err
}

// levels decodes n levels up to most.
func levels(data []byte, n, most int) ([]byte, error) {
	l := make([]byte, n)
	err := hybrid(data, bits.Len(uint(most)), n, func(i int, v uint32) { l[i] = byte(v) })
	return l, err
}

// hybrid decodes n numbers of width bits: runs of one number, or numbers side
// by side, eight at a time.
func hybrid(data []byte, width, n int, put func(i int, v uint32)) error {
	size := (width + 7) / 8
	for i := 0; i < n; {
		head, k := binary.Uvarint(data)
		if k <= 0 {
			return fmt.Errorf("numbers end after %d of %d", i, n)
		}
		data = data[k:]
		count := head >> 1
		if head&1 == 0 {
			if len(data) < size || count == 0 {
				return fmt.Errorf("numbers end after %d of %d", i, n)
			}
			v := uint32(0)
			for k := range size {
				v |= uint32(data[k]) << (8 * k)
			}
			if width < 32 && v>>width != 0 {
				return fmt.Errorf("number %d, want %d bits", v, width)
			}
			data = data[size:]
			for end := i + int(min(count, uint64(n-i))); i < end; i++ {
				put(i, v)
			}
			continue
		}
		// The last group may lack the bytes of numbers beyond the n-th.
		have := uint64(len(data))
		if count == 0 || have < (min(count*8, uint64(n-i))*uint64(width)+7)/8 {
			return fmt.Errorf("numbers end after %d of %d", i, n)
		}
		taken := min(have, count*uint64(width))
		part := data[:taken]
		data = data[taken:]
		var acc uint64
		held := 0
		for end := i + int(min(count*8, uint64(n-i))); i < end; i++ {
			for held < width {
				acc |= uint64(part[0]) << held
				part = part[1:]
				held += 8
			}
			put(i, uint32(acc&(1<<width-1)))
			acc >>= width
			held -= width
		}
	}
	return nil
}

// cache keeps decoded blocks.
type cache struct {
	table.Cache[place, *block]
}

// place is a unit of a chunk, or its dictionary.
type place struct {
	chunk  *chunk
	number int
}

// block returns a decoded block of a chunk.
func (c *cache) block(h *chunk, col *column, number int) (*block, error) {
	return c.Get(place{h, number}, func() (*block, int64, error) {
		b, err := h.decode(col, c, number)
		if err != nil {
			return nil, 0, err
		}
		return b, b.cost, nil
	})
}
