package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/internal/lazyregexp"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// maxFile limits a file's size in bytes. The largest known files are timm's
// with the descriptions of 21,843 labels, below 4 MB.
const maxFile = 16 << 20

// MaxSide is the largest side of an image in pixels that a file may request.
// The ops have the same limit.
const MaxSide = 1 << 24

// Object is a JSON object that records which keys have been read. Its getters
// never fail. They record problems, and Err reports them together with the
// unread keys. Values have the types of encoding/json with UseNumber, except
// that objects are *Object.
type Object struct {
	path  string // with a trailing dot, or empty
	m     map[string]any
	asked map[string]bool
	errs  *Errors
	kids  []*Object // children that have been read

	explain func(key string) string // may be nil
	known   func(key string) bool   // may be nil
}

// Parse parses data as one JSON object, in the forms that Text accepts.
// Duplicate keys are errors.
func Parse(data []byte) (*Object, error) {
	if s := other(data); s != "" {
		return nil, jsonErr(errors.New(s))
	}
	v, err := parseAll(Text(data), "", new(Errors))
	if err != nil {
		return nil, err
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, jsonErr(fmt.Errorf("%s, want an object", Describe(v)))
	}
	return o, nil
}

func parseAll(data []byte, path string, errs *Errors) (any, error) {
	if len(data) > maxFile {
		return nil, jsonErr(fmt.Errorf("%d bytes, want at most %d", len(data), maxFile))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	left := maxValues
	v, err := parse(d, path, errs, 0, &left)
	if err != nil {
		return nil, jsonErr(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, jsonErr(fmt.Errorf("data after the value, at byte %d", d.InputOffset()))
	}
	return v, nil
}

func jsonErr(err error) error { return fmt.Errorf("importer: %w", &Error{ErrJSON, "", err.Error()}) }

// maxDepth limits the nesting; known files nest four deep. maxValues limits the
// values, as an object of two bytes takes some 300 bytes of memory; timm's
// files have 45,000.
const (
	maxDepth  = 64
	maxValues = 1 << 18
)

// parse parses one value, and takes from left for each value in it.
func parse(d *json.Decoder, path string, errs *Errors, depth int, left *int) (any, error) {
	t, err := d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("%w at byte %d", err, d.InputOffset())
	}
	if *left--; *left < 0 {
		return nil, fmt.Errorf("more than %d values, at byte %d", maxValues, d.InputOffset())
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep, at byte %d", maxDepth, d.InputOffset())
	}
	switch t {
	case json.Delim('{'):
		o := newObject(path, errs)
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, fmt.Errorf("%w at byte %d", err, d.InputOffset())
			}
			key, ok := k.(string)
			if !ok {
				return nil, fmt.Errorf("a key that is not a string at byte %d", d.InputOffset())
			}
			if _, ok := o.m[key]; ok {
				return nil, fmt.Errorf("duplicate key %q at byte %d", path+key, d.InputOffset())
			}
			if o.m[key], err = parse(d, path+key+".", errs, depth+1, left); err != nil {
				return nil, err
			}
		}
		return o, closed(d)
	case json.Delim('['):
		l := []any{}
		for d.More() {
			v, err := parse(d, path+strconv.Itoa(len(l))+".", errs, depth+1, left)
			if err != nil {
				return nil, err
			}
			l = append(l, v)
		}
		return l, closed(d)
	}
	return t, nil
}

func newObject(path string, errs *Errors) *Object {
	return &Object{path: path, m: map[string]any{}, asked: map[string]bool{}, errs: errs}
}

// closed reads the closing bracket of an object or array.
func closed(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%w at byte %d", err, d.InputOffset())
	}
	return nil
}

// Describe returns the form of a value in error messages.
func Describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case *Object:
		return "an object"
	case []any:
		s := make([]string, 0, 4)
		for _, e := range v[:min(len(v), 4)] {
			s = append(s, Describe(e))
		}
		if len(v) > 4 {
			s = append(s, "…")
		}
		return "[" + strings.Join(s, ", ") + "]"
	case string:
		if len(v) > 60 {
			return strconv.Quote(v[:60]) + "…"
		}
		return strconv.Quote(v)
	case json.Number:
		if len(v) > 40 {
			return string(v[:40]) + "…"
		}
	}
	return fmt.Sprint(v)
}

// Has reports whether the key is present, even if null.
func (o *Object) Has(key string) bool {
	_, ok := o.m[key]
	return ok
}

// Null reports whether the key is present and null.
func (o *Object) Null(key string) bool {
	v, ok := o.m[key]
	return ok && v == nil
}

// Keys returns the keys, sorted.
func (o *Object) Keys() []string {
	l := make([]string, 0, len(o.m))
	for k := range o.m {
		l = append(l, k)
	}
	slices.Sort(l)
	return l
}

// Get returns the key's value and marks the key as read.
//
//go:noinline
func (o *Object) Get(key string) (any, bool) {
	v, ok := o.m[key]
	o.asked[key] = ok || o.asked[key]
	return v, ok
}

// Peek returns the key's value, nil if absent, and does not mark it as read.
func (o *Object) Peek(key string) any { return o.m[key] }

// Inert marks keys that have no influence as read.
//
//go:noinline
func (o *Object) Inert(keys ...string) {
	for _, k := range keys {
		o.Get(k)
	}
}

// InertAll marks all keys of the object as read.
func (o *Object) InertAll() { o.Inert(o.Keys()...) }

// Bad records that the key is absent or has an invalid value.
func (o *Object) Bad(key, want string) {
	v, ok := o.Get(key)
	got := "absent"
	if ok {
		got = Describe(v)
	}
	if s, ok := v.(string); ok { // names are listed in lower case
		if l := strings.ToLower(s); l != s && slices.Contains(word().FindAllString(want, -1), l) {
			want += fmt.Sprintf("; did you mean %q?", l)
		}
	}
	o.Fail(ErrValue, key, got+", want "+want)
}

// word matches the names in the text of what is wanted.
var word = lazyregexp.New(`[\w-]+`)

// Fail records an error of that kind at the key, or at the object itself if key
// is empty. Only the first error at a key is kept.
func (o *Object) Fail(kind error, key, text string) {
	p := strings.TrimSuffix(o.path+key, ".")
	if !slices.ContainsFunc(*o.errs, func(e *Error) bool { return e.Path == p }) {
		*o.errs = append(*o.errs, &Error{kind, p, text})
	}
}

// Bool returns a boolean, def if absent. Null is false, as in Python.
func (o *Object) Bool(key string, def bool) bool {
	v, ok := o.Get(key)
	switch b := v.(type) {
	case bool:
		return b
	case nil:
		return def && !ok
	}
	o.Bad(key, "true or false")
	return def
}

// String returns a string, "" if absent or null.
func (o *Object) String(key string) string {
	v, _ := o.Get(key)
	s, ok := v.(string)
	if !ok && v != nil {
		o.Bad(key, "a string")
	}
	return s
}

// Int returns v as an integer of lo to hi. It rejects numbers with a point or
// an exponent, which are floats in Python.
func Int(v any, lo, hi int) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(string(n))
	return i, err == nil && i >= lo && i <= hi
}

// Float returns v as a finite float64.
func Float(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(n), 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// Int returns an integer of lo to hi, def if absent.
func (o *Object) Int(key string, def, lo, hi int) int {
	v, ok := o.Get(key)
	if !ok {
		return def
	}
	n, ok := Int(v, lo, hi)
	if !ok {
		o.Bad(key, fmt.Sprintf("a whole number of %d to %d", lo, hi))
		return def
	}
	return n
}

// Number returns a number of lo to hi, def if absent.
func (o *Object) Number(key string, def, lo, hi float64) float64 {
	v, ok := o.Get(key)
	if !ok {
		return def
	}
	f, ok := Float(v)
	if !ok || !(f >= lo && f <= hi) {
		o.Bad(key, fmt.Sprintf("a number of %v to %v", lo, hi))
		return def
	}
	return f
}

// Side returns the length of a side in pixels, 1 to MaxSide, def if absent.
func (o *Object) Side(key string, def int) int { return o.Int(key, def, 1, MaxSide) }

// Floats returns v as a list of n numbers.
func Floats(v any, n int) ([]float64, bool) {
	l, ok := v.([]any)
	if !ok || len(l) != n {
		return nil, false
	}
	f := make([]float64, n)
	for i, e := range l {
		if f[i], ok = Float(e); !ok {
			return nil, false
		}
	}
	return f, true
}

// Ints returns v as a list of n integers of lo to hi.
func Ints(v any, n, lo, hi int) ([]int, bool) {
	l, ok := v.([]any)
	if !ok || len(l) != n {
		return nil, false
	}
	f := make([]int, n)
	for i, e := range l {
		if f[i], ok = Int(e, lo, hi); !ok {
			return nil, false
		}
	}
	return f, true
}

// Object returns an object, nil if absent or null. Err of o includes its
// errors.
func (o *Object) Object(key string) *Object {
	v, _ := o.Get(key)
	c, ok := v.(*Object)
	if !ok && v != nil {
		o.Bad(key, "an object")
	}
	if ok && !slices.Contains(o.kids, c) {
		o.kids = append(o.kids, c)
	}
	return c
}

// Objects returns the objects of a list, nil if absent or null. Anything else
// is an error. Err of o includes the objects' errors.
func (o *Object) Objects(key string) []*Object {
	v, _ := o.Get(key)
	l, ok := v.([]any)
	if !ok && v != nil {
		o.Bad(key, "a list of objects")
	}
	c := make([]*Object, len(l))
	for i, e := range l {
		if c[i], ok = e.(*Object); !ok {
			o.Bad(key, "a list of objects")
			return nil
		}
	}
	for _, e := range c {
		if !slices.Contains(o.kids, e) {
			o.kids = append(o.kids, e)
		}
	}
	return c
}

// ExplainUnknown sets a function that says of an unread key whether it could
// have an effect. Err adds its text to the key's error.
func (o *Object) ExplainUnknown(f func(key string) string) { o.explain = f }

// KnownKeys sets a function that reports whether a key may be read. An importer
// that stops at an invalid value leaves known keys unread: beside other
// problems, Err does not call them unknown. An importer that reads every key
// before it stops needs no function.
func (o *Object) KnownKeys(f func(key string) bool) { o.known = f }

// Err returns all problems recorded in o and in its objects, and the unread
// keys, as Errors. It returns nil if no problem exists.
func (o *Object) Err(name string) error {
	l := slices.Clone(*o.errs)
	l = o.unknown(l)
	if len(l) == 0 {
		return nil
	}
	slices.SortStableFunc(l, func(a, b *Error) int { return strings.Compare(a.Path, b.Path) })
	return fmt.Errorf("importer: %s: %w", name, l)
}

func (o *Object) unknown(l Errors) Errors {
	var absent []string // the keys that would have been read
	for k := range o.asked {
		if !o.Has(k) {
			absent = append(absent, k)
		}
	}
	for _, k := range o.Keys() {
		if !o.asked[k] && !(len(*o.errs) > 0 && o.known != nil && o.known(k)) {
			text := ""
			if s := registry.Suggest(k, absent); s != "" {
				text = fmt.Sprintf("did you mean %q?", s)
			}
			if o.explain != nil {
				text = strings.TrimPrefix(text+"; "+o.explain(k), "; ")
			}
			l = append(l, &Error{ErrUnknownKey, o.path + k, text})
		}
	}
	for _, c := range o.kids {
		l = c.unknown(l)
	}
	return l
}

// ParseValue parses data as one JSON value, in the form of an Object's values.
func ParseValue(data []byte) (any, error) {
	return parseAll(data, "", new(Errors))
}

// ParseLiteralValue parses data as ParseValue does, or as a Python literal.
func ParseLiteralValue(data []byte) (any, error) {
	return parseLiteral(data, "", new(Errors))
}

func parseLiteral(data []byte, path string, errs *Errors) (any, error) {
	v, err := parseAll(data, path, errs)
	if err == nil || len(data) > maxFile {
		return v, err
	}
	b, perr := pythonJSON(data)
	if perr != nil {
		return nil, err
	}
	return parseAll(b, path, errs)
}

// Embed parses data, which the file stores as a string, as the object at key:
// JSON or a Python literal. Err of o includes its errors.
func (o *Object) Embed(key string, data []byte) (*Object, error) {
	v, err := parseLiteral(data, o.path+key+".", o.errs)
	if err != nil {
		return nil, err
	}
	c, ok := v.(*Object)
	if !ok {
		return nil, jsonErr(fmt.Errorf("%s, want an object", Describe(v)))
	}
	o.Get(key)
	o.kids = append(o.kids, c)
	return c, nil
}
