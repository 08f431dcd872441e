package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/infer-prep/infer-prep/internal/lazyregexp"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Concat reads several files as one Reader. It calls open for each file when
// its turn comes, and for the first one at once.
func Concat(ctx context.Context, files []string, open func(name string) (Reader, error)) (Reader, error) {
	c := &concat{ctx: ctx, files: files, open: open}
	if len(files) > 0 { // an error of the first file is an error of Open
		if c.err = c.next(); c.err != nil {
			return nil, c.err
		}
	}
	return c, nil
}

type concat struct {
	ctx   context.Context
	files []string // not yet opened
	open  func(name string) (Reader, error)
	r     Reader
	err   error
}

func (c *concat) next() (err error) {
	c.r, err = c.open(c.files[0])
	c.files = c.files[1:]
	if err != nil {
		c.r = nil
	}
	return err
}

func (c *concat) Next(r *Record) error {
	for c.err == nil {
		if c.err = c.ctx.Err(); c.err != nil {
			break
		}
		if c.r != nil {
			err := c.r.Next(r)
			if err != io.EOF {
				c.err = err
				return err
			}
			c.err = c.r.Close()
			c.r = nil
			continue
		}
		if len(c.files) == 0 {
			c.err = io.EOF
			break
		}
		c.err = c.next()
	}
	return c.err
}

func (c *concat) Close() error {
	if c.err == nil {
		c.err = errors.New("records: the reader is closed")
	}
	if c.r == nil {
		return nil
	}
	r := c.r
	c.r = nil
	return r.Close()
}

// CheckFiles returns an error that wraps fs.ErrNotExist if the list is empty.
func CheckFiles(format string, files []string) error {
	if len(files) == 0 {
		return fmt.Errorf("%s: no files: want at least one name: %w", format, fs.ErrNotExist)
	}
	return nil
}

// pattern matches a place for a file's number, as in data-%05d.tar.
var pattern = lazyregexp.New(`%[0-9]*d`)

// CheckName returns an ErrOption if the name is a pattern such as
// data-%05d.rec. Formats without patterns call it.
func CheckName(format, name string) error {
	if p := pattern().FindString(path.Base(filepath.ToSlash(name))); p != "" {
		return fmt.Errorf("%s: %s: %w: a name with the place %s for a number: the format has no numbered files, want a name without it", format, store.Redact(name), ErrOption, p)
	}
	return nil
}

// CheckSingleFile returns an ErrOption if the options or the name ask for
// several files, or for an index although indexed is false. Formats that write
// one file call it.
func (o WriteOptions) CheckSingleFile(format, name string, indexed bool) error {
	if err := CheckName(format, name); err != nil {
		return err
	}
	if o.Count != 0 || o.Size != 0 {
		return fmt.Errorf("%s: %s: %w: a number of records or bytes for each file: the format writes one file", format, store.Redact(name), ErrOption)
	}
	if o.Index && !indexed {
		return fmt.Errorf("%s: %s: %w: an index", format, store.Redact(name), ErrOption)
	}
	return nil
}

// Notes calls a function once for each different note.
type Notes struct {
	OnNote func(string) // may be nil
	seen   map[string]bool
}

// Addf formats a note and passes it on unless it was added before.
func (n *Notes) Addf(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if n.OnNote == nil || n.seen[s] {
		return
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[s] = true
	n.OnNote(s)
}

// RawBytes returns the value of a record's only field, bytes called data.
// Formats of plain bytes hold no other records: they are a FieldError.
func RawBytes(format string, r *Record) ([]byte, error) {
	for _, f := range r.Fields {
		switch {
		case f.Name != "data":
			return nil, r.FieldErrorf(format, f.Name, "want one field, data (drop this one, or rename it)")
		case f.Value.DType != tensor.Bytes:
			return nil, r.FieldErrorf(format, f.Name, "%v, want bytes", f.Value.Desc)
		}
	}
	if len(r.Fields) != 1 {
		return nil, r.FieldErrorf(format, "", "%d fields data, want one", len(r.Fields))
	}
	return r.Fields[0].Value.Data, nil
}
