package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// maxDepth bounds the folders below a folder: a link can lead back up.
const maxDepth = 64

// Files expands names into a list of files, without empty files. A name is one
// of
//
//   - a file;
//   - a folder, for all files in it, and with recursive also those in folders
//     below it;
//   - a folder and a regular expression (the syntax of package regexp) that
//     matches the whole name of files in it, if no file has this name
//     literally;
//   - several of these with semicolons between them; see Split.
//
// The files of a folder are sorted by name, so that all hosts have the same
// order. Empty names are ignored. A list without files is an error that wraps
// fs.ErrNotExist.
//
// dmlc-core accepts the same names, but uses ECMAScript's regular expressions
// and the folder's own order.
func Files(ctx context.Context, o Opener, names []string, recursive bool) ([]Info, error) {
	var l []Info
	add := func(i Info) {
		if i.Size > 0 {
			l = append(l, i)
		}
	}
	var walk func(folder string, depth int) error
	walk = func(folder string, depth int) error {
		if depth > maxDepth {
			return fmt.Errorf("store: list: %s: folders are nested %d deep: want at most %d", Redact(folder), depth, maxDepth)
		}
		in, err := o.List(ctx, folder)
		if err != nil {
			return fmt.Errorf("store: %w", err)
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
	for _, name := range Split(ctx, o, names) {
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
		return nil, fmt.Errorf("store: list: %s: %w: all files are empty or missing", RedactAll(names), fs.ErrNotExist)
	}
	return l, nil
}

// match calls add for the files of a folder that match a regular expression.
func match(ctx context.Context, o Opener, name string, add func(Info)) error {
	folder, pattern := path.Split(name)
	re, err := regexp.Compile(`^(?:` + pattern + `)$`)
	if err != nil || pattern == "" {
		return fmt.Errorf("store: list: %s: %w", Redact(name), fs.ErrNotExist)
	}
	if folder == "" {
		folder = "."
	}
	in, err := o.List(ctx, folder)
	if err != nil {
		return fmt.Errorf("store: list: %s: %w", Redact(name), err)
	}
	some := false
	for _, i := range in {
		if !i.Folder && re.MatchString(path.Base(strings.ReplaceAll(i.Name, `\`, "/"))) {
			add(i)
			some = true
		}
	}
	if !some {
		return fmt.Errorf("store: list: %s: %w", Redact(name), fs.ErrNotExist)
	}
	return nil
}
