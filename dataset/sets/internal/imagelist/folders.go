package imagelist

import (
	"context"
	"fmt"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

// Folders returns the names of the folders directly in one, sorted.
func (l *List) Folders(ctx context.Context, name string) ([]string, error) {
	return l.list(ctx, name, func(e store.Entry) bool { return e.Folder })
}

// FilesIn returns the names of what is directly in a folder and no folder,
// sorted.
func (l *List) FilesIn(ctx context.Context, name string) ([]string, error) {
	return l.list(ctx, name, func(e store.Entry) bool { return !e.Folder })
}

func (l *List) list(ctx context.Context, name string, want func(store.Entry) bool) (names []string, err error) {
	entries, err := l.Folder.ListNames(ctx, store.Join(l.Dir, name))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if want(e) {
			names = append(names, e.Base)
		}
	}
	if len(names) > MaxRows {
		return nil, fmt.Errorf("%w: %s has %d entries, want at most %d", dataset.ErrData, store.Redact(store.Join(l.Dir, name)), len(names), MaxRows)
	}
	return names, nil
}
