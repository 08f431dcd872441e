// Package spec reads the JSON form of parameters that are written in full.
package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/internal/registry"
)

// Unmarshal reads a JSON object into the struct that v points to: every field
// must be there, and no other. Slices and structs of v are replaced, not
// merged. v has the usual values, which the error of a missing one names.
func Unmarshal(b []byte, v any) error { return unmarshal(b, v, true) }

// Merge is Unmarshal of an object that may leave out fields: those keep the
// values of v.
func Merge(b []byte, v any) error { return unmarshal(b, v, false) }

func unmarshal(b []byte, v any, all bool) error {
	usual := reflect.ValueOf(v).Elem()
	var have map[string]json.RawMessage
	if err := json.Unmarshal(b, &have); err != nil {
		return fmt.Errorf("parameters: %w: want an object", err)
	}
	var known []string
	for i := range usual.NumField() {
		known = append(known, fieldName(usual.Type().Field(i)))
	}
	known = slices.DeleteFunc(known, func(n string) bool { return n == "" })
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if len(known) == 0 {
			return fmt.Errorf("unknown parameter %q: expected no parameters", name)
		}
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown parameter %q%s", name, registry.Hint(name, known))
		}
	}
	for i := range usual.NumField() {
		f := usual.Type().Field(i)
		name := fieldName(f)
		if name == "" {
			if f.IsExported() && f.Tag.Get("json") != "-" {
				return fmt.Errorf("%T.%s has no json tag", v, f.Name)
			}
			continue
		}
		// encoding/json reads null as the zero value, so null counts as
		// missing.
		switch v, ok := have[name]; {
		case ok && string(v) != "null":
			usual.Field(i).SetZero()
		case all || ok:
			u, _ := json.Marshal(usual.Field(i).Interface())
			return fmt.Errorf("parameter %q is missing; every parameter is required; its usual value is %s", name, u)
		}
	}
	return Decode(b, v)
}

// maxObjects bounds the objects of a value: one of two bytes can take some 600
// bytes of memory. Definitions have hundreds. Texts count too.
const maxObjects = 1 << 18

// Decode decodes one JSON value into v. Unknown fields are errors that suggest
// the closest known name.
func Decode(b []byte, v any) error {
	if n := bytes.Count(b, []byte("{")); n > maxObjects {
		return fmt.Errorf("%d objects, want at most %d", n, maxObjects)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		// encoding/json has no type for this error.
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			if n, e := strconv.Unquote(name); e == nil {
				name = n
			}
			known := fieldNames(reflect.TypeOf(v), map[reflect.Type]bool{})
			if slices.Contains(known, name) {
				return fmt.Errorf("field %q is not in its place", name)
			}
			return fmt.Errorf("unknown field %q%s", name, registry.Hint(name, known))
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the JSON value")
	}
	return nil
}

// fieldName returns the name of f in JSON, "" if f has none.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return ""
	}
	return name
}

// fieldNames returns the names of the fields of t and of the types in it.
func fieldNames(t reflect.Type, seen map[reflect.Type]bool) (names []string) {
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return fieldNames(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if n := fieldName(f); n != "" {
				names = append(names, n)
			}
			if f.IsExported() {
				names = append(names, fieldNames(f.Type, seen)...)
			}
		}
	}
	return names
}
