package recordio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/infer-prep/infer-prep/internal/mapfile"
)

// Opener is where files are: a disk (Local), or a store beyond it.
type Opener interface {
	// Open opens a file for reading. What is not there is fs.ErrNotExist.
	Open(ctx context.Context, name string) (File, error)
	// Stat tells of a file or a folder.
	Stat(ctx context.Context, name string) (Info, error)
	// List tells of what is in a folder, sorted by name; not of what is in folders below.
	List(ctx context.Context, folder string) ([]Info, error)
	// Create makes a file, or replaces one: nothing of it is seen under its name
	// before Close, and nothing at all if Abort is called instead.
	Create(ctx context.Context, name string) (NewFile, error)
}

// File is an open file. It may be read by several goroutines.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Mapped is a File in memory.
type Mapped interface {
	// Bytes is all of the file, valid until Close; nil if it is not in memory.
	Bytes() []byte
}

// Bytes is all of a file that is Mapped; nil if it is not in memory.
func Bytes(f File) []byte {
	if m, ok := f.(Mapped); ok {
		if b := m.Bytes(); int64(len(b)) == f.Size() {
			return b
		}
	}
	return nil
}

// NewFile is a file that is being written.
type NewFile interface {
	io.Writer
	// Close puts the file under its name.
	Close() error
	// Abort drops it. After Close it does nothing.
	Abort() error
}

// Info tells of a file or folder.
type Info struct {
	Name   string // with which Open opens it
	Size   int64
	Folder bool
	// Modified is when it was last; zero if that is not known.
	Modified time.Time
}

// WriteFile makes a file of b, or leaves nothing.
func WriteFile(ctx context.Context, o Opener, name string, b []byte) error {
	f, err := o.Create(ctx, name)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Close()
}

// Local is the machine's own files. Names may begin with file://.
var Local Opener = local{}

type local struct{}

func localPath(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		return filepath.FromSlash(rest), nil
	}
	if scheme, _, ok := strings.Cut(name, "://"); ok {
		return "", fmt.Errorf("recordio: %s: no store for %s:// is linked", name, scheme)
	}
	return name, nil
}

func (local) Open(_ context.Context, name string) (File, error) {
	path, err := localPath(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	i, err := f.Stat()
	if err == nil && i.IsDir() {
		err = fmt.Errorf("recordio: %s: a folder, want a file", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &localFile{File: f, size: i.Size(), mapped: mapfile.Map(f, i.Size())}, nil
}

// localFile is mapped where that is possible. A file that is shortened while it is
// in use is then a fault of memory, as with every mapping.
type localFile struct {
	*os.File
	size   int64
	mapped []byte
}

func (f *localFile) Size() int64 { return f.size }

func (f *localFile) Bytes() []byte { return f.mapped }

func (f *localFile) Close() error {
	err := mapfile.Unmap(f.mapped)
	f.mapped = nil
	return errors.Join(err, f.File.Close())
}

func (local) Stat(_ context.Context, name string) (Info, error) {
	path, err := localPath(name)
	if err != nil {
		return Info{}, err
	}
	i, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return Info{name, i.Size(), i.IsDir(), i.ModTime()}, nil
}

func (local) List(_ context.Context, folder string) ([]Info, error) {
	path, err := localPath(folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path) // sorted
	if err != nil {
		return nil, err
	}
	var l []Info
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		i, err := os.Stat(name) // through links
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went away, or a link leads nowhere
		}
		if err != nil {
			return nil, err
		}
		if i.IsDir() || i.Mode().IsRegular() {
			l = append(l, Info{name, i.Size(), i.IsDir(), i.ModTime()})
		}
	}
	slices.SortFunc(l, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return l, nil
}

func (local) Create(_ context.Context, name string) (NewFile, error) {
	path, err := localPath(name)
	if err != nil {
		return nil, err
	}
	f, err := CreateTemp(path)
	if err != nil {
		return nil, err
	}
	return &newFile{File: f, path: path}, nil
}

// CreateTemp makes a file in the folder of path, which is to be renamed to it when it is whole. What is no
// file must not be replaced so: a folder, or a device.
func CreateTemp(path string) (*os.File, error) {
	if i, err := os.Stat(path); err == nil && !i.Mode().IsRegular() {
		what := "a device or the like, want the name of a file"
		if i.IsDir() {
			what = "a folder, want the name of a file"
		}
		return nil, &fs.PathError{Op: "create", Path: path, Err: errors.New(what)}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp*")
	var pe *fs.PathError
	if errors.As(err, &pe) {
		pe.Path = path // the other name says nothing
	}
	return f, err
}

type newFile struct {
	*os.File
	path string
	done bool
}

func (f *newFile) Close() error {
	if f.done {
		return nil
	}
	err := errors.Join(f.Chmod(0o644), f.Sync(), f.File.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	f.done = true
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (f *newFile) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	return errors.Join(f.File.Close(), os.Remove(f.Name()))
}
