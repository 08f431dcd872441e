package gpu

import (
	"errors"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// way states how a step runs.
type way int

const (
	onHost   way = iota
	asTable      // pointwise, on values that depend on a uint8 image alone
	asPick       // every output pixel is an input pixel or a fill
	asScaled     // Pillow's scaling, with picks before and after
)

// lowered is a graph with the way of each step.
type lowered struct {
	graph *datagraph.Graph
	descs [][]tensor.Desc // of the steps' outputs, as far as known without an image
	steps []step
}

type step struct {
	way   way
	why   string // the reason that the step runs on the host
	table *table // with asTable: from the uint8 image to the step's output
}

// maxChannels limits the channels of a table, as in package datagraph.
const maxChannels = 64

// follows describes a column before any run: whether pointwise ops alone
// (possibly none) made it from a uint8 image.
type follows struct {
	desc tensor.Desc // of the column
	base tensor.Desc // of the uint8 image
	ok   bool
	ops  []transforms.Op
}

func of(d tensor.Desc) follows {
	ok := d.IsImage() && d.DType == tensor.Uint8 && d.Channels() >= 1 && d.Channels() <= maxChannels
	return follows{desc: d, base: d, ok: ok}
}

// lower chooses a way for each step. It uses no sizes, which may be unknown.
func lower(g *datagraph.Graph) (*lowered, error) {
	if g.Random() {
		return nil, fmt.Errorf("webgpu: %w", ErrRandom)
	}
	if g.Moves() {
		return nil, errors.New("webgpu: the graph moves columns with an image: run it on the CPU")
	}
	descs, err := g.Infer()
	if err != nil {
		return nil, err
	}
	l := &lowered{graph: g, descs: descs}
	columns := map[string]follows{}
	for _, c := range g.Inputs {
		columns[c.Name] = of(c.Desc)
	}
	for i, s := range g.Steps {
		in := columns[s.In[0]]
		st := step{}
		out := of(descs[i][0])
		switch op := s.Op.(type) {
		case transforms.Pointwise:
			var t *table
			if t, st.why = lowerTable(op, in, descs[i][0]); t != nil {
				st.way, st.table = asTable, t
				out = follows{desc: descs[i][0], base: in.base, ok: true, ops: t.ops}
			}
		case transforms.Scaled:
			if st.why = lowerScaled(op, in.desc); st.why == "" {
				st.way = asScaled
			}
		case transforms.Framed, transforms.Bordered:
			if st.why = lowerPick(in.desc); st.why == "" {
				st.way = asPick
			}
		}
		for j, c := range s.Out {
			columns[c] = of(descs[i][j])
		}
		columns[s.Out[0]] = out
		l.steps = append(l.steps, st)
	}
	return l, nil
}

func lowerTable(op transforms.Op, in follows, out tensor.Desc) (*table, string) {
	if !in.ok {
		return nil, fmt.Sprintf("%v does not follow value by value from a uint8 image of 1 to %d channels", in.desc, maxChannels)
	}
	if !narrow(out.DType) {
		return nil, fmt.Sprintf("elements of %v, want 1, 2 or 4 bytes", out.DType)
	}
	t, err := tableOf(append(slices.Clone(in.ops), op), in.base)
	if err != nil {
		return nil, fmt.Sprintf("no table: %v", err)
	}
	return t, ""
}

func narrow(d tensor.DType) bool { return d.Size() == 1 || d.Size() == 2 || d.Size() == 4 }

func lowerPick(in tensor.Desc) string {
	if !in.IsImage() || !narrow(in.DType) || in.Channels() < 1 {
		return fmt.Sprintf("%v, want an image of known channels with elements of 1, 2 or 4 bytes", in)
	}
	return ""
}

func lowerScaled(op transforms.Scaled, in tensor.Desc) string {
	i, b, _ := op.Sampling()
	switch {
	case b != transforms.Pillow && b != transforms.TorchUint8:
		return fmt.Sprintf("backend %v, want pillow or torch_uint8", b)
	case !in.IsImage() || in.DType != tensor.Uint8 || in.Layout != tensor.HWC || in.Channels() < 1:
		return fmt.Sprintf("%v, want uint8 HWC of known channels", in)
	case b == transforms.TorchUint8 && in.Channels() > 4:
		return fmt.Sprintf("%d channels, want at most 4", in.Channels())
	case b == transforms.Pillow && (in.Channels() == 2 || in.Channels() == 4) && !nearest(i):
		return fmt.Sprintf("%d channels, the last of which is alpha", in.Channels())
	}
	return ""
}

func nearest(i transforms.Interpolation) bool {
	return i == transforms.Nearest || i == transforms.NearestExact
}

// Step says where a step runs.
type Step struct {
	OnDevice bool
	Why      string // why it runs on the host, unless the op is none of the device's
}

// Lower returns where a graph's steps run. It depends on the graph alone.
func Lower(g *datagraph.Graph) ([]Step, error) {
	l, err := lower(g)
	if err != nil {
		return nil, err
	}
	steps := make([]Step, len(l.steps))
	for i, s := range l.steps {
		steps[i] = Step{s.way != onHost, s.why}
	}
	return steps, nil
}

// desc returns the description of a column before step i.
func (l *lowered) desc(column string, i int) tensor.Desc {
	for i--; i >= 0; i-- {
		if j := slices.Index(l.graph.Steps[i].Out, column); j >= 0 {
			return l.descs[i][j]
		}
	}
	for _, c := range l.graph.Inputs {
		if c.Name == column {
			return c.Desc
		}
	}
	return tensor.Desc{}
}

// part returns the graph of n steps from first on. Its inputs are the columns
// that earlier steps made. Its outputs are the columns that later steps need.
func (l *lowered) part(first, n int) *datagraph.Graph {
	p := &datagraph.Graph{Reference: l.graph.Reference, Steps: l.graph.Steps[first : first+n]}
	var made []string
	for _, s := range p.Steps {
		for _, c := range s.In {
			known := slices.ContainsFunc(p.Inputs, func(i datagraph.Column) bool { return i.Name == c })
			if !known && !slices.Contains(made, c) {
				p.Inputs = append(p.Inputs, datagraph.Column{Name: c, Desc: l.desc(c, first)})
			}
		}
		for _, c := range s.Out {
			if !slices.Contains(made, c) {
				made = append(made, c)
			}
		}
	}
	for _, c := range made {
		if l.needed(c, first+n) {
			p.Outputs = append(p.Outputs, c)
		}
	}
	if len(p.Outputs) == 0 {
		p.Outputs = made // no step reads them, but the steps may fail
	}
	return p
}

// needed reports whether step i, a later step or an output uses the column's
// value before step i.
func (l *lowered) needed(column string, i int) bool {
	for _, s := range l.graph.Steps[i:] {
		if slices.Contains(s.In, column) {
			return true
		}
		if slices.Contains(s.Out, column) {
			return false
		}
	}
	return slices.Contains(l.graph.Outputs, column) || slices.Contains(l.graph.SideOutputs, column)
}

// table maps the 256 values of each channel to results.
type table struct {
	ops     []transforms.Op // from the uint8 image on
	dtype   tensor.DType
	layout  tensor.Layout
	entries []byte // 256 words of 32 bits for each channel, the element in the low bits
}

// tableOf runs pointwise ops on an image that holds every value of every
// channel.
func tableOf(ops []transforms.Op, base tensor.Desc) (*table, error) {
	ch := base.Channels()
	t, err := tensor.New(tensor.Image(tensor.Uint8, base.Layout, 1, 256, ch))
	if err != nil {
		return nil, err
	}
	for v := range 256 {
		for c := range ch {
			t.Data[elementIndex(t.Desc, 0, v, c)] = uint8(v)
		}
	}
	for _, op := range ops {
		if t, err = apply(op, t); err != nil {
			return nil, err
		}
	}
	if !t.IsImage() || t.Height() != 1 || t.Width() != 256 || t.Channels() != ch {
		return nil, fmt.Errorf("256 values became %v", t.Desc)
	}
	r := &table{ops: ops, dtype: t.DType, layout: t.Layout, entries: make([]byte, 4*256*ch)}
	size := t.DType.Size()
	for c := range ch {
		for v := range 256 {
			copy(r.entries[4*(c*256+v):], t.Data[elementIndex(t.Desc, 0, v, c)*size:][:size])
		}
	}
	return r, nil
}

// elementIndex returns the index of an element in a dense image.
func elementIndex(d tensor.Desc, y, x, c int) int {
	if d.Layout == tensor.CHW {
		return (c*d.Height()+y)*d.Width() + x
	}
	return (y*d.Width()+x)*d.Channels() + c
}

// apply runs an op with one input and one output on the host.
func apply(op transforms.Op, t *tensor.Tensor) (*tensor.Tensor, error) {
	var out [1]tensor.Desc
	if err := op.Infer(out[:], []tensor.Desc{t.Desc}); err != nil {
		return nil, err
	}
	r, err := tensor.New(out[0])
	if err != nil {
		return nil, err
	}
	c := transforms.NewContext(codec.NoLimits())
	c.Begin()
	return r, op.Apply(c, []*tensor.Tensor{r}, []*tensor.Tensor{t})
}
