package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// ErrMerge reports a model that preprocessing cannot be merged into. The two
// models can still run one after the other.
var ErrMerge = errors.New("cannot be merged into one model")

func mergeErr(format string, args ...any) error {
	return fmt.Errorf("onnx: %w: %s", ErrMerge, fmt.Sprintf(format, args...))
}

// Merge lowers a graph and puts it in front of a model. Each output of the
// graph replaces the model's input of the same name, or the only input if there
// is one output and one input. The merged model computes these inputs. The
// model's other inputs, its outputs and its content do not change. Side outputs
// are dropped.
//
// The graph is written for the model's version of ai.onnx; o.Opset must be 0 or
// that version. An input with one axis more than the output gets a leading axis
// of 1; Merge ignores o.Batch. The names of the graph's values do not clash
// with the model's.
//
// ErrMerge says why a merge is impossible: a version of ai.onnx outside
// MinOpset to MaxOpset, functions of another version, which checkers and
// runtimes refuse, or inputs that do not match. In the result, Model is the
// merged model, and Outputs are the model's computed inputs.
func Merge(g *datagraph.Graph, o Options, model []byte) (*Exported, error) {
	m, err := parseModel(model)
	if err != nil {
		return nil, err
	}
	version := m.opset("")
	switch {
	case version == 0:
		return nil, mergeErr("the model does not import the operators of ai.onnx")
	case version < MinOpset || version > MaxOpset:
		return nil, mergeErr("the model has opset %d, want %d to %d", version, MinOpset, MaxOpset)
	case o.Opset != 0 && int64(o.Opset) != version:
		return nil, mergeErr("the model has opset %d, the options %d: one model has one opset", version, o.Opset)
	case m.ir < 4:
		return nil, mergeErr("the model has ir_version %d, want at least 4: older versions list every initializer as an input", m.ir)
	}
	for _, f := range m.functions {
		for _, i := range f.opsets {
			if i.domain == "" && i.version != version {
				return nil, mergeErr("the function %s.%s has opset %d, the model %d: checkers and runtimes refuse that", f.domain, f.name, i.version, version)
			}
		}
	}
	o.Opset, o.Batch = int(version), false
	plain := *g
	plain.SideOutputs = nil
	l, err := lowerGraph(&plain, o, freePrefix(m.graph.names))
	if err != nil {
		return nil, err
	}
	if err := l.connect(m); err != nil {
		return nil, err
	}
	return l.merge(m)
}

// freePrefix returns a prefix that no name starts with.
func freePrefix(names map[string]bool) string {
	p := "infer_prep/"
	for taken := true; taken; {
		taken = false
		for n := range names {
			n = strings.TrimPrefix(n, "node:")
			taken = taken || strings.HasPrefix(n, p)
		}
		if taken {
			p = "_" + p
		}
	}
	return p
}

// connect finds the model's input for every output, and assigns its name to
// both.
func (l *lowering) connect(m *modelProto) error {
	r := &l.result
	for _, c := range l.graph.Outputs {
		if !slices.ContainsFunc(r.Outputs, func(p Port) bool { return p.Column == c }) {
			return mergeErr("the graph computes output %s before the first step of the model", c)
		}
	}
	l.scope = ""
	renamed := map[string]string{}
	for i, p := range r.Outputs {
		in := slices.IndexFunc(m.graph.inputs, func(v valueInfo) bool { return v.name == p.Column })
		if in < 0 && len(r.Outputs) == 1 && len(m.graph.inputs) == 1 {
			in = 0
		}
		if in < 0 {
			var names []string
			for _, v := range m.graph.inputs {
				names = append(names, v.name)
			}
			return mergeErr("the model has no input %s, it has %s", p.Column, strings.Join(names, ", "))
		}
		want, v := m.graph.inputs[in], l.columns[p.Column]
		batch, err := fits(want, v.desc)
		if err != nil {
			return err
		}
		name := v.name
		if n, ok := renamed[name]; ok {
			name = n
		}
		if batch {
			name = l.op("Unsqueeze", nil, name, l.ints(0))
		} else if _, shared := renamed[v.name]; shared || l.fed[v.name] {
			name = l.op("Identity", nil, name)
		}
		if !l.rename(name, want.name) {
			l.rename(l.op("Identity", nil, name), want.name)
		}
		if name == v.name {
			renamed[v.name] = want.name
		}
		r.Outputs[i].Name, r.Outputs[i].Desc = want.name, v.desc
	}
	// The inputs of the merged model must not have the name of anything in it.
	names := map[string]string{}
	taken := func(n string) bool {
		for _, have := range names {
			if have == n {
				return true
			}
		}
		return m.graph.names[n]
	}
	for i, p := range r.Inputs {
		name := p.Column
		for taken(name) {
			name += "_in"
		}
		names[p.Name], r.Inputs[i].Name = name, name
	}
	for _, n := range l.nodes {
		for j, s := range n.in {
			if to, ok := names[s]; ok {
				n.in[j] = to
			}
		}
	}
	return nil
}

// fits checks that d can be the tensor of an input. batch reports whether the
// input has a batch axis in addition.
func fits(in valueInfo, d tensor.Desc) (batch bool, err error) {
	switch in.value().problem(d) {
	case "":
		if in.dims == nil {
			return d.IsImage(), nil // unknown rank: models take images in batches
		}
		return len(in.dims) > d.Shape.Rank(), nil
	case FitDType:
		return false, mergeErr("the model's input %s is %v, the graph's output is %v", in.name, in.dtype, d)
	}
	return false, mergeErr("the model's input %s has the dimensions %v, the graph's output is %v", in.name, in.dims, d)
}

// merge writes the model with the lowered nodes in front of its own.
func (l *lowering) merge(m *modelProto) (*Exported, error) {
	nodes, consts, err := l.builder.graph()
	if err != nil {
		return nil, err
	}
	inputs, _ := l.ports()
	computed := map[string]bool{}
	for _, p := range l.result.Outputs {
		computed[p.Name] = true
	}
	// The lowered nodes come first: ONNX wants nodes in topological order.
	out := append([]byte(nil), nodes...)
	out = append(out, consts...)
	out = append(out, inputs...)
	err = fields("graph", m.rawGraph, func(f field) error {
		if f.num == graphInput {
			v, err := valueInfoOf(f)
			if err != nil {
				return err
			}
			if computed[v.name] { // no longer an input; keep its type
				out = appendMessage(out, graphValueInfo, f.data)
				return nil
			}
		}
		out = append(out, m.rawGraph[f.start:f.end]...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var model []byte
	err = fields("model", m.raw, func(f field) error {
		if f.num == modelGraph {
			model = appendMessage(model, modelGraph, out)
		} else {
			model = append(model, m.raw[f.start:f.end]...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(model) > maxModel {
		return nil, errTooLarge
	}
	l.result.Model = model
	for _, v := range m.graph.outputs {
		l.result.ModelOutputs = append(l.result.ModelOutputs, v.value())
	}
	return &l.result, nil
}
