package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// ErrMerge is of a model that preprocessing cannot be put in front of; the two
// can still be run one after the other.
var ErrMerge = errors.New("cannot be merged into one model")

func mergeErr(format string, args ...any) error {
	return fmt.Errorf("onnx: %w: %s", ErrMerge, fmt.Sprintf(format, args...))
}

// Merge lowers a graph and puts it in front of a model: the model's inputs of the
// graph's outputs' names, or the one input where there is one of each, are computed
// instead of fed. Side outputs are left out. The model's other inputs, its
// outputs, and all that is in it stay.
//
// The graph is written for the model's version of ai.onnx; o.Opset must be 0 or
// that. An input of one axis more than the output gets a leading axis of 1; o.Batch
// is not looked at. Names of the graph's values are chosen so that none clashes.
//
// ErrMerge says why it cannot be: a version of ai.onnx that is not within MinOpset
// to MaxOpset, functions with a version of their own, which no checker or runtime
// takes, or inputs that do not fit. Exported.Model is the merged model, and
// Outputs are the inputs of the model that are computed.
func Merge(g *datagraph.Graph, o Options, model []byte) (*Exported, error) {
	m, err := Read(model)
	if err != nil {
		return nil, err
	}
	version := m.Opset("")
	switch {
	case version == 0:
		return nil, mergeErr("the model does not import the operators of ai.onnx")
	case version < MinOpset || version > MaxOpset:
		return nil, mergeErr("the model is of opset %d, and the graph can be written for %d to %d", version, MinOpset, MaxOpset)
	case o.Opset != 0 && int64(o.Opset) != version:
		return nil, mergeErr("the model is of opset %d, the graph is wanted for %d: one model has one version", version, o.Opset)
	case m.IR < 4:
		return nil, mergeErr("the model's ir_version %d wants every initializer among its inputs; 4 and later do not", m.IR)
	}
	for _, f := range m.Functions {
		for _, i := range f.Opsets {
			if i.Domain == "" && i.Version != version {
				return nil, mergeErr("the model's function %s.%s is of opset %d, the model of %d: checkers and runtimes refuse it in one model", f.Domain, f.Name, i.Version, version)
			}
		}
	}
	o.Opset, o.Batch = int(version), false
	plain := *g
	plain.SideOutputs = nil
	l, err := lowerGraph(&plain, o, freePrefix(m.Graph.names))
	if err != nil {
		return nil, err
	}
	if err := l.connect(m); err != nil {
		return nil, err
	}
	return l.merge(m)
}

// freePrefix is one that no name begins with.
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

// connect finds the model's input for every output, and names both accordingly.
func (l *lowering) connect(m *Model) error {
	r := &l.result
	for _, c := range l.graph.Outputs {
		if !slices.ContainsFunc(r.Outputs, func(p Port) bool { return p.Column == c }) {
			return mergeErr("the graph's output %s is made before the step that the model would begin with", c)
		}
	}
	l.scope = ""
	renamed := map[string]string{}
	for i, p := range r.Outputs {
		in := slices.IndexFunc(m.Graph.Inputs, func(v ValueInfo) bool { return v.Name == p.Column })
		if in < 0 && len(r.Outputs) == 1 && len(m.Graph.Inputs) == 1 {
			in = 0
		}
		if in < 0 {
			var names []string
			for _, v := range m.Graph.Inputs {
				names = append(names, v.Name)
			}
			return mergeErr("the model has no input %s, but %s", p.Column, strings.Join(names, ", "))
		}
		want, v := m.Graph.Inputs[in], l.columns[p.Column]
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
		if !l.rename(name, want.Name) {
			l.rename(l.op("Identity", nil, name), want.Name)
		}
		if name == v.name {
			renamed[v.name] = want.Name
		}
		r.Outputs[i].Name, r.Outputs[i].Desc = want.Name, v.desc
	}
	// What the merged model is fed must not be named as anything in it.
	names := map[string]string{}
	taken := func(n string) bool {
		for _, have := range names {
			if have == n {
				return true
			}
		}
		return m.Graph.names[n]
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

// fits reports whether an input wants one axis more than d has, which is the
// batch, or says why d cannot be its tensor.
func fits(in ValueInfo, d tensor.Desc) (batch bool, err error) {
	if in.DType != d.DType {
		return false, mergeErr("the model's input %s is %v, the graph gives %v", in.Name, in.DType, d)
	}
	if in.Dims == nil {
		return d.IsImage(), nil // not even a rank: images in batches, as models have it
	}
	rank := d.Shape.Rank()
	dims := in.Dims
	switch {
	case len(dims) == rank+1 && (dims[0] == 1 || dims[0] == tensor.Unknown):
		batch, dims = true, dims[1:]
	case len(dims) != rank:
		return false, mergeErr("the model's input %s has the dimensions %v, the graph gives %v", in.Name, in.Dims, d)
	}
	for i, n := range dims {
		if have := d.Shape.At(i); n != tensor.Unknown && have != tensor.Unknown && int64(have) != n {
			return false, mergeErr("the model's input %s has the dimensions %v, the graph gives %v", in.Name, in.Dims, d)
		}
	}
	return batch, nil
}

// merge writes the model with the nodes in front of its own.
func (l *lowering) merge(m *Model) (*Exported, error) {
	nodes, consts, err := l.builder.graph()
	if err != nil {
		return nil, err
	}
	inputs, _ := l.ports()
	computed := map[string]bool{}
	for _, p := range l.result.Outputs {
		computed[p.Name] = true
	}
	// The graph's own nodes first, since nodes stand in the order of their use.
	out := append([]byte(nil), nodes...)
	out = append(out, consts...)
	out = append(out, inputs...)
	err = fields("graph", m.graph, func(f field) error {
		if f.num == graphInput {
			v, err := valueInfoOf(f)
			if err != nil {
				return err
			}
			if computed[v.Name] { // an input no more, but its type still holds
				out = appendMessage(out, graphValueInfo, f.data)
				return nil
			}
		}
		out = append(out, m.graph[f.start:f.end]...)
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
	return &l.result, nil
}
