package binding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/infer-prep/infer-prep/dataset"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
)

// Function describes a function of Python, or a sequence, generator or callback
// of it, which a definition names.
type Function struct {
	Name string `json:"name"` // in the definition: python:NAME@VERSION
	// Columns are those of a sequence or generator.
	Columns []dataset.OutColumn `json:"columns"`
	// In are the columns that the function of a batch gets.
	In []string `json:"in"`
	// Len is the number of rows of a sequence.
	Len int64 `json:"len"`
	// Methods are the names of the methods of a callback.
	Methods []string `json:"methods"`
}

// ofFunctions starts the names of Python's functions in definitions.
const ofFunctions = "python:"

// standIn starts the names of registered functions of each type, with which
// package dataset checks the other parameters of a node whose function is
// Python's.
const standIn = "infer_prep/python"

// functionKey is the parameter of each node that names its function.
var functionKey = map[string]string{"func": "name", "filter": "name", "batch": "per_batch"}

func init() {
	err := fmt.Errorf("%w: a function of Python, which only a Dataset of Python has", dataset.ErrDefinition)
	dataset.RegisterFunc(standIn+"/func", dataset.MapFunc(func(*dataset.Call, []*dataset.Value, []*tensor.Tensor) error { return err }))
	dataset.RegisterFunc(standIn+"/filter", dataset.Predicate(func(*dataset.Call, []*tensor.Tensor) (bool, error) { return false, err }))
	dataset.RegisterFunc(standIn+"/batch", dataset.BatchFunc(func(*dataset.Call, []*dataset.Sample) error { return err }))
	dataset.Register(dataset.Info{Name: "from_sequence", Version: 1, New: func() dataset.Node { return &sequence{} }, Doc: "the elements of a sequence of Python"})
	dataset.Register(dataset.Info{Name: "from_generator", Version: 1, New: func() dataset.Node { return &generated{} }, Doc: "what a generator of Python yields"})
}

// swap replaces the function of Python that the parameters of a node name by
// another name. It returns the old one, "" if there is none.
func swap(node string, params json.RawMessage, name string) (_ json.RawMessage, old string, err error) {
	key := functionKey[node]
	var m map[string]json.RawMessage
	if key == "" || json.Unmarshal(params, &m) != nil || json.Unmarshal(m[key], &old) != nil || !strings.HasPrefix(old, ofFunctions) && !strings.HasPrefix(old, standIn) {
		return params, "", nil
	}
	if m[key], err = json.Marshal(name); err != nil {
		return nil, "", err
	}
	params, err = json.Marshal(m)
	return params, old, err
}

type jsonNode struct {
	Node    string          `json:"node"`
	Version int             `json:"version"`
	Params  json.RawMessage `json:"params"`
	In      []jsonNode      `json:"in,omitempty"`
}

type jsonDefinition struct {
	Version int      `json:"infer_prep_dataset"`
	Top     jsonNode `json:"top"`
}

// maxDepth bounds the depth of a definition, as package dataset does.
const maxDepth = 200

// withFunctions parses a definition with functions of Python, whose calls go to
// q. A watch takes its answers from the map that it puts them in, by its name.
func withFunctions(b []byte, functions []Function, q *calls, answers map[string]*dataset.Answers) (*dataset.Dataset, error) {
	var j jsonDefinition
	if err := Unmarshal(b, &j); err != nil {
		return nil, err
	}
	m := map[string]*function{}
	for i := range functions {
		m[functions[i].Name] = &function{calls: q, place: i, name: labelOf(functions[i].Name), Function: &functions[i]}
	}
	return j.Top.dataset(m, j.Version, 0, answers)
}

// dataset returns the dataset of a node and its inputs.
func (j *jsonNode) dataset(m map[string]*function, version, depth int, answers map[string]*dataset.Answers) (*dataset.Dataset, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("infer_prep: %s: %w: nodes %d deep, want at most %d", j.Node, dataset.ErrDefinition, depth, maxDepth)
	}
	var in []*dataset.Dataset
	for i := range j.In {
		d, err := j.In[i].dataset(m, version, depth+1, answers)
		if err != nil {
			return nil, err
		}
		in = append(in, d)
	}
	var p struct {
		Name   string `json:"name"`
		Every  int64  `json:"every"`
		Waited bool   `json:"waited"`
	}
	switch j.Node {
	case "watch", "from_sequence", "from_generator":
		if err := Unmarshal(j.Params, &p); err != nil {
			return nil, err
		}
		f := m[p.Name]
		switch {
		case f == nil:
			return nil, unknownFunction(j.Node, p.Name)
		case j.Node == "from_sequence":
			return dataset.From(&sequence{f: f}), nil
		case j.Node == "from_generator":
			return dataset.From(&generated{f: f}), nil
		case len(in) != 1:
			return nil, fmt.Errorf("infer_prep: watch: %w: %d inputs, want 1", dataset.ErrDefinition, len(in))
		}
		var a *dataset.Answers
		if p.Waited {
			a = dataset.NewAnswers()
			answers[p.Name] = a
		}
		return in[0].Watch(f.callback(p.Every, a)), nil
	}
	params, name, err := swap(j.Node, j.Params, standIn+"/"+j.Node)
	if err != nil {
		return nil, err
	}
	one, err := json.Marshal(jsonDefinition{version, jsonNode{Node: j.Node, Version: j.Version, Params: params}})
	if err != nil {
		return nil, err
	}
	d := &dataset.Dataset{}
	if err := d.UnmarshalJSON(one); err != nil {
		return nil, err
	}
	d.In = in
	if name == "" {
		return d, nil
	}
	f := m[name]
	if f == nil {
		return nil, unknownFunction(j.Node, name)
	}
	switch n := d.Node.(type) {
	case *dataset.Func:
		d.Node = d.MapFunc(f.mapper(n.Out), n.In, columns(n.Out)...).Node
	case *dataset.Filter:
		d.Node = d.Filter(f.predicate, n.In...).Node
	case *dataset.Batch:
		b := d.BatchFunc(n.Size, f.batch(f.In, n.Out), columns(n.Out)...).Node.(*dataset.Batch)
		b.SizeFunc, b.DropRemainder, b.Pad = n.SizeFunc, n.DropRemainder, n.Pad
		d.Node = b
	}
	return d, nil
}

// labelOf returns the name that people gave to a function.
func labelOf(name string) string {
	name = strings.TrimPrefix(name, ofFunctions)
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		name = name[:i]
	}
	return name
}

func unknownFunction(node, name string) error {
	return fmt.Errorf("infer_prep: %s: %w: unknown function %q: want the Dataset that has it, not its written form", node, dataset.ErrDefinition, labelOf(name))
}

func columns(l []dataset.OutColumn) []dataset.Column {
	out := make([]dataset.Column, len(l))
	for i, c := range l {
		out[i] = dataset.Column{Name: c.Name, Desc: c.Desc}
	}
	return out
}

// sequence is a source of a sequence of Python.
type sequence struct{ f *function }

var errWritten = errors.New("want the Dataset of Python that has it, not its written form")

// Validate requires a sequence.
func (s *sequence) Validate() error {
	if s.f == nil {
		return fmt.Errorf("%w: %w", dataset.ErrParam, errWritten)
	}
	return nil
}

// Open returns the rows. Nothing is called yet.
func (s *sequence) Open(context.Context, store.Opener) (dataset.Data, error) {
	return &elements{s.f}, nil
}

// elements are the rows of a sequence.
type elements struct{ f *function }

func (e *elements) Columns() []dataset.Column { return columns(e.f.Columns) }
func (e *elements) Close() error              { return nil }
func (e *elements) Len() int64                { return e.f.Len }

func (e *elements) Read(ctx context.Context, i int64, s *dataset.Sample) error {
	if i < 0 || i >= e.f.Len {
		return fmt.Errorf("%w: row %d, want 0 to %d", dataset.ErrParam, i, e.f.Len-1)
	}
	return e.f.do(ctx, &Call{Function: e.f.place, Kind: callSample, Ordinal: uint64(i), fill: func(_ bool, values []tensor.Tensor) error {
		return e.f.sample(s, i, values, e.f.Columns)
	}})
}

// generated is a source of a generator of Python.
type generated struct{ f *function }

// Validate requires a generator.
func (g *generated) Validate() error { return (*sequence)(g).Validate() }

// Open returns the stream. Nothing is called yet.
func (g *generated) Open(context.Context, store.Opener) (dataset.Data, error) {
	return &stream{g.f}, nil
}

type stream struct{ f *function }

func (s *stream) Columns() []dataset.Column { return columns(s.f.Columns) }
func (s *stream) Close() error              { return nil }

func (s *stream) Start(ctx context.Context, epoch uint64) (dataset.Reader, error) {
	return s.f.start(ctx, epoch)
}
