package dataset

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/infer-prep/infer-prep/store"
)

// Stamped is Rows that read files after Open, such as one file for each row. A
// FileCache compares stamps, so that it never returns a sample of a file that
// has changed since. Files that Open opens or looks up through its store need
// no stamp: the FileCache compares their sizes and modification times itself.
// Stamp must be safe for concurrent use.
type Stamped interface {
	Rows
	// Stamp appends to b what row i depends on: its key, what else Open read
	// for it from the names of files (a label), and the size and modification
	// time of every file that Read opens. It opens no file. If Stamp fails, the
	// sample is read without the cache.
	Stamp(ctx context.Context, i int64, b []byte) ([]byte, error)
}

// stampFunc appends the stamps of the rows that a place depends on. One
// goroutine uses it.
type stampFunc func(ctx context.Context, epoch uint64, pos int64, b []byte) ([]byte, error)

// stamps returns the stampFunc of an indexed step. It follows the order of
// openIndexed.
func (b *Built) stamps(s *step) stampFunc {
	if s.data != nil {
		rows, ok := s.data.(Stamped)
		return func(ctx context.Context, _ uint64, pos int64, b []byte) ([]byte, error) {
			if !ok {
				return b, nil
			}
			return rows.Stamp(ctx, pos, b)
		}
	}
	var in []stampFunc
	for _, x := range s.in {
		in = append(in, b.stamps(x))
	}
	if r, ok := s.node.(router); ok {
		locate := r.locator(b, s)
		return func(ctx context.Context, epoch uint64, pos int64, b []byte) ([]byte, error) {
			i, epoch, pos := locate(epoch, pos)
			return in[i](ctx, epoch, pos, b)
		}
	}
	return func(ctx context.Context, epoch uint64, pos int64, b []byte) (_ []byte, err error) {
		for _, f := range in { // several for a Zip
			if b, err = f(ctx, epoch, pos, b); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
}

// lookups is a store that notes the files that a source opens or looks up,
// until digest is called.
type lookups struct {
	store.Opener
	notes *notes
}

type notes struct {
	mu    sync.Mutex
	files map[string]string // size and modification time by name; nil after digest
}

// Unwrap returns the store below, for sources that need files of the local
// disk.
func (l *lookups) Unwrap() store.Opener { return l.Opener }

func (l *lookups) Open(ctx context.Context, name string) (store.File, error) {
	l.notes.mu.Lock()
	noting := l.notes.files != nil
	l.notes.mu.Unlock()
	if noting {
		_, _ = l.Stat(ctx, name) // before Open: a change in between is noticed later
	}
	return l.Opener.Open(ctx, name)
}

func (l *lookups) Stat(ctx context.Context, name string) (store.Info, error) {
	i, err := l.Opener.Stat(ctx, name)
	l.notes.mu.Lock()
	defer l.notes.mu.Unlock()
	if err == nil && !i.Folder && l.notes.files != nil {
		l.notes.files[name] = fmt.Sprint(i.Size, i.Modified.UnixNano())
	}
	return i, err
}

// ListNames implements store.NameLister.
func (l *lookups) ListNames(ctx context.Context, folder string) ([]store.Entry, error) {
	return store.ListNames(ctx, l.Opener, folder)
}

// SameFile implements store.NameLister.
func (l *lookups) SameFile(ctx context.Context, a, b string) (bool, error) {
	return store.SameFile(ctx, l.Opener, a, b)
}

// OpenFolder implements store.FolderOpener: files of the folder are noted too.
func (l *lookups) OpenFolder(ctx context.Context, name string) (store.Folder, error) {
	f, err := store.OpenFolder(ctx, l.Opener, name)
	if err != nil {
		return nil, err
	}
	return &folderLookups{lookups{f, l.notes}, f}, nil
}

// folderLookups is a folder of lookups.
type folderLookups struct {
	lookups
	io.Closer
}

// digest returns a digest of the files and ends the noting.
func (n *notes) digest() (sum [32]byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(n.files)) {
		fmt.Fprintf(h, "%q %s\n", name, n.files[name])
	}
	n.files = nil
	return [32]byte(h.Sum(nil))
}
