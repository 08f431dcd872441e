package mindrecord

import (
	"fmt"
	"os"
	"strings"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// writeIndex writes the index of a data file, from that file alone, into an
// empty file. Its schema and its rows have the bytes that SQLite writes for
// MindSpore; the pages hold more rows than SQLite's.
func (d *data) writeIndex(f *os.File) error {
	if err := d.walk(); err != nil {
		return err
	}
	if err := d.writeTables(f); err != nil {
		return fmt.Errorf("mindrecord: %s: %w", store.Redact(f.Name()), err)
	}
	return nil
}

// tableSQL returns the statement that creates the table INDEXES, with
// MindSpore's spaces.
func (s *Schema) tableSQL() string {
	var b strings.Builder
	b.WriteString(`CREATE TABLE INDEXES(  ROW_ID               INT  NOT NULL, PAGE_ID_RAW          INT  NOT NULL, PAGE_OFFSET_RAW      INT  NOT NULL, ` +
		`PAGE_OFFSET_RAW_END  INT  NOT NULL, ROW_GROUP_ID         INT  NOT NULL, PAGE_ID_BLOB         INT  NOT NULL, PAGE_OFFSET_BLOB     INT  NOT NULL, PAGE_OFFSET_BLOB_END INT  NOT NULL`)
	for i, field := range s.Index {
		kind := "INTEGER"
		switch f := s.Fields[s.find(field)]; {
		case f.Text:
			kind = "TEXT"
		case f.Desc.DType == tensor.Float32 || f.Desc.DType == tensor.Float64:
			kind = "REAL"
		}
		fmt.Fprintf(&b, ",INC_%d INT, %s_0 %s", i, field, kind)
	}
	b.WriteString(", PRIMARY KEY(ROW_ID")
	for i := range s.Index {
		fmt.Fprintf(&b, ",INC_%d", i)
	}
	b.WriteString("))")
	return b.String()
}

func (d *data) writeTables(f *os.File) error {
	w := newDatabaseWriter(f)
	indexes, keys, name := w.table(), w.index(), w.table()
	if err := d.addRows(indexes, keys); err != nil {
		return err
	}
	var r rowWriter
	r.reset()
	r.text(d.address())
	name.add(1, r.record())

	schema := w.schema()
	number := int64(0)
	entry := func(kind, name, table string, of *tree, sql string) {
		r.reset()
		for _, s := range []string{kind, name, table} {
			r.text(s)
		}
		r.integer(int64(of.finish()))
		if sql == "" {
			r.null()
		} else {
			r.text(sql)
		}
		number++
		schema.add(number, r.record())
	}
	entry("table", "INDEXES", "INDEXES", indexes, d.h.schema.tableSQL())
	entry("index", "sqlite_autoindex_INDEXES_1", "INDEXES", keys, "")
	entry("table", "SHARD_NAME", "SHARD_NAME", name, "CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
	return w.finish(schema)
}

// addRows adds a row to the table and to the index of its primary key for each
// row of the data file.
func (d *data) addRows(table, index *tree) error {
	s := &d.h.schema
	seen := make([]bool, len(s.Fields))
	fields := make([]tensor.Tensor, len(s.Fields))
	wanted := make([]*tensor.Tensor, len(s.Fields))
	var indexed []int
	for _, name := range s.Index {
		i := s.find(name)
		indexed, wanted[i] = append(indexed, i), &fields[i]
	}
	var buf []byte
	var row, key rowWriter
	for n := range d.rows() {
		g, blob, raw := d.places(n)
		r, err := d.record(d.groups[g].raw, raw, &buf)
		if err != nil {
			return err
		}
		if err := s.decodeRaw(wanted, r, seen); err != nil {
			return d.corrupt(d.groups[g].raw, raw[0], "%v", err)
		}
		row.reset()
		for _, v := range [...]int64{n, int64(d.groups[g].raw), raw[0], raw[1], int64(g), int64(d.groups[g].blob), blob[0], blob[1]} {
			row.integer(v)
		}
		key.reset()
		key.integer(n)
		for _, i := range indexed {
			row.integer(0)
			key.integer(0)
			row.value(&fields[i])
		}
		key.integer(n + 1)
		table.add(n+1, row.record())
		index.add(0, key.record())
		if table.f.err != nil {
			return table.f.err
		}
	}
	return nil
}

// value adds the value of a field. As in MindSpore, text ends at its first zero
// byte.
func (r *rowWriter) value(t *tensor.Tensor) {
	switch t.DType {
	case tensor.Int32:
		r.integer(int64(tensor.View[int32](t)[0]))
	case tensor.Int64:
		r.integer(tensor.View[int64](t)[0])
	case tensor.Float32:
		r.real(float64(tensor.View[float32](t)[0]))
	case tensor.Float64:
		r.real(tensor.View[float64](t)[0])
	default:
		s, _, _ := strings.Cut(string(t.Data), "\x00")
		r.text(s)
	}
}
