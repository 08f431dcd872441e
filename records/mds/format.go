package mds

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/sorts"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	records.Register(records.Format{
		Name: formatName, Doc: "MDS folders of MosaicML's streaming, by their " + Index,
		Match: func(name string, head []byte) bool {
			return store.Base(name) == Index && (head == nil || bytes.Contains(head, []byte(`"shards"`)))
		},
		Open: openRecords, Create: createRecords,
	})
}

// openRecords reads folders one after another. The key of a record is its key
// column, else the sample's number.
func openRecords(ctx context.Context, o store.Opener, names []string, options records.ReadOptions) (records.Reader, error) {
	if err := records.CheckFiles(formatName, names); err != nil {
		return nil, err
	}
	number := int64(0) // of all folders
	return records.Concat(ctx, names, func(name string) (records.Reader, error) {
		s, err := Open(ctx, o, name)
		if err != nil {
			return nil, err
		}
		return &recordReader{set: s, o: options, columns: s.Columns(), number: &number}, nil
	})
}

type recordReader struct {
	set     *Set
	o       records.ReadOptions
	columns []Column
	next    int64
	number  *int64
	row     Row
	err     error
}

// Next reads the next sample. A lenient reader skips damaged ones.
func (r *recordReader) Next(to *records.Record) error {
	for r.err == nil {
		i := r.next
		if i == r.set.Len() {
			r.err = io.EOF
			break
		}
		r.next++
		number := *r.number
		*r.number++
		err := r.set.Read(i, &r.row)
		if r.o.Lenient && errors.Is(err, records.ErrCorrupt) {
			if r.o.OnSkip != nil {
				r.o.OnSkip(err)
			}
			continue
		}
		file, _, _ := r.set.Place(i)
		to.Reset(strconv.FormatInt(number, 10), file, -1)
		size := int64(0)
		for k := range r.row.Values {
			size += int64(len(r.row.Values[k].Data))
		}
		if err == nil && r.o.Limit > 0 && size > r.o.Limit {
			err = fmt.Errorf("mds: %s: sample %d: %w: %d bytes, the limit is %d", store.Redact(file), i, records.ErrTooLarge, size, r.o.Limit)
		}
		if err != nil {
			r.err = err
			break
		}
		for k, c := range r.columns {
			if c.Name == records.KeyField && c.Text {
				to.Key = string(r.row.Values[k].Data)
				continue
			}
			to.Fields = append(to.Fields, records.Field{Name: c.Name, Value: r.row.Values[k], Text: c.Text})
		}
		return nil
	}
	return r.err
}

func (r *recordReader) Close() error { return r.set.Close() }

// defaultShard is the size of MDSWriter's shards.
const defaultShard = 1 << 26

// createRecords writes the shards and the index of a folder that exists. name
// is that of the index. The columns are the fields of the first record, sorted
// by name. Keys are stored as MindRecord's are.
func createRecords(ctx context.Context, o store.Opener, name string, options records.WriteOptions) (records.Writer, error) {
	if err := records.CheckName(formatName, name); err != nil {
		return nil, err
	}
	if store.Base(name) != Index {
		return nil, fmt.Errorf("mds: %s: %w: want a name that ends with %s, in the folder of the shards", store.Redact(name), records.ErrOption, Index)
	}
	if options.Index || options.Count < 0 || options.Size < 0 || options.Size >= maxShard {
		return nil, fmt.Errorf("mds: %s: %w: index %t, %d records and %d bytes a shard, want no other index and less than %d bytes", store.Redact(name), records.ErrOption, options.Index, options.Count, options.Size, int64(maxShard))
	}
	limit := options.Size
	if limit == 0 {
		limit = defaultShard
	}
	return &recordWriter{ctx: ctx, store: o, name: name, limit: limit, count: options.Count, keys: options.Keys}, nil
}

type recordWriter struct {
	ctx    context.Context
	store  store.Opener
	name   string
	limit  int64
	count  int
	keys   bool
	fields []records.Field // of the first record, without the values' data
	config []byte          // which each shard has
	shards []json.RawMessage
	data   []byte  // of the samples of the shard
	ends   []int64 // of each of them
	number int64   // of records
	closed bool
	err    error
}

// encodingOf returns the encoding of a field, and the size of its values, 0 if
// it varies.
func encodingOf(f *records.Field) (string, int64, error) {
	d := f.Value.Desc
	switch {
	case f.Text:
		return "str", 0, nil
	case d.DType == tensor.Bytes:
		switch f.Name {
		case "jpg", "jpeg":
			return "jpeg", 0, nil
		case "png":
			return "png", 0, nil
		}
		return "bytes", 0, nil
	case d.DType == tensor.Bool || d.DType == tensor.BFloat16:
		return "", 0, fmt.Errorf("%v, which the format does not have", d.DType)
	case d.Shape.Rank() > 0:
		return "ndarray:" + d.DType.String(), 0, nil
	}
	return d.DType.String(), int64(d.DType.Size()), nil
}

// begin takes the columns of the first record.
func (w *recordWriter) begin(r *records.Record) error {
	keys := w.keys || r.Key != "0"
	var l []records.Field
	if keys {
		l = append(l, records.Field{Name: records.KeyField, Value: tensor.Tensor{Desc: tensor.Encoded()}, Text: true})
	}
	for _, f := range r.Fields {
		l = append(l, records.Field{Name: f.Name, Value: tensor.Tensor{Desc: f.Value.Desc}, Text: f.Text})
	}
	sorts.Func(l, func(a, b records.Field) int { return strings.Compare(a.Name, b.Name) })
	var x struct { // in the order of Python's sorted keys
		Encodings   []string `json:"column_encodings"`
		Names       []string `json:"column_names"`
		Sizes       []*int64 `json:"column_sizes"`
		Compression *string  `json:"compression"`
		Format      string   `json:"format"`
		Hashes      []string `json:"hashes"`
		Limit       int64    `json:"size_limit"`
		Version     int      `json:"version"`
	}
	x.Format, x.Hashes, x.Limit, x.Version = formatName, []string{}, w.limit, 2
	for i := range l {
		e, size, err := encodingOf(&l[i])
		switch {
		case err != nil:
			return r.FieldErrorf(formatName, l[i].Name, "%v", err)
		case l[i].Name == "" || !utf8.ValidString(l[i].Name) || i > 0 && l[i].Name == l[i-1].Name:
			return r.FieldErrorf(formatName, l[i].Name, "want distinct non-empty names of UTF-8 text")
		}
		x.Names, x.Encodings, x.Sizes = append(x.Names, l[i].Name), append(x.Encodings, e), append(x.Sizes, nil)
		if size > 0 {
			x.Sizes[i] = &size
		}
	}
	if len(l) == 0 {
		return r.FieldErrorf(formatName, "", "no fields, want one or more")
	}
	b, err := pythonJSON(x)
	if err != nil {
		return err
	}
	w.config, w.fields, w.keys = b, l, keys
	return nil
}

// pythonJSON writes JSON as Python's json.dumps does: with blanks, in ASCII.
func pythonJSON(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out []byte
	text := false
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case text && c == '\\' && bytes.HasPrefix(b[i:], []byte(`\u003`)) || text && bytes.HasPrefix(b[i:], []byte(`\u0026`)):
			n, err := strconv.ParseUint(string(b[i+2:i+6]), 16, 16) // <, > and &
			if err != nil {
				return nil, err
			}
			out = append(out, byte(n))
			i += 6
			continue
		case text && c == '\\':
			out = append(out, b[i], b[i+1])
			i += 2
			continue
		case c == '"':
			text = !text
		case text && c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(b[i:])
			if hi, lo := r>>10, r&0x3ff; r > 0xffff {
				out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd7c0+hi, 0xdc00+lo)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			i += n
			continue
		}
		out = append(out, c)
		if i++; !text && (c == ',' || c == ':') {
			out = append(out, ' ')
		}
	}
	return out, nil
}

func (w *recordWriter) Write(r *records.Record) error {
	if w.closed {
		return fmt.Errorf("mds: %s: the writer is closed", store.Redact(w.name))
	}
	if w.err != nil {
		return w.err
	}
	if w.fields == nil {
		if err := w.begin(r); err != nil {
			return err
		}
	}
	number := strconv.FormatInt(w.number, 10)
	if !w.keys && r.Key != number {
		return r.FieldErrorf(formatName, "", "its key is not its number, %s, as the first one's is: keys must be asked for (--keys)", number)
	}
	start := len(w.data)
	if err := w.sample(r); err != nil {
		if w.data = w.data[:start]; w.number == 0 {
			w.fields = nil // the next record is the first
		}
		return err
	}
	// A sample adds its offset, too.
	size := int64(len(w.data) + 4*(len(w.ends)+1) + 8 + len(w.config))
	if n := len(w.ends); n > 0 && (size > w.limit || n == w.count) {
		rest := slices.Clone(w.data[start:])
		w.data = w.data[:start]
		if w.err = w.flush(); w.err != nil {
			return w.err
		}
		w.data = append(w.data, rest...)
	} else if size >= maxShard {
		w.data = w.data[:start]
		return r.FieldErrorf(formatName, "", "a shard of %d bytes, want less than %d", size, int64(maxShard))
	}
	w.ends = append(w.ends, int64(len(w.data)))
	w.number++
	return nil
}

// sample appends a sample.
func (w *recordWriter) sample(r *records.Record) error {
	want := len(w.fields)
	if w.keys {
		want--
	}
	if len(r.Fields) != want {
		return r.FieldErrorf(formatName, "", "it has %d fields, want %d as the first one has", len(r.Fields), want)
	}
	values := make([]*tensor.Tensor, len(w.fields))
	for i := range w.fields {
		f := &w.fields[i]
		if f.Name == records.KeyField && w.keys {
			if !utf8.ValidString(r.Key) {
				return r.FieldErrorf(formatName, "", "the key is no UTF-8 text")
			}
			values[i] = tensor.FromBytes([]byte(r.Key))
			continue
		}
		v := r.Get(f.Name)
		switch {
		case v == nil || v.Text != f.Text || v.Value.DType != f.Value.DType || v.Value.Shape.Rank() != f.Value.Shape.Rank():
			return r.FieldErrorf(formatName, f.Name, "want %v, as the first record has", f.Value.Desc)
		case v.Text && !utf8.Valid(v.Value.Data):
			return r.FieldErrorf(formatName, f.Name, "text that is no UTF-8")
		case v.Value.DType != tensor.Bytes && v.Value.Len() == 0:
			return r.FieldErrorf(formatName, f.Name, "%v: the format has no empty arrays", v.Value.Desc)
		}
		if values[i] = &v.Value; !v.Value.Dense() {
			values[i] = v.Value.Clone()
		}
	}
	heads := make([][]byte, len(values)) // the shapes of arrays
	for i, v := range values {
		if v.Shape.Rank() > 0 {
			heads[i] = shapeOf(v.Shape)
		}
		if n := len(heads[i]) + len(v.Data); v.DType == tensor.Bytes || v.Shape.Rank() > 0 {
			if int64(n) > math.MaxUint32 {
				return r.FieldErrorf(formatName, w.fields[i].Name, "%d bytes, want at most %d", n, int64(math.MaxUint32))
			}
			w.data = binary.LittleEndian.AppendUint32(w.data, uint32(n))
		}
	}
	for i, v := range values {
		w.data = append(w.data, heads[i]...)
		w.data = appendLittle(w.data, v)
	}
	return nil
}

// shapeOf encodes a shape as NDArray does.
func shapeOf(s tensor.Shape) []byte {
	most := 0
	for i := range s.Rank() {
		most = max(most, s.At(i))
	}
	code := byte(2)
	switch {
	case most < 1<<8:
		code = 0
	case most < 1<<16:
		code = 1
	}
	b := []byte{byte(s.Rank())<<2 | code}
	for i := range s.Rank() {
		for k := range 1 << code {
			b = append(b, byte(s.At(i)>>(8*k)))
		}
	}
	return b
}

// appendLittle appends the elements of a dense tensor, little-endian.
func appendLittle(b []byte, v *tensor.Tensor) []byte {
	switch v.DType.Size() {
	case 2:
		for i := 0; i < len(v.Data); i += 2 {
			b = binary.LittleEndian.AppendUint16(b, binary.NativeEndian.Uint16(v.Data[i:]))
		}
	case 4:
		for i := 0; i < len(v.Data); i += 4 {
			b = binary.LittleEndian.AppendUint32(b, binary.NativeEndian.Uint32(v.Data[i:]))
		}
	case 8:
		for i := 0; i < len(v.Data); i += 8 {
			b = binary.LittleEndian.AppendUint64(b, binary.NativeEndian.Uint64(v.Data[i:]))
		}
	default:
		b = append(b, v.Data...)
	}
	return b
}

// flush writes the shard.
func (w *recordWriter) flush() error {
	base := fmt.Sprintf("shard.%05d.mds", len(w.shards))
	n := len(w.ends)
	head := binary.LittleEndian.AppendUint32(nil, uint32(n))
	begin := 4 + 4*(n+1) + len(w.config)
	head = binary.LittleEndian.AppendUint32(head, uint32(begin))
	for _, e := range w.ends {
		head = binary.LittleEndian.AppendUint32(head, uint32(int64(begin)+e))
	}
	head = append(head, w.config...)
	out, err := store.NewWriter(w.ctx, w.store, store.Join(store.Dir(w.name), base))
	if err != nil {
		return fmt.Errorf("mds: %w", err)
	}
	_, err = out.Write(head)
	if err == nil {
		_, err = out.Write(w.data)
	}
	if err != nil {
		return fmt.Errorf("mds: %w", errors.Join(err, out.Abort()))
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("mds: %w", err)
	}
	// The index repeats the shard's configuration between these members.
	at := bytes.Index(w.config, []byte(`"size_limit": `))
	files := fmt.Sprintf(`"raw_data": {"basename": "%s", "bytes": %d, "hashes": {}}, "samples": %d, `, base, len(head)+len(w.data), n)
	shard := slices.Concat(w.config[:at], []byte(files), w.config[at:len(w.config)-1], []byte(`, "zip_data": null}`))
	w.shards = append(w.shards, shard)
	w.data, w.ends = w.data[:0], w.ends[:0]
	return nil
}

// Close writes the last shard and the index. Without a record there are no
// columns, which is an error.
func (w *recordWriter) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.err == nil && w.fields == nil {
		w.err = fmt.Errorf("mds: %s: %w: no records, and so no fields", store.Redact(w.name), records.ErrField)
	}
	if w.err == nil && len(w.ends) > 0 {
		w.err = w.flush()
	}
	if w.err != nil {
		return w.err
	}
	b := []byte(`{"shards": [`)
	for i, s := range w.shards {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, s...)
	}
	b = append(b, `], "version": 2}`...)
	if w.err = store.WriteFile(w.ctx, w.store, w.name, b); w.err != nil {
		w.err = fmt.Errorf("mds: %w", w.err)
	}
	return w.err
}

// Abort discards the current shard. Finished shards remain, without an index.
func (w *recordWriter) Abort() error {
	w.closed = true
	return nil
}
