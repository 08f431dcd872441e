package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/store"
)

// Format is a record format. Packages register one for each format they
// implement.
type Format struct {
	Name string // as on the command line: "recordio"
	Doc  string // one line
	// Match reports whether a file is of this format, by its name and its first
	// bytes, at most 512. With a nil head it decides by the name alone.
	Match func(name string, head []byte) bool
	// Refines is the name of a more general format, or empty. A file that
	// matches both is of this one.
	Refines string
	// Open opens the files of a list, in its order. Names may be patterns that
	// the format knows. Nil if the format cannot be read.
	Open func(ctx context.Context, o store.Opener, files []string, options ReadOptions) (Reader, error)
	// Stream reads in from its beginning, without seeking. name is for records
	// and errors. The caller closes in after the reader. Nil if the format
	// needs files.
	Stream func(in io.Reader, name string, options ReadOptions) (Reader, error)
	// Create creates a file, or several if the format has patterns for names.
	// Nil if the format cannot be written.
	Create func(ctx context.Context, o store.Opener, name string, options WriteOptions) (Writer, error)
	// Index writes the index beside each file of a list, and returns the names
	// of the files that it wrote. Nil if the format has no index.
	Index func(ctx context.Context, o store.Opener, files []string, options IndexOptions) ([]string, error)
	// Verify reads the files of a list and compares them with the files beside
	// them (an index, checksums). It returns a phrase for each of these: its
	// name and, in brackets, what of it could not be compared. It calls bad for
	// each difference; err is any other error. Nil if the format has no such
	// files.
	Verify func(ctx context.Context, o store.Opener, files []string, options ReadOptions, bad func(error)) (beside []string, err error)
}

// Register adds a format, usually from an init function. It panics if the name
// is taken.
func Register(f Format) { formats.Add(f.Name, f) }

// Formats returns the registered formats, sorted by name.
func Formats() []Format { return slices.Clone(formats.All()) }

// Names returns the names of the registered formats, sorted.
func Names() []string { return slices.Clone(formats.Names()) }

// Lookup returns the format with a name. The error of an unknown name matches
// ErrUnknown and suggests the closest known one.
func Lookup(name string) (Format, error) {
	f, err := formats.Lookup(name)
	if err != nil {
		return Format{}, fmt.Errorf("records: %w", err)
	}
	return f, nil
}

// HeadSize is the number of a file's first bytes that decide its format.
const HeadSize = 512

// Detect returns the format of a file, by its name and its first bytes. If the
// file does not exist, for example because the name is a pattern, it decides by
// the name. A file that matches no format, or several, is an ErrUnknown.
func Detect(ctx context.Context, o store.Opener, name string) (Format, error) {
	var head []byte
	f, err := o.Open(ctx, name)
	switch {
	case err == nil:
		head = make([]byte, min(HeadSize, f.Size()))
		n, err := f.ReadAt(head, 0)
		if err == io.EOF && n == len(head) {
			err = nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return Format{}, fmt.Errorf("records: %s: %w", store.Redact(name), err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return Format{}, err
	}
	x, unknown := DetectHead(name, head)
	if unknown != nil && err != nil { // the missing file explains more
		return Format{}, err
	}
	return x, unknown
}

// DetectByName returns the format of files with a name like this.
func DetectByName(name string) (Format, error) { return DetectHead(name, nil) }

// DetectHead returns the format of a file by its name and head, its first
// HeadSize bytes, or all if it has fewer. Without bytes it decides by the name
// alone.
func DetectHead(name string, head []byte) (Format, error) {
	var all []Format
	for _, f := range formats.All() {
		if f.Match != nil && f.Match(store.Path(name), head) {
			all = append(all, f)
		}
	}
	l := slices.DeleteFunc(slices.Clone(all), func(f Format) bool {
		return slices.ContainsFunc(all, func(g Format) bool { return g.Refines == f.Name })
	})
	switch len(l) {
	case 0:
		return Format{}, fmt.Errorf("records: %s: %w: want one of %s", store.Redact(name), ErrUnknown, strings.Join(formats.Names(), ", "))
	case 1:
		return l[0], nil
	}
	var names []string
	for _, f := range l {
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("records: %s: %w: matches %s", store.Redact(name), ErrUnknown, strings.Join(names, " and "))
}
