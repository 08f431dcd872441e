package job

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/infer-prep/infer-prep/internal/newfile"
	"github.com/infer-prep/infer-prep/internal/paths"
	"github.com/infer-prep/infer-prep/store"
)

// remoteRequests is the largest number of requests that look up or list the
// arguments at once.
const remoteRequests = 32

// found is what an argument that is a URI names.
type found struct {
	inputs  []File
	folders []store.Folder
}

//go:noinline
func (f *found) fail(uri string, err error) {
	f.inputs = append(f.inputs, File{Path: paths.Shown(uri), uri: uri, Err: err})
}

// request waits for its turn to call a store. The caller calls done after it.
func (l *Listing) request(ctx context.Context) (done func(), err error) {
	select {
	case l.requests <- struct{}{}:
		return func() { <-l.requests }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stat describes a file or folder.
func (l *Listing) stat(ctx context.Context, name string) (store.Info, error) {
	done, err := l.request(ctx)
	if err != nil {
		return store.Info{}, err
	}
	defer done()
	return l.files.Stat(ctx, name)
}

// find finds the inputs that a URI names.
func (l *Listing) find(ctx context.Context, a Input, out string) (f found) {
	uri := a.Path
	if _, err := store.Of(l.files, uri); err != nil {
		f.fail(uri, err)
		return f
	}
	// HTTP has no folders. In other stores a name with an image's extension is
	// a file: opening it tells whether it exists, and asking before would
	// double the requests of a long list.
	glob := hasGlob(uri)
	image := slices.Contains(imageExts, strings.ToLower(path.Ext(uri)))
	if paths.IsHTTP(uri) || image && !glob {
		l.file(&f, uri, a.Name, true)
		return f
	}
	info, err := l.stat(ctx, uri)
	switch {
	case err == nil && info.Folder:
		l.walk(ctx, &f, uri, a.Name, out)
	case err == nil:
		l.file(&f, uri, a.Name, true)
	case ctx.Err() != nil:
	case paths.IsMissing(err) && glob:
		l.match(ctx, &f, uri, out)
	case paths.IsMissing(err):
		f.fail(uri, paths.Missing(paths.Shown(uri)+": no such file or folder"))
	default:
		f.fail(uri, paths.Error(paths.Shown(uri), err))
	}
	return f
}

// file adds a file. name is that of the outputs; "" means the default.
func (l *Listing) file(f *found, uri, name string, explicit bool) {
	if name == "" && l.keepPath {
		name = keptURI(uri)
	}
	if name == "" {
		name = paths.Base(uri)
	}
	f.inputs = append(f.inputs, l.below(uri, filepath.ToSlash(name), explicit, nil))
}

// keptURI returns the name of the outputs of a URI with KeepPath: its
// authority and its path.
func keptURI(uri string) string {
	_, authority, key := paths.Split(uri)
	return strings.Trim(paths.HostName(authority)+path.Clean("/"+key), "/")
}

// below returns the input of a file. name, with slashes, is that of its
// outputs.
func (l *Listing) below(uri, name string, explicit bool, folder store.Opener) File {
	in := File{Path: paths.Shown(uri), uri: uri, Name: filepath.FromSlash(name), Explicit: explicit, folder: folder}
	if slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool { return s == "." || s == ".." }) || !filepath.IsLocal(in.Name) {
		in.Err = fmt.Errorf("%s: the name leads out of the output folder", in.Path)
	}
	return in
}

// walk adds the files below a folder.
func (l *Listing) walk(ctx context.Context, f *found, uri, name, out string) {
	folder, err := store.OpenFolder(ctx, l.files, uri)
	if err != nil {
		f.fail(uri, paths.Error(paths.Shown(uri), err))
		return
	}
	f.folders = append(f.folders, folder)
	if name == "" && l.keepPath {
		name = keptURI(uri)
	}
	f.inputs = append(f.inputs, l.list(ctx, folder, uri, filepath.ToSlash(name), out)...)
}

// list returns the files below a folder, sorted as the folders of a path are:
// folder by folder, by the names in each. rel is the name of its outputs.
// Folders are listed side by side.
func (l *Listing) list(ctx context.Context, in store.Folder, uri, rel, out string) []File {
	done, err := l.request(ctx)
	if err != nil {
		return nil
	}
	entries, err := store.ListNames(ctx, in, uri)
	done()
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return []File{{Path: paths.Shown(uri), uri: uri, Err: paths.Error(paths.Shown(uri), err)}}
	}
	var all sync.WaitGroup
	parts := make([][]File, len(entries))
	for i, e := range entries {
		r := e.Base
		if rel != "" {
			r = rel + "/" + r
		}
		switch {
		case e.Irregular:
			parts[i] = []File{{Path: paths.Shown(e.Name), skip: "not a regular file"}}
		case newfile.IsTemp(e.Base):
			parts[i] = []File{{Path: paths.Shown(e.Name), skip: "a temporary file"}}
		case !e.Folder:
			parts[i] = []File{l.below(e.Name, r, false, in)}
		case paths.Same(e.Name, out):
		default:
			select {
			case l.walkers <- struct{}{}:
				all.Go(func() {
					parts[i] = l.list(ctx, in, e.Name, r, out)
					<-l.walkers
				})
			default: // there are enough goroutines
				parts[i] = l.list(ctx, in, e.Name, r, out)
			}
		}
	}
	all.Wait()
	return slices.Concat(parts...)
}

// match adds the files and folders that match a glob. Its elements between
// slashes are matched one by one.
func (l *Listing) match(ctx context.Context, f *found, pattern, out string) {
	scheme, authority, key := paths.Split(pattern)
	var err error
	switch {
	case hasGlob(authority):
		err = fmt.Errorf("%s: globs apply to the path: want %s://NAME/ without *, ? and [", paths.Shown(pattern), scheme)
	case strings.Contains(key, "**"):
		err = fmt.Errorf("%s: no such file, and globs have no **: name the folder to walk it", paths.Shown(pattern))
	default:
		_, err = path.Match(key, "")
		if err != nil {
			err = fmt.Errorf("%s: no such file, and not a valid glob: %w", paths.Shown(pattern), err)
		}
	}
	if err != nil {
		f.fail(pattern, err)
		return
	}
	names := []store.Entry{{Name: strings.TrimSuffix(pattern[:len(pattern)-len(key)], "/"), Folder: true}}
	elements := strings.Split(key, "/")
	for i, element := range elements {
		last := i == len(elements)-1
		var next []store.Entry
		for _, n := range names {
			if !hasGlob(element) {
				e := store.Entry{Name: n.Name + "/" + element, Base: element, Folder: true}
				if last {
					var info store.Info
					info, err = l.stat(ctx, e.Name)
					if e.Folder = info.Folder; paths.IsMissing(err) {
						err = nil
						continue
					}
				}
				next = append(next, e)
			} else {
				var entries []store.Entry
				if i == 0 {
					n.Name += "/"
				}
				entries, err = store.ListNames(ctx, l.files, n.Name)
				if paths.IsMissing(err) {
					err = nil // the element before it had no glob
				}
				for _, e := range entries {
					if ok, _ := path.Match(element, e.Base); ok && (last || e.Folder) {
						next = append(next, e)
					}
				}
			}
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				f.fail(pattern, paths.Error(paths.Shown(n.Name), err))
				return
			}
		}
		names = next
	}
	if len(names) == 0 {
		f.fail(pattern, paths.Missing(paths.Shown(pattern)+": no file matches"))
	}
	for _, e := range names {
		switch {
		case newfile.IsTemp(e.Base):
			f.inputs = append(f.inputs, File{Path: paths.Shown(e.Name), skip: "a temporary file"})
		case paths.Same(e.Name, out):
		case e.Folder:
			l.walk(ctx, f, e.Name, "", out)
		default:
			l.file(f, e.Name, "", false)
		}
	}
}
