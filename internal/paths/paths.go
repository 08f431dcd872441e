// Package paths handles the names of files that a user gives: paths of this
// machine and URIs of stores.
package paths

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/infer-prep/infer-prep/store"
)

// IsURI reports whether s is a URI and not an existing path.
func IsURI(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "*?[/") {
		return false
	}
	_, err := os.Lstat(s)
	return err != nil
}

// TrimFile returns the path of a file:// URI. Other names stay as they are.
func TrimFile(s string) string {
	if rest, ok := strings.CutPrefix(s, "file://"); ok && IsURI(s) {
		return filepath.FromSlash(rest)
	}
	return s
}

// StoreName returns the name by which store.URI takes a path or a URI. A clean
// path has no //, so that the store does not take it for a URI.
func StoreName(s string) string {
	if IsURI(s) {
		return s
	}
	return filepath.Clean(s)
}

// IsHTTP reports whether a URI is one of HTTP. Only these have a query: names
// of other stores are literal.
func IsHTTP(uri string) bool {
	return strings.HasPrefix(uri, "http://") || strings.HasPrefix(uri, "https://")
}

// Split splits a URI into its scheme, its authority, such as a bucket or a
// host, and its path without a leading slash.
func Split(uri string) (scheme, authority, key string) {
	scheme, rest, _ := strings.Cut(uri, "://")
	if IsHTTP(uri) {
		if i := strings.IndexAny(rest, "?#"); i >= 0 {
			rest = rest[:i]
		}
	}
	authority, key, _ = strings.Cut(rest, "/")
	return scheme, authority[strings.LastIndexByte(authority, '@')+1:], key
}

// Base returns the last element of a URI, the default name of its outputs.
func Base(uri string) string {
	_, authority, key := Split(uri)
	if key = strings.TrimRight(key, "/"); key == "" {
		return HostName(authority)
	}
	return path.Base(key)
}

// HostName returns an authority as the name of a folder: some systems have no
// names with a colon.
func HostName(authority string) string { return strings.ReplaceAll(authority, ":", "_") }

// Shown returns a name for messages and results, without what can grant access;
// see store.Redact.
func Shown(name string) string { return store.Redact(name) }

// Join returns the path or URI of a file below an output folder. rel is a path
// of the operating system.
func Join(dir, rel string) string {
	if IsURI(dir) {
		return store.Join(dir, filepath.ToSlash(rel))
	}
	return filepath.Join(dir, rel)
}

// Rel returns a path below a folder with slashes.
func Rel(dir, file string) (string, error) {
	if IsURI(dir) {
		return strings.TrimPrefix(file, strings.TrimSuffix(dir, "/")+"/"), nil
	}
	p, err := filepath.Rel(dir, file)
	return filepath.ToSlash(p), err
}

// Exists reports whether a path or a URI exists, as a file or a folder.
func Exists(ctx context.Context, name string) (bool, error) {
	if !IsURI(name) {
		_, err := os.Lstat(name)
		return err == nil, nil
	}
	_, err := store.URI.Stat(ctx, name)
	if IsMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// FolderExists reports whether a path or URI is a folder.
func FolderExists(ctx context.Context, name string) bool {
	i, err := store.URI.Stat(ctx, StoreName(name))
	return err == nil && i.Folder
}

// Open opens a file or a pipe that the user named, for reading in order.
func Open(ctx context.Context, name string) (io.ReadCloser, error) {
	if name = TrimFile(name); !IsURI(name) {
		f, err := os.Open(name)
		if err != nil {
			return nil, Error(name, err)
		}
		return f, nil
	}
	f, err := store.URI.Open(ctx, name)
	if err != nil {
		return nil, Error(name, err)
	}
	r, _ := store.NewReader(f)
	return struct {
		io.Reader
		io.Closer
	}{r, f}, nil
}

// Abs returns the absolute form of a path. A URI is absolute.
func Abs(path string) string {
	if IsURI(path) {
		return path
	}
	if a, err := filepath.Abs(path); err == nil {
		return a
	}
	return filepath.Clean(path)
}

// Same reports whether two paths or URIs lead to the same file or folder.
func Same(a, b string) bool {
	if IsURI(a) || IsURI(b) {
		return strings.TrimRight(a, "/") == strings.TrimRight(b, "/")
	}
	i, err := os.Stat(a)
	if err != nil {
		return false
	}
	j, err := os.Stat(b)
	return err == nil && os.SameFile(i, j)
}

// Safe escapes a key for use in a file name.
func Safe(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '-' || c == '_' || c == '=' || c == '.' && i > 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
