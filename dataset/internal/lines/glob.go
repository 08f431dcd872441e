package lines

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
)

// Expand returns the files that match the patterns, sorted byte by byte. A file
// that matches several patterns is returned several times. The name of an
// existing file matches itself. In other patterns, as in Python's glob, * and ?
// match neither slashes nor a leading dot. [a-c] and [!a-c] are sets. **
// matches any number of folders except hidden ones. A pattern that matches no
// file is an error. One with semicolons is several; see store.Split.
func Expand(ctx context.Context, o store.Opener, patterns []string) ([]string, error) {
	var all []string
	for _, p := range store.Split(ctx, o, patterns) {
		g := glob{ctx: ctx, store: o}
		if ok, err := g.isFile(p); err != nil {
			return nil, err
		} else if ok {
			all = append(all, p)
			continue
		}
		whole := filepath.ToSlash(p)
		if _, err := path.Match(convert(whole), ""); err != nil {
			return nil, fmt.Errorf("%w: pattern %s: %w", dataset.ErrParam, store.Redact(p), err)
		}
		dir := ""
		if scheme, rest, ok := strings.Cut(whole, "://"); ok {
			dir, whole = scheme+"://", rest
		}
		if strings.HasPrefix(whole, "/") {
			dir += "/"
		}
		parts := strings.FieldsFunc(whole, func(r rune) bool { return r == '/' })
		// Consecutive ** equal one.
		parts = slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" })
		// A pattern that ends with a slash is a folder.
		if len(parts) > 0 && !strings.HasSuffix(whole, "/") {
			if err := g.walk(dir, parts, nil); err != nil {
				return nil, fmt.Errorf("pattern %s: %w", store.Redact(p), err)
			}
		}
		if len(g.found) == 0 {
			return nil, fmt.Errorf("%w: pattern %s matches no file", dataset.ErrData, store.Redact(p))
		}
		// ** may reach a file in several ways.
		slices.Sort(g.found)
		all = append(all, slices.Compact(g.found)...)
	}
	slices.Sort(all)
	return all, nil
}

// convert converts a pattern to the syntax of path.Match: it escapes
// backslashes and replaces [! by [^.
func convert(pattern string) string {
	return strings.ReplaceAll(strings.ReplaceAll(pattern, `\`, `\\`), "[!", "[^")
}

type glob struct {
	ctx   context.Context
	store store.Opener
	found []string
}

// isFile reports whether a file has the name. Its error is that of a cancelled
// context; a name that can't be read matches nothing.
func (g *glob) isFile(name string) (bool, error) {
	i, err := g.store.Stat(g.ctx, name)
	return err == nil && !i.Folder, g.ctx.Err()
}

// walk finds files below dir. above lists the folders that ** has passed.
func (g *glob) walk(dir string, parts []string, above []string) error {
	here := dir
	if here == "" {
		here = "."
	}
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, "*?[") {
		name := join(dir, part)
		if len(rest) > 0 {
			return g.walk(name, rest, above)
		}
		ok, err := g.isFile(name)
		if ok {
			g.found = append(g.found, name)
		}
		return err
	}
	deep := part == "**"
	if deep {
		for _, a := range above {
			same, err := store.SameFile(g.ctx, g.store, a, here)
			if err != nil || same { // not a folder, or a link to one above it
				return g.ctx.Err()
			}
		}
		above = append(above[:len(above):len(above)], here)
		if len(rest) > 0 {
			if err := g.walk(dir, rest, above); err != nil {
				return err
			}
		}
	}
	entries, err := store.ListNames(g.ctx, g.store, here)
	if err != nil {
		// Missing and unreadable folders match nothing.
		return g.ctx.Err()
	}
	for _, e := range entries {
		ok, err := path.Match(convert(part), e.Base)
		if err != nil {
			return fmt.Errorf("%w: %w", dataset.ErrParam, err)
		}
		if !ok || e.Base[0] == '.' && part[0] != '.' {
			continue
		}
		name := join(dir, e.Base)
		switch {
		case !e.Folder && !e.Irregular && len(rest) == 0:
			g.found = append(g.found, name)
		case e.Folder && deep:
			err = g.walk(name, parts, above)
		case e.Folder && len(rest) > 0:
			err = g.walk(name, rest, above)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func join(dir, name string) string {
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}
