package diff

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Match finds the changes after which equal accepts the graph's output, for
// another program's tensor of which only a digest is left. want describes that
// tensor. Match tries each change of Explain alone, then pairs of those that
// have an effect. It returns the first match, nil if nothing matches. Changes
// that mirror or reshape the finished tensor are not tried. It uses the
// Limits and Alternatives of o.
func Match(ctx context.Context, g *datagraph.Graph, output string, image *tensor.Tensor, want tensor.Desc, equal func(*tensor.Tensor) bool, o Options) ([]Change, error) {
	if g.Random() {
		return nil, errors.New("diff: match: the graph has random ops")
	}
	if g.Moves() {
		return nil, errors.New("diff: match: the graph moves columns with an image")
	}
	g = clone(g)
	g.Outputs, g.SideOutputs = []string{output}, nil
	e := newExplainer(ctx, g, newRunner(o.Limits, image), nil)
	if want.IsImage() {
		e.target.h, e.target.w = want.Height(), want.Width()
	}
	unchanged, err := e.runner.run(g)
	if err != nil {
		return nil, err
	}
	for i := range o.Alternatives {
		e.changes = append(e.changes, o.Alternatives[i].change())
	}
	known := map[[sha256.Size]byte]bool{e.have(unchanged).digest(): true}
	var effective []Change
	for _, c := range append(e.changes, allChanges()...) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if c.undo != nil {
			continue
		}
		t, ok := e.run([]Change{c})
		if !ok || t.DType == tensor.Bytes {
			continue
		}
		if equal(t) {
			return []Change{c}, nil
		}
		if key := e.have(t).digest(); !known[key] {
			known[key] = true
			effective = append(effective, c)
		}
	}
	for i, a := range effective {
		for _, b := range effective[i+1:] {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if a.group == b.group {
				continue
			}
			if t, ok := e.run([]Change{a, b}); ok && equal(t) {
				return []Change{a, b}, nil
			}
		}
	}
	return nil, nil
}
