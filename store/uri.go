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
	of map[string]*scheme
}{of: map[string]*scheme{}}

// scheme is the store of a scheme.
type scheme struct {
	sync.Mutex
	open   func() (Opener, error)
	opened Opener // nil until it is used
}

// get returns the store and opens it if necessary.
func (s *scheme) get() (Opener, error) {
	s.Lock()
	defer s.Unlock()
	if s.opened != nil {
		return s.opened, nil
	}
	o, err := s.open()
	if err == nil {
		s.opened = o
	}
	return o, err
}

// Register adds the store of a URI scheme, such as "s3", to [URI]. Packages of
// stores call it in init. URI calls open when it first meets the scheme, and
// again only after an error. A second registration of a scheme is a panic.
func Register(name string, open func() (Opener, error)) {
	schemes.Lock()
	defer schemes.Unlock()
	if schemes.of[name] != nil || name == "file" {
		panic("store: two stores for " + name + "://")
	}
	schemes.of[name] = &scheme{open: open}
}

// Opened returns the stores that URI has opened so far, sorted by scheme. A
// store of several schemes is there once for each. It is for statistics.
func Opened() []Opener {
	var l []Opener
	for _, name := range Schemes() {
		schemes.Lock()
		s := schemes.of[name]
		schemes.Unlock()
		s.Lock()
		if s.opened != nil {
			l = append(l, s.opened)
		}
		s.Unlock()
	}
	return l
}

// ErrScheme reports a URI whose scheme has no store in this program.
var ErrScheme = errors.New("no store")

// Schemes returns the registered schemes, sorted.
func Schemes() []string {
	schemes.Lock()
	defer schemes.Unlock()
	return slices.Sorted(maps.Keys(schemes.of))
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
	s := schemes.of[scheme]
	schemes.Unlock()
	if s == nil {
		known := append([]string{"file"}, Schemes()...)
		return nil, fmt.Errorf("store: %s: %w for %s:// in this program: want a path, or a URI of %s", Redact(name), ErrScheme, scheme, strings.Join(known, ", "))
	}
	return s.get()
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
