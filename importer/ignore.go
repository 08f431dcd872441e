package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/registry"
)

// ErrIgnore reports a key that Options.IgnoreKeys cannot name.
var ErrIgnore = errors.New("key that cannot be ignored")

// ErrBackend reports a backend that an importer does not have.
var ErrBackend = errors.New("unknown backend")

// Options are the options of an import.
type Options struct {
	// Backend is a key of Backends. Default: that of Import.
	Backend string
	// Decoder is a key of Decoders. Default: the importer's own, which most
	// programs of the ecosystem use. The graph's Reference names another.
	Decoder string
	// IgnoreKeys are unknown keys that are treated as absent. The graph's
	// Reference lists them, because it reproduces the reference only if they
	// have no effect there. A key of an inner object is named with the keys
	// around it: "size.depth". A key that is not unknown is an ErrIgnore:
	// ignoring it would change what it asks for.
	IgnoreKeys []string
}

// Open builds the graph of a file with options. It is safe for concurrent use.
func (i Importer) Open(data []byte, o Options) (*datagraph.Graph, error) {
	g, err := i.open(data, o)
	if err == nil && o.Decoder != "" {
		if err = i.decode(g, o.Decoder); err != nil {
			return nil, err
		}
	}
	return g, err
}

func (i Importer) open(data []byte, o Options) (*datagraph.Graph, error) {
	parse := i.Import
	if o.Backend != "" {
		if parse = i.Backends[o.Backend]; parse == nil {
			return nil, noSuch(i, ErrBackend, "backends", o.Backend, i.Backends)
		}
	}
	if len(o.IgnoreKeys) == 0 {
		return parse(data)
	}
	return ignoring(parse, data, o.IgnoreKeys)
}

// noSuch returns the error of a name that is none of known, the backends or
// decoders of i.
func noSuch[T any](i Importer, kind error, what, name string, known map[string]T) error {
	names := slices.Sorted(maps.Keys(known))
	if len(names) == 0 {
		return fmt.Errorf("%w %q: %s has no %s", kind, name, i.Name, what)
	}
	return fmt.Errorf("%w %q of %s: want one of %q%s", kind, name, i.Name, names, registry.DidYouMean(name, names))
}

// ignoring parses data without unknown keys.
func ignoring(parse func([]byte) (*datagraph.Graph, error), data []byte, keys []string) (*datagraph.Graph, error) {
	unknown := map[string]bool{}
	_, err := parse(data)
	if l, ok := errors.AsType[Errors](err); ok {
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
