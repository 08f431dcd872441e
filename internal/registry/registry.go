// Package registry keeps the named values that packages register when they are
// imported: ops, importers, devices, formats and dataset nodes. All of them
// share its rules: a duplicate name panics, and an unknown name returns an
// error that suggests the closest known one.
package registry

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/infer-prep/infer-prep/internal/errfmt"
)

// ErrUnknown reports a name that is not registered. Every error of Lookup
// matches it and the registry's own ErrUnknown.
var ErrUnknown = errors.New("unknown name")

// maxListed is the largest registry whose names an error lists in full.
const maxListed = 20

// Registry maps names to values of type T. It is safe for concurrent use.
// Lookups take no lock and do not allocate.
type Registry[T any] struct {
	kind    string
	unknown error
	mu      sync.Mutex // guards byName and byType
	byName  map[string]T
	byType  map[reflect.Type]T
	current atomic.Pointer[snapshot[T]] // nil after an Add
}

// snapshot is one immutable state of a registry. Add drops it.
type snapshot[T any] struct {
	byName map[string]T
	byType map[reflect.Type]T
	names  []string // sorted
	values []T      // in the order of names
}

// New returns an empty registry. kind names a value in messages: "op".
func New[T any](kind string) *Registry[T] {
	return &Registry[T]{
		kind: kind, unknown: errors.New("unknown " + kind),
		byName: map[string]T{}, byType: map[reflect.Type]T{},
	}
}

// ErrUnknown returns the error that reports an unknown name of this registry,
// for errors.Is. Its text is "unknown KIND".
func (r *Registry[T]) ErrUnknown() error { return r.unknown }

// Add registers v. It panics if name is empty or taken, which is a programming
// error.
func (r *Registry[T]) Add(name string, v T) { r.add(name, nil, v) }

// AddType registers v under a name and under the type of sample. It panics if
// either is taken.
func (r *Registry[T]) AddType(name string, sample any, v T) {
	r.add(name, reflect.TypeOf(sample), v)
}

func (r *Registry[T]) add(name string, t reflect.Type, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == "" {
		r.Refuse(name, "the name is empty")
	}
	if _, ok := r.byName[name]; ok {
		r.Refuse(name, "the name is taken")
	}
	if t != nil {
		if _, ok := r.byType[t]; ok {
			r.Refuse(name, errfmt.Sprintf("the type %v is taken", t))
		}
		r.byType[t] = v
	}
	r.byName[name] = v
	r.current.Store(nil)
}

// load returns the current snapshot. It makes one at the first look-up after an
// Add, so that registering n values at start-up does not copy and sort n times.
func (r *Registry[T]) load() *snapshot[T] {
	if s := r.current.Load(); s != nil {
		return s
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.current.Load(); s != nil {
		return s
	}
	s := &snapshot[T]{byName: maps.Clone(r.byName), byType: maps.Clone(r.byType), names: sorted(maps.Keys(r.byName))}
	s.values = make([]T, len(s.names))
	for i, n := range s.names {
		s.values[i] = s.byName[n]
	}
	r.current.Store(s)
	return s
}

// Refuse panics with the message of a failed registration. Packages call it for
// their own conditions, such as a missing function.
func (r *Registry[T]) Refuse(name, reason string) {
	panic(errfmt.Sprintf("register %s %q: %s", r.kind, name, reason))
}

// Lookup returns the value of a name. The error of an unknown name suggests the
// closest known name. If no name is close, it lists the names of a small
// registry.
func (r *Registry[T]) Lookup(name string) (T, error) {
	s := r.load()
	if v, ok := s.byName[name]; ok {
		return v, nil
	}
	var zero T
	return zero, &unknownError{r.unknown, name, s.names}
}

// Get returns the value of a name and reports whether it is registered.
func (r *Registry[T]) Get(name string) (T, bool) {
	v, ok := r.load().byName[name]
	return v, ok
}

// ByType returns the value registered for the type of sample by AddType.
func (r *Registry[T]) ByType(sample any) (T, bool) {
	v, ok := r.load().byType[reflect.TypeOf(sample)]
	return v, ok
}

// Names returns the names, sorted. The slice is shared: do not modify it.
func (r *Registry[T]) Names() []string { return r.load().names }

// All returns the values, sorted by name. The slice is shared: do not modify
// it.
func (r *Registry[T]) All() []T { return r.load().values }

// unknownError reports an unknown name. It builds its text on demand, since
// many callers only test for the error.
type unknownError struct {
	unknown error
	name    string
	known   []string
}

func (e *unknownError) Error() string {
	return errfmt.Sprintf("%v %q%s", e.unknown, e.name, Hint(e.name, e.known))
}

func (e *unknownError) Is(target error) bool { return target == e.unknown || target == ErrUnknown }

// Hint returns the end of an unknown name's message: `; did you mean "resize"?`
// if a known name is close, else a list of the known names if they are few.
func Hint(name string, known []string) string {
	if s := DidYouMean(name, known); s != "" {
		return s
	}
	switch {
	case len(known) == 0:
		return "; none is registered"
	case len(known) > maxListed:
		return ""
	}
	return "; known: " + strings.Join(sorted(slices.Values(known)), ", ")
}

// sorted returns the names in order. The sort and the insertion of package
// slices are 20 KB and 6 KB of code, which the small browser package can do
// without.
func sorted(names iter.Seq[string]) (l []string) {
	for n := range names {
		l = append(l, n)
		i := len(l) - 1
		for ; i > 0 && l[i-1] > n; i-- {
			l[i] = l[i-1]
		}
		l[i] = n
	}
	return l
}

// DidYouMean returns `; did you mean "resize"?` if a known name is close, else
// "".
func DidYouMean(name string, known []string) string {
	if s := Suggest(name, known); s != "" {
		return errfmt.Sprintf("; did you mean %q?", s)
	}
	return ""
}

// Suggest returns the known name closest to name, "" if none is close. A close
// name differs by at most a third of the longer name's bytes, ignoring the case
// of ASCII letters. Of several equally close names, Suggest returns the first
// in sorted order.
func Suggest(name string, known []string) string {
	// Names come from untrusted files. No known name is close to a longer one.
	longest := 0
	for _, k := range known {
		longest = max(longest, len(k))
	}
	if len(name) > 2*longest {
		return ""
	}
	best, least := "", 0
	for _, k := range known {
		d := distance(name, k)
		if d > max(len(name), len(k))/3 {
			continue
		}
		if best == "" || cmp.Or(cmp.Compare(d, least), strings.Compare(k, best)) < 0 {
			best, least = k, d
		}
	}
	return best
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// distance returns the Damerau-Levenshtein distance of two strings, in its
// optimal string alignment form: the number of inserted, deleted and replaced
// bytes and of swapped neighbours. Capital ASCII letters equal small ones: the
// tables of package unicode are large.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if lower(a[i]) == lower(b[j]) {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && lower(a[i]) == lower(b[j-1]) && lower(a[i-1]) == lower(b[j]) {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
