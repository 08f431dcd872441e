// Package records is what the formats of record files have in common: a record is a
// key and named fields. A format is a folder that registers itself; records/all
// links them all. Reading and writing are streams of records, so that any format
// can be converted into any other in bounded memory.
package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Errors, as errors.Is knows them.
var (
	// ErrUnknown is a format that is not linked, or a file of none.
	ErrUnknown = errors.New("unknown record format")
	// ErrField is a field that a format cannot hold, or lacks.
	ErrField = errors.New("field does not fit the format")
)

// FieldError is a field that a format cannot hold, or that it lacks.
type FieldError struct {
	Format string // that is written or read
	Key    string // of the record
	File   string // where the record was read; may be empty
	Offset int64  // of the record in File
	Field  string // empty if it is the record as a whole
	What   string // what is there and what was wanted
}

func (e *FieldError) Error() string {
	s := e.Format + ": "
	if e.File != "" && e.Offset >= 0 {
		s += fmt.Sprintf("%s: at byte %d: ", e.File, e.Offset)
	} else if e.File != "" {
		s += e.File + ": "
	}
	s += fmt.Sprintf("record %q: ", e.Key)
	if e.Field != "" {
		s += fmt.Sprintf("field %q: ", e.Field)
	}
	return s + e.What
}

// Is reports that it is ErrField.
func (e *FieldError) Is(target error) bool { return target == ErrField }

// Misfit is the FieldError of a record that is written in a format.
func (r *Record) Misfit(format, field, what string, args ...any) error {
	return &FieldError{format, r.Key, r.File, r.Offset, field, fmt.Sprintf(what, args...)}
}

// Record is a key and fields.
type Record struct {
	Key    string
	Fields []Field // in the order of the file
	File   string  // where it was read
	Offset int64   // of its first byte in File; -1 if that is not known
}

// KeyField is the field of text in which formats keep keys that have no place of their own for them.
const KeyField = "__key__"

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

// Reset makes it a record without fields, whose memory is kept.
func (r *Record) Reset(key, file string, offset int64) {
	*r = Record{Key: key, Fields: r.Fields[:0], File: file, Offset: offset}
}

// AddBytes adds a field of bytes, which it shares.
func (r *Record) AddBytes(name string, b []byte) {
	r.Fields = append(r.Fields, Field{Name: name, Value: tensor.Tensor{Desc: tensor.Encoded(), Data: b}})
}

// AddInt adds an int64.
func (r *Record) AddInt(name string, v int64) {
	b := tensor.Alloc(8)
	tensor.Cast[int64](b)[0] = v
	r.Fields = append(r.Fields, Field{Name: name, Value: tensor.Tensor{Desc: tensor.Desc{DType: tensor.Int64}, Data: b}})
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

// LocalOpener is an Opener of the machine's own files that is told of files which a format does not
// open through it, because a library does, as SQLite.
type LocalOpener interface {
	store.Opener
	// Claim is called before a file is read or written. An error refuses it.
	Claim(name string, write bool) error
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
	// Keys keeps the keys in a field although the first is the record's number, where
	// a format has none of its own and does so only for others (MindRecord).
	Keys bool
	// Note, if it is there, is told, once each, of what a reader of the file will find
	// changed, and that is no error: keys that the format does not have, say.
	Note func(string)
}

// IndexOptions are those of Format.Index.
type IndexOptions struct {
	// Sums writes checksums of the records too, if the format has a file for them.
	Sums bool
	// Limit is the largest record, in bytes. Default: the format's.
	Limit int64
}

// Format is a kind of record file.
type Format struct {
	Name string // as the command line has it
	Doc  string // a line
	// Is tells by a file's name and its first bytes (at most 512) whether it is of this format.
	// Without bytes it tells by the name alone.
	Is func(name string, head []byte) bool
	// Over names the format that this one is a special case of: a file that is of both
	// is of this one.
	Over string
	// Open opens the files of a list, in its order. Names may be patterns that the
	// format knows. Nil if the format cannot be read.
	Open func(ctx context.Context, o store.Opener, files []string, options ReadOptions) (Reader, error)
	// Create writes into the file of a name, or into several if the format has patterns.
	// Nil if the format is not written.
	Create func(ctx context.Context, o store.Opener, name string, options WriteOptions) (Writer, error)
	// Index writes the index beside each file of a list, and returns the names of the
	// files that it wrote. Nil if the format has no index.
	Index func(ctx context.Context, o store.Opener, files []string, options IndexOptions) ([]string, error)
	// Verify reads the files of a list and compares them with the files beside them (an
	// index, checksums), whose names it returns. It calls bad for each difference; err
	// is any other error. Nil if the format has no such files.
	Verify func(ctx context.Context, o store.Opener, files []string, options ReadOptions, bad func(error)) ([]string, error)
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
	return slices.SortedFunc(maps.Values(registry.formats), func(a, b Format) int { return strings.Compare(a.Name, b.Name) })
}

// headSize is how much of a file Format.Is gets at most.
const headSize = 512

// Detect finds the format of a file by its name and its first bytes, and where there is
// no such file (a pattern, say) by the name. ErrUnknown if it is of no format that is linked,
// or could be of several.
func Detect(ctx context.Context, o store.Opener, name string) (Format, error) {
	var head []byte
	f, err := o.Open(ctx, name)
	switch {
	case err == nil:
		head = make([]byte, min(headSize, f.Size()))
		n, err := f.ReadAt(head, 0)
		if err == io.EOF && n == len(head) {
			err = nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return Format{}, fmt.Errorf("records: %s: %w", name, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return Format{}, err
	}
	x, unknown := match(name, head)
	if unknown != nil && err != nil { // that there is no such file says more
		return Format{}, err
	}
	return x, unknown
}

// ByName is the format that files of a name have.
func ByName(name string) (Format, error) { return match(name, nil) }

func match(name string, head []byte) (Format, error) {
	var l []Format
	for _, f := range Formats() {
		if f.Is != nil && f.Is(name, head) {
			l = append(l, f)
		}
	}
	special := slices.Clone(l)
	special = slices.DeleteFunc(special, func(f Format) bool {
		return slices.ContainsFunc(l, func(g Format) bool { return g.Over == f.Name })
	})
	if len(special) == 1 {
		return special[0], nil
	}
	var names []string
	for _, f := range special {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return Format{}, fmt.Errorf("records: %s: %w, want one of %s", name, ErrUnknown, strings.Join(Names(), ", "))
	}
	return Format{}, fmt.Errorf("records: %s: %w: it may be %s", name, ErrUnknown, strings.Join(names, " or "))
}

// Names are those of all formats, sorted.
func Names() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Sorted(maps.Keys(registry.formats))
}

// Lookup is the format of a name.
func Lookup(name string) (Format, error) {
	registry.RLock()
	defer registry.RUnlock()
	if f, ok := registry.formats[name]; ok {
		return f, nil
	}
	return Format{}, fmt.Errorf("records: %w: %s, want one of %s", ErrUnknown, name, strings.Join(slices.Sorted(maps.Keys(registry.formats)), ", "))
}
