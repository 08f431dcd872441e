package mindrecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/infer-prep/infer-prep/store"
)

// source is the store that holds the files, and the context of opening them.
type source struct {
	ctx   context.Context
	store store.Opener
}

// disk is the source of files of the local disk.
var disk = source{context.Background(), store.Local}

// path returns a name as the source takes it: without file:// on the local
// disk.
func (s source) path(name string) (string, error) {
	if !store.IsLocal(s.store, name) {
		return name, nil
	}
	return path(name)
}

// exists returns an error unless a name is a file.
func (s source) exists(name string) error {
	i, err := s.store.Stat(s.ctx, name)
	if err == nil && i.Folder {
		err = errors.New("a folder, want a file")
	}
	if err != nil {
		return fmt.Errorf("mindrecord: %s: %w", store.Redact(name), err)
	}
	return nil
}

// onDisk returns the name of a file with the content of name that SQLite can
// open, and a function that removes any copy. It copies only files of stores
// other than the local disk, into a temporary file.
func (s source) onDisk(name string) (_ string, remove func() error, err error) {
	if store.IsLocal(s.store, name) {
		return name, func() error { return nil }, nil
	}
	in, err := s.store.Open(s.ctx, name)
	if err != nil {
		return "", nil, fmt.Errorf("mindrecord: %w", err)
	}
	out, err := os.CreateTemp("", "mindrecord-*.db")
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("mindrecord: %s: copy for SQLite: %w", store.Redact(name), err), in.Close())
	}
	if _, err = io.Copy(out, &reader{s.ctx, io.NewSectionReader(in, 0, in.Size())}); err != nil {
		err = fmt.Errorf("mindrecord: %s: copy for SQLite: %w", store.Redact(name), err)
	}
	if err = errors.Join(err, out.Close(), in.Close()); err != nil {
		return "", nil, errors.Join(err, os.Remove(out.Name()))
	}
	return out.Name(), func() error { return os.Remove(out.Name()) }, nil
}

// reader fails once its context is done.
type reader struct {
	ctx context.Context
	in  io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(b)
}

// OpenStore is [Open] for the files of a store. SQLite reads only files of the
// local disk. OpenStore copies each index from another store into a temporary
// file in os.TempDir and removes that file before it returns. ctx bounds
// OpenStore alone.
func OpenStore(ctx context.Context, o store.Opener, names []string, columns ...string) (*Set, error) {
	s, err := open(source{ctx, o}, names)
	if err != nil {
		return nil, err
	}
	if err := s.want(columns); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
