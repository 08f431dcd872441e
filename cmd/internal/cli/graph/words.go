package graph

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/cmd/internal/cli/command"
	"github.com/infer-prep/infer-prep/cmd/internal/cli/source"
	"github.com/infer-prep/infer-prep/transforms"
)

// words are the arguments that name an op or a node: its NAME, and NAME=VALUE
// for its parameters.
type words struct {
	name   string
	params []string
}

// splitWords divides arguments: each without = begins the next words.
func splitWords(args []string) ([]words, error) {
	var l []words
	for _, arg := range args {
		switch {
		case strings.HasPrefix(arg, "@") || !strings.Contains(arg, "="):
			l = append(l, words{name: arg})
		case len(l) == 0 || strings.HasPrefix(l[len(l)-1].name, "@"):
			return nil, fmt.Errorf("%s: a parameter without a name before it that it belongs to", arg)
		default:
			l[len(l)-1].params = append(l[len(l)-1].params, arg)
		}
	}
	return l, nil
}

// wordsJSON returns the parameters as a JSON object. The types of the fields of
// v, an op or a node, say which texts are names.
func wordsJSON(ctx context.Context, a *command.App, w words, v any) ([]byte, error) {
	given := map[string]json.RawMessage{}
	for _, p := range w.params {
		name, text, _ := strings.Cut(p, "=")
		if _, ok := given[name]; ok {
			return nil, fmt.Errorf("%s: parameter %q is given twice", w.name, name)
		}
		var err error
		if given[name], err = wordJSON(ctx, a, reflect.TypeOf(v).Elem(), name, text); err != nil {
			return nil, fmt.Errorf("%s: parameter %q: %w", w.name, name, err)
		}
	}
	return json.Marshal(given)
}

// wordJSON returns the JSON form of the text of a parameter.
func wordJSON(ctx context.Context, a *command.App, of reflect.Type, name, text string) (json.RawMessage, error) {
	var t reflect.Type // nil for an unknown parameter, whose error names the others
	for i := range of.NumField() {
		if f := of.Field(i); paramName(f) == name {
			t = f.Type
		}
	}
	if t == nil || isText(t) {
		return json.Marshal(text)
	}
	if file, ok := strings.CutPrefix(text, "@"); ok {
		b, err := source.ReadUTF8(ctx, file, a.Stdin)
		if err == nil && !json.Valid(b) {
			err = fmt.Errorf("%s: not a JSON file", file)
		}
		if err != nil {
			return nil, err
		}
		return completeOps(bytes.TrimSpace(b))
	}
	if json.Valid([]byte(text)) && (t.Kind() != reflect.Slice || strings.HasPrefix(text, "[")) {
		return completeOps(json.RawMessage(text))
	}
	if t == reflect.TypeFor[transforms.OpList]() {
		return namedOps(text)
	}
	if t.Kind() == reflect.Slice && isText(t.Elem()) {
		return json.Marshal(splitList(text))
	}
	if list := "[" + text + "]"; json.Valid([]byte(list)) {
		return json.RawMessage(list), nil
	}
	return nil, fmt.Errorf("%q: want %s, or @FILE", text, withArticle(paramType(t)))
}

// namedOps returns the JSON form of a list of names of ops.
func namedOps(text string) (json.RawMessage, error) {
	var l []string
	for _, name := range splitList(text) {
		if _, err := transforms.Lookup(name); err != nil {
			return nil, fmt.Errorf("unknown op %q%s; want names of ops, a list of ops, or @FILE", name, suggestOps(name))
		}
		b, err := json.Marshal(map[string]string{"op": name})
		if err != nil {
			return nil, err
		}
		l = append(l, string(b))
	}
	return completeOps(json.RawMessage("[" + strings.Join(l, ",") + "]"))
}

// completeOps returns a JSON value in which ops that leave out their version or
// parameters have the usual ones, as the ops of the command line do.
func completeOps(b json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(b, []byte(`"op"`)) {
		return b, nil
	}
	switch trimmed := bytes.TrimSpace(b); trimmed[0] {
	case '[':
		var l []json.RawMessage
		if err := json.Unmarshal(b, &l); err != nil {
			return nil, err
		}
		for i := range l {
			var err error
			if l[i], err = completeOps(l[i]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(l)
	case '{':
		var o map[string]json.RawMessage
		if err := json.Unmarshal(b, &o); err != nil {
			return nil, err
		}
		for k := range o {
			var err error
			if o[k], err = completeOps(o[k]); err != nil {
				return nil, err
			}
		}
		var name string
		if json.Unmarshal(o["op"], &name) != nil {
			return json.Marshal(o)
		}
		i, err := transforms.Lookup(name)
		if err != nil {
			return nil, fmt.Errorf("unknown op %q%s", name, suggestOps(name))
		}
		if o["version"] == nil {
			o["version"] = json.RawMessage(strconv.Itoa(i.Version))
		}
		params := o["params"]
		if params == nil {
			params = json.RawMessage("{}")
		}
		if op, err := transforms.MakeOp(name, params); err != nil {
			return nil, err
		} else if o["params"], err = transforms.MarshalParams(op); err != nil {
			return nil, err
		}
		return json.Marshal(o)
	}
	return b, nil
}

// splitList divides a text at its commas, but not at those within braces, as a
// pattern of files has them.
func splitList(s string) (l []string) {
	depth, from := 0, 0
	for i, c := range s {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			l = append(l, s[from:i])
			from = i + 1
		}
	}
	return append(l, s[from:])
}

// isText reports whether the values of a type are texts or names.
func isText(t reflect.Type) bool {
	return t.Kind() == reflect.String || t.Kind() == reflect.Uint8 && t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// withArticle returns a noun with a or an.
func withArticle(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
