package dataset

import (
	"context"

	"github.com/infer-prep/infer-prep/store"
)

// Node is a step of a dataset's definition: a source, or an op on datasets. It is a
// pointer to a plain struct whose fields are all of its parameters, in the same
// way as a transforms.Op; see Register.
type Node interface {
	// Validate checks the parameters alone. Its error wraps ErrParam.
	Validate() error
}

// Source is a Node without inputs: where samples come from.
type Source interface {
	Node
	// Open reads lists of files, indices and annotations through files; it reads no
	// images. It returns a Rows or a Stream. ctx bounds Open alone: the returned
	// Data must not keep it. The Data may keep files.
	Open(ctx context.Context, files store.Opener) (Data, error)
}

// Data is an opened source.
type Data interface {
	// Columns describes the samples. Sizes that differ from sample to sample are tensor.Unknown.
	Columns() []Column
	// Close lets go of files and memory. Samples read before may share its memory
	// and are not valid any more.
	Close() error
}

// Rows is Data with random access. Read and Len may be called by several
// goroutines at once.
type Rows interface {
	Data
	// Len is the number of rows.
	Len() int64
	// Read fills s, which has a Value for each column, with row i, and sets Key.
	// It allocates nothing where values fit the memory that s has. An error
	// should name the file and the place in it; the error of an invalid i wraps
	// ErrParam. ctx bounds this call alone: the ctx of the engine's Next, or, in a
	// parallel pipeline, a ctx that ends with the epoch.
	Read(ctx context.Context, i int64, s *Sample) error
}

// Stream is Data that can only be read from its beginning.
type Stream interface {
	Data
	// Start begins an epoch. Equal epochs must return equal samples, or a resumed
	// run is not exact. ctx bounds Start alone: the Reader must not keep it.
	Start(ctx context.Context, epoch uint64) (Reader, error)
}

// Reader is a Stream that was started. It is used by one goroutine.
type Reader interface {
	// Next fills s, as Rows.Read does, or returns io.EOF. Any other error is the
	// error of one sample: the next call reads the sample after it. 1,000 errors in
	// succession end a run. ctx bounds this call alone.
	Next(ctx context.Context, s *Sample) error
	Close() error
}

// Classed is Rows that belong to classes, as the PK sampler wants. It is called
// by several goroutines at once.
type Classed interface {
	Rows
	// Class is the class of row i; the error of a row that is not there wraps ErrParam.
	Class(i int64) (int64, error)
}

// ClassIndexed is Data that numbers classes which have names.
type ClassIndexed interface {
	Data
	// ClassIndex maps the classes' names to their numbers. It must not be changed.
	ClassIndex() map[string]int32
}
