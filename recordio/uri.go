package recordio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// URI is a name of files with arguments and a cache: path?key=value&key=value#cache.
type URI struct {
	Path  string
	Args  map[string]string // never nil
	Cache string
}

// ErrURI is the error of a URI that is none.
var ErrURI = errors.New("invalid URI")

// ParseURI reads a URI. Every argument needs a key and a value, and stands once.
func ParseURI(s string) (URI, error) {
	bad := func(what string) (URI, error) { return URI{}, fmt.Errorf("recordio: %w %q: %s", ErrURI, s, what) }
	u := URI{Args: map[string]string{}}
	rest, cache, cached := strings.Cut(s, "#")
	if cached && (cache == "" || strings.Contains(cache, "#")) {
		return bad("want one # with the name of a cache after it")
	}
	u.Cache = cache
	var args string
	var some bool
	if u.Path, args, some = strings.Cut(rest, "?"); some {
		for _, a := range strings.Split(args, "&") {
			k, v, _ := strings.Cut(a, "=")
			if _, twice := u.Args[k]; k == "" || v == "" || twice || strings.Contains(v, "?") {
				return bad(fmt.Sprintf("argument %q, want key=value, each once", a))
			}
			u.Args[k] = v
		}
	}
	if u.Path == "" {
		return bad("no path")
	}
	return u, nil
}

// Files lists the files of names separated by semicolons, without empty ones: each is a file,
// a folder, which stands for its files (and, if recursive, for those of folders
// below), or, if there is nothing of that name, a folder and a regular expression
// for the whole name of files in it (RE2's syntax; dmlc-core takes ECMAScript's). Files of a folder
// are sorted by name, so that all hosts have the same order; dmlc-core has that of
// the folder itself. No files at all is an error.
func Files(ctx context.Context, o Opener, names string, recursive bool) ([]Info, error) {
	var l []Info
	add := func(i Info) {
		if i.Size > 0 {
			l = append(l, i)
		}
	}
	var walk func(folder string, depth int) error
	walk = func(folder string, depth int) error {
		const deepest = 64 // links may lead back
		if depth > deepest {
			return fmt.Errorf("recordio: %s: folders %d deep", folder, depth)
		}
		in, err := o.List(ctx, folder)
		if err != nil {
			return fmt.Errorf("recordio: %w", err)
		}
		for _, i := range in {
			if !i.Folder {
				add(i)
			} else if recursive {
				if err := walk(i.Name, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, name := range strings.Split(names, ";") {
		if name == "" {
			continue
		}
		i, err := o.Stat(ctx, name)
		switch {
		case err == nil && i.Folder:
			err = walk(name, 0)
		case err == nil:
			add(i)
		case errors.Is(err, fs.ErrNotExist):
			err = match(ctx, o, name, add)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(l) == 0 {
		return nil, fmt.Errorf("recordio: %s: %w: no files that are not empty", names, fs.ErrNotExist)
	}
	return l, nil
}

// match adds the files of a folder that match a regular expression.
func match(ctx context.Context, o Opener, name string, add func(Info)) error {
	folder, pattern := path.Split(name)
	re, err := regexp.Compile(`^(?:` + pattern + `)$`)
	if err != nil || pattern == "" {
		return fmt.Errorf("recordio: %s: %w", name, fs.ErrNotExist)
	}
	if folder == "" {
		folder = "."
	}
	in, err := o.List(ctx, folder)
	if err != nil {
		return fmt.Errorf("recordio: %s: %w", name, err)
	}
	some := false
	for _, i := range in {
		if !i.Folder && re.MatchString(path.Base(strings.ReplaceAll(i.Name, `\`, "/"))) {
			add(i)
			some = true
		}
	}
	if !some {
		return fmt.Errorf("recordio: %s: %w", name, fs.ErrNotExist)
	}
	return nil
}
