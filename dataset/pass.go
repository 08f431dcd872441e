package dataset

import (
	"context"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/device"
	"github.com/infer-prep/infer-prep/internal/pass"
)

// Pass is an optimisation of Build. It rearranges nodes without a change of
// samples, their order, random numbers or states. Passes run in the order of
// the constants; Options.Disable turns off single ones. Package datagraph has
// the passes of the maps' graphs.
type Pass uint8

// The passes.
const (
	// FilterEarly moves a Filter below the maps that do not change its columns,
	// so that dropped samples are not decoded. A map that would fail on a
	// dropped sample then reports no error.
	FilterEarly Pass = iota
	// DecodeCrop merges Project and Rename into the Map below. A decode and a
	// crop with one of them in between then become one graph, which decodes
	// only the crop.
	DecodeCrop
	// PlaceCaches moves every Cache to a place that depends on no epoch, and
	// puts caches where Options.CacheBytes asks for them: above the last step
	// of the maps before the first random op, or above the source, whichever
	// lets more samples fit; above the maps if equally many fit. Nodes that
	// only choose samples stay above it. The sizes are those of the columns'
	// descriptions, else of 4 samples. A source whose samples lie in memory
	// gets none. The cache's path is the source's with +cache. Without the
	// pass, a Cache keeps the samples of its own place.
	PlaceCaches
	// FuseMaps merges consecutive maps into one Map: one graph and one stage,
	// with the path of the upper one. Errors still name the map that failed.
	FuseMaps
)

// passTable has the passes in the order of the constants.
var passTable = pass.NewTable[Pass]("dataset", &filterEarly, &decodeCrop, &placeCaches, &fuseMaps)

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

// addPass records that a pass made or moved s.
func (s *step) addPass(p Pass) { s.passes = pass.Add(s.passes, p) }

// chooser reports whether s only chooses and orders samples of one indexed
// input. It reads its input by place, so a map below it can move above it: the
// samples keep their ordinals.
func (s *step) chooser() bool {
	_, ok := s.node.(router)
	return ok && s.indexed && len(s.in) == 1
}

// below returns the slot of the first step, from the slot's own step down, that
// is no chooser.
func below(slot **step) **step {
	for (*slot).chooser() {
		slot = &(*slot).in[0]
	}
	return slot
}

// columnsFrom updates the columns of the choosers between two slots.
func columnsFrom(top, bottom **step) {
	for slot := top; slot != bottom; slot = &(*slot).in[0] {
		(*slot).columns = (*bottom).columns
	}
}

// StepInfo describes a step of a Built, for people.
type StepInfo struct {
	Path    string // of the node; a step made of several nodes has the upper one's
	Node    string // its kind: "map"
	Depth   int    // below the top
	Columns []Column
	Len     int64           // samples or batches in an epoch, as Built.Len
	Passes  []Pass          // that made or moved it
	Plan    *datagraph.Plan // of a Map
	// Stage reports whether package pipeline runs it as a stage with workers
	// of its own: it reads rows, works on single samples or keeps them. Steps
	// below a Cache belong to the workers of the Cache.
	Stage bool
	// Cache has the figures of a cache, of all runs so far; nil for others.
	Cache *CacheStats
	// Placement says where the steps of a Map run, and why not on the device;
	// nil without Options.Device.
	Placement device.Placement
}

// Steps describes the optimised definition from the top down.
func (b *Built) Steps() []StepInfo {
	var l []StepInfo
	var walk func(s *step, depth int, cached bool)
	walk = func(s *step, depth int, cached bool) {
		i := StepInfo{Path: s.path, Node: s.name, Depth: depth, Columns: slices.Clone(s.columns), Len: b.lenOf(s), Passes: slices.Clone(s.passes)}
		i.Stage = !cached && s.worked()
		if st := s.mapped(); st != nil {
			i.Plan, i.Placement = st.plan, slices.Clone(st.placement)
		}
		if c, ok := s.state.(*cacheState); ok {
			i.Cache = c.stats()
		}
		l = append(l, i)
		for _, in := range s.in {
			walk(in, depth+1, cached || s.caches())
		}
		if s.table != nil { // no stage: it has been read
			walk(s.table, depth+1, true)
		}
	}
	walk(b.top, 0, false)
	return l
}

// caches reports whether the workers of s run all steps below it.
func (s *step) caches() bool {
	return s.traits.caches && s.indexed
}

// worked reports whether an opener places s as a stage; see opener.work.
func (s *step) worked() bool {
	if s.data != nil {
		return s.indexed
	}
	_, works := s.node.(mapper)
	return works && !s.traits.selects || s.caches()
}
