package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/transforms"
)

// ErrRandom reports a random op in a place where random ops are not allowed.
var ErrRandom = errors.New("random op")

// RandomOps decides about the random ops of a training in its inference graph.
type RandomOps uint8

// The choices.
const (
	// DropRandom drops random ops and adds a Note for each.
	DropRandom RandomOps = iota
	// RefuseRandom returns an error that wraps ErrRandom and names all random
	// ops.
	RefuseRandom
)

// Replacement returns the ops that replace a random op, or none to drop it.
// Each has as many outputs as inputs, like the random op.
type Replacement func(op transforms.Op) ([]transforms.Op, error)

// InferenceOptions are the options of InferenceGraph.
type InferenceOptions struct {
	// Random decides about random ops that Replace does not name. Default:
	// DropRandom.
	Random RandomOps
	// Replace maps the registered names of random ops to their replacements;
	// see Replacements. Default: none.
	Replace map[string]Replacement
	// Column is the source's column that becomes the graph's input. Default:
	// the column that a map takes as an encoded image, else as an image.
	Column string
	// Outputs are the columns that the graph returns, in order. Default: all
	// columns made of the image; the side outputs of maps become side outputs.
	// Of columns that are equal without the random ops, the graph has the
	// first, and a Note for each of the others.
	Outputs []string
	// Store opens the sources' files, where a source must be opened to list its
	// columns. Default: store.Local.
	Store store.Opener
}

// Note describes a part of the training that its inference graph does not have.
type Note struct {
	Path string `json:"path"` // of the step in the definition: "batch/map/3"
	Op   string `json:"op"`   // the name of the op or node
	// Params are the parameters of the op or node, as JSON.
	Params json.RawMessage `json:"params"`
	// ReplacedBy are the names of the ops that replace it; empty if it was
	// dropped.
	ReplacedBy []string `json:"replaced_by"`
	Text       string   `json:"text"` // an explanation for people
}

func (n Note) String() string { return fmt.Sprintf("%s (%s): %s", n.Path, n.Op, n.Text) }

// InferenceGraph returns the deterministic graph that makes a model's input of
// one image, extracted from the definition of a training. It joins the graphs
// of the maps, from the source's column with the encoded image to the columns
// at the top.
//
// The graph leaves out nodes that choose, order, keep or stack samples
// (Shuffle, Batch, Cache, samplers, …) and columns that are not made of the
// image, such as labels. InferenceOptions decide whether random ops are
// dropped, replaced or refused. The deterministic part of a random op stays:
// the ops of a Compose, and the decode of a RandomCropDecodeResize. The notes
// list, in the order of the steps, everything that the graph leaves out.
// InferenceGraph opens a source only if several sources could have a column.
//
// InferenceGraph returns a *NodeError that names the node if a graph cannot
// compute a requested column. Causes are a user's function or a Filter that
// reads the image, a map on whole batches, a map that also takes other columns
// of the source, and mixed datasets that make the image in different ways.
func InferenceGraph(ctx context.Context, d *Dataset, o InferenceOptions) (*datagraph.Graph, []Note, error) {
	for name := range o.Replace {
		if i, err := transforms.Lookup(name); err != nil {
			return nil, nil, fmt.Errorf("dataset: %w: replacement: %w", ErrParam, err)
		} else if _, ok := i.New().(transforms.Random); !ok {
			return nil, nil, fmt.Errorf("dataset: %w", paramErr("a replacement of %s, want a random op", name))
		}
	}
	t := &tracer{files: o.Store}
	if t.files == nil {
		t.files = store.Local
	}
	top, err := t.walk(ctx, d, "", 0)
	if err != nil {
		return nil, nil, err
	}
	path := InfoOf(d.Node).Name
	image, outputs, side, err := choose(ctx, top, o, path)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range t.checks {
		if l, err := c.scope.columns(ctx, c.columns); err != nil {
			return nil, nil, &NodeError{c.path, err}
		} else if i := slices.IndexFunc(l, func(x *traced) bool { return slices.Contains(x.sources, image) }); i >= 0 {
			if c.err != nil {
				return nil, nil, &NodeError{c.path, fmt.Errorf("column %q: %w", c.columns[i], c.err)}
			}
			t.notes = append(t.notes, c.note)
		}
	}
	e := &emitter{o: o}
	g, err := e.graph(path, image, outputs, side)
	if err != nil {
		return nil, nil, err
	}
	return g, append(e.notes, t.notes...), nil
}
