package parquet

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

func init() {
	records.Register(records.Format{
		Name: formatName, Doc: "Parquet files, as pyarrow, datasets and Spark write them",
		Match: func(name string, head []byte) bool {
			return strings.HasPrefix(string(head), "PAR1") || head == nil && strings.HasSuffix(name, ".parquet")
		},
		Open: openRecords, Create: createRecords,
	})
}

// openRecords opens files with equal columns. The key of a record is its key
// column, else the row's number. A record has no field where its row has no
// value.
func openRecords(ctx context.Context, o store.Opener, names []string, options records.ReadOptions) (records.Reader, error) {
	if err := records.CheckFiles(formatName, names); err != nil {
		return nil, err
	}
	s, err := openSet(ctx, o, names, nil)
	if err != nil {
		return nil, err
	}
	return &recordReader{ctx: ctx, set: s, o: options, values: make([]dataset.Value, len(s.Wanted))}, nil
}

type recordReader struct {
	ctx    context.Context
	set    *set
	o      records.ReadOptions
	values []dataset.Value
	next   int64
	err    error
}

func (r *recordReader) Next(to *records.Record) error {
	if r.err == nil {
		if r.err = r.ctx.Err(); r.err == nil {
			r.err = r.read(to)
		}
	}
	return r.err
}

func (r *recordReader) read(to *records.Record) error {
	if r.next == r.set.Len() {
		return io.EOF
	}
	f, row := r.set.Place(r.next)
	to.Reset(strconv.FormatInt(r.next, 10), f.name, -1)
	r.next++
	size := int64(0)
	for k, i := range r.set.Wanted {
		c, v := &r.set.All[i], &r.values[k]
		null, err := r.set.value(f, row, k, v)
		if err != nil {
			return err
		}
		if null {
			continue
		}
		if size += int64(len(v.Data)); r.o.Limit > 0 && size > r.o.Limit {
			return fmt.Errorf("parquet: %s: row %d: %w: %d bytes, the limit is %d", store.Redact(f.name), row, records.ErrTooLarge, size, r.o.Limit)
		}
		if c.Name == records.KeyField && c.text {
			to.Key = string(v.Data)
			continue
		}
		to.Fields = append(to.Fields, records.Field{Name: c.Name, Value: v.Tensor, Text: c.text})
	}
	return nil
}

func (r *recordReader) Close() error { return r.set.Close() }

// groupSize is the bytes of values after which a group of rows is written. Its
// values are in memory until then.
const groupSize = 64 << 20

// createRecords writes a file whose columns are the fields of the first record.
// A later record without one of them has no value there. The keys are in a text
// column unless the first is the record's number; then all must be.
func createRecords(ctx context.Context, o store.Opener, name string, options records.WriteOptions) (records.Writer, error) {
	if err := options.CheckSingleFile(formatName, name, false); err != nil {
		return nil, err
	}
	out, err := store.NewWriter(ctx, o, name)
	if err != nil {
		return nil, err
	}
	return &recordWriter{name: name, out: out, keys: options.Keys}, nil
}

type recordWriter struct {
	name   string
	out    *store.Writer
	w      *parquet.GenericWriter[any] // nil before the first record
	fields []records.Field             // of the first record, without their values' data
	keys   bool
	row    parquet.Row
	rows   int64
	size   int // of the values in the group of rows
	closed bool
	err    error
}

func (w *recordWriter) Write(r *records.Record) error {
	if w.closed {
		return fmt.Errorf("parquet: %s: the writer is closed", store.Redact(w.name))
	}
	if w.err != nil {
		return w.err
	}
	number := strconv.FormatInt(w.rows, 10)
	first := w.w == nil
	keys := w.keys || first && r.Key != number
	if !keys && r.Key != number {
		return r.FieldErrorf(formatName, "", "its key is not its number, %s, as the first one's is: keys must be asked for (--keys)", number)
	}
	fields := w.fields
	if first {
		fields = nil
		if keys {
			fields = append(fields, records.Field{Name: records.KeyField, Value: tensor.Tensor{Desc: tensor.Encoded()}, Text: true})
		}
		for _, f := range r.Fields {
			fields = append(fields, records.Field{Name: f.Name, Value: tensor.Tensor{Desc: f.Value.Desc}, Text: f.Text})
		}
		if err := check(r, fields); err != nil {
			return err
		}
	}
	row, size, err := rowOf(w.row[:0], r, fields, keys)
	if err != nil {
		return err
	}
	if first {
		w.fields, w.keys = fields, keys
		w.w = parquet.NewGenericWriter[any](w.out, schemaOf(fields), &parquet.WriterConfig{CreatedBy: "infer-prep"})
	}
	w.row = row
	if _, err := w.w.WriteRows([]parquet.Row{row}); err != nil {
		w.err = fmt.Errorf("parquet: %s: %w", store.Redact(w.name), err)
		return w.err
	}
	w.rows++
	if w.size += size; w.size >= groupSize {
		w.size = 0
		if err := w.w.Flush(); err != nil {
			w.err = fmt.Errorf("parquet: %s: %w", store.Redact(w.name), err)
		}
	}
	return w.err
}

// check requires fields that columns can hold.
func check(r *records.Record, fields []records.Field) error {
	seen := map[string]bool{}
	for _, f := range fields {
		switch {
		case f.Name == "" || !utf8.ValidString(f.Name) || seen[f.Name]:
			return r.FieldErrorf(formatName, f.Name, "want distinct non-empty names of UTF-8 text")
		case f.Value.DType == tensor.BFloat16:
			return r.FieldErrorf(formatName, f.Name, "%v, which the format does not have", f.Value.DType)
		}
		seen[f.Name] = true
	}
	if len(fields) == 0 {
		return r.FieldErrorf(formatName, "", "no fields, want one or more")
	}
	return nil
}

// rowOf appends the values of a record to row.
func rowOf(row parquet.Row, r *records.Record, fields []records.Field, keys bool) (_ parquet.Row, size int, err error) {
	found := 0
	for k, want := range fields {
		if keys && k == 0 {
			if !utf8.ValidString(r.Key) {
				return nil, 0, r.FieldErrorf(formatName, "", "the key is no UTF-8 text")
			}
			row = append(row, parquet.ValueOf([]byte(r.Key)).Level(0, 1, 0))
			size += len(r.Key)
			continue
		}
		f := r.Get(want.Name)
		if f == nil {
			row = append(row, parquet.NullValue().Level(0, 0, k))
			continue
		}
		found++
		v := &f.Value
		switch {
		case v.DType != want.Value.DType || v.Shape.Rank() != want.Value.Shape.Rank() || f.Text != want.Text:
			return nil, 0, r.FieldErrorf(formatName, f.Name, "%v, want %v, as the first record has", v.Desc, want.Value.Desc)
		case f.Text && !utf8.Valid(v.Data):
			return nil, 0, r.FieldErrorf(formatName, f.Name, "text that is no UTF-8")
		case v.Len() == 0 && v.Shape.Rank() > 1 && v.DType != tensor.Bytes:
			return nil, 0, r.FieldErrorf(formatName, f.Name, "%v: nested lists without elements have no shape", v.Desc)
		}
		if !v.Dense() {
			v = v.Clone()
		}
		size += len(v.Data)
		row = appendValues(row, v, k)
	}
	if found != len(r.Fields) {
		for _, f := range r.Fields {
			known := false
			for k, want := range fields {
				known = known || want.Name == f.Name && !(keys && k == 0)
			}
			if !known {
				return nil, 0, r.FieldErrorf(formatName, f.Name, "the first record has no such field")
			}
		}
		return nil, 0, r.FieldErrorf(formatName, "", "a field stands twice")
	}
	return row, size, nil
}

// appendValues appends the values of a tensor to column k.
func appendValues(row parquet.Row, v *tensor.Tensor, k int) parquet.Row {
	rank := v.Shape.Rank()
	if rank == 0 {
		return append(row, valueAt(v, 0).Level(0, 1, k))
	}
	n := int(v.Len())
	if n == 0 {
		return append(row, parquet.NullValue().Level(0, 1, k)) // an empty list
	}
	for i := range n {
		// An element begins a list for each axis behind which it is the first.
		level, step := rank, 1
		for a := rank - 1; a >= 0; a-- {
			if step *= v.Shape.At(a); i%step != 0 {
				break
			}
			level = a
		}
		row = append(row, valueAt(v, i).Level(level, rank+1, k))
	}
	return row
}

// valueAt returns element i of a dense tensor.
func valueAt(v *tensor.Tensor, i int) parquet.Value {
	switch v.DType {
	case tensor.Bytes:
		return parquet.ByteArrayValue(v.Data)
	case tensor.Bool:
		return parquet.BooleanValue(v.Data[i] != 0)
	case tensor.Uint8:
		return parquet.Int32Value(int32(v.Data[i]))
	case tensor.Int8:
		return parquet.Int32Value(int32(int8(v.Data[i])))
	case tensor.Uint16:
		return parquet.Int32Value(int32(tensor.View[uint16](v)[i]))
	case tensor.Int16:
		return parquet.Int32Value(int32(tensor.View[int16](v)[i]))
	case tensor.Int32:
		return parquet.Int32Value(tensor.View[int32](v)[i])
	case tensor.Int64:
		return parquet.Int64Value(tensor.View[int64](v)[i])
	case tensor.Float16:
		return parquet.FixedLenByteArrayValue(v.Data[2*i : 2*i+2])
	case tensor.Float32:
		return parquet.FloatValue(tensor.View[float32](v)[i])
	}
	return parquet.DoubleValue(tensor.View[float64](v)[i])
}

// schemaOf returns a schema of optional columns.
func schemaOf(fields []records.Field) *parquet.Schema {
	root := group{Group: parquet.Group{}}
	for _, f := range fields {
		var n parquet.Node
		switch f.Value.DType {
		case tensor.Bytes:
			n = parquet.Leaf(parquet.ByteArrayType)
			if f.Text {
				n = parquet.String()
			}
		case tensor.Bool:
			n = parquet.Leaf(parquet.BooleanType)
		case tensor.Uint8:
			n = parquet.Uint(8)
		case tensor.Int8:
			n = parquet.Int(8)
		case tensor.Uint16:
			n = parquet.Uint(16)
		case tensor.Int16:
			n = parquet.Int(16)
		case tensor.Int32:
			n = parquet.Int(32)
		case tensor.Int64:
			n = parquet.Int(64)
		case tensor.Float16:
			n = parquet.Leaf(float16{parquet.FixedLenByteArrayType(2)})
		case tensor.Float32:
			n = parquet.Leaf(parquet.FloatType)
		default:
			n = parquet.Leaf(parquet.DoubleType)
		}
		// Images are compressed already, and are then read without a copy.
		if n = parquet.Encoded(n, &parquet.Plain); f.Text || f.Value.DType != tensor.Bytes {
			n = parquet.Compressed(n, &parquet.Snappy)
		}
		for range f.Value.Shape.Rank() {
			n = parquet.List(n)
		}
		root.add(f.Name, parquet.Optional(n))
	}
	return parquet.NewSchema("schema", root)
}

// group is a struct whose fields keep their order; parquet.Group sorts them.
type group struct {
	parquet.Group
	fields []parquet.Field
}

func (g *group) add(name string, n parquet.Node) {
	g.Group[name] = n
	g.fields = append(g.fields, field{n, name})
}

// Fields returns the fields.
func (g group) Fields() []parquet.Field { return g.fields }

// field is a field of a group.
type field struct {
	parquet.Node
	name string
}

// Name returns the name.
func (f field) Name() string { return f.name }

// Value returns the field's value in a map, as fields of parquet.Group do.
func (f field) Value(base reflect.Value) reflect.Value {
	return base.MapIndex(reflect.ValueOf(f.name))
}

// float16 is the type of half-precision numbers.
type float16 struct{ parquet.Type }

// LogicalType returns the type.
func (float16) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// Close makes the file appear under its name. Without a record there are no
// columns, which is an error.
func (w *recordWriter) Close() error {
	if w.closed {
		return nil
	}
	if w.err == nil && w.w == nil {
		w.err = fmt.Errorf("parquet: %s: %w: no records, and so no fields", store.Redact(w.name), records.ErrField)
	}
	if w.err == nil {
		if err := w.w.Close(); err != nil {
			w.err = fmt.Errorf("parquet: %s: %w", store.Redact(w.name), err)
		}
	}
	if w.err != nil {
		_ = w.Abort()
		return w.err
	}
	w.closed = true
	return w.out.Close()
}

// Abort discards the file.
func (w *recordWriter) Abort() error {
	if w.closed {
		return nil
	}
	w.closed = true
	return w.out.Abort()
}
