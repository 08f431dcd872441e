package mindrecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// formatName is the name of the format on the command line.
const formatName = "mindrecord"

func init() {
	records.Register(records.Format{
		Name: formatName,
		Doc:  "MindSpore's MindRecord: typed fields in pages, and an index that is a SQLite database",
		Match: func(name string, head []byte) bool {
			return isData(head) || head == nil && strings.HasSuffix(name, ".mindrecord")
		},
		Open: openRecords, Create: createRecords,
	})
}

// isData recognises a data file by the beginning of its header.
func isData(head []byte) bool {
	const begin, n = `{"header_size":`, 8
	return len(head) >= n+len(begin) && head[7] == 0 && string(head[n:n+len(begin)]) == begin
}

// local returns an error unless the data files and their indexes are local
// files that the store lets this package open. It wraps errors.ErrUnsupported
// for files that are not local.
func local(o store.Opener, write bool, names ...string) error {
	l, own := o.(records.LocalOpener)
	for _, name := range names {
		for _, n := range []string{name, indexName(name)} {
			if own {
				if err := l.CheckAccess(n, write); err != nil {
					return fmt.Errorf("mindrecord: %w", err)
				}
			} else if !store.IsLocal(o, n) {
				return fmt.Errorf("mindrecord: %s: want a file of this machine: %w: a file behind %T", store.Redact(n), errors.ErrUnsupported, o)
			}
		}
	}
	return nil
}

// inStore reports whether a file is not of this machine.
func inStore(o store.Opener, name string) bool {
	_, own := o.(records.LocalOpener)
	return !store.IsLocal(o, name) && (!own || strings.Contains(name, "://"))
}

// openRecords opens a set by one of its files, or by all of them. The key of a
// record is its key field, else the row's number.
func openRecords(ctx context.Context, o store.Opener, files []string, options records.ReadOptions) (records.Reader, error) {
	if slices.ContainsFunc(files, func(name string) bool { return inStore(o, name) }) {
		s, err := OpenStore(ctx, o, files)
		if err != nil {
			return nil, err
		}
		return &recordReader{set: s, o: options, fields: s.Columns()}, nil
	}
	s, err := Open(files)
	if err != nil {
		return nil, err
	}
	if err := local(o, false, s.Files()...); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &recordReader{set: s, o: options, fields: s.Columns()}, nil
}

type recordReader struct {
	set    *Set
	o      records.ReadOptions
	fields []Field
	next   int64
	row    Row
	err    error
}

// Next reads the next row. A lenient reader skips damaged rows.
func (r *recordReader) Next(to *records.Record) error {
	for r.err == nil {
		i := r.next
		if i == r.set.Len() {
			r.err = io.EOF
			break
		}
		r.next++
		err := r.set.Read(i, &r.row)
		if r.o.Lenient && errors.Is(err, records.ErrCorrupt) {
			if r.o.OnSkip != nil {
				r.o.OnSkip(err)
			}
			continue
		}
		file, _, offset := r.set.Place(i)
		size := int64(0)
		for k := range r.row.Values {
			size += int64(len(r.row.Values[k].Data))
		}
		if err == nil && r.o.Limit > 0 && size > r.o.Limit {
			err = fmt.Errorf("mindrecord: %s: at byte %d: %w: %d bytes, the limit is %d", store.Redact(file), offset, records.ErrTooLarge, size, r.o.Limit)
		}
		if err != nil {
			r.err = err
			break
		}
		to.Key, to.File, to.Offset = strconv.FormatInt(i, 10), file, offset
		to.Fields = to.Fields[:0]
		for k, f := range r.fields {
			if f.Name == records.KeyField && f.Text {
				to.Key = string(r.row.Values[k].Data)
				continue
			}
			to.Fields = append(to.Fields, records.Field{Name: f.Name, Value: r.row.Values[k], Text: f.Text})
		}
		return nil
	}
	return r.err
}

func (r *recordReader) Close() error { return r.set.Close() }

// createRecords writes a set with the schema of the first record: text, bytes,
// or numbers whose first axis may vary. It stores the keys in a text field
// unless the first key is the record's number; then all must be.
func createRecords(ctx context.Context, o store.Opener, name string, options records.WriteOptions) (records.Writer, error) {
	if err := records.CheckName(formatName, name); err != nil {
		return nil, err
	}
	err := local(o, true, name, name+"0")
	remote := errors.Is(err, errors.ErrUnsupported)
	if err != nil && !remote {
		return nil, err
	}
	if options.Count < 0 || options.Size != 0 {
		return nil, fmt.Errorf("mindrecord: at most %d records and %d bytes in a file, want a number of records alone", options.Count, options.Size)
	}
	w := &recordWriter{name: name, o: WriterOptions{Rows: int64(options.Count)}, keys: options.Keys}
	w.create = func(s Schema) (*Writer, error) { return Create(name, s, w.o) }
	if remote {
		u := &upload{ctx: ctx, store: o, name: name}
		if err := u.check(options.Count > 0); err != nil {
			return nil, err
		}
		w.create = func(s Schema) (*Writer, error) { return u.begin(s, w.o) }
	}
	return w, nil
}

type recordWriter struct {
	name   string
	o      WriterOptions
	create func(Schema) (*Writer, error)
	w      *Writer // nil before the first record
	fields []Field
	values []tensor.Tensor
	keys   bool // stored in a field
	rows   int64
	closed bool
}

func (w *recordWriter) Write(r *records.Record) error {
	if w.closed {
		return errClosed
	}
	number := strconv.FormatInt(w.rows, 10)
	if w.w == nil {
		w.keys = w.keys || r.Key != number
		schema, err := schemaOf(r, w.keys)
		if err != nil {
			return r.FieldErrorf(formatName, "", "%v", err)
		}
		if w.w, err = w.create(schema); err != nil {
			return err
		}
		w.fields = w.w.schema.Fields
	}
	fields := len(w.fields)
	if w.keys {
		fields--
	} else if r.Key != number {
		return r.FieldErrorf(formatName, "", "its key is not its number, %s, as the first one's is: keys must be asked for (--keys)", number)
	}
	if len(r.Fields) != fields {
		return r.FieldErrorf(formatName, "", "it has %d fields, want %q as in the first one", len(r.Fields), names(w.fields))
	}
	w.values = w.values[:0]
	for _, f := range w.fields {
		if f.Name == records.KeyField && w.keys {
			w.values = append(w.values, *tensor.FromBytes([]byte(r.Key)))
			continue
		}
		v := r.Get(f.Name)
		if v == nil || v.Text != f.Text {
			return r.FieldErrorf(formatName, f.Name, "want %s, as the first one has", f.kind())
		}
		w.values = append(w.values, v.Value)
	}
	err := w.w.Write(w.values)
	if errors.Is(err, ErrField) {
		return r.FieldErrorf(formatName, "", "%v", err)
	}
	if err == nil {
		w.rows++
	}
	return err
}

// schemaOf returns the schema of files whose first record is r.
func schemaOf(r *records.Record, keys bool) (s Schema, err error) {
	if keys {
		s.Fields = append(s.Fields, Field{Name: records.KeyField, Desc: tensor.Encoded(), Text: true})
	}
	for _, f := range r.Fields {
		d := tensor.Desc{DType: f.Value.DType, Shape: f.Value.Shape}
		if d.Shape.Rank() > 0 {
			d.Shape = d.Shape.With(0, tensor.Unknown)
		}
		s.Fields = append(s.Fields, Field{Name: f.Name, Desc: d, Text: f.Text})
	}
	return s, s.Validate()
}

// Close makes the files appear under their names. Without a record there is no
// schema, which is an error.
func (w *recordWriter) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.w == nil {
		return fmt.Errorf("mindrecord: %s: %w: no records, and so no fields", store.Redact(w.name), ErrField)
	}
	return w.w.Close()
}

func (w *recordWriter) Abort() error {
	if w.closed || w.w == nil {
		w.closed = true
		return nil
	}
	w.closed = true
	return w.w.Abort()
}
