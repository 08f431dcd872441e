package modelbundle

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/sorts"
)

// Content is the content of a bundle to create.
type Content struct {
	// Graph is the preprocessing graph. Required. Its ops must be registered,
	// and none may be random.
	Graph *datagraph.Graph
	// Versions are the versions of the libraries that training preprocessed
	// with, by name: "Pillow": "13.0.0". Graph.Reference says what the graph
	// reproduces.
	Versions map[string]string
	// Least is the least exact class that a device may have: Exact, Within1 or
	// Approximate. Default: Exact.
	Least string
	// Models are the encoded models. Their names must differ.
	Models []Model
	// Labels are the names of the model's classes, by index, without line
	// breaks.
	Labels []string
	// Meta is any information about the model, in UTF-8.
	Meta map[string]string
	// Goldens are golden samples of Graph, made by MakeGolden or GoldenOf.
	// Their names must differ.
	Goldens []Golden
	// Sections are further sections, by name.
	Sections map[string][]byte
}

// ErrRandom reports a graph with random ops, which cannot have golden samples.
var ErrRandom = errors.New("the graph has random ops")

func content(format string, args ...any) error {
	return fmt.Errorf("modelbundle: %w: %w", ErrContent, fmt.Errorf(format, args...))
}

// Create writes a bundle. Equal content has equal bytes: names are sorted, and
// no time is stored. Invalid content is ErrContent, before anything is written;
// other errors are those of w. Create does not run the golden samples.
func Create(w io.Writer, c *Content) error {
	m, data, err := c.manifest()
	if err != nil {
		return err
	}
	body := m.append(nil)
	h := header{size: int64(len(body)), digest: sha256.Sum256(body)}
	p := padded{w: w}
	p.write(h.append(nil))
	p.write(body)
	p.pad()
	for _, s := range m.sections {
		p.write(data[s.Name])
		p.pad()
	}
	return p.err
}

// padded writes data with zeros up to the next multiple of 64. It keeps the
// first error.
type padded struct {
	w   io.Writer
	n   int64
	err error
}

func (p *padded) write(b []byte) {
	if p.err == nil && len(b) > 0 {
		_, p.err = p.w.Write(b)
		p.n += int64(len(b))
	}
}

func (p *padded) pad() {
	var zeros [align]byte
	p.write(zeros[:aligned(p.n)-p.n])
}

// manifest returns the manifest and the bytes of all sections.
func (c *Content) manifest() (*manifest, map[string][]byte, error) {
	if c.Graph == nil {
		return nil, nil, content("no graph")
	}
	if err := checkGraph(c.Graph); err != nil {
		return nil, nil, content("graph: %w", err)
	}
	graph, err := c.Graph.MarshalMsg(nil)
	if err != nil {
		return nil, nil, content("graph: %w", err)
	}
	data := map[string][]byte{graphName: graph}
	if len(c.Labels) > 0 {
		if data[labelsName], err = appendLabels(nil, c.Labels); err != nil {
			return nil, nil, content("%w", err)
		}
	}
	if len(c.Meta) > 0 {
		if data[metaName], err = marshalMeta(c.Meta); err != nil {
			return nil, nil, content("metadata: %w", err)
		}
	}
	for name, b := range c.Sections {
		if reserved(name) {
			return nil, nil, content("section name %q is taken by the format", name)
		}
		data[name] = b
	}
	formats := map[string]string{}
	for _, x := range c.Models {
		name := modelPrefix + x.Name
		if _, twice := data[name]; twice {
			return nil, nil, content("two models are named %q", x.Name)
		}
		if x.Format == "" {
			return nil, nil, content("model %q has no format, want \"onnx\", \"tflite\" or another word", x.Name)
		}
		data[name], formats[name] = x.Data, x.Format
	}
	m := &manifest{least: c.Least, reference: c.Graph.Reference}
	if m.least == "" {
		m.least = Exact
	}
	for _, g := range c.Goldens {
		name := goldenPrefix + g.Name
		if _, twice := data[name]; twice {
			return nil, nil, content("two golden samples are named %q", g.Name)
		}
		if err := fits(c.Graph, &g); err != nil {
			return nil, nil, content("%w", err)
		}
		data[name] = g.Input
		m.goldens = append(m.goldens, Golden{Name: g.Name, Outputs: g.Outputs})
	}
	sorts.Func(m.goldens, func(a, b Golden) int { return strings.Compare(a.Name, b.Name) })
	for _, l := range slices.Sorted(maps.Keys(c.Versions)) {
		m.versions = append(m.versions, [2]string{l, c.Versions[l]})
	}
	end := int64(0)
	for _, name := range slices.Sorted(maps.Keys(data)) {
		b := data[name]
		m.sections = append(m.sections, Section{Name: name, Format: formats[name], Offset: aligned(end), Size: int64(len(b)), SHA256: sha256.Sum256(b)})
		end = aligned(end) + int64(len(b))
	}
	if err := m.validate(); err != nil {
		return nil, nil, content("%w", err)
	}
	return m, data, nil
}

// checkGraph refuses graphs that a bundle cannot hold.
func checkGraph(g *datagraph.Graph) error {
	if _, err := g.Infer(); err != nil {
		return err
	}
	if g.Random() {
		return ErrRandom
	}
	return nil
}

// fits checks that a golden sample's outputs are outputs of the graph, in the
// same order.
func fits(g *datagraph.Graph, s *Golden) error {
	names := slices.Concat(g.Outputs, g.SideOutputs)
	last := -1
	for _, e := range s.Outputs {
		i := slices.Index(names, e.Name)
		if i < 0 {
			return fmt.Errorf("golden sample %q has an output %q, the graph has %q", s.Name, e.Name, names)
		}
		if i <= last {
			return fmt.Errorf("golden sample %q has output %q twice or out of order, want the order %q", s.Name, e.Name, names)
		}
		last = i
	}
	if last < 0 {
		return fmt.Errorf("golden sample %q has no outputs", s.Name)
	}
	return nil
}

// appendLabels appends the labels as text, one on each line.
func appendLabels(b []byte, labels []string) ([]byte, error) {
	if len(labels) > maxLabels {
		return nil, fmt.Errorf("%d labels, want at most %d", len(labels), maxLabels)
	}
	for i, l := range labels {
		if !utf8.ValidString(l) || strings.ContainsAny(l, "\r\n") {
			return nil, fmt.Errorf("label %d is %q, want UTF-8 on one line", i, l)
		}
		b = append(append(b, l...), '\n')
	}
	return b, nil
}

func parseLabels(b []byte) ([]string, error) {
	s := string(b)
	if !strings.HasSuffix(s, "\n") || !utf8.ValidString(s) || strings.Contains(s, "\r") {
		return nil, errors.New("want lines of UTF-8 that each end with a line feed")
	}
	if n := strings.Count(s, "\n"); n > maxLabels {
		return nil, fmt.Errorf("%d labels, want at most %d", n, maxLabels)
	}
	return strings.Split(s[:len(s)-1], "\n"), nil
}

// marshalMeta returns the metadata as a JSON object of strings with sorted
// members.
func marshalMeta(meta map[string]string) ([]byte, error) {
	for k, v := range meta {
		if !utf8.ValidString(k) || !utf8.ValidString(v) { // JSON would replace the bytes silently
			return nil, fmt.Errorf("%q: %q is not UTF-8", k, v)
		}
	}
	b, err := json.Marshal(meta)
	return append(b, '\n'), err
}

func parseMeta(b []byte) (map[string]string, error) {
	if !utf8.Valid(b) {
		return nil, errors.New("not UTF-8")
	}
	// Read tokens: Unmarshal would accept several members of the same name.
	d := json.NewDecoder(strings.NewReader(string(b)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(errors.New("want a JSON object"), err)
	}
	meta := map[string]string{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := k.(string)
		s, ok := v.(string)
		if _, twice := meta[key]; twice || !ok {
			return nil, fmt.Errorf("member %q: want a string, once", key)
		}
		meta[key] = s
	}
	if _, err := d.Token(); err != nil { // the brace
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("data after the object")
	}
	return meta, nil
}
