package onnx

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/infer-prep/infer-prep/tensor"
)

// ErrModel is of bytes that are no ModelProto, or one beyond this package's bounds.
var ErrModel = errors.New("not an ONNX model")

// Model is what this package reads of a ModelProto. It shares the model's bytes.
type Model struct {
	IR        int64 // ir_version
	Producer  string
	Opsets    []Opset
	Metadata  []Entry // metadata_props, in order
	Functions []Function
	Graph     Graph

	raw   []byte
	graph []byte // the GraphProto
}

// Opset is an import of operators. The domain of ONNX's own is "".
type Opset struct {
	Domain  string
	Version int64
}

// Entry is one of metadata_props.
type Entry struct{ Key, Value string }

// Function is a function that comes with the model.
type Function struct {
	Name, Domain string
	Opsets       []Opset
}

// Graph is the model's graph.
type Graph struct {
	Name string
	// Inputs are those that must be fed: without those that initializers are the default of.
	Inputs, Outputs []ValueInfo

	names map[string]bool // every name of a value or node, in subgraphs too
}

// ValueInfo is an input or output.
type ValueInfo struct {
	Name string
	// DType is Invalid for what is no tensor, or one of a type that tensors do not have.
	DType tensor.DType
	// Dims are tensor.Unknown where they are named or missing; nil if there is no
	// shape, not even a rank.
	Dims []int64
}

// The bounds of what is read: far beyond any model known, and so low that a file
// made for it can neither take the stack nor much more memory than its own size.
const (
	maxDepth   = 32 // of graphs in attributes of nodes
	maxOpsets  = 1000
	maxEntries = 100000
	maxPorts   = 100000
	maxDims    = 64
)

func modelErr(format string, args ...any) error {
	return fmt.Errorf("onnx: %w: %s", ErrModel, fmt.Sprintf(format, args...))
}

// field is one field of a message.
type field struct {
	num        protowire.Number
	kind       protowire.Type
	start, end int    // with its tag
	data       []byte // of bytes
	v          uint64 // of a varint
}

// fields calls f for every field of a message.
func fields(what string, b []byte, f func(field) error) error {
	for at := 0; at < len(b); {
		num, kind, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return modelErr("%s: no field's tag at byte %d", what, at)
		}
		fd := field{num: num, kind: kind, start: at}
		m := 0
		switch kind {
		case protowire.VarintType:
			fd.v, m = protowire.ConsumeVarint(b[at+n:])
		case protowire.BytesType:
			fd.data, m = protowire.ConsumeBytes(b[at+n:])
		case protowire.Fixed32Type:
			_, m = protowire.ConsumeFixed32(b[at+n:])
		case protowire.Fixed64Type:
			_, m = protowire.ConsumeFixed64(b[at+n:])
		default: // groups, which ONNX has none of
			return modelErr("%s: field %d at byte %d has wire type %d", what, num, at, kind)
		}
		if m < 0 {
			return modelErr("%s: field %d at byte %d goes beyond the end", what, num, at)
		}
		at += n + m
		fd.end = at
		if err := f(fd); err != nil {
			return err
		}
	}
	return nil
}

// want checks a field's wire type.
func (f field) want(what string, kind protowire.Type) error {
	if f.kind != kind {
		return modelErr("%s: field %d at byte %d has wire type %d, want %d", what, f.num, f.start, f.kind, kind)
	}
	return nil
}

// text is a field that must be UTF-8.
func (f field) text(what string) (string, error) {
	if err := f.want(what, protowire.BytesType); err != nil {
		return "", err
	}
	if !utf8.Valid(f.data) {
		return "", modelErr("%s: field %d at byte %d is not UTF-8", what, f.num, f.start)
	}
	return string(f.data), nil
}

// Read reads a model, which it keeps. Errors wrap ErrModel. Weights are not
// looked at; memory and time are in proportion to the number of fields.
func Read(b []byte) (*Model, error) {
	if len(b) > maxModel {
		return nil, modelErr("%d bytes, protobuf messages have at most %d", len(b), maxModel)
	}
	m := &Model{raw: b}
	m.Graph.names = map[string]bool{}
	graphs := 0
	err := fields("model", b, func(f field) (err error) {
		switch f.num {
		case modelIR:
			m.IR = int64(f.v)
			return f.want("model", protowire.VarintType)
		case modelProducer:
			m.Producer, err = f.text("model")
		case modelOpset:
			m.Opsets, err = appendOpsetOf(m.Opsets, f)
		case modelMetadata:
			if len(m.Metadata) == maxEntries {
				return modelErr("more than %d metadata_props", maxEntries)
			}
			var e Entry
			if e, err = entryOf(f); err == nil {
				m.Metadata = append(m.Metadata, e)
			}
		case modelFunctions:
			if len(m.Functions) == maxEntries {
				return modelErr("more than %d functions", maxEntries)
			}
			var fn Function
			if fn, err = functionOf(f); err == nil {
				m.Functions = append(m.Functions, fn)
			}
		case modelGraph:
			if graphs++; graphs > 1 { // parsers merge the two
				return modelErr("two graphs")
			}
			if err := f.want("model", protowire.BytesType); err != nil {
				return err
			}
			m.graph = f.data
			err = m.Graph.read(f.data)
		}
		return err
	})
	if err == nil && graphs == 0 {
		err = modelErr("no graph")
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func appendOpsetOf(l []Opset, f field) ([]Opset, error) {
	if err := f.want("opset_import", protowire.BytesType); err != nil {
		return nil, err
	}
	if len(l) == maxOpsets {
		return nil, modelErr("more than %d opset imports", maxOpsets)
	}
	var o Opset
	err := fields("opset_import", f.data, func(f field) (err error) {
		switch f.num {
		case opsetDomain:
			o.Domain, err = f.text("opset_import")
		case opsetVersion:
			o.Version, err = int64(f.v), f.want("opset_import", protowire.VarintType)
		}
		return err
	})
	if o.Domain == "ai.onnx" {
		o.Domain = ""
	}
	return append(l, o), err
}

func entryOf(f field) (e Entry, err error) {
	const what = "metadata_props"
	if err := f.want(what, protowire.BytesType); err != nil {
		return e, err
	}
	err = fields(what, f.data, func(f field) (err error) {
		switch f.num {
		case entryKey:
			e.Key, err = f.text(what)
		case entryValue:
			e.Value, err = f.text(what)
		}
		return err
	})
	return e, err
}

func functionOf(f field) (fn Function, err error) {
	const what = "function"
	if err := f.want(what, protowire.BytesType); err != nil {
		return fn, err
	}
	err = fields(what, f.data, func(f field) (err error) {
		switch f.num {
		case functionName:
			fn.Name, err = f.text(what)
		case functionDomain:
			fn.Domain, err = f.text(what)
		case functionOpset:
			fn.Opsets, err = appendOpsetOf(fn.Opsets, f)
		}
		return err
	})
	return fn, err
}

// read reads the GraphProto.
func (g *Graph) read(b []byte) error {
	defaults := map[string]bool{} // names of initializers
	var all []ValueInfo
	err := fields("graph", b, func(f field) (err error) {
		switch f.num {
		case graphName:
			g.Name, err = f.text("graph")
		case graphInput, graphOutput:
			if len(all)+len(g.Outputs) == maxPorts {
				return modelErr("more than %d inputs and outputs", maxPorts)
			}
			var v ValueInfo
			if v, err = valueInfoOf(f); err != nil {
				return err
			}
			if f.num == graphInput {
				all = append(all, v)
			} else {
				g.Outputs = append(g.Outputs, v)
			}
		case graphInitializer, graphSparse:
			var n string
			if n, err = nameOf(f); err == nil {
				defaults[n] = true
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, v := range all {
		if !defaults[v.Name] {
			g.Inputs = append(g.Inputs, v)
		}
	}
	return g.collect(b, 0)
}

// nameOf is the name of an initializer: a TensorProto, or a SparseTensorProto, whose
// name is that of its values.
func nameOf(f field) (name string, err error) {
	const what = "initializer"
	if err := f.want(what, protowire.BytesType); err != nil {
		return "", err
	}
	sparse := f.num == graphSparse
	err = fields(what, f.data, func(f field) (err error) {
		switch {
		case sparse && f.num == sparseValues:
			name, err = nameOf(field{num: graphInitializer, kind: f.kind, data: f.data, start: f.start})
		case !sparse && f.num == tensorName:
			name, err = f.text(what)
		}
		return err
	})
	return name, err
}

func valueInfoOf(f field) (ValueInfo, error) {
	const what = "input or output"
	var v ValueInfo
	if err := f.want(what, protowire.BytesType); err != nil {
		return v, err
	}
	err := fields(what, f.data, func(f field) (err error) {
		switch f.num {
		case valueName:
			v.Name, err = f.text(what)
		case valueType:
			if err = f.want(what, protowire.BytesType); err == nil {
				err = v.typed(f.data)
			}
		}
		return err
	})
	return v, err
}

// typed reads a TypeProto.
func (v *ValueInfo) typed(b []byte) error {
	const what = "type"
	return fields(what, b, func(f field) error {
		if f.num != typeTensor {
			return nil // a sequence, a map, an optional: no tensor
		}
		if err := f.want(what, protowire.BytesType); err != nil {
			return err
		}
		return fields(what, f.data, func(f field) error {
			switch f.num {
			case tensorElem:
				v.DType = elemType(f.v)
				return f.want(what, protowire.VarintType)
			case tensorDims:
				if err := f.want(what, protowire.BytesType); err != nil {
					return err
				}
				return v.shaped(f.data)
			}
			return nil
		})
	})
}

// shaped reads a TensorShapeProto.
func (v *ValueInfo) shaped(b []byte) error {
	const what = "shape"
	v.Dims = []int64{}
	return fields(what, b, func(f field) error {
		if f.num != shapeDim {
			return nil
		}
		if err := f.want(what, protowire.BytesType); err != nil {
			return err
		}
		if len(v.Dims) == maxDims {
			return modelErr("a tensor of more than %d axes", maxDims)
		}
		n := int64(tensor.Unknown)
		err := fields(what, f.data, func(f field) error {
			if f.num != dimValue {
				return nil
			}
			if n = int64(f.v); n < 0 {
				n = tensor.Unknown
			}
			return f.want(what, protowire.VarintType)
		})
		v.Dims = append(v.Dims, n)
		return err
	})
}

// collect notes every name of a value or node of a graph, and of those in it.
func (g *Graph) collect(b []byte, depth int) error {
	if depth > maxDepth {
		return modelErr("graphs in graphs deeper than %d", maxDepth)
	}
	return fields("graph", b, func(f field) error {
		switch f.num {
		case graphNode:
			if err := f.want("node", protowire.BytesType); err != nil {
				return err
			}
			return fields("node", f.data, func(f field) error {
				switch f.num {
				case nodeInput, nodeOutput, nodeName:
					n, err := f.text("node")
					g.names[n] = true
					return err
				case nodeAttribute:
					if err := f.want("attribute", protowire.BytesType); err != nil {
						return err
					}
					return fields("attribute", f.data, func(f field) error {
						if f.num != attrGraph && f.num != attrGraphs {
							return nil
						}
						if err := f.want("attribute", protowire.BytesType); err != nil {
							return err
						}
						return g.collect(f.data, depth+1)
					})
				}
				return nil
			})
		case graphInput, graphOutput, graphValueInfo:
			v, err := valueInfoOf(f)
			g.names[v.Name] = true
			return err
		case graphInitializer, graphSparse:
			n, err := nameOf(f)
			g.names[n] = true
			return err
		}
		return nil
	})
}

// Opset is the version of a domain's operators that the model imports, 0 if none.
func (m *Model) Opset(domain string) int64 {
	for _, o := range m.Opsets {
		if o.Domain == domain {
			return o.Version
		}
	}
	return 0
}
