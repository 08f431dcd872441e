// Package paddle provides the readers of Paddle's early fluid framework with
// their names: open_files and the reader decorators of paddle.fluid's C++
// readers of 2018. It builds on package dataset and package pipeline.
//
//	r := paddle.OpenFiles(columns, paddle.FilesOptions{Threads: 4, Buffer: 64}, paths...).Shuffle(1000).Batch(32).DoubleBuffer()
//	run, err := r.Start(ctx, paddle.Options{})
//	for {
//		more, err := run.HasNext(ctx)
//		…
//		batch, err := run.ReadNext(ctx)
//	}
//
// A [Reader] is a definition of files, the columns that they must have, and
// decorators. [Reader.Dataset] converts it to a dataset, and [FromDataset]
// converts a dataset to a Reader. Start runs it. HasNext, ReadNext and ReInit
// are Next and NextEpoch of the engine.
//
// # Order
//
// Paddle's threads take files from a list as they become free and send their
// samples to one channel. So the order of samples differs from run to run. Here
// the order is the same in every run. With n threads, the first n files are
// read at once, and a thread whose file has ended takes the next file of the
// list. The reader takes one sample from each thread, round-robin. So files of
// different lengths keep all threads busy, and the order depends on the lengths
// of the files, never on time. Threads read ahead; the reader waits for a slow
// thread when its turn comes. As with all of Paddle's readers, a run can stop
// and resume at any sample. There is no other order.
//
// # Formats
//
// These tags are registered; [RegisterFileReader] adds others.
//
//	recordio, rec         image records: image (bytes), label (float32), id (int64)
//	tfrecord, tfrecords   data (bytes)
//	shards, tar           shards of webdataset: image, label, and fields by their names;
//	                      bytes, int64 scalars, and arrays of .npy
//	csv                   columns of the header, with the required types
//
// # Other differences
//
//   - A file's samples are checked against the types and sizes of their
//     columns; -1 is any size. Paddle checks only the number of tensors and of
//     their axes.
//   - Shuffle keeps a buffer full and draws samples from it at random. Paddle
//     fills the buffer, empties it, and fills it again; above Batch, Shuffle
//     does so with batches. The random numbers are a function of
//     dataset.Options.Seed and the epoch.
//   - Batch stacks samples along a new axis; Paddle concatenates along the
//     samples' first axis. Batches have no LoD: use dataset.BatchPadded on the
//     Reader's Dataset to pad sequences of different lengths.
//   - MultiPass continues after an empty pass until all passes are done.
//   - ReadNext returns io.EOF after the end, not an exception or an empty list.
//
// # Concurrency, lifetime and errors
//
// A Reader is immutable and may be started several times. Only one goroutine at
// a time may use a Run. Start opens the files; the Run reads samples only after
// the first HasNext or ReadNext. Close ends its goroutines and closes the
// files. A sample is valid until the next call of HasNext, ReadNext, ReInit or
// Close. An error of a sample is a *dataset.SampleError that wraps a
// *ShapeError or the file reader's error. After an error the run is over until
// ReInit, and State returns the position where a new run can continue.
package paddle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/internal/registry"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// FileReader returns the source of a file of one format. columns are the
// required ones, for formats whose files do not state types. The source's Open
// opens the file and must then know its columns, which are checked against the
// required ones. A FileReader must be safe for concurrent use.
type FileReader func(path string, columns []dataset.Column) (dataset.Source, error)

// format is a registered FileReader.
type format struct {
	tag   string
	open  FileReader
	magic []string
}

var formats = registry.New[format]("paddle file reader")

// RegisterFileReader registers a format under a tag. It applies to files whose
// extension is the tag, ignoring case. A file with an unknown extension has the
// format if it begins with one of the magic strings. Call it from init
// functions. It panics if the tag is taken or isn't a lower-case extension,
// which is a programming error. (Paddle: REGISTER_FILE_READER, which uses
// extensions only.)
func RegisterFileReader(tag string, open FileReader, magic ...string) {
	switch {
	case tag != strings.ToLower(tag) || strings.ContainsAny(tag, `./\`):
		formats.Refuse(tag, "want a lower-case extension without a dot")
	case open == nil:
		formats.Refuse(tag, "the FileReader is nil")
	case slices.Contains(magic, ""):
		formats.Refuse(tag, "a magic string is empty")
	}
	formats.Add(tag, format{tag, open, slices.Clone(magic)})
}

// FormatError reports a file whose format is unknown.
type FormatError struct {
	File string
	Tag  string   // the requested tag, or the file's extension; may be empty
	Tags []string // the registered tags
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("paddle: %s: unknown file format %q%s", e.File, e.Tag, registry.Hint(e.Tag, e.Tags))
}

// FormatOf returns the tag of a file's format, from its extension or its first
// bytes. It returns a *FormatError or an error of reading the file.
func FormatOf(ctx context.Context, files store.Opener, path string) (string, error) {
	tag := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if _, ok := formats.Get(tag); ok {
		return tag, nil
	}
	longest := 0
	for _, f := range formats.All() {
		for _, m := range f.magic {
			longest = max(longest, len(m))
		}
	}
	if longest > 0 {
		head, err := firstBytes(ctx, files, path, longest)
		if err != nil {
			return "", fmt.Errorf("paddle: %w", err)
		}
		// The longest match wins. Two formats should not share a magic string;
		// if they do, the first tag in sorted order wins.
		best, bestTag := 0, ""
		for _, f := range formats.All() {
			for _, m := range f.magic {
				if strings.HasPrefix(head, m) && len(m) > best {
					best, bestTag = len(m), f.tag
				}
			}
		}
		if best > 0 {
			return bestTag, nil
		}
	}
	return "", unknown(path, tag)
}

func unknown(path, tag string) error { return &FormatError{path, tag, slices.Clone(formats.Names())} }

// firstBytes reads up to n bytes from the beginning of a file.
func firstBytes(ctx context.Context, files store.Opener, path string, n int) (_ string, err error) {
	f, err := files.Open(ctx, path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, min(int64(n), f.Size()))
	if k, err := f.ReadAt(b, 0); k < len(b) {
		return "", err
	}
	return string(b), nil
}

// ShapeError reports a file, or a sample of a file, that does not match the
// required columns.
type ShapeError struct {
	File   string
	Key    string      // of the sample; empty if the file's own columns do not match
	Column string      // its name
	Got    tensor.Desc // the zero Desc if the file has no such column
	Want   tensor.Desc // the zero Desc if the file must not have the column
}

func (e *ShapeError) Error() string {
	at := e.File
	if e.Key != "" {
		at += ": " + e.Key
	}
	switch (tensor.Desc{}) {
	case e.Got:
		return fmt.Sprintf("paddle: %s: column %q: missing, want %v", at, e.Column, e.Want)
	case e.Want:
		return fmt.Sprintf("paddle: %s: column %q: got %v, want no such column", at, e.Column, e.Got)
	}
	return fmt.Sprintf("paddle: %s: column %q: got %v, want %v", at, e.Column, e.Got, e.Want)
}
