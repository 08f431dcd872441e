package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/infer-prep/infer-prep/tensor"
)

// Concat reads files one after another as one Reader: open opens the reader of a file.
func Concat(ctx context.Context, files []string, open func(name string) (Reader, error)) (Reader, error) {
	c := &concat{ctx: ctx, files: files, open: open}
	// The first one now, so that what is wrong with it is the error of Open.
	if len(files) > 0 {
		if c.err = c.next(); c.err != nil {
			return nil, c.err
		}
	}
	return c, nil
}

type concat struct {
	ctx   context.Context
	files []string // that are not open yet
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
		c.err = errors.New("records: closed")
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

// ErrOption is an option that a format does not have.
var ErrOption = errors.New("option that the format does not have")

// OneFile refuses the options of formats that are written into several files, and unless
// indexed is true an index.
func (o WriteOptions) OneFile(format, name string, indexed bool) error {
	if o.Count != 0 || o.Size != 0 {
		return fmt.Errorf("%s: %s: %w: a number of records or bytes for each file, it is written into one", format, name, ErrOption)
	}
	if o.Index && !indexed {
		return fmt.Errorf("%s: %s: %w: an index", format, name, ErrOption)
	}
	return nil
}

// Notes tells each note to a function once. The function may be nil.
type Notes struct {
	To   func(string)
	told map[string]bool
}

// Tell tells a note, if it was not told before.
func (n *Notes) Tell(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if n.To == nil || n.told[s] {
		return
	}
	if n.told == nil {
		n.told = map[string]bool{}
	}
	n.told[s] = true
	n.To(s)
}

// OnlyBytes is the value of a record whose one field is bytes called data, which is all
// that a format of plain records holds.
func OnlyBytes(format string, r *Record) ([]byte, error) {
	for _, f := range r.Fields {
		switch {
		case f.Name != "data":
			return nil, r.Misfit(format, f.Name, "want one field, data (drop this one, or rename it)")
		case f.Value.DType != tensor.Bytes:
			return nil, r.Misfit(format, f.Name, "%v, want bytes", f.Value.Desc)
		}
	}
	if len(r.Fields) != 1 {
		return nil, r.Misfit(format, "", "%d fields data, want one", len(r.Fields))
	}
	return r.Fields[0].Value.Data, nil
}
