package mindrecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/infer-prep/infer-prep/store"
)

// upload copies the files of a Writer to a store.
type upload struct {
	ctx   context.Context
	store store.Opener
	name  string // of the set in the store
	dir   string // the temporary folder with the set
}

// CreateStore is [Create] for the files of a store. ctx bounds the writer until
// Close returns.
//
// The header of a data file is written last, and a store writes files from
// their beginning. For another store than the local disk the writer therefore
// keeps the set in a temporary folder below os.TempDir, which needs room for
// all of it. Close copies the files to the store, and Close and Abort remove
// the folder. A program that is killed leaves it.
//
// Each file appears in the store when it is complete: first all data files,
// then all indexes. A reader needs the index of each data file, so it cannot
// open a set before the last file is there. Indexes of the same names that
// several files replace are first made empty: otherwise an old index could fit
// a new data file beside old ones. After a failed Close the store may have some
// of the files. Reading them is an error; a new set of the name replaces them.
func CreateStore(ctx context.Context, o store.Opener, name string, schema Schema, options WriterOptions) (*Writer, error) {
	if store.IsLocal(o, name) {
		return Create(name, schema, options)
	}
	u := &upload{ctx: ctx, store: o, name: name}
	if err := u.check(options.Rows > 0); err != nil {
		return nil, err
	}
	return u.begin(schema, options)
}

// begin returns a writer of files in a temporary folder.
func (u *upload) begin(schema Schema, options WriterOptions) (w *Writer, err error) {
	if u.dir, err = os.MkdirTemp("", "mindrecord-*"); err != nil {
		return nil, fmt.Errorf("mindrecord: %s: %w", store.Redact(u.name), err)
	}
	if w, err = Create(filepath.Join(u.dir, store.Base(u.name)), schema, options); err != nil {
		return nil, errors.Join(err, os.RemoveAll(u.dir))
	}
	w.upload = u
	return w, nil
}

// check creates the files and discards them, so that a store that cannot be
// written, or a file that must not be replaced, is an error before the work.
func (u *upload) check(several bool) error {
	names := []string{u.name}
	if several {
		names = append(names, store.Beside(u.name, "", "0"))
	}
	for _, name := range names {
		for _, n := range []string{name, indexName(name)} {
			f, err := u.store.Create(u.ctx, n)
			if err == nil {
				err = f.Abort()
			}
			if err != nil {
				return fmt.Errorf("mindrecord: %w", err)
			}
		}
	}
	return nil
}

// send copies n data files and their indexes.
func (u *upload) send(n int) error {
	local := filepath.Join(u.dir, store.Base(u.name))
	for i := range n {
		if n == 1 {
			break // an old index that fits the new data is right
		}
		index := indexName(store.Beside(u.name, "", number(i, n)))
		info, err := u.store.Stat(u.ctx, index)
		if err == nil && info.Size > 0 {
			err = store.WriteFile(u.ctx, u.store, index, nil)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("mindrecord: %w", err)
		}
	}
	for _, file := range []func(string) string{func(name string) string { return name }, indexName} {
		for i := range n {
			from, to := file(local+number(i, n)), file(store.Beside(u.name, "", number(i, n)))
			if err := u.copy(from, to); err != nil {
				return fmt.Errorf("mindrecord: %s: %w", store.Redact(to), err)
			}
		}
	}
	return nil
}

// copy copies a file of the local disk to the store.
func (u *upload) copy(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := u.store.Create(u.ctx, to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, &reader{u.ctx, in}); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Close()
}
