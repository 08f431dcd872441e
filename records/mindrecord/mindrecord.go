// Package mindrecord reads and writes MindRecord, MindSpore's format of record files: a data file, or several (shards),
// each with an index beside it, NAME.db, which is a SQLite database. Rows are divided into pages: what
// is long (bytes, arrays) stands in blob pages, the rest as MessagePack in raw pages.
// docs/format/mindrecord.md has the details and an example.
//
// SQLite is modernc.org/sqlite, which is linked by whoever imports this package, and has no port to some platforms:
// there everything that needs an index is an [ErrPlatform].
//
// Files are the machine's own: SQLite reads no others.
//
// Reading is strict: what is read is held against the header, the index and the schema, and what does not agree
// is a [records.CorruptionError]. The format has no checksums, so a changed value is not seen.
//
// Reference: MindSpore 2.10.0, whose files have the version "3.0".
package mindrecord

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/records"
	"github.com/infer-prep/infer-prep/tensor"
)

// Errors, as errors.Is knows them.
var (
	// ErrField is a schema or a value that MindRecord cannot hold.
	ErrField = records.ErrField
	// ErrPlatform is the error where SQLite has no port. It is an errors.ErrUnsupported.
	ErrPlatform = fmt.Errorf("SQLite, which MindRecord's index needs, has no port to this platform: %w", errors.ErrUnsupported)
)

// Field is a column of a file.
type Field struct {
	Name string // ASCII letters, digits and underscores
	// Desc is int32, int64, float32 or float64, or bytes without axes. One size of an array may be
	// tensor.Unknown, if it differs from row to row.
	Desc tensor.Desc
	Text bool // the bytes are UTF-8 text
}

// blob reports whether the field stands in blob pages.
func (f Field) blob() bool {
	return f.Desc.DType == tensor.Bytes && !f.Text || f.Desc.Shape.Rank() > 0
}

// kind is the field's type in the header.
func (f Field) kind() string {
	if f.Text {
		return "string"
	}
	return f.Desc.DType.String()
}

// kinds are the types of the header.
var kinds = map[string]Field{
	"int32": {Desc: tensor.Desc{DType: tensor.Int32}}, "int64": {Desc: tensor.Desc{DType: tensor.Int64}},
	"float32": {Desc: tensor.Desc{DType: tensor.Float32}}, "float64": {Desc: tensor.Desc{DType: tensor.Float64}},
	"bytes": {Desc: tensor.Encoded()}, "string": {Desc: tensor.Encoded(), Text: true},
}

// Schema is what the rows of a file have.
type Schema struct {
	Doc    string  // free text
	Fields []Field // sorted by name
	// Index are the fields that the index has. Nil for all that it can have: those that are neither arrays nor bytes.
	Index []string
}

// maxFields is SQLite's limit of columns, two for each field of the index.
const maxFields = 1000 - 8

// Check sorts the fields and completes Index. What MindRecord does not have is an ErrField.
func (s *Schema) Check() error {
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
	// SQLite's columns have names without regard to case.
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

// columns are those that every index has.
var columns = []string{
	"ROW_ID", "PAGE_ID_RAW", "PAGE_OFFSET_RAW", "PAGE_OFFSET_RAW_END", "ROW_GROUP_ID", "PAGE_ID_BLOB", "PAGE_OFFSET_BLOB", "PAGE_OFFSET_BLOB_END",
}
