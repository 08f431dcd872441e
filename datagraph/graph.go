// Package datagraph compiles and runs preprocessing graphs: it turns encoded
// images into a model's input tensors.
//
// A [Graph] is an ordered list of ops over named columns. It is plain data,
// written as JSON for people and as msgp in bundles. [Compile] validates and
// optimises a graph. The resulting [Plan] is immutable and shared by all
// workers. Every worker runs the Plan with its own [Runner], which allocates
// nothing per image in steady state:
//
//	plan, err := datagraph.Compile(graph, datagraph.CompileOptions{})
//	runner := plan.NewRunner() // one for each goroutine
//	tensors, err := runner.Run(tensor.FromBytes(jpeg))
//
// Import the decoders of the image formats that the program reads, or all of
// them with codec/all.
package datagraph

import (
	"slices"
	"strings"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// Graph is an ordered list of steps over named columns. A column is one tensor
// per sample. A later step may rebind a column, like a variable. Names consist
// of 1 to 64 letters, digits and _ . - and do not start with a dot or a dash,
// because they become parts of file names.
type Graph struct {
	// Reference says for people which library the graph reproduces, with
	// versions: "transformers 5.23.0 CLIPImageProcessorPil". Optional.
	Reference string
	// Inputs are the columns given to a run, in the order of its arguments.
	Inputs []Column
	Steps  []Step
	// Outputs are the columns passed to the model, in order.
	Outputs []string
	// SideOutputs are further columns for the program, such as the scale and
	// padding of a letterbox.
	SideOutputs []string
	// Batch lists the columns of which a batch is not a stack. It says how
	// Plan.Collate and the batches of package dataset are formed; a run
	// ignores it.
	Batch []BatchColumn
	// Roles lists the columns that move with an image.
	Roles []ColumnRole
}

// Column is a named tensor. Sizes may be tensor.Unknown.
type Column struct {
	Name string
	Desc tensor.Desc
	// Batch says how a batch of the column is formed. It is known of a plan's
	// outputs, and must be zero for a graph's inputs.
	Batch Batching
}

// Step is an op with the columns that it reads and writes, in the op's own
// order.
type Step struct {
	Op      transforms.Op
	In, Out []string
	// Moves are the columns that move with the image, which is the first of In
	// and of Out. They need a role. The op is a transforms.Mover, or a random
	// op that draws such ops. The columns keep their names.
	Moves []string
	// Path is part of the seed of a random op. Empty means the step's number.
	// It is not serialized: a training definition sets it to the step's
	// original place before passes move the step.
	Path string
}

// The columns of graphs made by New, and the default columns of ops.
const (
	Image = "image"
	Sound = "sound"
)

// New returns a graph that applies the ops in order to an encoded image, or to
// a sound if one of the ops takes the column "sound". The input and the output
// are the column "image" or "sound"; further outputs of the ops become side
// outputs. Use Rename, Then and the fields of Graph for other graphs.
func New(ops ...transforms.Op) *Graph {
	name := Image
	for _, op := range ops {
		if slices.Contains(transforms.InfoOf(op).In, Sound) {
			name = Sound
		}
	}
	g := &Graph{Inputs: []Column{{Name: name, Desc: tensor.Encoded()}}, Outputs: []string{name}}
	for _, op := range ops {
		g.Add(op)
	}
	return g
}

// OfSound reports whether a step takes samples of a sound, or decodes one.
func (g *Graph) OfSound() bool {
	return slices.ContainsFunc(g.Steps, func(s Step) bool { return slices.Contains(transforms.InfoOf(s.Op).In, Sound) })
}

// WantImage returns an error that lists the inputs, unless the graph has one
// input, an encoded image or sound.
func (g *Graph) WantImage() error {
	if len(g.Inputs) == 1 && g.Inputs[0].Desc.DType == tensor.Bytes {
		return nil
	}
	var l []string
	for _, c := range g.Inputs {
		l = append(l, errfmt.Sprintf("%s (%v)", c.Name, c.Desc))
	}
	return errfmt.Errorf("the graph's inputs are %s: want one encoded image or sound (bytes)", strings.Join(l, ", "))
}

// Add appends an op on its default columns ("image" for most) and returns g. An
// op that can move pixels also moves the columns of its image. If the graph's
// input is the column "sound", the column "image" of ops such as PadEnd is that
// sound.
func (g *Graph) Add(op transforms.Op) *Graph {
	i := transforms.InfoOf(op)
	if len(g.Inputs) > 0 && g.Inputs[0].Name == Sound {
		i.In, i.Out = soundColumns(i.In), soundColumns(i.Out)
	}
	for _, o := range i.Out[1:] {
		if !slices.Contains(g.SideOutputs, o) {
			g.SideOutputs = append(g.SideOutputs, o)
		}
	}
	g.Then(op, slices.Clone(i.In), slices.Clone(i.Out))
	if n := len(g.Steps) - 1; len(g.Roles) > 0 {
		g.Steps[n].Moves = g.moving(op, i.In[0])
	}
	return g
}

// soundColumns returns columns with "sound" in place of "image".
func soundColumns(names []string) []string {
	names = slices.Clone(names)
	for i, n := range names {
		if n == Image {
			names[i] = Sound
		}
	}
	return names
}

// Then appends an op with the columns that it reads and writes, and returns g.
//
//go:noinline
func (g *Graph) Then(op transforms.Op, in, out []string) *Graph {
	g.Steps = append(g.Steps, Step{Op: op, In: in, Out: out})
	return g
}

// Rename renames the graph's first output, usually to the model's input name
// ("pixel_values"). It returns g. See RenameOutput.
func (g *Graph) Rename(name string) *Graph { return g.RenameOutput(0, name) }

// RenameOutput renames output i: the last step that writes the column writes
// the new name instead, and later steps read that name. A Batch rule of the
// column follows it. It returns g.
func (g *Graph) RenameOutput(i int, name string) *Graph {
	old := g.Outputs[i]
	g.Outputs[i] = name
	g.Batch = slices.Clone(g.Batch)
	for i := range g.Batch {
		if g.Batch[i].Column == old {
			g.Batch[i].Column = name
		}
	}
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

// Last returns the description of a column after the last step. descs is the
// result of Infer. Last returns the zero Desc if the column does not exist.
func (g *Graph) Last(descs [][]tensor.Desc, column string) tensor.Desc {
	for i, s := range slices.Backward(g.Steps) {
		if j := slices.Index(s.Out, column); j >= 0 {
			return descs[i][j]
		}
		if j := slices.Index(s.Moves, column); j >= 0 {
			return descs[i][len(s.Out)+j]
		}
	}
	for _, c := range g.Inputs {
		if c.Name == column {
			return c.Desc
		}
	}
	return tensor.Desc{}
}

// StepError reports an error in one step of a graph.
type StepError struct {
	Step int    // counted from 0
	Op   string // the op's name
	Err  error
}

func (e *StepError) Error() string {
	return errfmt.Sprintf("datagraph: step %d (%s): %v", e.Step, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

//go:noinline
func (g *Graph) stepErr(i int, err error) error {
	if err == nil {
		return nil
	}
	return &StepError{i, transforms.InfoOf(g.Steps[i].Op).Name, err}
}
