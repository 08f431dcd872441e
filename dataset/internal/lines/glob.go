package lines

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
)

// Expand is the files that patterns name, sorted byte by byte; one that several
// patterns name is there several times. The name of an existing file is taken as
// it is. In other patterns, as in Python's glob, * and ? do not match slashes
// nor a dot at the beginning, [a-c] and [!a-c] are sets, ** is any number of
// folders, without hidden ones. A pattern without a file is an error.
func Expand(patterns []string) ([]string, error) {
	var all []string
	for _, p := range patterns {
		if isFile(p) {
			all = append(all, p)
			continue
		}
		if _, err := path.Match(ours(filepath.ToSlash(p)), ""); err != nil {
			return nil, fmt.Errorf("%w: pattern %s: %w", dataset.ErrParam, p, err)
		}
		g := glob{}
		dir := ""
		whole := filepath.ToSlash(p)
		if strings.HasPrefix(whole, "/") {
			dir = "/"
		}
		parts := strings.FieldsFunc(whole, func(r rune) bool { return r == '/' })
		// Several ** in a row are one.
		parts = slices.CompactFunc(parts, func(a, b string) bool { return a == "**" && b == "**" })
		// What ends with a slash is a folder.
		if len(parts) > 0 && !strings.HasSuffix(whole, "/") {
			if err := g.walk(dir, parts, nil); err != nil {
				return nil, fmt.Errorf("pattern %s: %w", p, err)
			}
		}
		if len(g.found) == 0 {
			return nil, fmt.Errorf("%w: no file is named %s", dataset.ErrData, p)
		}
		// ** may reach a file in several ways.
		slices.Sort(g.found)
		all = append(all, slices.Compact(g.found)...)
	}
	slices.Sort(all)
	return all, nil
}

// ours is a pattern for path.Match, which takes a backslash for an escape and [^ for [!.
func ours(pattern string) string {
	return strings.ReplaceAll(strings.ReplaceAll(pattern, `\`, `\\`), "[!", "[^")
}

func isFile(name string) bool {
	i, err := os.Stat(name)
	return err == nil && i.Mode().IsRegular()
}

type glob struct{ found []string }

// walk finds files below dir, reached by ** through the folders above.
func (g *glob) walk(dir string, parts []string, above []os.FileInfo) error {
	here := dir
	if here == "" {
		here = "."
	}
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, "*?[") {
		if name := join(dir, part); len(rest) > 0 {
			return g.walk(name, rest, above)
		} else if isFile(name) {
			g.found = append(g.found, name)
		}
		return nil
	}
	deep := part == "**"
	if deep {
		i, err := os.Stat(here)
		if err != nil {
			return nil
		}
		// A link to a folder above it.
		if slices.ContainsFunc(above, func(a os.FileInfo) bool { return os.SameFile(a, i) }) {
			return nil
		}
		above = append(above[:len(above):len(above)], i)
		if len(rest) > 0 {
			if err := g.walk(dir, rest, above); err != nil {
				return err
			}
		}
	}
	entries, err := os.ReadDir(here)
	if err != nil {
		// No folder, or one that may not be read: nothing matches there.
		return nil
	}
	for _, e := range entries {
		ok, err := path.Match(ours(part), e.Name())
		if err != nil {
			return fmt.Errorf("%w: %w", dataset.ErrParam, err)
		}
		if !ok || e.Name()[0] == '.' && part[0] != '.' {
			continue
		}
		name := join(dir, e.Name())
		if len(rest) == 0 && isFile(name) {
			g.found = append(g.found, name)
		}
		i, err := os.Stat(name)
		if err != nil || !i.IsDir() {
			continue
		}
		if deep {
			err = g.walk(name, parts, above)
		} else if len(rest) > 0 {
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
