// Package textfile reads the lines of text files. Column: text. Reference:
// MindSpore's TextFileDataset.
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

// TextFile reads the lines of text files, without empty lines. A line ends
// before a line feed. A carriage return belongs to the line, so an empty line
// of a DOS file has one byte. Bytes are unchanged: a byte order mark belongs to
// the first line, and text need not be UTF-8.
//
// Column: text (bytes: the line).
//
// Open reads all files once to build an index of 8 bytes per line, and keeps
// them open. A line has at most 1 GiB. The Key is the file and the line's
// offset in it, "train.txt@1234".
//
// Reference: MindSpore 2.10.0's TextFileDataset without shuffling, with one
// worker, has the same lines in the same order. It refuses lines that are not
// UTF-8, and treats a name with brackets as a pattern even if that file exists.
type TextFile struct {
	// Files are names and patterns of files. The files are sorted by name, byte
	// by byte; a file that is named twice is read twice. In patterns, * matches
	// any bytes of a name and ? one byte; neither matches a leading dot. [a-c]
	// and [!a-c] are sets, and ** matches any number of folders. A semicolon
	// separates two names or patterns.
	Files []string `json:"files"`
}

func init() {
	dataset.Register(dataset.Info{
		Name: "text_file", Version: 1, New: func() dataset.Node { return New() },
		Doc: "the lines of text files",
	})
}

// New returns a source of files and patterns of files.
func New(files ...string) *TextFile { return &TextFile{Files: append([]string{}, files...)} }

// Validate requires at least one file.
func (o *TextFile) Validate() error {
	if len(o.Files) == 0 {
		return fmt.Errorf("%w: no files, want 1 or more", dataset.ErrParam)
	}
	return nil
}

// Open indexes the files.
func (o *TextFile) Open(ctx context.Context, files store.Opener) (dataset.Data, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("textfile: %w", err)
	}
	names, err := lines.Expand(ctx, files, o.Files)
	if err != nil {
		return nil, fmt.Errorf("textfile: %w", err)
	}
	x, err := lines.Open(ctx, files, names, &splitter{}, false)
	if err != nil {
		return nil, fmt.Errorf("textfile: %w", err)
	}
	if x.Len() == 0 {
		x.Close()
		return nil, fmt.Errorf("textfile: %w: no line in %d files, the first is %s", dataset.ErrData, len(names), store.Redact(names[0]))
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

func (d rows) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if err := files.Check(ctx, i, d.Len()); err != nil {
		return err
	}
	file, at, n := d.Span(i)
	s.Key = d.Key(file, at)
	v := s.Column("text")
	for have := lines.Grow(0, n); have > 0; have = lines.Grow(have, n) {
		b := v.Bytes(have)
		if err := d.Index.Read(b, file, at); err != nil {
			return fmt.Errorf("textfile: %w", err)
		}
		// Empty lines may follow, and the last line may lack its end.
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
