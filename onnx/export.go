// Package onnx writes preprocessing graphs into ONNX models, in two ways: as
// ONNX operators that any runtime executes ([Export], [Merge]), and as metadata
// that this project reads back ([Embed], [Extract]).
//
// The package reads and writes the protobuf messages itself, and keeps unknown
// parts of a model byte for byte. It never runs a model.
//
// # Forms
//
// Export lowers the steps after decoding to operators, in one of three forms:
//
//	       resize                      difference from the CPU
//	Exact  taps in integer arithmetic  none
//	Fast   operator Resize             at most 1 of 255 before later steps
//	Tail   on the host                 none
//
// Every form lowers other ops to the same operators, in the reference's order
// of float32 operations. For example, x/255 is a division; the subtraction of
// the mean and the division by std follow. If no such operators compute an op's
// bits for all 256 values of uint8, a table of 256 entries replaces it.
//
// These bounds were measured with the CPU provider of ONNX Runtime 1.31.1.
// Other runtimes may compute Resize differently, or lack it; use Tail for them.
package onnx

import (
	"errors"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Form selects how a graph is lowered.
type Form uint8

// The forms.
const (
	// Exact computes the bytes of the CPU. Resizes need the image's size in the
	// Options, or HostTaps.
	Exact Form = iota
	// Fast uses the operator Resize, whose bytes differ from the CPU's by at
	// most 1. The model computes sizes unless the Options have them.
	Fast
	// Tail exports the steps after the last resize or crop: casts, rescaling,
	// normalisation, layout, padding. The host runs the steps before.
	Tail
)

var formNames = []string{"exact", "fast", "tail"}

func (f Form) String() string { return enum.String("form", formNames, f) }

// ParseForm returns the form of a name: "exact", "fast" or "tail".
func ParseForm(s string) (Form, error) {
	var f Form
	if err := enum.Parse(&f, "form", formNames, []byte(s)); err != nil {
		return 0, fmt.Errorf("onnx: %w: %w", ErrOptions, err)
	}
	return f, nil
}

// The supported opsets, and the default.
const (
	MinOpset     = 13
	DefaultOpset = 18
	MaxOpset     = 26
)

// Options are the options of Export and Merge. The zero value means form Exact
// for images of any size.
type Options struct {
	Form Form // default Exact
	// Height and Width are the size of every decoded image, in pixels, 1 to
	// 2^24. Both are 0 for images of any size. Tail ignores them: the steps
	// before determine the size of its input.
	Height, Width int
	// HostTaps makes the taps of every resize inputs of the model; see
	// Exported.Taps. It is for Exact without a size.
	HostTaps bool
	// Opset is the version of ai.onnx, MinOpset to MaxOpset. Default
	// DefaultOpset. Fast's antialiased Resize needs 18.
	Opset int
	// Batch adds a leading axis of 1 to every output, for models with a batch
	// axis. Inputs have no batch axis.
	Batch bool
}

// The kinds of error, for errors.Is.
var (
	// ErrOptions reports invalid options.
	ErrOptions = errors.New("invalid option")
	// ErrUnsupported reports a step that has no equivalent operators in the
	// form; see StepError.
	ErrUnsupported = errors.New("cannot be lowered to ONNX")
)

// StepError says why a step cannot be lowered.
type StepError struct {
	Step   int    // the step of the graph, counted from 0
	Op     string // the op's name
	Form   Form
	Reason string
}

func (e *StepError) Error() string {
	return fmt.Sprintf("onnx: step %d (%s) cannot be lowered in form %v: %s", e.Step, e.Op, e.Form, e.Reason)
}

// Unwrap returns ErrUnsupported.
func (e *StepError) Unwrap() error { return ErrUnsupported }

// Exported is an exported graph.
type Exported struct {
	// Model is the ModelProto. Equal graphs and options have equal bytes.
	Model []byte
	// First is the first step of the graph that the model runs. It runs all
	// later steps as well.
	First int
	// Host is the graph of the steps before First, which the caller runs. Its
	// outputs are the columns of Inputs, each once and in order, followed by
	// the outputs and side outputs of the graph that the model does not
	// compute.
	Host *datagraph.Graph
	// Inputs are the inputs of the model: images without a batch axis. They do
	// not include the taps of HostTaps.
	Inputs []Port
	// Outputs are the outputs and side outputs of the graph that the model
	// computes, in the graph's order.
	Outputs []Port
	// ModelOutputs are the outputs of a model of Merge, which are those of the
	// model behind the graph. Nil for Export.
	ModelOutputs []Value
	// Within1 lists the steps whose bytes may be off by one: the resizes of
	// Fast.
	Within1 []int

	taps  []resizeTaps
	steps []datagraph.Step // from First on
}

// Port is an input or output of an exported model.
type Port struct {
	// Name is the name in the model: the column's name. An input whose column
	// is also an output has the suffix "_in".
	Name   string
	Column string // the column of the graph
	// Desc has no batch axis. Sizes may be tensor.Unknown; the model then names
	// them.
	Desc tensor.Desc
}

// Export lowers a graph. An invalid graph is an error of datagraph. A random
// graph, or one with steps that have no equivalent operators in the form, is a
// *StepError.
func Export(g *datagraph.Graph, o Options) (*Exported, error) {
	l, err := lowerGraph(g, o, "")
	if err != nil {
		return nil, err
	}
	return l.finish()
}

// lowering is the state of lowering a graph.
type lowering struct {
	*builder
	graph   *datagraph.Graph
	options Options
	result  Exported
	step    int              // the current step
	columns map[string]value // the columns produced so far
	fed     map[string]bool  // the names of the model's inputs
	outputs []value          // the values of result.Outputs
}

// validate checks the options and fills in the defaults.
func (o *Options) validate() error {
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
	const most = 1 << 24 // the largest side of ops
	if o.Height < 0 || o.Width < 0 || o.Height > most || o.Width > most || (o.Height == 0) != (o.Width == 0) {
		return bad("input size %dx%d (height x width), want sides of 1 to %d, or both 0", o.Height, o.Width, most)
	}
	if o.HostTaps && (o.Form != Exact || o.Height != 0) {
		return bad("host taps need form exact without an input size")
	}
	if o.Form == Tail {
		o.Height, o.Width = 0, 0
	}
	return nil
}

func lowerGraph(g *datagraph.Graph, o Options, prefix string) (*lowering, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	descs, err := g.Infer()
	if err != nil {
		return nil, err
	}
	l := &lowering{builder: newBuilder(o.Opset, prefix), graph: g, options: o, columns: map[string]value{}, fed: map[string]bool{}}
	for i, s := range g.Steps {
		if _, random := s.Op.(transforms.Random); random {
			return nil, &StepError{i, transforms.InfoOf(s.Op).Name, o.Form, "the op is random; use the inference graph of the definition"}
		}
		if len(s.Moves) > 0 {
			return nil, &StepError{i, transforms.InfoOf(s.Op).Name, o.Form, fmt.Sprintf("it moves %q with the image; use the inference graph of the definition", s.Moves)}
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

// first returns the first step after the last one that reads or writes bytes:
// after decoding.
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

// descsBefore returns the descriptions of the columns before step i.
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

// tail returns the first step of the tail, at first or later.
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

// notInTail returns the reason why step i cannot be in a tail, "" if it can.
func (l *lowering) notInTail(i int, descs [][]tensor.Desc) string {
	s := l.graph.Steps[i]
	if emitterOf(s.Op).crops {
		return "the host crops before the tail"
	}
	if _, ok := s.Op.(transforms.Scaled); ok {
		return "the host resizes before the tail"
	}
	// Lower the step alone, for the input sizes that the graph has there.
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

// split determines the model's inputs and outputs, and the host's graph.
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
			return &StepError{r.First, transforms.InfoOf(g.Steps[r.First].Op).Name, l.options.Form, fmt.Sprintf("the input %s is %v", c, d)}
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

// lowerStep lowers a step whose input columns are lowered.
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
		return l.refuse("for an image of this size: %v", err)
	}
	for j, d := range outDescs {
		out[j].desc = d
		if _, ok := elemTypes[d.DType]; !ok {
			return l.refuse("the output %s is %v", s.Out[j], d)
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

// bind names the outputs, after all steps.
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

// dims returns the dimensions of a value in a model.
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

// ir returns the ir_version of models for an opset: no newer than the one
// released with it.
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

// appendOpset returns the import of ai.onnx, whose name may be empty.
func appendOpset(version int) []byte {
	return appendInt(appendString(nil, opsetDomain, ""), opsetVersion, int64(version))
}

// maxModel is the largest size of a protobuf message.
const maxModel = 1<<31 - 1

var errTooLarge = fmt.Errorf("onnx: %w: the model exceeds the 2 GiB of a protobuf message", ErrUnsupported)
