package store

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/infer-prep/infer-prep/internal/sorts"
)

// Entry is a name in a folder.
type Entry struct {
	Name   string // the name that Open or ListNames takes
	Base   string // the last element of Name
	Folder bool   // a folder, or a link to one
	Link   bool   // a symbolic link
	// Irregular reports that the entry is neither a file nor a folder: a
	// device, or a dangling link.
	Irregular bool
}

// NameLister is implemented by stores that list names faster than List
// describes files. [ListNames] uses it.
type NameLister interface {
	// ListNames lists the names directly in a folder, sorted by Base. Unlike
	// List it includes irregular entries.
	ListNames(ctx context.Context, folder string) ([]Entry, error)
	// SameFile reports whether two names lead to the same file or folder.
	SameFile(ctx context.Context, a, b string) (bool, error)
}

// ListNames lists the names directly in a folder, sorted by Base. It uses List
// for a store that is not a [NameLister].
func ListNames(ctx context.Context, o Opener, folder string) ([]Entry, error) {
	if l, ok := o.(NameLister); ok {
		return l.ListNames(ctx, folder)
	}
	in, err := o.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	l := make([]Entry, len(in))
	for i, e := range in {
		l[i] = Entry{Name: e.Name, Base: Base(e.Name), Folder: e.Folder}
	}
	sorts.Func(l, func(a, b Entry) int { return strings.Compare(a.Base, b.Base) })
	return l, nil
}

// SameFile reports whether two names lead to the same file or folder. For a
// store that is not a [NameLister] it compares the names.
func SameFile(ctx context.Context, o Opener, a, b string) (bool, error) {
	if l, ok := o.(NameLister); ok {
		return l.SameFile(ctx, a, b)
	}
	return a == b, nil
}

func (local) ListNames(ctx context.Context, folder string) ([]Entry, error) {
	dir, err := localPath(folder)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, err
	}
	return entries(dir, in, func(path string) (fs.FileInfo, error) {
		i, err := os.Stat(path)
		if err != nil {
			return nil, nil // a dangling link
		}
		return i, nil
	})
}

// entries describes the entries of a folder of the local disk. stat follows a
// link. It returns nil if the link dangles.
func entries(dir string, in []fs.DirEntry, stat func(path string) (fs.FileInfo, error)) ([]Entry, error) {
	l := make([]Entry, len(in))
	for i, e := range in {
		l[i] = Entry{Name: filepath.Join(dir, e.Name()), Base: e.Name()}
		kind := e.Type()
		if l[i].Link = kind&fs.ModeSymlink != 0; l[i].Link {
			s, err := stat(l[i].Name)
			if err != nil {
				return nil, err
			}
			if s != nil {
				kind = s.Mode()
			}
		}
		l[i].Folder, l[i].Irregular = kind.IsDir(), !kind.IsDir() && !kind.IsRegular()
	}
	return l, nil
}

func (local) SameFile(_ context.Context, a, b string) (bool, error) {
	var in [2]fs.FileInfo
	for i, name := range []string{a, b} {
		p, err := localPath(name)
		if err != nil {
			return false, err
		}
		if in[i], err = os.Stat(p); err != nil {
			return false, err
		}
	}
	return os.SameFile(in[0], in[1]), nil
}

// hasScheme reports whether a name is a URL, such as s3://bucket/file.
func hasScheme(name string) bool { return strings.Contains(name, "://") }

// split divides a URL. The names of http and https have a query, which begins
// with ? or #; in other schemes these characters are ordinary ones. scheme ends
// with ://. It is empty for a path, which is in rest.
func split(name string) (scheme, rest, query string) {
	i := strings.Index(name, "://")
	if i < 0 {
		return "", name, ""
	}
	scheme, rest = name[:i+3], name[i+3:]
	if escaped(scheme) {
		if i := strings.IndexAny(rest, "?#"); i >= 0 {
			rest, query = rest[:i], rest[i:]
		}
	}
	return scheme, rest, query
}

// escaped reports whether the names of a scheme are escaped, and have a query.
func escaped(scheme string) bool {
	return strings.EqualFold(scheme, "http://") || strings.EqualFold(scheme, "https://")
}

// Redact returns a name as errors and logs show it. Names can hold secrets:
// the signature in the query of a presigned URL, a password before the host.
// Redact replaces the query of http and https names, and the user information
// of all URLs, with xxxxx. A path is returned as it is.
func Redact(name string) string {
	scheme, rest, query := split(name)
	if scheme == "" {
		return name
	}
	host, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	at := strings.LastIndexByte(host, '@')
	if at < 0 && query == "" && !strings.Contains(path, "@") {
		return name
	}
	if at >= 0 {
		host = "xxxxx" + host[at:]
	} else if _, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") != "" && !strings.HasPrefix(host, "[") {
		// It is no port, but a password with a slash or a question mark.
		if i := strings.LastIndexByte(path, '@'); i >= 0 {
			host, path = "xxxxx"+path[i:], ""
		} else if strings.Contains(query, "@") {
			host, path, query = "xxxxx", "", ""
		}
	}
	if query != "" {
		query = "?xxxxx"
	}
	return scheme + host + path + query
}

// RedactAll returns names as errors and logs show them, with commas between.
func RedactAll(names []string) string {
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = Redact(name)
	}
	return strings.Join(shown, ", ")
}

// Path returns a name without what does not name the file: the query of an http
// or https name. The end of the result tells the file's format.
func Path(name string) string {
	scheme, rest, _ := split(name)
	return scheme + rest
}

// Beside returns the name of a file beside another: its name without trim at
// the end, if it is there, and with end. The query of an http or https name
// stays behind.
func Beside(name, trim, end string) string {
	scheme, rest, query := split(name)
	return scheme + strings.TrimSuffix(rest, trim) + end + query
}

// Join appends a relative name with slashes to the name of a folder. A folder
// with a scheme keeps it, other folders are paths of the operating system. An
// empty folder returns the name itself as a path. For an http or https folder
// the name is escaped, and the folder's query stays at the end.
func Join(folder, name string) string {
	scheme, rest, query := split(folder)
	switch {
	case scheme == "":
		return filepath.Join(folder, filepath.FromSlash(name))
	case name == "":
		return folder
	case escaped(scheme):
		name = escape(path.Clean(name))
	default:
		name = path.Clean(name)
	}
	return scheme + strings.TrimSuffix(rest, "/") + "/" + name + query
}

// escape escapes a path for a URL: all but slashes and the characters that RFC
// 3986 allows in a path.
func escape(path string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~!$&'()*+,;=:@/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}

// Dir returns the folder of a name, without a trailing separator. An http or
// https name keeps its query.
func Dir(name string) string {
	scheme, rest, query := split(name)
	if scheme == "" {
		return filepath.Dir(name)
	}
	if d := path.Dir(rest); d != "." {
		return scheme + d + query
	}
	return scheme
}

// Base returns the last element of a name. Slashes and, on Windows, backslashes
// separate elements; one at the end is ignored. The query of an http or https
// name is not part of it.
func Base(name string) string {
	if hasScheme(name) {
		return path.Base(Path(name))
	}
	return filepath.Base(name)
}

// IsAbs reports whether a name does not depend on a current folder: it has a
// scheme or is an absolute path.
func IsAbs(name string) bool { return hasScheme(name) || filepath.IsAbs(name) }
