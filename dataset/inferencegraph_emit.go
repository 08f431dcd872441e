package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// graphValue is a value of the inference graph.
type graphValue struct {
	name  string
	desc  tensor.Desc
	first int // the step that writes it; -1 for the input
	until int // the last step that reads it
}

// emitter writes the inference graph.
type emitter struct {
	o      InferenceOptions
	steps  []graphStep
	notes  []Note
	random []error
}

type graphStep struct {
	op      transforms.Op
	in, out []*graphValue
	names   []string // of the outputs in the map's graph
}

// atEnd is a step number after all steps.
const atEnd = 1 << 30

// graph returns the graph that computes the outputs and side outputs from the
// image. path is the path of the definition's top.
func (e *emitter) graph(path string, image *traced, outputs, side []named) (*datagraph.Graph, error) {
	in := &graphValue{name: image.column, desc: image.desc, first: -1}
	values := map[*tracedStep][]*graphValue{}
	at := func(v *traced) *graphValue {
		if v.by == nil {
			return in
		}
		return values[v.by][v.output]
	}
	for _, s := range stepsOf(slices.Concat(outputs, side)) {
		var from []*graphValue
		for _, v := range s.in {
			from = append(from, at(v))
		}
		out, err := e.add(s.Op, s.path, from, s.Out)
		if err != nil {
			return nil, err
		}
		values[s] = out
	}
	if len(e.random) > 0 {
		return nil, errors.Join(e.random...)
	}

	g := &datagraph.Graph{Inputs: []datagraph.Column{{Desc: in.desc}}}
	taken := []*graphValue{}
	// An output has its column's name from the step that makes it on.
	for i, v := range slices.Concat(outputs, side) {
		x := at(v.traced)
		if slices.Contains(taken, x) {
			if len(e.o.Outputs) > 0 {
				return nil, fmt.Errorf("dataset: %w", defErr("the outputs %q and %q are the same without the random ops between them", x.name, v.name))
			}
			e.notes = append(e.notes, Note{Path: path, Op: "column", Params: json.RawMessage("{}"), ReplacedBy: []string{}, Text: fmt.Sprintf("%s is left out: it is the same as %s", v.name, x.name)})
			continue
		}
		x.name, x.until = v.name, atEnd
		taken = append(taken, x)
		g.SetBatch(v.name, v.batch)
		if i < len(outputs) {
			g.Outputs = append(g.Outputs, v.name)
		} else {
			g.SideOutputs = append(g.SideOutputs, v.name)
		}
	}
	e.nameOthers(in, taken)
	g.Inputs[0].Name = in.name
	for _, s := range e.steps {
		g.Then(s.op, valueNames(s.in), valueNames(s.out))
	}
	if _, err := g.Infer(); err != nil {
		return nil, e.invalid(err)
	}
	return g, nil
}

// stepsOf returns the steps that make the values, each after the steps that
// make its inputs.
func stepsOf(values []named) (order []*tracedStep) {
	seen := map[*tracedStep]bool{}
	var visit func(v *traced)
	visit = func(v *traced) {
		if v.by == nil || seen[v.by] {
			return
		}
		seen[v.by] = true
		for _, x := range v.by.in {
			visit(x)
		}
		order = append(order, v.by)
	}
	for _, v := range values {
		visit(v.traced)
	}
	return order
}

// nameOthers names the input and all values of steps that are not taken yet.
func (e *emitter) nameOthers(in *graphValue, taken []*graphValue) {
	if !slices.Contains(taken, in) {
		in.name = free(in, taken, in.name)
		taken = append(taken, in)
	}
	for _, s := range e.steps {
		for j, v := range s.out {
			if !slices.Contains(taken, v) {
				v.name = free(v, taken, s.names[j])
				taken = append(taken, v)
			}
		}
	}
}

// invalid returns the error of a graph that Infer refuses, with the notes.
func (e *emitter) invalid(err error) error {
	var all []string
	for _, n := range e.notes {
		all = append(all, n.String())
	}
	if len(all) > 0 {
		return fmt.Errorf("dataset: invalid inference graph: %w (%s)", err, strings.Join(all, "; "))
	}
	return fmt.Errorf("dataset: invalid inference graph: %w", err)
}

func valueNames(l []*graphValue) (names []string) {
	for _, v := range l {
		names = append(names, v.name)
	}
	return names
}

// free returns a name for v that no value has while v is in use: want, or want
// with a number.
func free(v *graphValue, taken []*graphValue, want string) string {
	name := want
	for i := 2; ; i++ {
		if !slices.ContainsFunc(taken, func(t *graphValue) bool {
			// A value without readers is in use while its step runs.
			return t.name == name && t.first < max(v.until, v.first+1) && v.first < max(t.until, t.first+1)
		}) {
			return name
		}
		name = want + "_" + strconv.Itoa(i)
	}
}

// add appends an op or its replacement, and returns its outputs.
func (e *emitter) add(op transforms.Op, path string, in []*graphValue, names []string) ([]*graphValue, error) {
	random, ok := op.(transforms.Random)
	if !ok {
		return e.append(op, path, in, names)
	}
	if c, ok := op.(*transforms.Compose); ok { // not random itself
		return e.addAll(c.Ops, path, in, names)
	}
	info := transforms.InfoOf(op)
	if info.Name == "policy_index" {
		return nil, &NodeError{path, fmt.Errorf("%w %s: an inference graph has no feedback policy that it could belong to", ErrRandom, info.Name)}
	}
	var certain []transforms.Op // the deterministic part, then the replacement
	if d, ok := op.(*transforms.RandomCropDecodeResize); ok {
		certain = []transforms.Op{&transforms.Decode{
			Color: d.Color, Alpha: d.Alpha, Gray16: d.Gray16, Refuse: d.Refuse, Orientation: d.Orientation, Damage: d.Damage,
		}}
	}
	replace, replaced := e.o.Replace[info.Name]
	if replaced {
		var err error
		if certain, err = replace(op); err != nil {
			return nil, &NodeError{path, err}
		}
		for _, r := range certain {
			if _, ok := r.(transforms.Random); ok {
				return nil, &NodeError{path, fmt.Errorf("%w %s: its replacement %s is random too", ErrRandom, info.Name, transforms.InfoOf(r).Name)}
			}
		}
	} else if e.o.Random == RefuseRandom {
		e.random = append(e.random, &NodeError{path, fmt.Errorf("%w %s: not allowed in an inference graph: drop or replace it", ErrRandom, info.Name)})
		// Continue, to report all random ops.
	}
	note := Note{Path: path, Op: info.Name, ReplacedBy: []string{}}
	var err error
	if note.Params, err = json.Marshal(op); err != nil {
		return nil, &NodeError{path, err}
	}
	note.Text = "left out"
	for _, r := range certain {
		note.ReplacedBy = append(note.ReplacedBy, transforms.InfoOf(r).Name)
	}
	if len(certain) > 0 {
		note.Text = "replaced by " + strings.Join(note.ReplacedBy, ", ")
	}
	out, err := e.addAll(certain, path, in, names)
	if err != nil {
		return nil, err
	}
	if size := lostSize(random, in, out); size != "" && len(e.random) == 0 {
		note.Text += "; in training the image was " + size + " here: set the size for inference with a replacement, or with ops of your own"
	}
	e.notes = append(e.notes, note)
	return out, nil
}

func (e *emitter) addAll(ops []transforms.Op, path string, in []*graphValue, names []string) ([]*graphValue, error) {
	var err error
	for _, op := range ops {
		if in, err = e.add(op, path, in, names); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// append appends an op that is not random, and returns its outputs.
func (e *emitter) append(op transforms.Op, path string, in []*graphValue, names []string) ([]*graphValue, error) {
	descs := make([]tensor.Desc, len(in))
	for i, v := range in {
		descs[i] = v.desc
		v.until = len(e.steps)
	}
	made := make([]tensor.Desc, len(names))
	if err := op.Infer(made, descs); err != nil && len(e.random) == 0 {
		return nil, &NodeError{path, fmt.Errorf("%s in the inference graph: %w", transforms.InfoOf(op).Name, err)}
	}
	s := graphStep{op: op, in: in, names: names}
	for _, d := range made {
		s.out = append(s.out, &graphValue{desc: d, first: len(e.steps), until: len(e.steps)})
	}
	e.steps = append(e.steps, s)
	return s.out, nil
}

// lostSize returns the size that a random op gives to images of any size, if
// its replacement does not: "224 x 224 (height x width)". Else it returns "".
func lostSize(op transforms.Op, in, out []*graphValue) string {
	have := make([]tensor.Desc, len(in))
	for i, v := range in {
		have[i] = v.desc
	}
	want := make([]tensor.Desc, len(in))
	if err := op.Infer(want, have); err != nil {
		return ""
	}
	for i, w := range want {
		if !w.IsImage() || !out[i].desc.IsImage() || w.Height() == tensor.Unknown || w.Width() == tensor.Unknown {
			continue
		}
		if o := out[i].desc; o.Height() != w.Height() || o.Width() != w.Width() {
			return fmt.Sprintf("%d x %d (height x width)", w.Height(), w.Width())
		}
	}
	return ""
}
