package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/infer-prep/infer-prep/store"
)

// isURI reports whether s is a URI and not an existing path.
func isURI(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "*?[/") {
		return false
	}
	_, err := os.Lstat(s)
	return err != nil
}

// trimFile returns the path of a file:// URI. Other names stay as they are.
func trimFile(s string) string {
	if rest, ok := strings.CutPrefix(s, "file://"); ok && isURI(s) {
		return filepath.FromSlash(rest)
	}
	return s
}

// storeName returns the name by which store.URI takes a path or a URI. A clean
// path has no //, so that the store does not take it for a URI.
func storeName(s string) string {
	if isURI(s) {
		return s
	}
	return filepath.Clean(s)
}

// isHTTP reports whether a URI is one of HTTP. Only these have a query: names
// of other stores are literal.
func isHTTP(uri string) bool {
	return strings.HasPrefix(uri, "http://") || strings.HasPrefix(uri, "https://")
}

// splitURI splits a URI into its scheme, its authority, such as a bucket or a
// host, and its path without a leading slash.
func splitURI(uri string) (scheme, authority, key string) {
	scheme, rest, _ := strings.Cut(uri, "://")
	if isHTTP(uri) {
		if i := strings.IndexAny(rest, "?#"); i >= 0 {
			rest = rest[:i]
		}
	}
	authority, key, _ = strings.Cut(rest, "/")
	return scheme, authority[strings.LastIndexByte(authority, '@')+1:], key
}

// uriName returns the last element of a URI, the default name of its outputs.
func uriName(uri string) string {
	_, authority, key := splitURI(uri)
	if key = strings.TrimRight(key, "/"); key == "" {
		return hostName(authority)
	}
	return path.Base(key)
}

// hostName returns an authority as the name of a folder: some systems have no
// names with a colon.
func hostName(authority string) string { return strings.ReplaceAll(authority, ":", "_") }

// shown returns a name for messages and results, without what can grant access;
// see store.Redact.
func shown(name string) string { return store.Redact(name) }

// inText matches the URIs in a message.
var inText = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://[^\s"]+`)

// withoutSecrets returns a message with its URIs as shown shows them.
func withoutSecrets(text string) string {
	return inText.ReplaceAllStringFunc(text, func(uri string) string {
		bare := strings.TrimRight(uri, ":;,.)>'")
		return shown(bare) + uri[len(bare):]
	})
}

// storeNames lists the schemes of URIs, for help texts.
func storeNames() string {
	var l []string
	for _, s := range append([]string{"file"}, store.Schemes()...) {
		l = append(l, s+"://")
	}
	return strings.Join(l, ", ")
}

// schemeHint follows the error of a URI without a store.
const schemeHint = "; the program infer-prep-stores also has stores for s3, gs, az and hdfs"

// join returns the path or URI of a file below an output folder. rel is a path
// of the operating system.
func join(dir, rel string) string {
	if isURI(dir) {
		return store.Join(dir, filepath.ToSlash(rel))
	}
	return filepath.Join(dir, rel)
}

// relative returns a path below a folder with slashes.
func relative(dir, file string) (string, error) {
	if isURI(dir) {
		return strings.TrimPrefix(file, strings.TrimSuffix(dir, "/")+"/"), nil
	}
	p, err := filepath.Rel(dir, file)
	return filepath.ToSlash(p), err
}

// exists reports whether a path or a URI exists, as a file or a folder.
func exists(ctx context.Context, name string) (bool, error) {
	if !isURI(name) {
		_, err := os.Lstat(name)
		return err == nil, nil
	}
	_, err := store.URI.Stat(ctx, name)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, err
}

// folderExists reports whether a path or URI is a folder.
func folderExists(ctx context.Context, name string) bool {
	i, err := store.URI.Stat(ctx, storeName(name))
	return err == nil && i.Folder
}

// putAll creates files in a store. They appear one after another once all of
// them are written; a file that cannot appear hides those after it.
func putAll(ctx context.Context, files []newFile) (err error) {
	var open []*store.Writer
	defer func() {
		for _, w := range open {
			_ = w.Abort()
		}
	}()
	for _, f := range files {
		w, err := store.NewWriter(ctx, store.URI, f.path)
		if err != nil {
			return fmt.Errorf("cannot write %w", plain(f.path, err))
		}
		open = append(open, w)
		if err := f.write(w); err != nil {
			return fmt.Errorf("cannot write %w", plain(f.path, err))
		}
	}
	for i, f := range files {
		if err := open[i].Close(); err != nil {
			return fmt.Errorf("cannot write %w", plain(f.path, err))
		}
	}
	return nil
}

// openSequential opens a file or a pipe that the user named, for reading in
// order.
func openSequential(ctx context.Context, name string) (io.ReadCloser, error) {
	if name = trimFile(name); !isURI(name) {
		f, err := os.Open(name)
		if err != nil {
			return nil, plain(name, err)
		}
		return f, nil
	}
	f, err := store.URI.Open(ctx, name)
	if err != nil {
		return nil, plain(name, err)
	}
	r, _ := store.NewReader(f)
	return struct {
		io.Reader
		io.Closer
	}{r, f}, nil
}
