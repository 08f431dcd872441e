package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// ErrFit reports a graph or labels that do not fit a model. Every such error is
// a *FitError.
var ErrFit = errors.New("does not fit the model")

// FitProblem is what does not fit.
type FitProblem string

// The problems of a FitError.
const (
	FitName   FitProblem = "name"   // no input has the output's name
	FitDType  FitProblem = "dtype"  // the types differ
	FitRank   FitProblem = "rank"   // the numbers of axes differ by more than a batch axis
	FitBatch  FitProblem = "batch"  // the input takes batches of a fixed size above 1
	FitLayout FitProblem = "layout" // one is HWC, the other CHW
	FitShape  FitProblem = "shape"  // a size differs
	FitLabels FitProblem = "labels" // the number of labels is not that of classes
)

// FitError describes the first thing that does not fit a model.
type FitError struct {
	Problem FitProblem
	// Output is the graph's output, empty for FitLabels.
	Output datagraph.Column
	// Inputs are the model's inputs that the output was compared with: all of
	// them for FitName, else one. A size that is not fixed is tensor.Unknown.
	// For FitLabels they are the model's outputs of class scores.
	Inputs []Value
	// Labels is the number of labels, for FitLabels.
	Labels int
}

// Value is an input or output of a model.
type Value struct {
	Name string
	// DType is Invalid if the value is not a tensor of a supported type.
	DType tensor.DType
	// Dims are tensor.Unknown where they are not fixed. Nil means that the
	// model does not state the number of axes.
	Dims []int64
}

// String returns "NAME (float32 [?, 3, 224, 224])".
func (v Value) String() string {
	kind, dims := "unsupported type", "of any shape"
	if v.DType != tensor.Invalid {
		kind = v.DType.String()
	}
	if v.Dims != nil {
		var l []string
		for _, n := range v.Dims {
			if n == tensor.Unknown {
				l = append(l, "?")
			} else {
				l = append(l, fmt.Sprint(n))
			}
		}
		dims = "[" + strings.Join(l, ", ") + "]"
	}
	return fmt.Sprintf("%s (%s %s)", v.Name, kind, dims)
}

func (e *FitError) Error() string {
	var l []string
	for _, v := range e.Inputs {
		l = append(l, v.String())
	}
	inputs := strings.Join(l, ", ")
	if e.Problem == FitLabels {
		return fmt.Sprintf("onnx: %d labels: want one for each class of the model's output %s", e.Labels, inputs)
	}
	s := fmt.Sprintf("onnx: the graph's output %s (%v) does not fit the model: ", e.Output.Name, e.Output.Desc)
	if e.Problem == FitName {
		if len(l) == 0 {
			return s + "the model has no inputs"
		}
		return s + "no input has its name: want one of " + inputs
	}
	what := map[FitProblem]string{
		FitDType: "another dtype", FitRank: "another number of axes", FitBatch: "batches of a fixed size",
		FitLayout: "another layout", FitShape: "another size",
	}[e.Problem]
	return fmt.Sprintf("%sthe input %s has %s", s, inputs, what)
}

// Is reports whether target is ErrFit.
func (e *FitError) Is(target error) bool { return target == ErrFit }

// CheckFit checks that a model takes the outputs of a graph, without side
// outputs, as a device with a runtime connects them. An input takes the output
// of its name; if there is one of each, the names may differ. An input may have
// a batch axis in addition, of 1 or of no fixed size. Sizes that are not fixed
// fit every size.
//
// An output without an input is accepted if every input has an output. An input
// without an output is accepted if every output has an input; the program then
// makes that input itself.
//
// labels is the number of names of classes, 0 for none. It must be the number
// of classes of a float output that holds one score for each class. A model
// without such an output, such as a detector, is not checked.
//
// Mismatches are a *FitError. Bytes that are not a model are ErrModel.
func CheckFit(model []byte, g *datagraph.Graph, labels int) error {
	m, err := parseModel(model)
	if err != nil {
		return err
	}
	descs, err := g.Infer()
	if err != nil {
		return err
	}
	fed := map[string]bool{}
	var free *datagraph.Column
	for _, name := range g.Outputs {
		c := datagraph.Column{Name: name, Desc: g.Last(descs, name)}
		in := slices.IndexFunc(m.graph.inputs, func(v valueInfo) bool { return v.name == name })
		if in < 0 && len(g.Outputs) == 1 && len(m.graph.inputs) == 1 {
			in = 0
		}
		if in < 0 {
			if free == nil {
				free = &c
			}
			continue
		}
		v := m.graph.inputs[in].value()
		fed[v.Name] = true
		if p := v.problem(c.Desc); p != "" {
			return &FitError{Problem: p, Output: c, Inputs: []Value{v}}
		}
	}
	if free != nil && (len(fed) < len(m.graph.inputs) || len(fed) == 0) {
		return &FitError{Problem: FitName, Output: *free, Inputs: values(m.graph.inputs)}
	}
	return m.checkLabels(labels)
}

func (v valueInfo) value() Value { return Value{v.name, v.dtype, v.dims} }

func values(l []valueInfo) (out []Value) {
	for _, v := range l {
		out = append(out, v.value())
	}
	return out
}

// problem returns what keeps the input from taking a tensor, "" if nothing
// does.
func (v Value) problem(d tensor.Desc) FitProblem {
	if v.DType != d.DType {
		return FitDType
	}
	if v.Dims == nil {
		return ""
	}
	dims, rank := v.Dims, d.Shape.Rank()
	switch len(dims) {
	case rank:
	case rank + 1:
		if dims[0] != 1 && dims[0] != tensor.Unknown {
			return FitBatch
		}
		dims = dims[1:]
	default:
		return FitRank
	}
	if sized(dims, d.Shape) {
		return ""
	}
	if s := d.Shape; d.IsImage() {
		if d.Layout == tensor.CHW {
			s = tensor.Dims(s.At(1), s.At(2), s.At(0))
		} else {
			s = tensor.Dims(s.At(2), s.At(0), s.At(1))
		}
		if sized(dims, s) {
			return FitLayout
		}
	}
	return FitShape
}

// sized reports whether a shape has the known sizes of dims.
func sized(dims []int64, s tensor.Shape) bool {
	for i, n := range dims {
		if have := s.At(i); n != tensor.Unknown && have != tensor.Unknown && int64(have) != n {
			return false
		}
	}
	return true
}

// checkLabels checks the number of labels against the outputs of class scores.
func (m *modelProto) checkLabels(labels int) error {
	if labels == 0 {
		return nil
	}
	var scores []Value
	for _, o := range m.graph.outputs {
		v := o.value()
		n := v.classes()
		if n == labels {
			return nil
		}
		if n > 0 {
			scores = append(scores, v)
		}
	}
	if len(scores) == 0 {
		return nil
	}
	return &FitError{Problem: FitLabels, Inputs: scores, Labels: labels}
}

// classes returns the number of classes of an output with a score for each, 0
// if it is no such output or the number is not fixed. Its first axis may be a
// batch of any size, and axes after the classes may be 1.
func (v Value) classes() int {
	switch v.DType {
	case tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64:
	default:
		return 0
	}
	dims := v.Dims
	if len(dims) > 1 {
		dims = dims[1:]
	}
	for len(dims) > 1 && dims[len(dims)-1] == 1 {
		dims = dims[:len(dims)-1]
	}
	if len(dims) != 1 || dims[0] <= 0 || dims[0] > 1<<30 {
		return 0
	}
	return int(dims[0])
}
