package onnx

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/infer-prep/infer-prep/internal/protowire"
	"github.com/infer-prep/infer-prep/tensor"
)

// ErrModel reports bytes that are not a ModelProto, or a model beyond the
// limits of this package.
var ErrModel = errors.New("not an ONNX model")

// modelProto is the part of a ModelProto that this package reads. It refers to
// the model's bytes.
type modelProto struct {
	ir        int64 // ir_version
	producer  string
	opsets    []opsetImport
	metadata  []metadataProp // metadata_props, in order
	functions []functionProto
	graph     graphProto

	raw      []byte
	rawGraph []byte // the GraphProto
}

// opsetImport is an import of operators. The domain of the standard operators
// is "".
type opsetImport struct {
	domain  string
	version int64
}

// metadataProp is one of metadata_props.
type metadataProp struct{ key, value string }

// functionProto is a function defined in the model.
type functionProto struct {
	name, domain string
	opsets       []opsetImport
}

// graphProto is the model's graph.
type graphProto struct {
	name string
	// inputs are the required inputs: those without an initializer.
	inputs, outputs []valueInfo

	names map[string]bool // the names of all values and nodes, including subgraphs
}

// valueInfo is an input or output.
type valueInfo struct {
	name string
	// dtype is Invalid if the value is not a tensor, or has an unsupported
	// type.
	dtype tensor.DType
	// dims are tensor.Unknown if named or missing. A nil slice means an unknown
	// rank.
	dims []int64
}

// The limits of a model: far above any known model, and low enough that a
// crafted file can neither overflow the stack nor allocate much more than its
// own size.
const (
	maxDepth   = 32 // of graphs inside attributes of nodes
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
	start, end int    // the position with the tag
	data       []byte // the value of a bytes field
	v          uint64 // the value of a varint field
}

// fields calls f for every field of a message.
func fields(what string, b []byte, f func(field) error) error {
	for at := 0; at < len(b); {
		num, kind, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return modelErr("%s: invalid field tag at byte %d", what, at)
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
		default: // groups, which ONNX does not use
			return modelErr("%s: field %d at byte %d has wire type %d", what, num, at, kind)
		}
		if m < 0 {
			return modelErr("%s: field %d at byte %d extends beyond the end", what, num, at)
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

// text returns a field that must be UTF-8.
func (f field) text(what string) (string, error) {
	if err := f.want(what, protowire.BytesType); err != nil {
		return "", err
	}
	if !utf8.Valid(f.data) {
		return "", modelErr("%s: field %d at byte %d is not UTF-8", what, f.num, f.start)
	}
	return string(f.data), nil
}

// parseModel parses a model, which the result refers to. Errors wrap ErrModel.
// It skips weights: memory and time are proportional to the number of fields.
func parseModel(b []byte) (*modelProto, error) {
	if len(b) > maxModel {
		return nil, modelErr("%d bytes, want at most %d", len(b), maxModel)
	}
	m := &modelProto{raw: b}
	m.graph.names = map[string]bool{}
	graphs := 0
	err := fields("model", b, func(f field) (err error) {
		switch f.num {
		case modelIR:
			m.ir = int64(f.v)
			return f.want("model", protowire.VarintType)
		case modelProducer:
			m.producer, err = f.text("model")
		case modelOpset:
			m.opsets, err = appendOpsetOf(m.opsets, f)
		case modelMetadata:
			if len(m.metadata) == maxEntries {
				return modelErr("more than %d metadata_props", maxEntries)
			}
			var e metadataProp
			if e, err = entryOf(f); err == nil {
				m.metadata = append(m.metadata, e)
			}
		case modelFunctions:
			if len(m.functions) == maxEntries {
				return modelErr("more than %d functions", maxEntries)
			}
			var fn functionProto
			if fn, err = functionOf(f); err == nil {
				m.functions = append(m.functions, fn)
			}
		case modelGraph:
			if graphs++; graphs > 1 { // protobuf parsers would merge them
				return modelErr("two graphs")
			}
			if err := f.want("model", protowire.BytesType); err != nil {
				return err
			}
			m.rawGraph = f.data
			err = m.graph.read(f.data)
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

func appendOpsetOf(l []opsetImport, f field) ([]opsetImport, error) {
	if err := f.want("opset_import", protowire.BytesType); err != nil {
		return nil, err
	}
	if len(l) == maxOpsets {
		return nil, modelErr("more than %d opset imports", maxOpsets)
	}
	var o opsetImport
	err := fields("opset_import", f.data, func(f field) (err error) {
		switch f.num {
		case opsetDomain:
			o.domain, err = f.text("opset_import")
		case opsetVersion:
			o.version, err = int64(f.v), f.want("opset_import", protowire.VarintType)
		}
		return err
	})
	if o.domain == "ai.onnx" {
		o.domain = ""
	}
	return append(l, o), err
}

func entryOf(f field) (e metadataProp, err error) {
	const what = "metadata_props"
	if err := f.want(what, protowire.BytesType); err != nil {
		return e, err
	}
	err = fields(what, f.data, func(f field) (err error) {
		switch f.num {
		case entryKey:
			e.key, err = f.text(what)
		case entryValue:
			e.value, err = f.text(what)
		}
		return err
	})
	return e, err
}

func functionOf(f field) (fn functionProto, err error) {
	const what = "function"
	if err := f.want(what, protowire.BytesType); err != nil {
		return fn, err
	}
	err = fields(what, f.data, func(f field) (err error) {
		switch f.num {
		case functionName:
			fn.name, err = f.text(what)
		case functionDomain:
			fn.domain, err = f.text(what)
		case functionOpset:
			fn.opsets, err = appendOpsetOf(fn.opsets, f)
		}
		return err
	})
	return fn, err
}

// read reads the GraphProto.
func (g *graphProto) read(b []byte) error {
	defaults := map[string]bool{} // names of initializers
	var all []valueInfo
	err := fields("graph", b, func(f field) (err error) {
		switch f.num {
		case graphName:
			g.name, err = f.text("graph")
		case graphInput, graphOutput:
			if len(all)+len(g.outputs) == maxPorts {
				return modelErr("more than %d inputs and outputs", maxPorts)
			}
			var v valueInfo
			if v, err = valueInfoOf(f); err != nil {
				return err
			}
			if f.num == graphInput {
				all = append(all, v)
			} else {
				g.outputs = append(g.outputs, v)
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
		if !defaults[v.name] {
			g.inputs = append(g.inputs, v)
		}
	}
	return g.collect(b, 0)
}

// nameOf returns the name of an initializer: of a TensorProto, or of the values
// of a SparseTensorProto.
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

func valueInfoOf(f field) (valueInfo, error) {
	const what = "input or output"
	var v valueInfo
	if err := f.want(what, protowire.BytesType); err != nil {
		return v, err
	}
	err := fields(what, f.data, func(f field) (err error) {
		switch f.num {
		case valueName:
			v.name, err = f.text(what)
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
func (v *valueInfo) typed(b []byte) error {
	const what = "type"
	return fields(what, b, func(f field) error {
		if f.num != typeTensor {
			return nil // a sequence, map or optional
		}
		if err := f.want(what, protowire.BytesType); err != nil {
			return err
		}
		return fields(what, f.data, func(f field) error {
			switch f.num {
			case tensorElem:
				v.dtype = elemType(f.v)
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
func (v *valueInfo) shaped(b []byte) error {
	const what = "shape"
	v.dims = []int64{}
	return fields(what, b, func(f field) error {
		if f.num != shapeDim {
			return nil
		}
		if err := f.want(what, protowire.BytesType); err != nil {
			return err
		}
		if len(v.dims) == maxDims {
			return modelErr("a tensor with more than %d axes", maxDims)
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
		v.dims = append(v.dims, n)
		return err
	})
}

// collect records the names of all values and nodes of a graph and its
// subgraphs.
func (g *graphProto) collect(b []byte, depth int) error {
	if depth > maxDepth {
		return modelErr("graphs nested deeper than %d", maxDepth)
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
			g.names[v.name] = true
			return err
		case graphInitializer, graphSparse:
			n, err := nameOf(f)
			g.names[n] = true
			return err
		}
		return nil
	})
}

// opset returns the version of a domain's operators that the model imports, 0
// if it imports none.
func (m *modelProto) opset(domain string) int64 {
	for _, o := range m.opsets {
		if o.domain == domain {
			return o.version
		}
	}
	return 0
}
