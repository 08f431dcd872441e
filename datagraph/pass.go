package datagraph

import (
	"errors"
	"fmt"
	"slices"

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
	passes
)

// passInfo is what the file of a pass says of it.
type passInfo struct {
	name, doc string
	run       func(p *Plan)
}

var passInfos = [passes]*passInfo{&foldGeometry, &pointwiseTable, &regionDecode, &rowStep}

// Passes lists all passes in the order in which they run.
func Passes() []Pass {
	var l []Pass
	for p := range passes {
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
	return 0, fmt.Errorf("datagraph: %w %q", ErrPass, name)
}

// String is the pass's name: "fold-geometry".
func (p Pass) String() string {
	if p < passes {
		return passInfos[p].name
	}
	return fmt.Sprintf("pass %d", uint8(p))
}

// Doc is a sentence on what the pass does.
func (p Pass) Doc() string {
	if p < passes {
		return passInfos[p].doc
	}
	return ""
}

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
		for _, q := range o.passes {
			if !slices.Contains(s.passes, q) {
				s.passes = append(s.passes, q)
			}
		}
	}
	if !slices.Contains(s.passes, by) {
		s.passes = append(s.passes, by)
	}
	slices.Sort(s.passes)
	p.steps = slices.Replace(p.steps, i, i+n, s)
}
