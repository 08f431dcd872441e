// Package paddle has the readers of Paddle's early fluid framework (paddle.fluid's
// C++ readers of 2018: open_files and the reader decorators), with its names, as
// thin shells over package dataset and package pipeline.
//
//	paddle.RegisterFileReader("nums", func(path string) (dataset.Source, error) { … })
//	r := paddle.OpenFiles(columns, paddle.FilesOptions{Threads: 4, Buffer: 64}, paths...).Shuffle(1000).Batch(32).DoubleBuffer()
//	run, err := r.Start(paddle.Options{})
//	for {
//		more, err := run.HasNext(ctx)
//		…
//		batch, err := run.ReadNext(ctx)
//	}
//
// A [Reader] is a definition: files, checked against the columns that were asked for,
// under decorators. It is a dataset ([Reader.Dataset]), and a dataset is a Reader
// ([FromDataset]). Start runs it: HasNext, ReadNext and ReInit are Next and NextEpoch
// of the engine.
//
// # Order
//
// Paddle's threads take files from a list as they become free, and send what they read to one
// channel, so that the order of its samples is another one in each run. Here it is the same in
// each run: with n threads the i-th has files i, i+n, i+2n, …, which it reads one after
// another, and samples are taken from the threads in turn, one from each, without
// those that have ended. The threads read ahead all the same; one that is slow is
// waited for when it is its turn. With one thread the files come one
// after another, as with is_test in Paddle's later versions. There is no form without an
// order. Runs stop and resume at any sample, which Paddle's cannot.
//
// # What else differs
//
//   - A file's samples are checked with their columns' types and sizes; -1 is any size. Paddle
//     checks how many tensors there are, and how many axes each has.
//   - Shuffle keeps a buffer full and gives one of it at random. Paddle fills the
//     buffer, gives all of it, and fills it again. The random numbers are a function of
//     dataset.Options.Seed and the epoch.
//   - Batch stacks samples along a new axis; Paddle joins along the first axis that
//     samples have. Batches have no LoD: sequences of several lengths are padded by
//     dataset.BatchPadded, on the Reader's Dataset.
//   - MultiPass goes on where a pass is empty until all passes are done.
//   - ReadNext after the end is io.EOF, not an exception or an empty list.
//
// # Concurrency, lifetime and errors
//
// A Reader is immutable and may be started several times. A Run is used by one
// goroutine at a time; nothing is read before its first HasNext or ReadNext, but for what
// must be known of the files; Close ends all its goroutines and closes the files. A
// sample is valid until the next call of HasNext, ReadNext, ReInit or Close. Errors of a
// sample are a *dataset.SampleError around a *ShapeError or what the file's reader says; after
// one the run is over until ReInit, and its State tells where to go on.
package paddle

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/tensor"
)

// FileReader makes the source of a file of one format. It does not open it yet; the source's
// Open does. The source's columns must be known then, and are checked against those that
// are wanted. It may be called by several goroutines at once.
type FileReader func(path string) (dataset.Source, error)

// format is a registered FileReader.
type format struct {
	open  FileReader
	magic []string
}

var formats = struct {
	sync.RWMutex
	m map[string]format
}{m: map[string]format{}}

// RegisterFileReader adds a format: files whose name ends with "." and the tag, in
// capitals or not, and files whose name's ending is no tag that begin with one of
// the magic strings. It is called from init functions and panics on a tag that is taken or
// no ending of a name, which is a programming error. (Paddle:
// REGISTER_FILE_READER; it knows endings only.)
func RegisterFileReader(tag string, open FileReader, magic ...string) {
	formats.Lock()
	defer formats.Unlock()
	_, taken := formats.m[tag]
	if taken || tag == "" || tag != strings.ToLower(tag) || strings.ContainsAny(tag, `./\`) || open == nil || slices.Contains(magic, "") {
		panic(fmt.Sprintf("paddle: cannot register the format %q", tag))
	}
	formats.m[tag] = format{open, slices.Clone(magic)}
}

// FormatError is the error of a file whose format is not known.
type FormatError struct {
	File string
	Tag  string   // that was asked for, or the name's ending; may be empty
	Tags []string // that are registered
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("paddle: %s: no file reader is registered for %q, nor for the file's first bytes; there are %q", e.File, e.Tag, e.Tags)
}

// FormatOf is the tag of a file's format: its name's ending, or what its first
// bytes say. Its error is a *FormatError, or that of reading the file.
func FormatOf(path string) (string, error) {
	tag := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	formats.RLock()
	defer formats.RUnlock()
	if _, ok := formats.m[tag]; ok {
		return tag, nil
	}
	longest := 0
	for _, f := range formats.m {
		for _, m := range f.magic {
			longest = max(longest, len(m))
		}
	}
	if longest > 0 {
		head, err := firstBytes(path, longest)
		if err != nil {
			return "", fmt.Errorf("paddle: %w", err)
		}
		best, bestTag := 0, ""
		for t, f := range formats.m {
			for _, m := range f.magic {
				// The longest one; of equal ones, which two formats should not have, the first by name.
				if strings.HasPrefix(head, m) && (len(m) > best || len(m) == best && t < bestTag) {
					best, bestTag = len(m), t
				}
			}
		}
		if best > 0 {
			return bestTag, nil
		}
	}
	return "", unknown(path, tag)
}

// unknown is called with formats locked.
func unknown(path, tag string) error {
	e := &FormatError{File: path, Tag: tag}
	for t := range formats.m {
		e.Tags = append(e.Tags, t)
	}
	slices.Sort(e.Tags)
	return e
}

func firstBytes(path string, n int) (_ string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b := make([]byte, n)
	n, err = io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // a short file
	}
	return string(b[:n]), err
}

// ShapeError is the error of a file, or of a sample of it, that has not what was asked for.
type ShapeError struct {
	File   string
	Key    string      // of the sample; empty if it is the file that says so
	Column string      // its name
	Got    tensor.Desc // the zero Desc if there is no such column
	Want   tensor.Desc // the zero Desc if the column is not wanted
}

func (e *ShapeError) Error() string {
	at := e.File
	if e.Key != "" {
		at += ": " + e.Key
	}
	switch (tensor.Desc{}) {
	case e.Got:
		return fmt.Sprintf("paddle: %s: column %q: there is none in its place, want %v", at, e.Column, e.Want)
	case e.Want:
		return fmt.Sprintf("paddle: %s: column %q: got %v, want none", at, e.Column, e.Got)
	}
	return fmt.Sprintf("paddle: %s: column %q: got %v, want %v", at, e.Column, e.Got, e.Want)
}
