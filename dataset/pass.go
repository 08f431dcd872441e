package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
)

// Pass is an optimisation that Build does: it rearranges the nodes where samples,
// their order, random numbers and states stay the same. Passes run in the order of
// their declaration, and each can be switched off without the others. The passes
// of the maps' graphs are those of package datagraph.
type Pass uint8

// The passes.
const (
	// FilterEarly puts a Filter below the maps that leave its columns alone, so that
	// what is dropped is never decoded. A sample on which such a map would fail, and
	// which the filter drops, is no bad sample then.
	FilterEarly Pass = iota
	// DecodeCrop makes Project and Rename part of the Map below, so that a decode and
	// a crop with one of them between can be one graph, which decodes what is cropped
	// and no more.
	DecodeCrop
	// CachePrefix puts a Cache above the part of the maps that is the same in every
	// epoch, if Options.CacheBytes has room for all of it, so far as the columns'
	// descriptions or the first sample tell. The part is what stands on a source with
	// an index, up to the first random op; the cache's path is the source's with +cache.
	CachePrefix
	// FuseMaps makes one Map of several in a row: one graph, and one stage, which has
	// the path of the upper one. Errors are still those of the map that failed.
	FuseMaps
	passCount
)

// passInfo is what the file of a pass says of it.
type passInfo struct {
	name, doc string
	// run gives what takes the place of s, the top of the tree.
	run func(ctx context.Context, b *Built, s *step) *step
}

var passInfos = [passCount]*passInfo{&filterEarly, &decodeCrop, &cachePrefix, &fuseMaps}

// Passes lists all passes in the order in which they run.
func Passes() []Pass {
	var l []Pass
	for p := range passCount {
		l = append(l, p)
	}
	return l
}

// ErrPass is the error of a pass that is none.
var ErrPass = errors.New("unknown pass")

// ParsePass is the inverse of String.
func ParsePass(name string) (Pass, error) {
	for p, i := range passInfos {
		if i.name == name {
			return Pass(p), nil
		}
	}
	return 0, fmt.Errorf("dataset: %w %q", ErrPass, name)
}

// String is the pass's name: "fuse-maps".
func (p Pass) String() string {
	if p < passCount {
		return passInfos[p].name
	}
	return fmt.Sprintf("pass %d", uint8(p))
}

// Doc is a sentence on what the pass does.
func (p Pass) Doc() string {
	if p < passCount {
		return passInfos[p].doc
	}
	return ""
}

// optimise runs the passes.
func (b *Built) optimise(ctx context.Context) {
	for _, p := range Passes() {
		if !slices.Contains(b.options.Off, p) {
			b.top = passInfos[p].run(ctx, b, b.top)
		}
	}
}

// by notes that a pass made s what it is.
func (s *step) by(p Pass) {
	if !slices.Contains(s.made, p) {
		s.made = append(slices.Clone(s.made), p)
		slices.Sort(s.made)
	}
}

// chooser reports whether s only chooses and orders samples of one input that has
// an index. What such a step gives is read from its input by place, so a map below
// it might as well stand above it: the sample's numbers are the same in both places.
func (s *step) chooser() bool {
	_, ok := s.node.(router)
	return ok && s.indexed && len(s.in) == 1
}

// below is the slot of the first step, from the one in the slot on down, that is
// no chooser.
func below(slot **step) **step {
	for (*slot).chooser() {
		slot = &(*slot).in[0]
	}
	return slot
}

// columnsFrom gives the choosers between two slots the columns of what is now below them.
func columnsFrom(top, bottom **step) {
	for slot := top; slot != bottom; slot = &(*slot).in[0] {
		(*slot).columns = (*bottom).columns
	}
}

// source is where a column of s is from: a column of its input, or negative if s
// makes it. Not ok if s is no step that makes one sample of one.
func (s *step) source(column int) (from int, ok bool) {
	switch s.node.(type) {
	case *Map:
		return s.state.(*mapState).cols.from[column], true
	case *Func, *Project:
		return s.state.(*outputs).from[column], true
	case *Rename:
		return column, true
	}
	return 0, false
}

// StepInfo is what a Built knows of a step of it, for people.
type StepInfo struct {
	Path    string // of the node; what is made of several has the upper one's
	Node    string // its kind: "map"
	Depth   int    // below the top
	Columns []Column
	Passes  []Pass          // that made it, or put it where it is
	Plan    *datagraph.Plan // of a Map
}

// Steps describes what is run, from the top down, inputs in their order.
func (b *Built) Steps() []StepInfo {
	var l []StepInfo
	var walk func(s *step, depth int)
	walk = func(s *step, depth int) {
		i := StepInfo{Path: s.path, Node: s.name, Depth: depth, Columns: slices.Clone(s.columns), Passes: slices.Clone(s.made)}
		if st, ok := s.state.(*mapState); ok {
			i.Plan = st.plan
		}
		l = append(l, i)
		for _, in := range s.in {
			walk(in, depth+1)
		}
	}
	walk(b.top, 0)
	return l
}
