package parquet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// column is a leaf of a file's schema.
type column struct {
	dataset.Column
	text     bool
	leaf     int // its number
	kind     parquet.Kind
	width    int // of a fixed-length byte array
	unsigned bool
	maxRep   int
	maxDef   int
	lists    []byte // the definition level of an element of each list around it
	bad      string // why it cannot be read
	path     int    // how many columns further an image's path is; 0 for none
}

// columnsOf returns the leaves of a schema. Lists give a column an axis each,
// and structs give it a name with dots: objects.bbox. A struct of bytes and
// path, which is how datasets stores an image, gives columns image and
// image.path.
func columnsOf(f *parquet.File) ([]column, error) {
	var leaves []*format.SchemaElement
	for i, e := range f.Metadata().Schema {
		if e.Type.Valid {
			leaves = append(leaves, &f.Metadata().Schema[i])
		}
	}
	var l []column
	var walk func(c *parquet.Column, name []string, lists []byte)
	walk = func(c *parquet.Column, name []string, lists []byte) {
		if c.Repeated() {
			lists = append(slices.Clone(lists), byte(c.MaxDefinitionLevel()))
		}
		if c.Leaf() {
			l = append(l, leaf(c, leaves[c.Index()], strings.Join(name, "."), lists))
			return
		}
		fields := c.Columns()
		if t := c.Type().LogicalType(); t != nil && isList(t) && len(fields) == 1 && fields[0].Repeated() {
			item := fields[0]
			if inner := item.Columns(); len(inner) == 1 {
				lists = append(slices.Clone(lists), byte(item.MaxDefinitionLevel()))
				walk(inner[0], name, lists)
				return
			}
			walk(item, name, lists)
			return
		}
		bytes, path := c.Column("bytes"), c.Column("path")
		image := len(fields) == 2 && bytes != nil && path != nil && bytes.Leaf()
		at := len(l)
		for _, f := range fields {
			if image && f.Name() == "bytes" {
				walk(f, name, lists)
				continue
			}
			walk(f, append(slices.Clone(name), f.Name()), lists)
		}
		if image && path.Leaf() && len(lists) == 0 && path.Type().Kind() == parquet.ByteArray {
			i := at
			if fields[1] == bytes {
				i++
			}
			l[i].path = 2*at + 1 - 2*i
		}
	}
	for _, c := range f.Root().Columns() {
		walk(c, []string{c.Name()}, nil)
	}
	seen := map[string]bool{}
	for _, c := range l {
		if c.Name == "" || seen[c.Name] {
			return nil, fmt.Errorf("two columns have the name %q", c.Name)
		}
		seen[c.Name] = true
	}
	return l, nil
}

func isList(t *format.LogicalType) bool { _, ok := t.Value.(*format.ListType); return ok }

// leaf describes a leaf. The library has types of old files in c, and types of
// new ones, such as half-precision numbers, only in e.
func leaf(c *parquet.Column, e *format.SchemaElement, name string, lists []byte) column {
	x := column{leaf: c.Index(), kind: c.Type().Kind(), maxRep: c.MaxRepetitionLevel(), maxDef: c.MaxDefinitionLevel(), lists: lists}
	x.Name = name
	logical := e.LogicalType.Value
	if t := c.Type().LogicalType(); logical == nil && t != nil {
		logical = t.Value
	}
	if i, ok := logical.(*format.IntType); ok {
		x.unsigned = !i.IsSigned
	}
	switch x.kind {
	case parquet.Boolean:
		x.Desc.DType = tensor.Bool
	case parquet.Int32:
		x.Desc.DType = tensor.Int32
		if i, ok := logical.(*format.IntType); ok {
			switch {
			case i.BitWidth == 8 && i.IsSigned:
				x.Desc.DType = tensor.Int8
			case i.BitWidth == 8:
				x.Desc.DType = tensor.Uint8
			case i.BitWidth == 16 && i.IsSigned:
				x.Desc.DType = tensor.Int16
			case i.BitWidth == 16:
				x.Desc.DType = tensor.Uint16
			case !i.IsSigned:
				x.Desc.DType = tensor.Int64
			}
		}
	case parquet.Int64:
		x.Desc.DType = tensor.Int64
	case parquet.Float:
		x.Desc.DType = tensor.Float32
	case parquet.Double:
		x.Desc.DType = tensor.Float64
	case parquet.ByteArray:
		x.Desc.DType = tensor.Bytes
		switch logical.(type) {
		case *format.StringType, *format.EnumType, *format.JsonType:
			x.text = true
		}
	case parquet.FixedLenByteArray:
		x.Desc.DType, x.width = tensor.Bytes, c.Type().Length()
		if _, ok := logical.(*format.Float16Type); ok && x.width == 2 {
			x.Desc.DType = tensor.Float16
		}
	default:
		x.bad = fmt.Sprintf("the type %v", c.Type())
	}
	if _, ok := logical.(*format.DecimalType); ok {
		x.bad = "decimal numbers"
	}
	switch {
	case len(lists) > 0 && x.Desc.DType == tensor.Bytes:
		x.bad = "a list of strings or of bytes"
	case len(lists) > tensor.MaxRank:
		x.bad = fmt.Sprintf("%d nested lists", len(lists))
	default:
		for range lists {
			x.Desc.Shape = x.Desc.Shape.Append(tensor.Unknown)
		}
	}
	return x
}

// About describes the column.
func (c column) About() (dataset.Column, string) { return c.Column, c.bad }

// Same reports whether rows of both files have equal columns.
func (c column) Same(o column) bool {
	return c.Name == o.Name && c.Desc == o.Desc && c.text == o.text && c.bad == o.bad
}
