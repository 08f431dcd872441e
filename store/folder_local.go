package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// localFolder is a folder of the local disk.
type localFolder struct {
	root *os.Root
	name string // clean
	// prefix is what the names of the folder's files begin with.
	prefix string
}

// OpenFolder implements FolderOpener. Opening a folder follows links.
func (local) OpenFolder(_ context.Context, name string) (Folder, error) {
	dir, err := localPath(name)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		dir = "." // as in Join
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &localFolder{root: root, name: filepath.Clean(dir)}
	switch {
	case f.name == ".":
	case os.IsPathSeparator(f.name[len(f.name)-1]): // the root of a file system
		f.prefix = f.name
	default:
		f.prefix = f.name + string(filepath.Separator)
	}
	return f, nil
}

// rel returns the path from the folder to a file that is named as the store
// names it.
func (f *localFolder) rel(op, name string) (string, error) {
	p, err := localPath(name)
	if err != nil {
		return "", err
	}
	if rel, ok := strings.CutPrefix(p, f.prefix); ok && filepath.IsLocal(rel) {
		return rel, nil
	}
	// The name is spelled in another way, for example absolute.
	dir, err := filepath.Abs(f.name)
	if err == nil {
		if p, err = filepath.Abs(p); err == nil {
			p, err = filepath.Rel(dir, p)
		}
	}
	if err != nil || !filepath.IsLocal(p) {
		return "", outsideError(op, name, f.name)
	}
	return p, nil
}

// inRoot calls do with the path of a file that is named as the store names it.
func inRoot[T any](f *localFolder, op, name string, do func(rel string) (T, error)) (x T, err error) {
	rel, err := f.rel(op, name)
	if err != nil {
		return x, err
	}
	if x, err = do(rel); escapes(err) {
		// An os.Root refuses all absolute links, also one to a file inside.
		if r, ok := f.resolve(rel); ok {
			x, err = do(r)
		}
	}
	var pe *fs.PathError
	switch {
	case err == nil:
	case escapes(err):
		err = outsideError(op, name, f.name)
	case errors.As(err, &pe):
		err = &fs.PathError{Op: op, Path: name, Err: pe.Err}
	}
	return x, err
}

// escapes reports whether an error of an os.Root is that of a path that leads
// out of it. Package os does not export this error.
func escapes(err error) bool {
	var pe *fs.PathError
	return errors.As(err, &pe) && pe.Err.Error() == "path escapes from parent"
}

// resolve returns the path without links, if that is in the folder.
func (f *localFolder) resolve(rel string) (string, bool) {
	dir, err := filepath.EvalSymlinks(f.name)
	if err != nil {
		return "", false
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", false
	}
	to, err := filepath.EvalSymlinks(filepath.Join(f.name, rel))
	if err != nil {
		return "", false
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", false
	}
	rel, err = filepath.Rel(dir, to)
	return rel, err == nil && filepath.IsLocal(rel)
}

func (f *localFolder) Open(_ context.Context, name string) (File, error) {
	return inRoot(f, "open", name, func(rel string) (File, error) {
		file, i, err := openRegular(rel, f.root.Stat, func(rel string) (*os.File, error) { return f.root.OpenFile(rel, openFlags, 0) })
		if err != nil {
			return nil, err
		}
		return &localFile{File: file, size: i.Size()}, nil
	})
}

func (f *localFolder) Stat(_ context.Context, name string) (Info, error) {
	i, err := inRoot(f, "stat", name, f.root.Stat)
	if err != nil {
		return Info{}, err
	}
	return Info{Name: name, Size: i.Size(), Folder: i.IsDir(), Modified: i.ModTime()}, nil
}

func (f *localFolder) List(ctx context.Context, folder string) ([]Info, error) {
	names, err := f.ListNames(ctx, folder)
	if err != nil {
		return nil, err
	}
	var l []Info
	for _, e := range names {
		if e.Irregular {
			continue
		}
		i, err := f.Stat(ctx, e.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since ListNames
		}
		if err != nil {
			return nil, err
		}
		l = append(l, i)
	}
	return l, nil
}

func (f *localFolder) ListNames(ctx context.Context, folder string) ([]Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in, err := inRoot(f, "list", folder, func(rel string) ([]fs.DirEntry, error) {
		d, err := f.root.Open(rel)
		if err != nil {
			return nil, err
		}
		in, err := d.ReadDir(-1)
		return in, errors.Join(err, d.Close())
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(in, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries(Join(folder, ""), in, func(path string) (fs.FileInfo, error) {
		i, err := inRoot(f, "list", path, f.root.Stat)
		if errors.Is(err, ErrOutside) { // opening it is an error
			if path, err := localPath(path); err == nil {
				i, _ = os.Stat(path)
			}
		}
		return i, nil // nil for a dangling link
	})
}

func (f *localFolder) SameFile(_ context.Context, a, b string) (bool, error) {
	i, err := inRoot(f, "stat", a, f.root.Stat)
	if err != nil {
		return false, err
	}
	j, err := inRoot(f, "stat", b, f.root.Stat)
	return err == nil && os.SameFile(i, j), err
}

func (f *localFolder) Create(_ context.Context, name string) (NewFile, error) {
	return nil, notCreated(name)
}

func (f *localFolder) Close() error { return f.root.Close() }
