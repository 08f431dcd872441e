package job

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/store"
)

// runStore creates files in a folder, with the temporary files of run.
type runStore struct {
	store.Opener
	dir string
}

func (s runStore) Create(ctx context.Context, name string) (store.NewFile, error) {
	if paths.IsURI(s.dir) {
		return s.Opener.Create(ctx, paths.Join(s.dir, name))
	}
	f, err := newfile.CreateTemp(s.dir, newfile.RunPrefix)
	if err != nil {
		return nil, err
	}
	return &tempFile{File: f, path: filepath.Join(s.dir, name)}, nil
}

// tempFile is a file that appears under its name when it is closed.
type tempFile struct {
	*os.File
	path string
	done bool
}

func (f *tempFile) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	err := f.File.Close()
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (f *tempFile) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	return errors.Join(f.File.Close(), os.Remove(f.Name()))
}
