package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// schemes holds the registered stores, by scheme.
var schemes = struct {
	sync.Mutex
	open map[string]func() (Opener, error)
}{open: map[string]func() (Opener, error){}}

// Register adds the store of a URI scheme, such as "s3", to [URI]. Packages of
// stores call it in init. URI calls open when it first meets the scheme, and
// again only after an error. A second registration of a scheme is a panic.
func Register(scheme string, open func() (Opener, error)) {
	schemes.Lock()
	defer schemes.Unlock()
	if schemes.open[scheme] != nil || scheme == "file" {
		panic("store: two stores for " + scheme + "://")
	}
	var mu sync.Mutex
	var opened Opener
	schemes.open[scheme] = func() (Opener, error) {
		mu.Lock()
		defer mu.Unlock()
		if opened != nil {
			return opened, nil
		}
		o, err := open()
		if err == nil {
			opened = o
		}
		return o, err
	}
}

// ErrScheme reports a URI whose scheme has no store in this program.
var ErrScheme = errors.New("no store")

// Schemes returns the registered schemes, sorted.
func Schemes() []string {
	schemes.Lock()
	defer schemes.Unlock()
	return slices.Sorted(maps.Keys(schemes.open))
}

// URI is the store of all names: those with a registered scheme belong to the
// store of the scheme, others to [Local]. A scheme that nobody registered is an
// error that lists those that are.
var URI Opener = uris{}

type uris struct{}

// Of returns the store of a name: o itself, or for URI the store of the name's
// scheme.
func Of(o Opener, name string) (Opener, error) {
	if w, ok := o.(anywhere); ok {
		in, err := Of(w.Opener, name)
		if err != nil {
			return nil, err
		}
		return AllowOutside(in), nil
	}
	if o != URI {
		return o, nil
	}
	scheme, _, ok := strings.Cut(name, "://")
	if !ok || scheme == "file" {
		return Local, nil
	}
	schemes.Lock()
	open := schemes.open[scheme]
	schemes.Unlock()
	if open == nil {
		known := append([]string{"file"}, Schemes()...)
		return nil, fmt.Errorf("store: %s: %w for %s:// in this program: want a path, or a URI of %s", Redact(name), ErrScheme, scheme, strings.Join(known, ", "))
	}
	return open()
}

// IsLocal reports whether the store's file of that name is on the local disk.
func IsLocal(o Opener, name string) bool {
	o, err := Of(o, name)
	if w, ok := o.(interface{ Unwrap() Opener }); ok && err == nil {
		return IsLocal(w.Unwrap(), name)
	}
	return o == Local
}

func (uris) Open(ctx context.Context, name string) (File, error) {
	o, err := Of(URI, name)
	if err != nil {
		return nil, err
	}
	return o.Open(ctx, name)
}

func (uris) Stat(ctx context.Context, name string) (Info, error) {
	o, err := Of(URI, name)
	if err != nil {
		return Info{}, err
	}
	return o.Stat(ctx, name)
}

func (uris) List(ctx context.Context, folder string) ([]Info, error) {
	o, err := Of(URI, folder)
	if err != nil {
		return nil, err
	}
	return o.List(ctx, folder)
}

func (uris) Create(ctx context.Context, name string) (NewFile, error) {
	o, err := Of(URI, name)
	if err != nil {
		return nil, err
	}
	return o.Create(ctx, name)
}

// ListNames implements NameLister.
func (uris) ListNames(ctx context.Context, folder string) ([]Entry, error) {
	o, err := Of(URI, folder)
	if err != nil {
		return nil, err
	}
	return ListNames(ctx, o, folder)
}

// SameFile implements NameLister.
func (uris) SameFile(ctx context.Context, a, b string) (bool, error) {
	o, err := Of(URI, a)
	if err != nil {
		return false, err
	}
	p, err := Of(URI, b)
	if err != nil || o != p {
		return false, err
	}
	return SameFile(ctx, o, a, b)
}

// OpenFolder implements FolderOpener.
func (uris) OpenFolder(ctx context.Context, name string) (Folder, error) {
	o, err := Of(URI, name)
	if err != nil {
		return nil, err
	}
	return OpenFolder(ctx, o, name)
}
