package dataset

import (
	"context"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/internal/pass"
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
)

// passTable has the passes in the order of the constants.
var passTable = pass.NewTable[Pass]("dataset", &filterEarly, &decodeCrop, &cachePrefix, &fuseMaps)

// passInfo describes a pass. Its function returns the step that replaces s, the
// top of the tree.
type passInfo = pass.Info[func(ctx context.Context, b *Built, s *step) *step]

// Passes returns all passes in the order in which they run.
func Passes() []Pass { return passTable.All() }

// ErrPass reports the name or number of a pass that does not exist.
var ErrPass = pass.ErrUnknown

// ParsePass returns the pass of a name such as "fuse-maps". The error of an
// unknown name matches ErrPass and suggests the closest name.
func ParsePass(name string) (Pass, error) { return passTable.Parse(name) }

// String returns the pass's name: "fuse-maps".
func (p Pass) String() string { return passTable.Name(p) }

// Doc returns a sentence that says what the pass does.
func (p Pass) Doc() string { return passTable.Doc(p) }

// optimise runs the passes that are not disabled.
func (b *Built) optimise(ctx context.Context) error {
	enabled, err := passTable.Enabled(b.options.Disable)
	if err != nil {
		return err
	}
	for _, p := range enabled {
		b.top = passTable.Run(p)(ctx, b, b.top)
	}
	return nil
}

// by records that a pass made or moved s.
func (s *step) by(p Pass) { s.made = pass.Add(s.made, p) }

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
