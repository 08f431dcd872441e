package dataset

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/store"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// traced is the origin of a column's value.
type traced struct {
	// column, path and desc are set for a source's column: its name, the
	// source's path, and the description under which the first map takes it.
	column  string
	path    string
	desc    tensor.Desc
	by      *tracedStep // the step that makes it; nil for a source's column
	output  int         // its number among by's outputs
	side    bool        // a side output of its map
	sources []*traced   // the sources' columns that it is made of
	batch   datagraph.Batching
	err     *NodeError // why no graph can compute it; nil if one can
}

// tracedStep is a step of a map's graph.
type tracedStep struct {
	datagraph.Step
	path string // of the step in the definition
	in   []*traced
	out  []*traced
}

// scope is the columns at one place of a definition. The columns of a source
// are unknown until it is opened: a scope knows those that were looked up.
type scope struct {
	names  []string
	known  map[string]*traced
	hidden map[string]bool // names of the scopes below that are not visible here
	below  []*scope        // where all other names are looked up; one of them has the name
	either bool            // all of below have the name, since any may return the sample
	closed bool            // there are no columns but the known ones
	source Source          // of a leaf
	files  store.Opener    // of a leaf
	path   string
	axes   int        // leading axes that batches added
	spoilt *NodeError // why no graph can compute any column; nil if one can
}

func (s *scope) put(name string, t *traced) {
	if _, ok := s.known[name]; !ok {
		s.names = append(s.names, name)
	}
	s.known[name] = t
}

// above returns the scope of a node whose input is s.
func (s *scope) above(path string) *scope {
	return &scope{known: map[string]*traced{}, hidden: map[string]bool{}, below: []*scope{s}, path: path, axes: s.axes}
}

// get returns a column.
func (s *scope) get(ctx context.Context, name string) (*traced, error) {
	if t, ok := s.known[name]; ok {
		return t, nil
	}
	missing := defErr("no column %q, want one of %q", name, s.list())
	if s.hidden[name] || s.closed {
		return nil, missing
	}
	if s.source != nil {
		t := &traced{column: name, path: s.path}
		t.sources = []*traced{t}
		s.put(name, t)
		return t, nil
	}
	var t *traced
	var err error
	switch {
	case s.either:
		t, err = s.getEither(ctx, name)
	case len(s.below) == 1:
		t, err = s.below[0].get(ctx, name)
	default:
		t, err = s.getOne(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	if s.spoilt != nil && t.err == nil {
		c := *t
		c.err = s.spoilt
		t = &c
	}
	s.put(name, t)
	return t, nil
}

// getOne returns a column of several datasets side by side, of which one has
// it.
func (s *scope) getOne(ctx context.Context, name string) (*traced, error) {
	var open []*scope
	for _, b := range s.below {
		if slices.Contains(b.list(), name) {
			return b.get(ctx, name)
		}
		if b.mayHave(name) {
			open = append(open, b)
		}
	}
	if len(open) > 1 { // open their sources
		var have []*scope
		for _, b := range open {
			has, err := b.has(ctx, name)
			if err != nil {
				return nil, err
			}
			if has {
				have = append(have, b)
			}
		}
		open = have
	}
	if len(open) == 0 {
		return nil, defErr("no column %q, want one of %q", name, s.list())
	}
	return open[0].get(ctx, name)
}

// mayHave reports whether a source below could have a visible column of this
// name.
func (s *scope) mayHave(name string) bool {
	if s.closed || s.hidden[name] {
		return false
	}
	return s.source != nil || slices.ContainsFunc(s.below, func(b *scope) bool { return b.mayHave(name) })
}

// has opens the sources below and reports whether one has a column.
func (s *scope) has(ctx context.Context, name string) (bool, error) {
	if !s.mayHave(name) {
		return false, nil
	}
	if s.source == nil {
		for _, b := range s.below {
			if ok, err := b.has(ctx, name); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	d, err := s.source.Open(ctx, s.files)
	if err != nil {
		return false, &NodeError{s.path, fmt.Errorf("open to look up column %q: %w", name, err)}
	}
	has := slices.ContainsFunc(d.Columns(), func(c Column) bool { return c.Name == name })
	return has, d.Close()
}

// getEither returns a column that several datasets have. All must make it in
// the same way.
func (s *scope) getEither(ctx context.Context, name string) (*traced, error) {
	first, err := s.below[0].get(ctx, name)
	if err != nil {
		return nil, err
	}
	for i, b := range s.below[1:] {
		t, err := b.get(ctx, name)
		if err != nil {
			return nil, err
		}
		if t.err != nil && first.err == nil {
			first = t
		}
		if first.err == nil && !equalValues(first, t) {
			c := *first
			c.err = &NodeError{s.path, defErr("column %q: inputs 0 and %d make it in different ways", name, i+1)}
			first = &c
		}
	}
	return first, nil
}

// equalValues reports whether equal steps make two values of columns of the
// same names.
func equalValues(a, b *traced) bool {
	if a.by == nil || b.by == nil {
		return a.by == nil && b.by == nil && a.column == b.column && (a.err != nil || a.sources[0].desc == b.sources[0].desc)
	}
	if a.by == b.by {
		return a.output == b.output
	}
	x, errX := transforms.MarshalParams(a.by.Op)
	y, errY := transforms.MarshalParams(b.by.Op)
	if errX != nil || errY != nil || a.output != b.output || reflect.TypeOf(a.by.Op) != reflect.TypeOf(b.by.Op) || string(x) != string(y) {
		return false
	}
	return slices.EqualFunc(a.by.in, b.by.in, equalValues)
}

func (s *scope) columns(ctx context.Context, names []string) ([]*traced, error) {
	l := make([]*traced, len(names))
	for i, n := range names {
		var err error
		if l[i], err = s.get(ctx, n); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// list returns the known names.
func (s *scope) list() []string {
	l := slices.Clone(s.names)
	if s.closed {
		return l
	}
	for _, b := range s.below {
		for _, n := range b.list() {
			if !s.hidden[n] && !slices.Contains(l, n) {
				l = append(l, n)
			}
		}
	}
	return l
}
