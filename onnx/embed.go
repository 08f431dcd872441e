package onnx

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/spec"
	"github.com/infer-prep/infer-prep/modelbundle"
	"github.com/infer-prep/infer-prep/tensor"
)

// The keys of metadata_props that Embed writes.
const (
	// KeyGraph is the key of the graph: its JSON form without spaces, which
	// --graph reads.
	KeyGraph = "infer_prep.graph"
	// KeyGoldens is the key of the golden samples: a JSON object with "version"
	// 1 and "goldens", a list of objects with "name", "input_sha256" (of the
	// encoded image) and "outputs". Each output has "name", "dtype", "layout",
	// "shape", "sha256" (of the elements in row-major order, little-endian) and
	// "values", a list of [index, value].
	KeyGoldens = "infer_prep.goldens"
)

// goldensVersion is the version of the form of KeyGoldens.
const goldensVersion = 1

// ErrNoGraph reports a model without an embedded graph.
var ErrNoGraph = errors.New("the model has no embedded graph")

// Golden is a golden sample without its image.
type Golden struct {
	Name        string
	InputSHA256 [sha256.Size]byte // the digest of the encoded image
	Outputs     []modelbundle.Expected
}

// Digests returns golden samples with digests in place of their images.
func Digests(goldens []modelbundle.Golden) []Golden {
	var l []Golden
	for _, g := range goldens {
		l = append(l, Golden{g.Name, sha256.Sum256(g.Input), g.Outputs})
	}
	return l
}

type jsonGoldens struct {
	Version int          `json:"version"`
	Goldens []jsonGolden `json:"goldens"`
}

type jsonGolden struct {
	Name    string       `json:"name"`
	Input   digest       `json:"input_sha256"`
	Outputs []jsonOutput `json:"outputs"`
}

type jsonOutput struct {
	Name string `json:"name"`
	tensor.Desc
	SHA256 digest        `json:"sha256"`
	Values []jsonElement `json:"values"`
}

// digest is a SHA-256 in hexadecimal.
type digest [sha256.Size]byte

func (d digest) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(d[:])), nil }

func (d *digest) UnmarshalText(b []byte) error {
	v, err := hex.DecodeString(string(b))
	if err != nil || len(v) != len(d) {
		return fmt.Errorf("sha256 %q, want %d hex digits", b, 2*len(d))
	}
	copy(d[:], v)
	return nil
}

// jsonElement is [index, value]. A value that is not a JSON number is a string.
type jsonElement struct {
	at    int64
	value number
}

type number float64

func (n number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	switch {
	case math.IsNaN(f):
		return []byte(`"nan"`), nil
	case math.IsInf(f, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-inf"`), nil
	}
	return json.Marshal(f)
}

func (n *number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"nan"`:
		*n = number(math.NaN())
	case `"inf"`:
		*n = number(math.Inf(1))
	case `"-inf"`:
		*n = number(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(n))
	}
	return nil
}

func (e jsonElement) MarshalJSON() ([]byte, error) { return json.Marshal([2]any{e.at, e.value}) }

func (e *jsonElement) UnmarshalJSON(b []byte) error {
	var l []json.RawMessage
	if err := json.Unmarshal(b, &l); err != nil {
		return err
	}
	if len(l) != 2 {
		return fmt.Errorf("element with %d parts, want [index, value]", len(l))
	}
	if err := json.Unmarshal(l[0], &e.at); err != nil {
		return err
	}
	return e.value.UnmarshalJSON(l[1])
}

func marshalGoldens(goldens []Golden) ([]byte, error) {
	j := jsonGoldens{goldensVersion, []jsonGolden{}}
	for _, g := range goldens {
		o := []jsonOutput{}
		for _, e := range g.Outputs {
			v := []jsonElement{}
			for _, el := range e.Values {
				v = append(v, jsonElement{el.At, number(el.Value)})
			}
			o = append(o, jsonOutput{e.Name, e.Desc, e.SHA256, v})
		}
		j.Goldens = append(j.Goldens, jsonGolden{g.Name, g.InputSHA256, o})
	}
	return json.Marshal(j)
}

func unmarshalGoldens(b []byte) ([]Golden, error) {
	var j jsonGoldens
	if err := spec.Decode(b, &j); err != nil {
		return nil, err
	}
	if j.Version != goldensVersion {
		return nil, fmt.Errorf("version %d, this build reads %d", j.Version, goldensVersion)
	}
	var l []Golden
	for i, g := range j.Goldens {
		golden := Golden{Name: g.Name, InputSHA256: g.Input}
		for _, o := range g.Outputs {
			if err := o.Desc.Validate(); err != nil {
				return nil, fmt.Errorf("golden %d, output %q: %w", i, o.Name, err)
			}
			e := modelbundle.Expected{Name: o.Name, Desc: o.Desc, SHA256: o.SHA256}
			for _, v := range o.Values {
				if n := o.Desc.Len(); v.at < 0 || n >= 0 && v.at >= n {
					return nil, fmt.Errorf("golden %d, output %q: element %d is outside %v", i, o.Name, v.at, o.Desc)
				}
				e.Values = append(e.Values, modelbundle.Element{At: v.at, Value: float64(v.value)})
			}
			golden.Outputs = append(golden.Outputs, e)
		}
		l = append(l, golden)
	}
	return l, nil
}

// Embed returns the model with the graph and its golden samples, if any, in
// metadata_props. They replace those of an earlier Embed; everything else stays
// byte for byte. A model finds external data by names relative to its own file,
// so write the result beside the original.
//
// Bytes that are not a model are ErrModel. An invalid graph, or one with ops
// that are not registered, is an error.
func Embed(model []byte, g *datagraph.Graph, goldens []Golden) ([]byte, error) {
	if _, err := parseModel(model); err != nil {
		return nil, err
	}
	if err := g.Validate(); err != nil {
		return nil, err
	}
	b, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	entries := []metadataProp{{KeyGraph, string(b)}}
	if len(goldens) > 0 {
		if b, err = marshalGoldens(goldens); err != nil {
			return nil, fmt.Errorf("onnx: goldens: %w", err)
		}
		entries = append(entries, metadataProp{KeyGoldens, string(b)})
	}
	out, err := Strip(model)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		m := appendString(nil, entryKey, e.key)
		out = appendMessage(out, modelMetadata, appendString(m, entryValue, e.value))
	}
	if len(out) > maxModel {
		return nil, errTooLarge
	}
	return out, nil
}

// Strip returns the model without the entries of Embed. It restores the bytes
// of a model that had no such entries before Embed.
func Strip(model []byte) ([]byte, error) {
	out := make([]byte, 0, len(model)+1<<12)
	err := fields("model", model, func(f field) error {
		if f.num == modelMetadata {
			e, err := entryOf(f)
			if err != nil {
				return err
			}
			if isOwnKey(e.key) {
				return nil
			}
		}
		out = append(out, model[f.start:f.end]...)
		return nil
	})
	return out, err
}

func isOwnKey(key string) bool { return slices.Contains([]string{KeyGraph, KeyGoldens}, key) }

// Extract returns the graph and the golden samples that Embed wrote into a
// model. A model without a graph is ErrNoGraph. A model with two graphs, or
// with an invalid graph or invalid golden samples, is ErrModel; the error also
// matches the graph's own kind.
func Extract(model []byte) (*datagraph.Graph, []Golden, error) {
	m, err := parseModel(model)
	if err != nil {
		return nil, nil, err
	}
	return m.embedded()
}

// embedded is Extract for a parsed model.
func (m *modelProto) embedded() (*datagraph.Graph, []Golden, error) {
	found := map[string]string{}
	for _, e := range m.metadata {
		if !isOwnKey(e.key) {
			continue
		}
		if _, twice := found[e.key]; twice {
			return nil, nil, modelErr("metadata_props has %s twice", e.key)
		}
		found[e.key] = e.value
	}
	text, ok := found[KeyGraph]
	if !ok {
		return nil, nil, fmt.Errorf("onnx: %w: metadata_props has no %s", ErrNoGraph, KeyGraph)
	}
	g := &datagraph.Graph{}
	if err := g.UnmarshalJSON([]byte(text)); err != nil {
		return nil, nil, fmt.Errorf("onnx: %w: %s: %w", ErrModel, KeyGraph, err)
	}
	var goldens []Golden
	if text, ok := found[KeyGoldens]; ok {
		var err error
		if goldens, err = unmarshalGoldens([]byte(text)); err != nil {
			return nil, nil, fmt.Errorf("onnx: %w: %s: %w", ErrModel, KeyGoldens, err)
		}
	}
	return g, goldens, nil
}
