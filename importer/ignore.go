package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
)

// ErrIgnore reports a key that IgnoreKeys cannot ignore.
var ErrIgnore = errors.New("key that cannot be ignored")

// IgnoreKeys returns an import function that treats unknown keys of these names
// as absent. The graph's Reference lists them, because it reproduces the
// reference only if they have no effect there. A key of an inner object is
// named with the keys around it: "size.depth". A key that is not unknown is an
// ErrIgnore: ignoring it would change what it asks for.
func IgnoreKeys(parse func([]byte) (*datagraph.Graph, error), keys ...string) func([]byte) (*datagraph.Graph, error) {
	if len(keys) == 0 {
		return parse
	}
	return func(data []byte) (*datagraph.Graph, error) {
		unknown := map[string]bool{}
		_, err := parse(data)
		var l Errors
		if errors.As(err, &l) {
			for _, e := range l {
				unknown[e.Path] = errors.Is(e.Kind, ErrUnknownKey)
			}
		} else if err != nil {
			return nil, err
		}
		o, perr := ParseLiteral(data)
		if perr != nil {
			return nil, fmt.Errorf("importer: ignore keys: %w: the file is not JSON; remove the keys from it instead", ErrIgnore)
		}
		for _, k := range keys {
			if !unknown[k] || !o.remove(k) {
				return nil, fmt.Errorf("importer: ignore key %q: %w: the file has none, or the importer knows it", k, ErrIgnore)
			}
		}
		b, err := json.Marshal(plainValue(o))
		if err != nil {
			return nil, fmt.Errorf("importer: ignore keys: %w", err)
		}
		g, err := parse(b)
		if err == nil {
			g.Reference += ", ignoring " + strings.Join(slices.Sorted(slices.Values(keys)), ", ")
		}
		return g, err
	}
}

// remove removes a key, or one of an inner object, and reports whether it was
// there.
func (o *Object) remove(path string) bool {
	if _, ok := o.m[path]; ok {
		delete(o.m, path)
		return true
	}
	for k, v := range o.m {
		rest, ok := strings.CutPrefix(path, k+".")
		if c, is := v.(*Object); ok && is && c.remove(rest) {
			return true
		}
	}
	return false
}

// plainValue returns a value in the form of encoding/json.
func plainValue(v any) any {
	switch v := v.(type) {
	case *Object:
		m := maps.Clone(v.m)
		for k, e := range m {
			m[k] = plainValue(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = plainValue(e)
		}
		return l
	}
	return v
}
