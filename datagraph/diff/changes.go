package diff

import (
	"reflect"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/transforms"
)

// Change is something that another program may do differently. It changes the
// graph, or undoes the change in the other program's tensor. A change applies
// only to graphs that do not do the same already. Differences of arithmetic
// that only round otherwise are no changes. To add one, add an entry to a
// function that allChanges calls.
type Change struct {
	Name string `json:"name"` // such as "opencv-bilinear"
	Text string `json:"text"` // what the other program did, as a clause
	// group names changes that exclude each other.
	group string
	// rewrite changes a clone of the graph, whose ops it may modify. It reports
	// whether the change applies.
	rewrite func(g *datagraph.Graph, t target) bool
	// undo undoes the change in the other program's image, in place. It reports
	// whether the change applies.
	undo func(p *pixels) bool
}

// target describes the output that a change must produce.
type target struct {
	h, w, c int    // of an image; else 0
	output  string // the graph's column
}

// allChanges returns all changes of graphs of images, in the order in which
// they are applied: those of pixels, which decide what the image shows, before
// those of values, which map every channel by a linear function.
func allChanges() []Change {
	return slices.Concat(decoding(), sizing(), cropping(), resampling(), ordering(), mirroring(), valueChanges())
}

// sounding returns the changes of graphs of sounds. It is nil in builds without
// ops of sounds.
var sounding func() []Change

// changesOf returns the changes that are tried with a graph.
func changesOf(g *datagraph.Graph) []Change {
	if sounding != nil && g.OfSound() {
		return sounding()
	}
	return allChanges()
}

// isValue reports whether a change maps every channel by a linear function, or
// exchanges channels.
func (c *Change) isValue() bool {
	return c.group == groupColor || c.group == groupRange || c.group == groupMean
}

// isCoarse reports whether a change moves pixels far, so that another change
// may show its effect only together with this one.
func (c *Change) isCoarse() bool {
	return !c.isValue() && c.group != groupKernel && c.group != groupSize && c.group != groupCrop && c.group != groupOrder
}

// The groups of changes.
const (
	groupGraph    = "graph"
	groupExif     = "exif"
	groupAlpha    = "alpha"
	groupGray     = "gray"
	groupGray16   = "gray16"
	groupScale    = "scale"
	groupGeometry = "geometry"
	groupSize     = "size"
	groupCrop     = "crop"
	groupKernel   = "kernel"
	groupOrder    = "order"
	groupTensor   = "tensor"
	groupColor    = "color"
	groupMean     = "mean"
	groupRange    = "range"
	groupChannels = "channels"
	groupRate     = "rate"
	groupCenter   = "center"
	groupFrames   = "frames"
	groupEmphasis = "preemphasis"
	groupWindow   = "window"
	groupFFT      = "fft"
	groupPower    = "power"
	groupMels     = "mels"
	groupMelNorm  = "mel-norm"
	groupMelSides = "mel-sides"
	groupMelLow   = "mel-low"
	groupMelRate  = "mel-rate"
	groupLog      = "log"
	groupNorm     = "norm"
)

// grouped sets the group of changes.
func grouped(group string, l []Change) []Change {
	for i := range l {
		l[i].group = group
	}
	return l
}

// position returns the index of a change by its name, or -1.
func position(l []Change, c Change) int {
	return slices.IndexFunc(l, func(o Change) bool { return o.Name == c.Name })
}

// clone copies a graph and its ops. The ops' slices are shared: changes replace
// them and never write to them.
func clone(g *datagraph.Graph) *datagraph.Graph {
	c := *g
	c.Steps = slices.Clone(g.Steps)
	for i, s := range c.Steps {
		op := reflect.New(reflect.TypeOf(s.Op).Elem())
		op.Elem().Set(reflect.ValueOf(s.Op).Elem())
		c.Steps[i].Op = op.Interface().(transforms.Op)
	}
	return &c
}

// each calls f with every op of type T and reports whether f changed one.
func each[T transforms.Op](g *datagraph.Graph, f func(op T) bool) bool {
	changed := false
	for _, s := range g.Steps {
		if op, ok := s.Op.(T); ok && f(op) {
			changed = true
		}
	}
	return changed
}

// find returns the first step at or after from whose op matches, or -1.
func find(g *datagraph.Graph, from int, is func(op transforms.Op) bool) int {
	for i := from; i >= 0 && i < len(g.Steps); i++ {
		if is(g.Steps[i].Op) {
			return i
		}
	}
	return -1
}

func isType[T transforms.Op](op transforms.Op) bool {
	_, ok := op.(T)
	return ok
}

// chain returns steps that apply ops one after another, from the first input of
// s to its first output.
func chain(s datagraph.Step, ops ...transforms.Op) (l []datagraph.Step) {
	in := s.In[:1]
	for _, op := range ops {
		l = append(l, datagraph.Step{Op: op, In: in, Out: s.Out[:1]})
		in = s.Out[:1]
	}
	return l
}

// replace replaces step i by ops. Without ops it removes the step, and later
// steps read the step's input.
func replace(g *datagraph.Graph, i int, ops ...transforms.Op) {
	s := g.Steps[i]
	if len(ops) > 0 {
		g.Steps = slices.Replace(g.Steps, i, i+1, chain(s, ops...)...)
		return
	}
	g.Steps = slices.Delete(g.Steps, i, i+1)
	if s.In[0] == s.Out[0] {
		return
	}
	// Later steps read the input, up to the step that overwrites the column.
	old, name := s.Out[0], s.In[0]
	for j := i; j < len(g.Steps); j++ {
		n := g.Steps[j]
		n.In = slices.Clone(n.In)
		for k, c := range n.In {
			if c == old {
				n.In[k] = name
			}
		}
		g.Steps[j] = n
		if slices.Contains(n.Out, old) {
			return
		}
	}
	for k, o := range g.Outputs {
		if o == old {
			g.Outputs = slices.Clone(g.Outputs)
			g.Outputs[k] = name
		}
	}
}

// insert inserts ops after step i; they work on its first output.
func insert(g *datagraph.Graph, i int, ops ...transforms.Op) {
	var l []datagraph.Step
	for _, op := range ops {
		l = append(l, datagraph.Step{Op: op, In: g.Steps[i].Out[:1], Out: g.Steps[i].Out[:1]})
	}
	g.Steps = slices.Insert(g.Steps, i+1, l...)
}
