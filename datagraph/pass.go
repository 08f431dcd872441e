package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/internal/pass"
	"github.com/infer-prep/infer-prep/transforms"
)

// Pass is an optimisation of Compile. It merges several steps into one without
// changing any output byte. Passes run in the order of their declaration, and
// each can be disabled on its own.
type Pass uint8

// The passes.
const (
	// FoldGeometry merges a chain of crops and flips with at most one resize
	// into one step, which computes only the pixels that remain.
	FoldGeometry Pass = iota
	// PointwiseTable merges a chain of pointwise ops on uint8, including
	// changes of layout and dtype, into one table lookup.
	PointwiseTable
	// RegionDecode decodes only the pixels that a following crop needs.
	RegionDecode
	// RowStep merges decoding, geometry and table lookup into one step that
	// works row by row, so that no intermediate image is kept in memory.
	RowStep
	// PlaceBlocks merges the steps that cut the image of such a step into tiles
	// or patches, and the step that puts another column beside them.
	PlaceBlocks
)

// passTable has the passes in the order of the constants.
var passTable = pass.NewTable[Pass]("datagraph", &foldGeometry, &pointwiseTable, &regionDecode, &rowStep, &placeBlocks)

type passInfo = pass.Info[func(p *Plan)]

// Passes returns all passes in the order in which they run.
func Passes() []Pass { return passTable.All() }

// ErrPass reports the name or number of a pass that does not exist.
var ErrPass = pass.ErrUnknown

// ParsePass returns the pass of a name such as "fold-geometry". The error of an
// unknown name matches ErrPass and suggests the closest name.
func ParsePass(name string) (Pass, error) { return passTable.Parse(name) }

// String returns the pass's name: "fold-geometry".
func (p Pass) String() string { return passTable.Name(p) }

// Doc returns a sentence that says what the pass does.
func (p Pass) Doc() string { return passTable.Doc(p) }

// part returns step i as a fused op, or nil if the step cannot be part of one.
func (p *Plan) part(i int) *fused {
	s := &p.steps[i]
	return partOf(s.op, p.descs(s.in), p.descs(s.out))
}

// feeds reports whether step i+1 reads step i's first output and nothing else
// reads it.
func (p *Plan) feeds(i int) bool { return p.feedsOver(i, 0) }

// feedsOver reports whether the first output of step i is read only by the k
// steps that follow it and by the step after those, which reads nothing else.
func (p *Plan) feedsOver(i, k int) bool {
	if i+k+1 >= len(p.steps) {
		return false
	}
	v, next := p.steps[i].out[0], p.steps[i+k+1].in
	if len(next) != 1 || next[0] != v || slices.Contains(p.outputs, v) {
		return false
	}
	for _, s := range p.steps[i+k+2:] {
		if slices.Contains(s.in, v) {
			return false
		}
	}
	return true
}

// describing counts the steps directly after step i that read only the
// description of its first output.
func (p *Plan) describing(i int) (k int) {
	for i+k+1 < len(p.steps) {
		s := &p.steps[i+k+1]
		if _, ok := s.op.(transforms.DescOnly); !ok || s.in[0] != p.steps[i].out[0] {
			break
		}
		k++
	}
	return k
}

// replace replaces the n steps from i on by one step that runs op.
func (p *Plan) replace(i, n int, op transforms.Op, by Pass) {
	old := p.steps[i : i+n]
	s := planStep{op: op, in: old[0].in, out: slices.Clone(old[n-1].out), first: old[0].first}
	for j, o := range slices.Backward(old) {
		s.n += o.n
		if _, ok := o.op.(transforms.DescOnly); ok {
			s.out = append(s.out, o.out...)
		} else if j < n-1 {
			s.out = append(s.out, o.out[1:]...)
		}
	}
	for _, o := range old {
		s.passes = pass.Add(s.passes, o.passes...)
	}
	s.passes = pass.Add(s.passes, by)
	p.steps[i] = s
	// slices.Replace is 6 KB of the small browser package.
	end := i + 1 + copy(p.steps[i+1:], p.steps[i+n:])
	clear(p.steps[end:])
	p.steps = p.steps[:end]
}
