package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/transforms"
)

var rowStep = passInfo{
	Name: "row-step",
	Doc:  "decoding, geometry and table lookup are one step that works row by row, without intermediate images",
	Run:  runRowStep,
}

func runRowStep(p *Plan) {
	for i := 0; i < len(p.steps); i++ {
		f, n := p.part(i), 1
		if f == nil {
			continue
		}
		for {
			k := p.describing(i + n - 1)
			if !p.feedsOver(i+n-1, k) {
				break
			}
			next := p.part(i + n + k)
			if next == nil || f.geometry() && next.geometry() {
				break // fold-geometry merges these, if they can be merged
			}
			both := join(p.described(f, i+n, k), next)
			if both == nil {
				break
			}
			f, n = both, n+k+1
		}
		if n > 1 || f.decode != nil && f.geometry() {
			g := *f
			g.rows = true
			p.replace(i, n, &g, RowStep)
		}
	}
}

// described returns f extended by the outputs of the k steps from i on, which
// describe its first output.
func (p *Plan) described(f *fused, i, k int) *fused {
	g := *f
	for _, s := range p.steps[i : i+k] {
		g.ops = append(append([]transforms.Op(nil), g.ops...), s.op)
		g.out = slices.Concat(g.out[:1], p.descs(s.out), g.out[1:])
	}
	return &g
}
