package dataset

import (
	"context"

	"github.com/infer-prep/infer-prep/store"
)

// Node is a step of a definition: a Source, an operation on datasets of this
// package, or a Sink. It is a pointer to a struct whose exported fields are its
// parameters, like a transforms.Op; see Register.
type Node interface {
	// Validate checks the parameters alone. Its error wraps ErrParam.
	Validate() error
}

// Source is a Node without inputs: it reads samples.
type Source interface {
	Node
	// Open reads lists of files, indices and annotations through files; it
	// reads no images. It returns a Rows or a Stream. ctx bounds Open alone:
	// the returned Data must not keep it. The Data may keep files.
	Open(ctx context.Context, files store.Opener) (Data, error)
}

// Data is an open source.
type Data interface {
	// Columns describes the samples. Sizes that differ between samples are
	// tensor.Unknown.
	Columns() []Column
	// Close releases files and memory. Samples may share its memory: they are
	// invalid after Close.
	Close() error
}

// Rows is Data with random access. Read and Len must be safe for concurrent
// use.
type Rows interface {
	Data
	// Len returns the number of rows.
	Len() int64
	// Read fills s, which has a Value for each column, with row i, and sets
	// Key. It allocates nothing where values fit the memory that s has. An
	// error should name the file and the place in it; the error of an invalid i
	// wraps ErrParam. ctx bounds this call alone: the ctx of the engine's Next,
	// or, in a parallel pipeline, a ctx that ends with the epoch.
	Read(ctx context.Context, i int64, s *Sample) error
}

// Keyed is Data that knows its samples without reading them. A State holds a
// digest of the keys, so that a run does not resume on other data. Data that is
// not Keyed counts as unknown: a State knows the number of its rows at most,
// and does not notice other samples.
type Keyed interface {
	Data
	// Keys calls yield with the key of each sample, in the order of the rows,
	// until yield returns false. Where keys are only numbers, it yields one key
	// for each file instead: its name and size. It reads no file. The keys do
	// not change while the Data is open. Keys must be safe for concurrent use.
	Keys(yield func(key string) bool)
}

// Stream is Data that can only be read from its start.
type Stream interface {
	Data
	// Start begins an epoch. Equal epochs must return equal samples, or a
	// resumed run is not exact. ctx bounds Start alone: the Reader must not
	// keep it.
	Start(ctx context.Context, epoch uint64) (Reader, error)
}

// Reader reads an epoch of a Stream. One goroutine uses it.
type Reader interface {
	// Next fills s, as Rows.Read does, or returns io.EOF. Any other error is
	// the error of one sample: the next call reads the sample after it.
	// Options.MaxSkips errors in succession, 1,000 by default or at -1, end a
	// run. ctx bounds this call alone.
	Next(ctx context.Context, s *Sample) error
	Close() error
}

// Classed is Rows whose rows belong to classes, for the PK sampler. Class must
// be safe for concurrent use.
type Classed interface {
	Rows
	// Class returns the class of row i. The error of an invalid i wraps
	// ErrParam.
	Class(i int64) (int64, error)
}

// Sharded is Rows that lie in several files, for ShuffleShards.
type Sharded interface {
	Rows
	// Shards returns the first row of each file, in ascending order, in a new
	// slice. The first is 0.
	Shards() []int64
}

// Ordered is Rows of which some are fast to read only in their order, or in
// windows of it, such as those of compressed files.
type Ordered interface {
	Rows
	// Ordered reports whether this is so.
	Ordered() bool
}

// ClassIndexed is Data with named classes.
type ClassIndexed interface {
	Data
	// ClassIndex maps the names of the classes to their numbers. The map is
	// shared: do not modify it.
	ClassIndex() map[string]int32
}
