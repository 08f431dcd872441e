// Package mindrecord reads and writes MindRecord, the record format of
// MindSpore: one data file or several (shards), each with an index beside it,
// NAME.db, a SQLite database. Rows are stored in pages: long values (bytes and
// arrays) in blob pages, all others as MessagePack in raw pages.
// docs/format/mindrecord.md has the details and an example. Package records
// reads the same files as records.
//
// Indexes are read and written without SQLite, which would run the programs
// that a foreign database holds. A database other than MindRecord's two tables
// is an error.
//
// Reading is strict. Data that disagrees with the header, the index or the
// schema is a [records.CorruptionError]. The format has no checksums, so a
// changed value cannot be detected.
//
// Reference: MindSpore 2.10.0, whose files have the version "3.0".
package mindrecord

import (
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

// ErrField reports a schema or a value that MindRecord cannot hold.
var ErrField = records.ErrField

// Field is a column of a file.
type Field struct {
	Name string // ASCII letters, digits and underscores
	// Desc is int32, int64, float32 or float64, or bytes without axes. One size
	// of an array may be tensor.Unknown if it differs between rows.
	Desc tensor.Desc
	Text bool // the bytes are UTF-8 text
}

// blob reports whether the field is stored in blob pages.
func (f Field) blob() bool {
	return f.Desc.DType == tensor.Bytes && !f.Text || f.Desc.Shape.Rank() > 0
}

// kind returns the field's type as the header names it.
func (f Field) kind() string {
	if f.Text {
		return "string"
	}
	return f.Desc.DType.String()
}

// kinds maps the types of the header.
var kinds = map[string]Field{
	"int32": {Desc: tensor.Desc{DType: tensor.Int32}}, "int64": {Desc: tensor.Desc{DType: tensor.Int64}},
	"float32": {Desc: tensor.Desc{DType: tensor.Float32}}, "float64": {Desc: tensor.Desc{DType: tensor.Float64}},
	"bytes": {Desc: tensor.Encoded()}, "string": {Desc: tensor.Encoded(), Text: true},
}

// Schema describes the rows of a file.
type Schema struct {
	Doc    string  // free text
	Fields []Field // sorted by name
	// Index names the indexed fields. Default: all that can be indexed, which
	// are neither arrays nor bytes.
	Index []string
}

// maxFields follows from SQLite's limit of columns, two for each indexed field.
const maxFields = 1000 - 8

// Validate sorts the fields, completes Index, and returns an ErrField if
// MindRecord cannot hold the schema.
func (s *Schema) Validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("mindrecord: %w: %s", ErrField, fmt.Sprintf(format, args...))
	}
	if len(s.Fields) == 0 || len(s.Fields) > maxFields {
		return bad("%d fields, want 1 to %d", len(s.Fields), maxFields)
	}
	s.Fields = slices.Clone(s.Fields)
	slices.SortFunc(s.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	for i, f := range s.Fields {
		if !validName(f.Name) {
			return bad("the name %q, want ASCII letters, digits and underscores", f.Name)
		}
		if i > 0 && s.Fields[i-1].Name == f.Name {
			return bad("two fields %q", f.Name)
		}
		k, ok := kinds[f.kind()]
		if !ok || f.Text && f.Desc.DType != tensor.Bytes {
			return bad("%s is %v, want int32, int64, float32, float64, bytes or text", f.Name, f.Desc)
		}
		if f.Desc.DType == tensor.Bytes && f.Desc != k.Desc {
			return bad("%s is %v, want no axes", f.Name, f.Desc)
		}
		unknown := 0
		for a := range f.Desc.Shape.Rank() {
			if n := f.Desc.Shape.At(a); n == tensor.Unknown {
				unknown++
			} else if n < 1 {
				unknown = 2
			}
		}
		if unknown > 1 || f.Desc.Validate() != nil {
			return bad("%s is %v, want sizes above 0, and at most one that is not known", f.Name, f.Desc)
		}
	}
	if s.Index == nil {
		for _, f := range s.Fields {
			if !f.blob() {
				s.Index = append(s.Index, f.Name)
			}
		}
	}
	// SQLite ignores the case of column names.
	taken := map[string]bool{}
	for _, c := range columns {
		taken[strings.ToLower(c)] = true
	}
	for i := range s.Index {
		taken[fmt.Sprintf("inc_%d", i)] = true
	}
	for _, name := range s.Index {
		i := s.find(name)
		switch {
		case i < 0 || s.Fields[i].blob():
			return bad("%q cannot be in the index, want a field of a number or text", name)
		case name[0] >= '0' && name[0] <= '9':
			return bad("%q cannot be in the index, since it begins with a digit", name)
		}
		c := strings.ToLower(name) + "_0"
		if taken[c] {
			return bad("%q cannot be in the index: it has a column of that name", name)
		}
		taken[c] = true
	}
	return nil
}

func (s *Schema) find(name string) int {
	return slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == name })
}

func validName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != "" && len(s) <= 1<<10
}

func (s *Schema) equal(o *Schema) bool {
	return slices.Equal(s.Fields, o.Fields)
}

// columns are the columns that every index has.
var columns = []string{
	"ROW_ID", "PAGE_ID_RAW", "PAGE_OFFSET_RAW", "PAGE_OFFSET_RAW_END", "ROW_GROUP_ID", "PAGE_ID_BLOB", "PAGE_OFFSET_BLOB", "PAGE_OFFSET_BLOB_END",
}
