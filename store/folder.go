package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// ErrOutside reports a name that leads out of a [Folder].
var ErrOutside = errors.New("outside the folder")

// Folder opens and lists the files in a folder, at any depth, and no others. It
// takes the names that its store takes: the name of the folder, and names below
// it as [Join] makes them. A name of another place is an ErrOutside, and so is
// that of a link to another place, which a listing has. Create is unsupported.
//
// On the local disk a Folder is an [os.Root]: no link leads out of it, even if
// the link is made later. In other stores only names can lead out.
//
// Folders hold files that others may have made: data sets, unpacked archives.
// A list in such a folder, or a link, could otherwise make a program read any
// file of the machine.
type Folder interface {
	Opener
	NameLister
	// Close releases the folder. Files that it opened stay open.
	io.Closer
}

// FolderOpener is implemented by stores that can do more for a Folder than
// compare names. [OpenFolder] uses it.
type FolderOpener interface {
	OpenFolder(ctx context.Context, name string) (Folder, error)
}

// OpenFolder opens a folder of a store. The caller closes it. For a store that
// is not a [FolderOpener] the Folder compares names.
func OpenFolder(ctx context.Context, o Opener, name string) (Folder, error) {
	if f, ok := o.(FolderOpener); ok {
		return f.OpenFolder(ctx, name)
	}
	return &folder{o, strings.TrimSuffix(name, "/")}, nil
}

// AllowOutside returns a store of the same files whose Folders open names of
// any place. It is for folders whose lists or links are known to be good.
func AllowOutside(o Opener) Opener { return anywhere{o} }

// FollowLinks returns a Folder whose Open and Stat also follow a link to a
// regular file of any place, if the link is the last element of the name. o is
// the store that opened f. It is for code that only decodes what it reads as an
// image: anybody who can make a link in the folder chooses the file.
func FollowLinks(o Opener, f Folder) Folder { return linked{f, o} }

// linked is a folder whose links to files are followed.
type linked struct {
	Folder
	store Opener
}

// leads reports whether err is that of a name in the folder, which thus is a
// link that leads out of it.
func (l linked) leads(ctx context.Context, name string, err error) bool {
	if !errors.Is(err, ErrOutside) || Base(name) == ".." {
		return false
	}
	i, err := l.Folder.Stat(ctx, Dir(name))
	return err == nil && i.Folder
}

func (l linked) Open(ctx context.Context, name string) (File, error) {
	f, err := l.Folder.Open(ctx, name)
	if l.leads(ctx, name, err) {
		return l.store.Open(ctx, name)
	}
	return f, err
}

func (l linked) Stat(ctx context.Context, name string) (Info, error) {
	i, err := l.Folder.Stat(ctx, name)
	if l.leads(ctx, name, err) {
		i, err = l.store.Stat(ctx, name)
		if err == nil && i.Folder {
			err = outsideError("stat", name, Dir(name))
		}
	}
	return i, err
}

// anywhere is a store without bounds, and its own Folder.
type anywhere struct{ Opener }

// Unwrap returns the store below, for code that needs files of the local disk.
func (a anywhere) Unwrap() Opener { return a.Opener }

// OpenFolder implements FolderOpener.
func (a anywhere) OpenFolder(context.Context, string) (Folder, error) { return a, nil }

func (a anywhere) Close() error { return nil }

// ListNames implements NameLister.
func (a anywhere) ListNames(ctx context.Context, folder string) ([]Entry, error) {
	return ListNames(ctx, a.Opener, folder)
}

// SameFile implements NameLister.
func (a anywhere) SameFile(ctx context.Context, x, y string) (bool, error) {
	return SameFile(ctx, a.Opener, x, y)
}

// folder is a folder of any store.
type folder struct {
	store Opener
	name  string // without a slash at the end
}

// check returns an error unless name is the folder or lies in it.
func (f *folder) check(op, name string) error {
	folder, name, in := f.name, Path(name), name
	if scheme, rest, _ := split(name); escaped(scheme) {
		// A server can read %2e%2e as .. and %2f as a slash.
		name = scheme + unescape(rest)
		scheme, rest, _ = split(folder)
		folder = scheme + unescape(rest)
	}
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(folder, "/"))
	if ok && (rest == "" || rest[0] == '/' || f.name == "") && !climbs(rest) {
		return nil
	}
	return outsideError(op, in, f.name)
}

// unescape replaces the escapes of a URL's path. Those that are invalid stay.
func unescape(path string) string {
	var b []byte
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if c, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(c))
				i += 2
				continue
			}
		}
		b = append(b, path[i])
	}
	return string(b)
}

// climbs reports whether a path with slashes has an element that leads up.
func climbs(name string) bool {
	clean := path.Clean("./" + name)
	return clean == ".." || strings.HasPrefix(clean, "../")
}

// outsideError is the error of a name that leads out of a folder.
func outsideError(op, name, folder string) error {
	return &fs.PathError{Op: op, Path: Redact(name), Err: fmt.Errorf("%w %s: want a file in it that is not reached through a link to elsewhere; store.AllowOutside permits it", ErrOutside, Redact(folder))}
}

func (f *folder) Open(ctx context.Context, name string) (File, error) {
	if err := f.check("open", name); err != nil {
		return nil, err
	}
	return f.store.Open(ctx, name)
}

func (f *folder) Stat(ctx context.Context, name string) (Info, error) {
	if err := f.check("stat", name); err != nil {
		return Info{}, err
	}
	return f.store.Stat(ctx, name)
}

func (f *folder) List(ctx context.Context, name string) ([]Info, error) {
	if err := f.check("list", name); err != nil {
		return nil, err
	}
	return f.store.List(ctx, name)
}

func (f *folder) ListNames(ctx context.Context, name string) ([]Entry, error) {
	if err := f.check("list", name); err != nil {
		return nil, err
	}
	return ListNames(ctx, f.store, name)
}

func (f *folder) SameFile(ctx context.Context, a, b string) (bool, error) {
	if err := errors.Join(f.check("stat", a), f.check("stat", b)); err != nil {
		return false, err
	}
	return SameFile(ctx, f.store, a, b)
}

func (f *folder) Create(_ context.Context, name string) (NewFile, error) {
	return nil, notCreated(name)
}

func (f *folder) Close() error { return nil }

// notCreated is the error of Folder.Create.
func notCreated(name string) error {
	return &fs.PathError{Op: "create", Path: Redact(name), Err: fmt.Errorf("a store.Folder is only read: %w", errors.ErrUnsupported)}
}
