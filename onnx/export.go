// Package onnx puts data graphs into ONNX models: as metadata that this program
// reads back ([Embed], [Extract]), and as ONNX operators that any runtime runs
// ([Export], [Merge]).
//
// It writes and reads the protobuf messages itself. What it does not know of a
// model it keeps byte for byte. Nothing here runs a model.
//
// # Forms
//
// A graph's tensor part, what follows the decoding, is lowered in one of three forms:
//
//	       resize                                        against the graph on the CPU
//	Exact  Gather, Mul and Add of every tap, in integers  equal bytes
//	Fast   Resize, antialiased as the backend does         within 1 of 255 before what follows
//	Tail   on the host                                     equal bytes
//
// All that is not a resize is lowered to the same operators in every form, in the
// reference's order of float32 operations: x/255 is a division, then the mean is
// subtracted, then it is divided by std. Where no such operators give the op's
// bits for all 256 values of uint8, a table of 256 entries stands for it.
//
// Measured with ONNX Runtime 1.31.1's CPU provider; others may compute Resize in
// other ways, or not at all, which is what Tail is for.
package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Form is how a graph is lowered.
type Form uint8

// The forms.
const (
	// Exact gives the bytes of the CPU. Resizes need the image's size, stated in the
	// Options, or HostTaps.
	Exact Form = iota
	// Fast uses the operator Resize, whose bytes are within 1 of the CPU's. Sizes
	// are computed in the model unless they are stated.
	Fast
	// Tail is what follows the last resize or crop: casts, rescaling,
	// normalisation, layout, padding. The steps before run on the host.
	Tail
)

var formNames = []string{"exact", "fast", "tail"}

func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return fmt.Sprintf("form %d", uint8(f))
}

// ParseForm finds a form by its name.
func ParseForm(s string) (Form, error) {
	if i := slices.Index(formNames, s); i >= 0 {
		return Form(i), nil
	}
	return 0, fmt.Errorf("onnx: %w: form %q, want one of %s", ErrOptions, s, strings.Join(formNames, ", "))
}

// The opsets that models are written for, and the one of Options without.
const (
	MinOpset     = 13
	DefaultOpset = 18
	MaxOpset     = 26
)

// Options say how a graph is exported.
type Options struct {
	Form Form
	// Height and Width are those of every decoded image, in pixels; both 0 for images of
	// any size. Tail ignores them: its input has the size that the steps before give.
	Height, Width int
	// HostTaps, for Exact without a size, makes the taps of every resize inputs of the
	// model; see Exported.Taps.
	HostTaps bool
	// Opset is the version of ai.onnx, MinOpset to MaxOpset; 0 means
	// DefaultOpset. Fast's antialiased Resize needs 18.
	Opset int
	// Batch gives every output a leading axis of 1, as models have it. Inputs have none.
	Batch bool
}

// The kinds of error, for errors.Is.
var (
	// ErrOptions is of options that cannot be.
	ErrOptions = errors.New("invalid option")
	// ErrUnsupported is of a step that the form has no operators for; see StepError.
	ErrUnsupported = errors.New("cannot be lowered to ONNX")
)

// StepError says why a step cannot be lowered.
type StepError struct {
	Step   int    // of the graph, from 0
	Op     string // its name
	Form   Form
	Reason string
}

func (e *StepError) Error() string {
	return fmt.Sprintf("onnx: step %d (%s) cannot be lowered in form %v: %s", e.Step, e.Op, e.Form, e.Reason)
}

// Unwrap gives ErrUnsupported.
func (e *StepError) Unwrap() error { return ErrUnsupported }

// Exported is an exported graph.
type Exported struct {
	// Model is the ModelProto. Equal graphs and options give equal bytes.
	Model []byte
	// First is the first step of the graph that the model runs. It runs all from there on.
	First int
	// Host is the graph of the steps before, which the model's user runs. Its
	// outputs are the columns of Inputs, in order and each once, and then those
	// outputs and side outputs of the graph that no step of the model writes.
	Host *datagraph.Graph
	// Inputs are what the model is fed: images without a batch axis. The taps of
	// HostTaps are not among them.
	Inputs []Port
	// Outputs are the graph's outputs and side outputs that the model computes, in
	// the graph's order.
	Outputs []Port
	// Within1 are the steps, of First and on, whose bytes may be off by one: resizes of Fast.
	Within1 []int

	taps  []tapsOf
	steps []datagraph.Step // of First and on
}

// Port is an input or output of an exported model.
type Port struct {
	Name   string // in the model: the column's, or for an input that an output is named as, that and "_in"
	Column string // in the graph
	// Desc is without the batch axis. Sizes may be tensor.Unknown; in the model they
	// are then named.
	Desc tensor.Desc
}

// Export lowers a graph. A graph that is not valid is datagraph's error; a random
// one, or one with steps that the form has no operators for, is a *StepError.
func Export(g *datagraph.Graph, o Options) (*Exported, error) {
	l, err := lowerGraph(g, o, "")
	if err != nil {
		return nil, err
	}
	return l.finish()
}

// lowering is a graph on its way to ONNX.
type lowering struct {
	*builder
	graph   *datagraph.Graph
	options Options
	result  Exported
	step    int // that is being lowered
	// The columns as far as they are made, and those that the model is fed with.
	columns map[string]value
	fed     map[string]bool
	outputs []value // of result.Outputs
}

func (o *Options) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("onnx: %w: %s", ErrOptions, fmt.Sprintf(format, args...))
	}
	if int(o.Form) >= len(formNames) {
		return bad("%v", o.Form)
	}
	if o.Opset == 0 {
		o.Opset = DefaultOpset
	}
	if o.Opset < MinOpset || o.Opset > MaxOpset {
		return bad("opset %d, want %d to %d", o.Opset, MinOpset, MaxOpset)
	}
	const most = 1 << 24 // the largest side that ops take
	if o.Height < 0 || o.Width < 0 || o.Height > most || o.Width > most || (o.Height == 0) != (o.Width == 0) {
		return bad("input size %dx%d (height x width), want sides of 1 to %d, or none", o.Height, o.Width, most)
	}
	if o.HostTaps && (o.Form != Exact || o.Height != 0) {
		return bad("taps on the host are for form exact without an input size")
	}
	if o.Form == Tail {
		o.Height, o.Width = 0, 0
	}
	return nil
}

func lowerGraph(g *datagraph.Graph, o Options, prefix string) (*lowering, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	descs, err := g.Infer()
	if err != nil {
		return nil, err
	}
	l := &lowering{builder: newBuilder(o.Opset, prefix), graph: g, options: o, columns: map[string]value{}, fed: map[string]bool{}}
	for i, s := range g.Steps {
		if _, random := s.Op.(transforms.Random); random {
			return nil, &StepError{i, transforms.InfoOf(s.Op).Name, o.Form, "it is random; take the inference graph of the definition"}
		}
	}
	first := l.first(descs)
	if o.Form == Tail {
		if first, err = l.tail(first, descs); err != nil {
			return nil, err
		}
	}
	l.result.First, l.result.steps = first, slices.Clone(g.Steps[first:])
	if err := l.split(descs); err != nil {
		return nil, err
	}
	for i := first; i < len(g.Steps); i++ {
		if err := l.lowerStep(i); err != nil {
			return nil, err
		}
	}
	return l, l.err
}

// first is the first step after the last that reads or writes bytes: decoding.
func (l *lowering) first(descs [][]tensor.Desc) int {
	for i, s := range slices.Backward(l.graph.Steps) {
		in := l.descsBefore(i, descs)
		isBytes := slices.ContainsFunc(descs[i], func(d tensor.Desc) bool { return d.DType == tensor.Bytes })
		for _, c := range s.In {
			isBytes = isBytes || in[c].DType == tensor.Bytes
		}
		if isBytes {
			return i + 1
		}
	}
	return 0
}

// descsBefore are the columns' descriptions before step i.
func (l *lowering) descsBefore(i int, descs [][]tensor.Desc) map[string]tensor.Desc {
	m := map[string]tensor.Desc{}
	for _, c := range l.graph.Inputs {
		m[c.Name] = c.Desc
	}
	for j, s := range l.graph.Steps[:i] {
		for k, c := range s.Out {
			m[c] = descs[j][k]
		}
	}
	return m
}

// tail is the first step of the tail, at first or later.
func (l *lowering) tail(first int, descs [][]tensor.Desc) (int, error) {
	n := len(l.graph.Steps)
	for i := n - 1; i >= first; i-- {
		op := l.graph.Steps[i].Op
		if reason := l.notInTail(i, descs); reason != "" {
			if i == n-1 {
				return 0, &StepError{i, transforms.InfoOf(op).Name, Tail, reason + "; no step follows it"}
			}
			return i + 1, nil
		}
	}
	if first == n {
		return 0, fmt.Errorf("onnx: %w: the graph has no step after decoding", ErrUnsupported)
	}
	return first, nil
}

// notInTail says why step i does not belong to a tail, or nothing.
func (l *lowering) notInTail(i int, descs [][]tensor.Desc) string {
	s := l.graph.Steps[i]
	switch s.Op.(type) {
	case *transforms.Crop, *transforms.CenterCrop:
		return "it crops, which is the host's work before the tail"
	}
	if _, ok := s.Op.(transforms.Scaled); ok {
		return "it resizes, which is the host's work before the tail"
	}
	// The step by itself, on inputs of the sizes that the graph has there.
	try := &lowering{builder: newBuilder(l.opset, ""), graph: l.graph, options: l.options, columns: map[string]value{}}
	before := l.descsBefore(i, descs)
	for _, c := range s.In {
		try.columns[c] = value{"x", before[c]}
	}
	err := try.lowerStep(i)
	var e *StepError
	switch {
	case errors.As(err, &e):
		return e.Reason
	case err != nil:
		return err.Error()
	}
	return ""
}

// split finds the model's inputs and outputs, and the host's graph.
func (l *lowering) split(descs [][]tensor.Desc) error {
	g, r := l.graph, &l.result
	before := l.descsBefore(r.First, descs)
	written := map[string]bool{}
	var used []string
	for _, s := range g.Steps[r.First:] {
		for _, c := range s.In {
			if !written[c] && !slices.Contains(used, c) {
				used = append(used, c)
			}
		}
		for _, c := range s.Out {
			written[c] = true
		}
	}
	host := slices.Clone(used)
	for _, c := range slices.Concat(g.Outputs, g.SideOutputs) {
		if written[c] {
			r.Outputs = append(r.Outputs, Port{Name: c, Column: c})
		} else if !slices.Contains(host, c) {
			host = append(host, c)
		}
	}
	taken := func(n string) bool {
		return slices.ContainsFunc(slices.Concat(r.Inputs, r.Outputs), func(p Port) bool { return p.Name == n })
	}
	for _, c := range used {
		d := before[c]
		if _, ok := elemTypes[d.DType]; !ok {
			return &StepError{r.First, transforms.InfoOf(g.Steps[r.First].Op).Name, l.options.Form, fmt.Sprintf("its input %s is %v", c, d)}
		}
		if l.options.Height > 0 && d.IsImage() {
			d = d.WithSize(l.options.Height, l.options.Width)
		}
		name := c
		for taken(name) {
			name += "_in"
		}
		r.Inputs = append(r.Inputs, Port{name, c, d})
		l.columns[c] = value{name, d}
		l.fed[name] = true
	}
	r.Host = &datagraph.Graph{Reference: g.Reference, Inputs: g.Inputs, Steps: slices.Clone(g.Steps[:r.First]), Outputs: host}
	if len(r.Outputs) == 0 {
		return fmt.Errorf("onnx: %w: no output of the graph is computed after decoding", ErrUnsupported)
	}
	return nil
}

func (l *lowering) refuse(format string, args ...any) error {
	return &StepError{l.step, transforms.InfoOf(l.graph.Steps[l.step].Op).Name, l.options.Form, fmt.Sprintf(format, args...)}
}

// lowerStep lowers a step, for which its columns are there.
func (l *lowering) lowerStep(i int) error {
	s := l.graph.Steps[i]
	l.step = i
	l.scope = fmt.Sprintf("%d_%s", i, transforms.InfoOf(s.Op).Name)
	in := make([]value, len(s.In))
	descs := make([]tensor.Desc, len(s.In))
	for j, c := range s.In {
		in[j] = l.columns[c]
		descs[j] = in[j].desc
	}
	out := make([]value, len(s.Out))
	outDescs := make([]tensor.Desc, len(s.Out))
	if err := s.Op.Infer(outDescs, descs); err != nil {
		return l.refuse("with an image of this size: %v", err)
	}
	for j, d := range outDescs {
		out[j].desc = d
		if _, ok := elemTypes[d.DType]; !ok {
			return l.refuse("its output %s is %v", s.Out[j], d)
		}
	}
	if err := l.lowerOp(s.Op, out, in); err != nil {
		return err
	}
	for j, c := range s.Out {
		l.columns[c] = out[j]
	}
	return nil
}

// bind gives the outputs their names, after all steps.
func (l *lowering) bind() {
	l.scope = ""
	renamed := map[string]string{}
	for i, p := range l.result.Outputs {
		v := l.columns[p.Column]
		l.result.Outputs[i].Desc = v.desc
		if n, ok := renamed[v.name]; ok {
			v.name = n
		}
		switch {
		case l.options.Batch:
			v.name = l.op("Unsqueeze", nil, v.name, l.ints(0))
			l.rename(v.name, p.Name)
		case renamed[l.columns[p.Column].name] == "" && l.rename(v.name, p.Name):
			renamed[v.name] = p.Name
		default: // an input, a constant, or another output
			v.name = l.op("Identity", nil, v.name)
			l.rename(v.name, p.Name)
		}
		v.name = p.Name
		l.outputs = append(l.outputs, v)
	}
}

// dims are the dimensions of a value in a model.
func (l *lowering) dims(v value, batch bool) (d []dimension) {
	if batch {
		d = append(d, dimension{n: 1})
	}
	for i := range v.desc.Shape.Rank() {
		n := dimension{n: int64(v.desc.Shape.At(i))}
		if v.desc.Shape.At(i) == tensor.Unknown {
			n.name = fmt.Sprintf("%s_%d", v.name, i)
			if h, w, _ := axes(v.desc); v.desc.IsImage() && i == h {
				n.name = v.name + "_height"
			} else if v.desc.IsImage() && i == w {
				n.name = v.name + "_width"
			}
		}
		d = append(d, n)
	}
	return d
}

// producer is the producer_name of exported models.
const producer = "infer-prep"

// ir is the ir_version of models for an opset: no newer than what came out with it.
func ir(opset int) int64 {
	switch {
	case opset <= 14:
		return 7
	case opset <= 18:
		return 8
	case opset <= 20:
		return 9
	default:
		return 10
	}
}

// ports writes the inputs and outputs of a model.
func (l *lowering) ports() (inputs, outputs []byte) {
	for _, p := range l.result.Inputs {
		v := value{p.Name, p.Desc}
		inputs = appendValueInfo(inputs, graphInput, p.Name, p.Desc.DType, l.dims(v, false))
	}
	for _, t := range l.result.taps {
		inputs = t.declare(inputs)
	}
	for _, v := range l.outputs {
		outputs = appendValueInfo(outputs, graphOutput, v.name, v.desc.DType, l.dims(v, l.options.Batch))
	}
	return inputs, outputs
}

func (l *lowering) finish() (*Exported, error) {
	l.bind()
	nodes, consts, err := l.builder.graph()
	if err != nil {
		return nil, err
	}
	inputs, outputs := l.ports()
	graph := appendString(nodes, graphName, "infer-prep "+l.options.Form.String())
	graph = append(graph, consts...)
	graph = append(graph, inputs...)
	graph = append(graph, outputs...)
	if len(graph) > maxModel-1<<10 {
		return nil, errTooLarge
	}
	m := appendInt(nil, modelIR, ir(l.opset))
	m = appendString(m, modelProducer, producer)
	m = appendMessage(m, modelGraph, graph)
	m = appendMessage(m, modelOpset, appendOpset(l.opset))
	l.result.Model = m
	return &l.result, nil
}

// appendOpset is the import of ai.onnx, whose name may be left out.
func appendOpset(version int) []byte {
	return appendInt(appendString(nil, opsetDomain, ""), opsetVersion, int64(version))
}

// maxModel is what a protobuf message can hold.
const maxModel = 1<<31 - 1

var errTooLarge = fmt.Errorf("onnx: %w: the model would not fit the 2 GiB of a protobuf message", ErrUnsupported)
