package table

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/dataset/internal/files"
	"github.com/infer-prep/infer-prep/store"
)

// Images opens the files of images that tables keep as paths. A relative path
// is one in the folder of the table's file. A path that leaves this folder is
// store.ErrOutside, unless the store allows it. It is safe for concurrent use.
type Images struct {
	store store.Opener

	mu      sync.Mutex
	folders map[string]store.Folder
}

// NewImages returns an Images that opens folders through a store.
func NewImages(o store.Opener) *Images {
	return &Images{store: o, folders: map[string]store.Folder{}}
}

// find returns the folder of a table's file, and the name of an image.
func (x *Images) find(ctx context.Context, table string, path []byte) (store.Folder, string, error) {
	name, dir := string(path), store.Dir(table)
	if name == "" {
		return nil, "", fmt.Errorf("%w: an image without bytes and with an empty path", dataset.ErrData)
	}
	if !store.IsAbs(name) {
		name = store.Join(dir, name)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	f := x.folders[dir]
	if f == nil {
		var err error
		if f, err = files.OpenFolder(ctx, x.store, dir); err != nil {
			return nil, "", err
		}
		x.folders[dir] = f
	}
	return f, name, nil
}

// Read makes v the bytes of an image.
func (x *Images) Read(ctx context.Context, table string, path []byte, v *dataset.Value) error {
	f, name, err := x.find(ctx, table, path)
	if err != nil {
		return err
	}
	return files.Read(ctx, f, v, name)
}

// Stamp appends the name, the size and the time of an image's file.
func (x *Images) Stamp(ctx context.Context, table string, path []byte, b []byte) ([]byte, error) {
	f, name, err := x.find(ctx, table, path)
	if err != nil {
		return nil, err
	}
	return files.Stamp(ctx, f, b, name)
}

// Close closes the folders.
func (x *Images) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	for _, f := range x.folders {
		errs = append(errs, f.Close())
	}
	clear(x.folders)
	return errors.Join(errs...)
}
