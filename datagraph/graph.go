// Package datagraph is the inference data graph: an ordered list of ops over
// named columns that turns an encoded image into a model's input tensors.
//
// A [Graph] is data: it is written as JSON for people and as msgp in bundles.
// [Compile] checks it and gives a [Plan], which is immutable and shared by all
// workers; every worker runs it with a [Runner] of its own.
package datagraph

import (
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Graph is an ordered list of steps over named columns. A column is a tensor
// per sample; it may be rebound by a later step, as a variable may. Names are
// 1 to 64 letters, digits and _ . - and do not start with a dot or dash, since
// they become parts of file names.
type Graph struct {
	// Reference says what the graph reproduces, with versions, for people:
	// "transformers 5.23.0 CLIPImageProcessorPil". May be empty.
	Reference string
	// Inputs are the columns that a run is given, in the order of Run's arguments.
	Inputs []Column
	Steps  []Step
	// Outputs are the columns that the model is fed, in order.
	Outputs []string
	// SideOutputs are further columns that a program may want, such as a
	// letterbox's scale and padding.
	SideOutputs []string
}

// Column is a named tensor. Sizes may be tensor.Unknown.
type Column struct {
	Name string
	Desc tensor.Desc
}

// Step is an op with the columns it reads and writes, in the op's own order.
type Step struct {
	Op      transforms.Op
	In, Out []string
	// Path names the numbers that a random op draws; empty means the step's
	// number. It is not written: a training's definition makes it from the step's
	// place, before optimisation moves the step elsewhere.
	Path string
}

// Image is the column of a graph made by New, and the usual one of every op.
const Image = "image"

// New is a graph whose input is an encoded image in the column "image", with
// the ops one after another on it. Its output is that column, and the further
// outputs of the ops are its side outputs. Rename, Then and Output build others.
func New(ops ...transforms.Op) *Graph {
	g := &Graph{Inputs: []Column{{Image, tensor.Encoded()}}, Outputs: []string{Image}}
	for _, op := range ops {
		g.Add(op)
	}
	return g
}

// Add appends an op on its usual columns ("image" for most) and returns g.
func (g *Graph) Add(op transforms.Op) *Graph {
	i := transforms.InfoOf(op)
	for _, o := range i.Out[1:] {
		if !slices.Contains(g.SideOutputs, o) {
			g.SideOutputs = append(g.SideOutputs, o)
		}
	}
	return g.Then(op, slices.Clone(i.In), slices.Clone(i.Out))
}

// Then appends an op with the columns that it reads and writes, and returns g.
func (g *Graph) Then(op transforms.Op, in, out []string) *Graph {
	g.Steps = append(g.Steps, Step{Op: op, In: in, Out: out})
	return g
}

// Rename gives the graph's first output the name that the model knows it by
// ("pixel_values"), as RenameOutput does. It returns g.
func (g *Graph) Rename(name string) *Graph { return g.RenameOutput(0, name) }

// RenameOutput gives the i-th output another name: the step that produces it last
// writes that column instead, and steps after it read that. It returns g.
func (g *Graph) RenameOutput(i int, name string) *Graph {
	old := g.Outputs[i]
	g.Outputs[i] = name
	for i, s := range slices.Backward(g.Steps) {
		if j := slices.Index(s.Out, old); j >= 0 {
			out := slices.Clone(s.Out)
			out[j] = name
			g.Steps[i].Out = out
			for k := i + 1; k < len(g.Steps); k++ {
				in := slices.Clone(g.Steps[k].In)
				for j, c := range in {
					if c == old {
						in[j] = name
					}
				}
				g.Steps[k].In = in
			}
			break
		}
	}
	return g
}

// Last is the description that a column has at the graph's end, by descs, which is
// what Infer gives; the zero Desc if there is no such column.
func (g *Graph) Last(descs [][]tensor.Desc, column string) tensor.Desc {
	for i, s := range slices.Backward(g.Steps) {
		if j := slices.Index(s.Out, column); j >= 0 {
			return descs[i][j]
		}
	}
	for _, c := range g.Inputs {
		if c.Name == column {
			return c.Desc
		}
	}
	return tensor.Desc{}
}

// StepError is an error in one step of a graph.
type StepError struct {
	Step int    // from 0
	Op   string // the op's name
	Err  error
}

func (e *StepError) Error() string {
	return fmt.Sprintf("datagraph: step %d (%s): %v", e.Step, e.Op, e.Err)
}

// Unwrap gives the cause.
func (e *StepError) Unwrap() error { return e.Err }

func (g *Graph) stepErr(i int, err error) error {
	if err == nil {
		return nil
	}
	return &StepError{i, transforms.InfoOf(g.Steps[i].Op).Name, err}
}
