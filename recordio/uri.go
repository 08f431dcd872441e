package recordio

import (
	"errors"
	"fmt"
	"strings"
)

// URI is a name of files with arguments and a cache, as dmlc-core writes it:
// path?key=value&key=value#cache. The path may be several names separated by
// semicolons.
type URI struct {
	Path  string
	Args  map[string]string // never nil
	Cache string
}

// ErrURI reports an invalid URI.
var ErrURI = errors.New("invalid URI")

// ParseURI parses a URI. Every argument needs a key and a value, and keys must
// be unique.
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
