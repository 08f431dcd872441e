// Package newfile writes files completely or not at all: under a temporary name
// first, in a folder or in a store.
package newfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/store"
)

// File is a file to write.
type File struct {
	Path  string
	Write func(w io.Writer) error
}

// WriteAll writes all files or none: it writes temporary files and then renames
// them, in their order.
func WriteAll(files []File) error {
	var temps []string
	defer func() {
		for _, t := range temps {
			_ = os.Remove(t) // fails for files that were renamed
		}
	}()
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
			return fmt.Errorf("cannot write %w", paths.Error(f.Path, err))
		}
		temp, err := WriteTemp(filepath.Dir(f.Path), RunPrefix, f.Write)
		if err != nil {
			return fmt.Errorf("cannot write %w", paths.Error(f.Path, err))
		}
		temps = append(temps, temp)
	}
	for i, f := range files {
		if err := os.Rename(temps[i], f.Path); err != nil {
			for _, done := range files[:i] {
				_ = os.Remove(done.Path) // all files or none
			}
			return fmt.Errorf("cannot write %w", paths.Error(f.Path, err))
		}
	}
	return nil
}

// The parts of temporary names, which are short, so that long image names fit,
// and recognizable, so that the leftovers of a killed run are not taken for
// images. Those of run begin with RunPrefix, because a later run removes them.
const Prefix, RunPrefix, Suffix = ".infer-prep-", ".infer-prep-run-", ".tmp"

// IsTemp reports whether a path has a temporary name.
func IsTemp(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, Prefix) && strings.HasSuffix(name, Suffix)
}

// CreateTemp creates a file in dir. The user's umask sets its permissions.
func CreateTemp(dir, prefix string) (*os.File, error) {
	for {
		path := filepath.Join(dir, fmt.Sprintf("%s%08x%s", prefix, rand.Uint32(), Suffix))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// WriteTemp writes a new file in dir and returns its path. On an error it
// leaves no file.
func WriteTemp(dir, prefix string, write func(io.Writer) error) (path string, err error) {
	f, err := CreateTemp(dir, prefix)
	if err != nil {
		return "", err
	}
	path = f.Name()
	b := bufio.NewWriterSize(f, 1<<16)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(path)
		return "", err
	}
	return path, nil
}

// Write writes a file completely or leaves the old one. It keeps a symbolic
// link and writes to its target. It writes directly to something that is not a
// regular file, such as /dev/stdout. A URI is a file of a store.
func Write(ctx context.Context, path string, write func(io.Writer) error) error {
	if path = paths.TrimFile(path); paths.IsURI(path) {
		return Put(ctx, []File{{path, write}})
	}
	real := path
	if p, err := filepath.EvalSymlinks(path); err == nil {
		real = p
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() || strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) {
		return fmt.Errorf("%s: is a folder: want a regular file", path)
	}
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			err = errors.Join(write(f), f.Close())
		}
		return paths.Error(path, err)
	}
	temp, err := WriteTemp(filepath.Dir(real), Prefix, write)
	if err == nil {
		if err = os.Rename(temp, real); err != nil {
			_ = os.Remove(temp)
		}
	}
	return paths.Error(path, err)
}

// Put creates files in a store. They appear one after another once all of
// them are written; a file that cannot appear hides those after it.
func Put(ctx context.Context, files []File) (err error) {
	var open []*store.Writer
	defer func() {
		for _, w := range open {
			_ = w.Abort()
		}
	}()
	for _, f := range files {
		w, err := store.NewWriter(ctx, store.URI, f.Path)
		if err != nil {
			return fmt.Errorf("cannot write %w", paths.Error(f.Path, err))
		}
		open = append(open, w)
		if err := f.Write(w); err != nil {
			return fmt.Errorf("cannot write %w", paths.Error(f.Path, err))
		}
	}
	for i, f := range files {
		if err := open[i].Close(); err != nil {
			return fmt.Errorf("cannot write %w", paths.Error(f.Path, err))
		}
	}
	return nil
}
