package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/internal/mapfile"
	"github.com/infer-prep/infer-prep/internal/sorts"
)

// Local is the store of the local disk. Names are paths, with or without
// file:// in front; a name with another scheme is an error. Its files are
// memory-mapped where the system can do so: a program that shortens a mapped
// file makes its readers fault.
var Local Opener = local{}

type local struct{}

func localPath(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		return filepath.FromSlash(rest), nil
	}
	if scheme, _, ok := strings.Cut(name, "://"); ok {
		return "", fmt.Errorf("store: %s: no store for %s:// here: want a path or file://", Redact(name), scheme)
	}
	return name, nil
}

func (local) Open(_ context.Context, name string) (File, error) {
	path, err := localPath(name)
	if err != nil {
		return nil, err
	}
	f, i, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	return &localFile{File: f, size: i.Size()}, nil
}

// localFile maps the file at the first call of Bytes: mapping and unmapping a
// small file takes longer than to read it.
type localFile struct {
	*os.File
	size   int64
	once   sync.Once
	mapped []byte
}

func (f *localFile) Size() int64 { return f.size }

func (f *localFile) Bytes() []byte {
	f.once.Do(func() { f.mapped = mapfile.Map(f.File, f.size) })
	return f.mapped
}

func (f *localFile) Close() error {
	f.once.Do(func() {}) // Bytes maps nothing from now on
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
	return Info{Name: name, Size: i.Size(), Folder: i.IsDir(), Modified: i.ModTime()}, nil
}

func (local) List(_ context.Context, folder string) ([]Info, error) {
	path, err := localPath(folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var l []Info
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		i, err := os.Stat(name) // follows links
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since ReadDir, or a dangling link
		}
		if err != nil {
			return nil, err
		}
		if i.IsDir() || i.Mode().IsRegular() {
			l = append(l, Info{Name: name, Size: i.Size(), Folder: i.IsDir(), Modified: i.ModTime()})
		}
	}
	sorts.Func(l, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
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

// CreateTemp creates a temporary file beside path, to be renamed to path when
// complete. It refuses to replace anything but a regular file.
func CreateTemp(path string) (*os.File, error) {
	if i, err := os.Stat(path); err == nil {
		if err := regular("create", path, i); err != nil {
			return nil, err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp*")
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		pe.Path = path // the user knows this name, not the temporary one
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
