package arrow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/columnar/internal/table"
	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

const formatName = "arrow"

const (
	maxMeta = 64 << 20 // bytes of a message without its body
	maxBody = 1 << 34  // bytes of a batch in a mapped file
	maxRead = 1 << 30  // bytes of a batch that is read into memory
)

// set reads files as one sequence of rows. It is safe for concurrent use.
type set struct {
	table.Set[*file, column]
	cache table.Cache[*batch, []arrow.Array]
}

// file is an open file.
type file struct {
	store.File
	name    string
	mapped  []byte
	schema  []byte // its message
	fields  *arrow.Schema
	starts  []int64 // first row of each batch, and the end
	batches []*batch
}

// batch is the place of a batch of rows.
type batch struct{ at, meta, body int64 }

// openSet opens files that have equal columns, and chooses columns by name. No
// names choose all. ctx bounds openSet alone.
func openSet(ctx context.Context, o store.Opener, names, columns []string) (_ *set, err error) {
	s := &set{Set: table.Set[*file, column]{Format: formatName, Images: table.NewImages(o)}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.add(ctx, o, name); err != nil {
			return nil, err
		}
	}
	if err := s.Choose(columns); err != nil {
		return nil, err
	}
	return s, nil
}

// add opens a file.
func (s *set) add(ctx context.Context, o store.Opener, name string) error {
	in, err := o.Open(ctx, name)
	if err != nil {
		return err
	}
	f := &file{File: in, name: name, mapped: store.MappedBytes(in), starts: []int64{0}}
	s.Files = append(s.Files, f)
	if err := f.open(); err != nil {
		return err
	}
	columns, err := columnsOf(f.fields)
	if err != nil {
		return f.corrupt(-1, "%v", err)
	}
	return s.Append(columns, f.starts[len(f.starts)-1])
}

// Name returns the file's name.
func (f *file) Name() string { return f.name }

// corrupt returns a CorruptionError.
func (f *file) corrupt(at int64, format string, args ...any) error {
	return records.Corruptf(formatName, f.name, at, format, args...)
}

// guard turns a panic of the library, which damaged files can cause, into an
// error.
func (f *file) guard(at int64, err *error) {
	if p := recover(); p != nil {
		*err = f.corrupt(at, "%v", p)
	}
}

// readAt reads bytes of the file, or returns a view of its mapping.
func (f *file) readAt(at, n int64) ([]byte, error) {
	if n < 0 || at > f.Size()-n {
		return nil, f.corrupt(at, "it has %d bytes, want %d more", f.Size(), n)
	}
	if f.mapped != nil {
		return f.mapped[at : at+n : at+n], nil
	}
	b := tensor.Alloc(int(n)) // aligned, for numbers
	if k, err := f.ReadAt(b, at); k < len(b) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("arrow: %s: at byte %d: %w", store.Redact(f.name), at, err)
	}
	return b, nil
}

// The types of messages.
const (
	schemaMessage = 1
	batchMessage  = 3
)

// open finds the batches.
func (f *file) open() (err error) {
	at := int64(0)
	defer func() {
		if p := recover(); p != nil {
			err = f.corrupt(at, "%v", p)
		}
	}()
	for first := true; ; first = false {
		if at == f.Size() && !first {
			return nil // without the mark of the end
		}
		head, err := f.readAt(at, 8)
		if err != nil {
			return err
		}
		n := int64(int32(binary.LittleEndian.Uint32(head[4:])))
		if binary.LittleEndian.Uint32(head) != math.MaxUint32 {
			if string(head[:6]) == "ARROW1" {
				return fmt.Errorf("arrow: %s: %w: a file of Arrow's format with random access, want a stream", store.Redact(f.name), records.ErrUnsupported)
			}
			return f.corrupt(at, "it is no Arrow stream")
		}
		if n == 0 && !first {
			return nil
		}
		if n < 8 || n > maxMeta {
			return f.corrupt(at, "a message of %d bytes, want at most %d", n, maxMeta)
		}
		meta, err := f.readAt(at+8, n)
		if err != nil {
			return err
		}
		m := flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}
		kind, body := m.GetByteSlot(6, 0), m.GetInt64Slot(10, 0)
		begin := at + 8 + n
		if body < 0 || body > maxBody || begin > f.Size()-body {
			return f.corrupt(at, "a batch of %d bytes at byte %d of %d", body, begin, f.Size())
		}
		switch {
		case first && kind == schemaMessage:
			if err := checkSchema(&m, len(meta)); err != nil {
				return f.corrupt(at, "%v", err)
			}
			f.schema = slices.Clone(meta)
			r, err := f.reader(nil)
			if err != nil {
				return f.corrupt(at, "%v", err)
			}
			f.fields = r.Schema()
			r.Release()
		case !first && kind == batchMessage:
			o := flatbuffers.UOffsetT(m.Offset(8))
			if o == 0 {
				return f.corrupt(at, "a batch without a head")
			}
			var t flatbuffers.Table
			m.Union(&t, o)
			if t.Offset(10) != 0 {
				return fmt.Errorf("arrow: %s: at byte %d: %w: a compressed batch", store.Redact(f.name), at, records.ErrUnsupported)
			}
			rows := t.GetInt64Slot(4, 0)
			if rows < 0 || rows > maxBody {
				return f.corrupt(at, "a batch of %d rows", rows)
			}
			if rows > 0 {
				f.batches = append(f.batches, &batch{at, n, body})
				f.starts = append(f.starts, f.starts[len(f.starts)-1]+rows)
			}
		default:
			return fmt.Errorf("arrow: %s: at byte %d: %w: a message of type %d, such as a dictionary", store.Redact(f.name), at, records.ErrUnsupported, kind)
		}
		at = begin + body
	}
}

// unionType is the type of a field with values of several types.
const unionType = 14

// maxFields bounds the fields of a schema, nested ones included.
const maxFields = 1 << 16

// checkSchema checks the lengths of the vectors of a message's schema: the
// library allocates what they claim.
func checkSchema(m *flatbuffers.Table, size int) error {
	fields := 0
	var vectors func(t *flatbuffers.Table, depth int, children flatbuffers.VOffsetT, others ...flatbuffers.VOffsetT) error
	vectors = func(t *flatbuffers.Table, depth int, children flatbuffers.VOffsetT, others ...flatbuffers.VOffsetT) error {
		for _, slot := range append(others, children) {
			o := flatbuffers.UOffsetT(t.Offset(slot))
			if o == 0 {
				continue
			}
			n := t.VectorLen(o)
			if n < 0 || n > size/4 {
				return fmt.Errorf("a schema with %d elements in %d bytes", n, size)
			}
			if slot != children {
				continue
			}
			// Fields may share their children, so that few bytes are many.
			if fields += n; fields > maxFields || depth > 64 {
				return fmt.Errorf("%d fields, %d deep, want at most %d and 64", fields, depth, maxFields)
			}
			for i := range n {
				child := flatbuffers.Table{Bytes: t.Bytes, Pos: t.Indirect(t.Vector(o) + flatbuffers.UOffsetT(4*i))}
				if child.GetByteSlot(8, 0) == unionType {
					return errors.New("a column of a union, which has a vector of its own")
				}
				if err := vectors(&child, depth+1, 14, 16); err != nil { // its children and metadata
					return err
				}
			}
		}
		return nil
	}
	o := flatbuffers.UOffsetT(m.Offset(8))
	if o == 0 {
		return errors.New("a message without a schema")
	}
	var t flatbuffers.Table
	m.Union(&t, o)
	return vectors(&t, 0, 6, 8, 10) // its fields, metadata and features
}

// messages hands messages to the library.
type messages struct{ l []*ipc.Message }

func (m *messages) Message() (*ipc.Message, error) {
	if len(m.l) == 0 {
		return nil, io.EOF
	}
	x := m.l[0]
	m.l = m.l[1:]
	return x, nil
}

func (m *messages) Retain()  {}
func (m *messages) Release() {}

// reader returns a reader of the schema and, if b is not nil, of a batch.
func (f *file) reader(b *batch) (*ipc.Reader, error) {
	m := &messages{[]*ipc.Message{ipc.NewMessage(memory.NewBufferBytes(f.schema), memory.NewBufferBytes(nil))}}
	if b != nil {
		if f.mapped == nil && b.body > maxRead {
			return nil, fmt.Errorf("arrow: %s: at byte %d: %w: a batch of %d bytes, want at most %d", store.Redact(f.name), b.at, records.ErrTooLarge, b.body, maxRead)
		}
		meta, err := f.readAt(b.at+8, b.meta)
		if err != nil {
			return nil, err
		}
		body, err := f.readAt(b.at+8+b.meta, b.body)
		if err != nil {
			return nil, err
		}
		m.l = append(m.l, ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)))
	}
	return ipc.NewReaderFromMessageReader(m)
}

// load decodes a batch. Its arrays are views of the mapping, or of what was
// read.
func (f *file) load(b *batch, rows int64) (l []arrow.Array, cost int64, err error) {
	defer f.guard(b.at, &err)
	r, err := f.reader(b)
	if err != nil {
		return nil, 0, err
	}
	if !r.Next() {
		return nil, 0, f.corrupt(b.at, "%v", r.Err())
	}
	cost = b.meta
	if f.mapped == nil {
		cost += b.body
	}
	for _, a := range r.RecordBatch().Columns() {
		if int64(a.Len()) != rows {
			return nil, 0, f.corrupt(b.at, "a column of %d rows, want %d", a.Len(), rows)
		}
		a.Retain() // for good: the memory is Go's
		l = append(l, a)
	}
	return l, cost, nil
}

// read reads a row of a file.
func (s *set) read(ctx context.Context, f *file, row int64, to *dataset.Sample) error {
	return s.columns(f, row, func(k int, c *column, value func(c *column, v *dataset.Value) error) error {
		err := value(c, &to.Values[k])
		if !errors.Is(err, errNull) || c.path == 0 {
			return err
		}
		var path dataset.Value
		if err := value(&s.All[s.Wanted[k]+c.path], &path); err != nil {
			return err
		}
		return s.Images.Read(ctx, f.name, path.Data, &to.Values[k])
	})
}

// stamp appends what the images of a row depend on.
func (s *set) stamp(ctx context.Context, f *file, row int64, b []byte) ([]byte, error) {
	err := s.columns(f, row, func(k int, c *column, value func(c *column, v *dataset.Value) error) error {
		if c.path == 0 {
			return nil
		}
		var v dataset.Value
		err := value(c, &v)
		if errors.Is(err, errNull) {
			if err = value(&s.All[s.Wanted[k]+c.path], &v); err == nil {
				b, err = s.Images.Stamp(ctx, f.name, v.Data, b)
			}
		}
		return err
	})
	return b, err
}

// columns calls do for each wanted column of a row. do reads columns with
// value.
func (s *set) columns(f *file, row int64, do func(k int, c *column, value func(c *column, v *dataset.Value) error) error) (err error) {
	i := sort.Search(len(f.batches)-1, func(i int) bool { return f.starts[i+1] > row })
	b := f.batches[i]
	defer f.guard(b.at, &err)
	l, err := s.cache.Get(b, func() ([]arrow.Array, int64, error) { return f.load(b, f.starts[i+1]-f.starts[i]) })
	if err != nil {
		return err
	}
	value := func(c *column, v *dataset.Value) error {
		err := c.read(l[c.top], row-f.starts[i], v)
		if errors.Is(err, errNull) {
			return fmt.Errorf("arrow: %s: row %d: column %q: %w", store.Redact(f.name), row, c.Name, err)
		}
		if err != nil {
			return f.corrupt(b.at, "row %d: column %q: %v", row, c.Name, err)
		}
		return nil
	}
	for k, w := range s.Wanted {
		if err := do(k, &s.All[w], value); err != nil {
			return err
		}
	}
	return nil
}

// column is a leaf of a schema.
type column struct {
	dataset.Column
	top   int   // the column of the table
	steps []int // fields of structs from there, and inList for the elements of a list
	wire  arrow.Type
	bad   string // why it cannot be read
	path  int    // how many columns further an image's path is; 0 for none
}

const inList = -1

// About describes the column.
func (c column) About() (dataset.Column, string) { return c.Column, c.bad }

// Same reports whether rows of both files have equal columns.
func (c column) Same(o column) bool {
	return c.Name == o.Name && c.Desc == o.Desc && c.wire == o.wire && c.top == o.top && c.bad == o.bad && slices.Equal(c.steps, o.steps)
}

// types are the types of numbers that are read.
var types = map[arrow.Type]tensor.DType{
	arrow.BOOL: tensor.Bool, arrow.INT8: tensor.Int8, arrow.INT16: tensor.Int16, arrow.INT32: tensor.Int32,
	arrow.INT64: tensor.Int64, arrow.UINT8: tensor.Uint8, arrow.UINT16: tensor.Uint16, arrow.UINT32: tensor.Int64,
	arrow.UINT64: tensor.Int64, arrow.FLOAT16: tensor.Float16, arrow.FLOAT32: tensor.Float32,
	arrow.FLOAT64: tensor.Float64, arrow.DATE32: tensor.Int32, arrow.DATE64: tensor.Int64,
	arrow.TIME32: tensor.Int32, arrow.TIME64: tensor.Int64, arrow.TIMESTAMP: tensor.Int64, arrow.DURATION: tensor.Int64,
}

// columnsOf returns the leaves of a schema, with the names that package parquet
// gives them.
func columnsOf(schema *arrow.Schema) ([]column, error) {
	if !schema.IsNativeEndian() {
		return nil, errors.New("its numbers have the other order of bytes")
	}
	var l []column
	var walk func(t arrow.DataType, c column)
	walk = func(t arrow.DataType, c column) {
		if x, ok := t.(arrow.ExtensionType); ok {
			t = x.StorageType()
		}
		down := func(t arrow.DataType, name string, step int) {
			c := c
			c.Name, c.steps = name, append(slices.Clone(c.steps), step)
			walk(t, c)
		}
		switch x := t.(type) {
		case *arrow.StructType:
			_, bytes := x.FieldByName("bytes")
			_, path := x.FieldByName("path")
			at := len(l)
			for i, f := range x.Fields() {
				if name := c.Name + "." + f.Name; bytes && path && x.NumFields() == 2 && f.Name == "bytes" {
					down(f.Type, c.Name, i)
				} else {
					down(f.Type, name, i)
				}
			}
			if bytes && path && len(l) == at+2 && c.Desc.Shape.Rank() == 0 && l[at].Desc.DType == tensor.Bytes && l[at+1].Desc.DType == tensor.Bytes {
				i := at
				if l[at].Name != c.Name {
					i++
				}
				l[i].path = 2*at + 1 - 2*i
			}
			return
		case *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType:
			if c.Desc.Shape.Rank() == tensor.MaxRank {
				c.bad = fmt.Sprintf("more than %d nested lists", tensor.MaxRank)
				break
			}
			size := tensor.Unknown
			if f, ok := x.(*arrow.FixedSizeListType); ok {
				size = int(f.Len())
			}
			c.Desc.Shape = c.Desc.Shape.Append(size)
			down(x.(arrow.ListLikeType).Elem(), c.Name, inList)
			return
		}
		c.wire = t.ID()
		switch d, number := types[c.wire]; {
		case c.bad != "":
		case number:
			c.Desc.DType = d
		case c.wire == arrow.STRING || c.wire == arrow.BINARY || c.wire == arrow.LARGE_STRING || c.wire == arrow.LARGE_BINARY || c.wire == arrow.FIXED_SIZE_BINARY:
			if c.Desc.DType = tensor.Bytes; c.Desc.Shape.Rank() > 0 {
				c.bad = "a list of strings or of bytes"
			}
		default:
			c.bad = fmt.Sprintf("of type %v", t)
		}
		l = append(l, c)
	}
	seen := map[string]bool{}
	for i, f := range schema.Fields() {
		walk(f.Type, column{Column: dataset.Column{Name: f.Name}, top: i})
	}
	for _, c := range l {
		if c.Name == "" || seen[c.Name] {
			return nil, fmt.Errorf("two columns have the name %q", c.Name)
		}
		seen[c.Name] = true
	}
	return l, nil
}

var errNull = errors.New("it has no value")

// read makes v the value of a row. A row is a range of the elements of nested
// lists, which lie side by side.
func (c *column) read(a arrow.Array, row int64, v *dataset.Value) error {
	from, to := row, row+1
	d := tensor.Desc{DType: c.Desc.DType}
	for _, step := range c.steps {
		if err := check(a, from, to); err != nil {
			return err
		}
		if step != inList {
			a = a.(*array.Struct).Field(step)
			continue
		}
		x := a.(array.ListLike)
		size := int64(0)
		begin, end := int64(0), int64(0)
		for i := from; i < to; i++ {
			b, e := x.ValueOffsets(int(i))
			if i == from {
				begin, end, size = b, b, e-b
			}
			if b != end || e < b {
				return fmt.Errorf("a list from element %d to %d, want it from %d on", b, e, end)
			}
			if e-b != size {
				return fmt.Errorf("lists of %d and %d elements, want equal lengths in a row", size, e-b)
			}
			end = e
		}
		d.Shape = d.Shape.Append(int(size))
		a, from, to = x.ListValues(), begin, end
	}
	if err := check(a, from, to); err != nil {
		return err
	}
	if d.DType == tensor.Bytes {
		b, err := bytesOf(a, int(from))
		if err == nil {
			v.ShareBytes(b)
		}
		return err
	}
	if from == to {
		return v.Reset(d)
	}
	bits := int64(a.DataType().(arrow.FixedWidthDataType).BitWidth())
	if have := int64(a.Data().Buffers()[1].Len()) * 8 / bits; to+int64(a.Data().Offset()) > have {
		return fmt.Errorf("elements %d to %d of %d", from, to, have)
	}
	if err := v.Reset(d); err != nil {
		return err
	}
	return numbers(a, c.wire, from, to, bits/8, v.Data)
}

// maxElements bounds the elements of a row.
const maxElements = 1 << 28

// check returns an error if an element has no value, or does not exist.
func check(a arrow.Array, from, to int64) error {
	if from < 0 || to < from || to > int64(a.Len()) || to-from > maxElements {
		return fmt.Errorf("elements %d to %d of %d, want at most %d", from, to, a.Len(), maxElements)
	}
	if a.NullN() == 0 {
		return nil
	}
	for i := from; i < to; i++ {
		if a.IsNull(int(i)) {
			return errNull
		}
	}
	return nil
}

// bytesOf returns the bytes of an element, without a copy.
func bytesOf(a arrow.Array, i int) ([]byte, error) {
	switch x := a.(type) {
	case *array.Binary:
		return x.Value(i), nil
	case *array.LargeBinary:
		return x.Value(i), nil
	case *array.FixedSizeBinary:
		return x.Value(i), nil
	case *array.String:
		b := x.ValueBytes()[x.ValueOffset(i)-x.ValueOffset(0):]
		n := len(x.Value(i))
		return b[:n:n], nil
	case *array.LargeString:
		b := x.ValueBytes()[x.ValueOffset(i)-x.ValueOffset(0):]
		n := len(x.Value(i))
		return b[:n:n], nil
	}
	return nil, fmt.Errorf("an array of %v", a.DataType())
}

// numbers copies numbers of some bytes to dst.
func numbers(a arrow.Array, wire arrow.Type, from, to, size int64, dst []byte) error {
	if x, ok := a.(*array.Boolean); ok {
		for i := from; i < to; i++ {
			if dst[i-from] = 0; x.Value(int(i)) {
				dst[i-from] = 1
			}
		}
		return nil
	}
	data := a.Data()
	from, to = from+int64(data.Offset()), to+int64(data.Offset())
	src := data.Buffers()[1].Bytes()[from*size : to*size]
	switch wire {
	case arrow.UINT32:
		for i := 0; i < len(src); i += 4 {
			binary.NativeEndian.PutUint64(dst[2*i:], uint64(binary.NativeEndian.Uint32(src[i:])))
		}
	case arrow.UINT64:
		for i := 0; i < len(src); i += 8 {
			if x := binary.NativeEndian.Uint64(src[i:]); x > math.MaxInt64 {
				return fmt.Errorf("%d, want at most %d", x, int64(math.MaxInt64))
			}
		}
		fallthrough
	default:
		copy(dst, src)
	}
	return nil
}
