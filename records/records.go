// Package records reads and writes record files of any format, as streams of
// records: a key and named fields. It detects a file's format and converts any
// format into any other in bounded memory.
//
// A format is a package that registers itself when it is imported:
// records/mxnet (RecordIO and image records), records/tfrecord,
// records/tfexample, records/webdataset, records/kaldi, records/mindrecord and
// records/mds. Package records/all imports all of them.
// docs/format/records.md says how fields and keys map between formats.
//
// Package recordio has the RecordIO framing itself, with indexes, partitions
// and caches.
package records

import (
	"slices"

	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Record is a key and fields.
type Record struct {
	Key    string
	Fields []Field // in the order of the file
	File   string  // where it was read
	Offset int64   // of its first byte in File, -1 if unknown
}

// KeyField is the text field that holds the key in formats without a place for
// keys.
const KeyField = "__key__"

// Field is a named value. Its Value is undecoded: an encoded image is a scalar
// of bytes, a number is a scalar, and a matrix is a tensor of two axes.
type Field struct {
	Name  string
	Value tensor.Tensor
	Text  bool // the bytes are UTF-8 text
}

// Get returns the field with a name, or nil.
func (r *Record) Get(name string) *Field {
	i := slices.IndexFunc(r.Fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Fields[i]
}

// Reset removes the fields, keeps their memory, and sets the key and the place.
func (r *Record) Reset(key, file string, offset int64) {
	*r = Record{Key: key, Fields: r.Fields[:0], File: file, Offset: offset}
}

// AddBytes adds a field of bytes. The record shares b.
//
//go:noinline
func (r *Record) AddBytes(name string, b []byte) {
	r.Fields = append(r.Fields, Field{Name: name, Value: tensor.Tensor{Desc: tensor.Encoded(), Data: b}})
}

// AddInt adds a field with an int64 scalar.
func (r *Record) AddInt(name string, v int64) {
	b := tensor.Alloc(8)
	tensor.Cast[int64](b)[0] = v
	r.Fields = append(r.Fields, Field{Name: name, Value: tensor.Tensor{Desc: tensor.Desc{DType: tensor.Int64}, Data: b}})
}

// Reader reads records in order. It is for one goroutine at a time.
type Reader interface {
	// Next reads the next record into r and reuses r's memory. The record is
	// valid until the next call. Next returns io.EOF at the end; it returns any
	// other error again at every later call.
	Next(r *Record) error
	Close() error
}

// Writer writes records in order. It is for one goroutine at a time.
type Writer interface {
	// Write writes a record. If the format cannot hold a field, Write returns
	// an ErrField and writes nothing.
	Write(r *Record) error
	// Close makes the files appear under their names.
	Close() error
	// Abort discards the files. After Close it does nothing.
	Abort() error
}

// LocalOpener is a store of local files for formats that use their own file
// access, as MindRecord does. These formats call CheckAccess for each file.
type LocalOpener interface {
	store.Opener
	// CheckAccess is called before a file is read, or written if write is true.
	// An error forbids the access.
	CheckAccess(name string, write bool) error
}

// ReadOptions are the options of Format.Open and Format.Verify.
type ReadOptions struct {
	// Lenient skips damaged records if the format can find the next one.
	Lenient bool
	// Limit is the size of the largest record, in bytes. Default: the format's
	// own limit.
	Limit int64
	// OnSkip, if not nil, is called with the error of each skipped part.
	OnSkip func(error)
	// OnNote, if not nil, is called once at the end of each file with content
	// that belongs to no record by the format's rules, such as the links of a
	// tar file. The text counts it and names the first.
	OnNote func(string)
}

// WriteOptions are the options of Format.Create.
type WriteOptions struct {
	// Count and Size are the largest number of records and bytes of a file, if
	// the name is a pattern such as data-%05d.tar. Default: the format's own.
	Count int
	Size  int64
	// Index writes the format's index beside every file, if it has one.
	Index bool
	// Keys always stores the keys in a field. Without it, MindRecord stores
	// them only if the first key is not the record's number. Other formats
	// ignore it.
	Keys bool
	// OnNote, if not nil, is called once for each change that a reader of the
	// file will see and that is not an error, for example that keys are lost.
	OnNote func(string)
}

// IndexOptions are the options of Format.Index.
type IndexOptions struct {
	// Sums writes checksums of the records too, if the format has a file for
	// them.
	Sums bool
	// Limit is the size of the largest record, in bytes. Default: the format's
	// own limit.
	Limit int64
}
