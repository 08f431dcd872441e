package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/internal/pass"
	"github.com/infer-prep/infer-prep/transforms"
)

// Pass is an optimisation that Compile does: it makes one step of several where
// the bytes stay the same. Passes run in the order of their declaration, and each
// can be switched off without the others.
type Pass uint8

// The passes.
const (
	// FoldGeometry makes one step of a chain of crops and flips with at most one
	// resizing: it computes the pixels that survive and no others.
	FoldGeometry Pass = iota
	// PointwiseTable makes one look-up in tables of a chain of pointwise ops on
	// uint8, the changes of layout and dtype included.
	PointwiseTable
	// RegionDecode decodes only the pixels that a following crop needs.
	RegionDecode
	// RowStep makes one step of decoding, moving and looking up, through which
	// rows run one after another, so that no image between them is ever in memory.
	RowStep
)

// passTable has the passes in the order of the constants.
var passTable = pass.NewTable[Pass]("datagraph", &foldGeometry, &pointwiseTable, &regionDecode, &rowStep)

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

// part is step i as a fused op, nil if it is none.
func (p *Plan) part(i int) *fused {
	s := &p.steps[i]
	return partOf(s.op, p.descs(s.in), p.descs(s.out))
}

// feeds reports whether step i+1 reads step i's first output, and nothing else does.
func (p *Plan) feeds(i int) bool { return p.feedsOver(i, 0) }

// feedsOver reports whether step i's first output is read by the k steps that
// follow and by the one after them, which reads nothing else, and by no other.
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

// describing counts the steps after step i that tell of its first output no more
// than its description.
func (p *Plan) describing(i int) (k int) {
	for i+k+1 < len(p.steps) {
		s := &p.steps[i+k+1]
		if _, ok := s.op.(transforms.Described); !ok || s.in[0] != p.steps[i].out[0] {
			break
		}
		k++
	}
	return k
}

// replace puts one step, f, in the place of the n from i on.
func (p *Plan) replace(i, n int, f *fused, by Pass) {
	old := p.steps[i : i+n]
	s := planStep{op: f, in: old[0].in, out: slices.Clone(old[n-1].out), first: old[0].first}
	for j, o := range slices.Backward(old) {
		s.n += o.n
		if _, ok := o.op.(transforms.Described); ok {
			s.out = append(s.out, o.out...)
		} else if j < n-1 {
			s.out = append(s.out, o.out[1:]...)
		}
	}
	for _, o := range old {
		s.passes = pass.Add(s.passes, o.passes...)
	}
	s.passes = pass.Add(s.passes, by)
	p.steps = slices.Replace(p.steps, i, i+n, s)
}
