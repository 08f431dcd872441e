// Package records is what the formats of record files have in common: a record is a
// key and named fields. A format is a folder that registers itself; records/all
// links them all. Reading and writing are streams of records, so that any format
// can be converted into any other in bounded memory.
package records

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/recordio"
	"github.com/infer-prep/infer-prep/tensor"
)

// Errors, as errors.Is knows them.
var (
	// ErrUnknown is a format that is not linked, or a file of none.
	ErrUnknown = errors.New("unknown record format")
	// ErrField is a field that a format cannot hold, or lacks.
	ErrField = errors.New("field does not fit the format")
)

// Record is a key and fields.
type Record struct {
	Key    string
	Fields []Field // in the order of the file
	File   string  // where it was read
	Offset int64   // of its first byte in File; -1 if that is not known
}

// Field is a named value. Its Value is what the file has, not decoded: an encoded image is a
// scalar of bytes, a number a scalar, a matrix a tensor of two axes.
type Field struct {
	Name  string
	Value tensor.Tensor
	Text  bool // the bytes are UTF-8 text
}

// Get is the field of a name, nil if there is none.
func (r *Record) Get(name string) *Field {
	i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Fields[i]
}

// Reader reads records one after another. It is used by one goroutine at a time.
type Reader interface {
	// Next reads the next record into r, whose memory is used again: what it has is
	// valid until the next call. io.EOF at the end. After another error there is nothing more.
	Next(r *Record) error
	Close() error
}

// Writer writes records one after another. It is used by one goroutine at a time.
type Writer interface {
	// Write writes a record. A field that the format cannot hold is an ErrField, and
	// nothing of the record is written.
	Write(r *Record) error
	// Close puts what was written under its names.
	Close() error
	// Abort drops it. After Close it does nothing.
	Abort() error
}

// ReadOptions are those of a Reader.
type ReadOptions struct {
	// Lenient leaves out damage where the format can, and counts it in Skipped.
	Lenient bool
	// Limit is the largest record, in bytes. Default: the format's.
	Limit int64
	// Skipped, if it is there, is told of damage that was left out.
	Skipped func(error)
}

// WriteOptions are those of a Writer.
type WriteOptions struct {
	// Count is the most records of a file, and Size the most bytes, where the name is a pattern for
	// several, such as data-%05d.tar. 0: the format's default.
	Count int
	Size  int64
	// Index writes the format's index beside every file, if it has one.
	Index bool
}

// Format is a kind of record file.
type Format struct {
	Name string // as the command line has it
	Doc  string // a line
	// Is tells by a file's name and its first bytes (at most 512) whether it is of this format.
	Is func(name string, head []byte) bool
	// Open reads the files of names: one name, or several with semicolons between,
	// and whatever patterns the format knows. Nil if the format is not read.
	Open func(ctx context.Context, o recordio.Opener, names string, options ReadOptions) (Reader, error)
	// Create writes into the file of a name, or into several if the format has patterns.
	Create func(ctx context.Context, o recordio.Opener, name string, options WriteOptions) (Writer, error)
}

var registry = struct {
	sync.RWMutex
	formats map[string]Format
}{formats: map[string]Format{}}

// Register adds a format. Two of one name are a mistake in the program: it panics.
func Register(f Format) {
	registry.Lock()
	defer registry.Unlock()
	if _, ok := registry.formats[f.Name]; ok {
		panic("records: format " + f.Name + " registered twice")
	}
	registry.formats[f.Name] = f
}

// Formats are all that are linked, sorted by name.
func Formats() []Format {
	registry.RLock()
	defer registry.RUnlock()
	return slices.SortedFunc(maps.Values(registry.formats), func(a, b Format) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
}

// Lookup is the format of a name.
func Lookup(name string) (Format, error) {
	registry.RLock()
	defer registry.RUnlock()
	if f, ok := registry.formats[name]; ok {
		return f, nil
	}
	return Format{}, fmt.Errorf("records: %w: %s, want one of %v", ErrUnknown, name, slices.Sorted(maps.Keys(registry.formats)))
}
