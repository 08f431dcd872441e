package ultralytics

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// maxDepth limits the nesting of YAML; metadata nests two deep. maxText limits
// its size: a value of two bytes takes 500 bytes of memory. The names of 21,843
// classes take 400 KB.
const (
	maxDepth = 8
	maxText  = 1 << 20
)

var errSize = errors.New("the YAML is too large")

// yamlJSON translates a YAML mapping, as metadata.yaml is, to JSON. Anchors and
// aliases are errors, since a small file could expand to a huge one.
func yamlJSON(text []byte) ([]byte, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%w: %d bytes, want at most %d", errSize, len(text), maxText)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("want a mapping")
	}
	return appendJSON(nil, doc.Content[0], 0)
}

func appendJSON(b []byte, n *yaml.Node, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: nested more than %d deep", n.Line, maxDepth)
	}
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		return nil, fmt.Errorf("line %d: anchors and aliases are not supported", n.Line)
	}
	var err error
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: want a name or a number as key", key.Line)
			}
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, key.Value), ':')
			if b, err = appendJSON(b, n.Content[i+1], depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, e := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendJSON(b, e, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		return append(b, "null"...), nil
	case tag == "!!bool":
		var v bool
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		return fmt.Appendf(b, "%t", v), nil
	case (tag == "!!int" || tag == "!!float") && json.Valid([]byte(n.Value)):
		return append(b, n.Value...), nil
	}
	return appendString(b, n.Value), nil
}

func appendString(b []byte, s string) []byte {
	q, _ := json.Marshal(s) // strings have no errors
	return append(b, q...)
}
