// Package textfile is the dataset of the lines of text files.
package textfile

import (
	"bytes"
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/dataset/internal/lines"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// TextFile is the lines of text files that are not empty. A line ends with a
// line feed, which is not part of it; a carriage return before it is, so that
// an empty line of a DOS file is one of a carriage return. Bytes are as
// they are: a byte order mark belongs to the first line, and nothing must be UTF-8.
//
// Column: text (bytes: the line).
//
// Open reads all files once and keeps them open, with 8 bytes of memory for each
// line. Lines are read from the files; a line has at most 1 GiB. The Key is
// the file and the line's offset in it, "train.txt@1234".
//
// Reference: MindSpore 2.10.0's TextFileDataset without shuffling, one worker: the same lines in the same order. It
// refuses lines that are not UTF-8, and takes the name of a file with
// brackets for a pattern even if that file exists.
type TextFile struct {
	// Files are names and patterns of files. The files are sorted by name, byte by
	// byte; one that is named twice is read twice. In patterns, * and ? are any
	// bytes and any byte of a name (but no dot at its beginning), [a-c] and [!a-c] sets of them,
	// and ** is any number of folders.
	Files []string `json:"files"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "text_file", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the lines of text files",
	})
}

// New makes the source of files and patterns of files.
func New(files ...string) *TextFile { return &TextFile{Files: append([]string{}, files...)} }

// Validate wants a file.
func (o *TextFile) Validate() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("%w: no files", dataset.ErrParam)
	}
	return nil
}

// Open indexes the files.
func (o *TextFile) Open(context.Context, store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("textfile: %w", err)
	}
	names, err := lines.Expand(o.Files)
	if err != nil {
		return nil, fmt.Errorf("textfile: %w", err)
	}
	x, err := lines.Open(names, &splitter{})
	if err != nil {
		return nil, fmt.Errorf("textfile: %w", err)
	}
	if x.Len() == 0 {
		x.Close()
		return nil, fmt.Errorf("textfile: %w: no line in %d files, the first is %s", dataset.ErrData, len(names), names[0])
	}
	return rows{x}, nil
}

// splitter finds lines that are not empty.
type splitter struct{ within bool }

func (s *splitter) Reset() { s.within = false }

func (s *splitter) Split(starts []int64, b []byte, at int64) []int64 {
	for i := 0; i < len(b); {
		if !s.within && b[i] != '\n' {
			starts = append(starts, at+int64(i))
		}
		n := bytes.IndexByte(b[i:], '\n')
		if s.within = n < 0; s.within {
			break
		}
		i += n + 1
	}
	return starts
}

type rows struct{ *lines.Index }

func (d rows) Columns() []dataset.Column {
	return []dataset.Column{{Name: "text", Desc: tensor.Encoded()}}
}

func (d rows) Read(_ context.Context, i int64, s *dataset.Sample) error {
	if err := files.Index(i, d.Len()); err != nil {
		return err
	}
	file, at, n := d.Span(i)
	s.Key = d.Key(file, at)
	v := &s.Values[0]
	for have := lines.Grow(0, n); have > 0; have = lines.Grow(have, n) {
		b := v.Bytes(have)
		if err := d.Index.Read(b, file, at); err != nil {
			return fmt.Errorf("textfile: %w", err)
		}
		// Empty lines may follow, and the last line may have no end.
		if k := bytes.IndexByte(b, '\n'); k >= 0 {
			v.Data = b[:k]
			return nil
		}
		if have > lines.Limit {
			return fmt.Errorf("textfile: %w", d.Errorf(file, at, "a line of more than %d bytes", lines.Limit))
		}
	}
	return nil
}
