package diff

import (
	"context"
	"crypto/sha256"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/tensor"
)

// Match finds the changes after which equal accepts the graph's output, for
// another program's tensor of which only a digest is left. want describes that
// tensor. Match tries each change of Explain alone, then pairs of those that
// have an effect. Values that are neither divided by 255 nor normalized count
// as one change. It returns the first match, nil if nothing matches. Changes
// that mirror or reshape the finished tensor are not tried. It uses the
// Limits and Alternatives of o.
func Match(ctx context.Context, g *datagraph.Graph, output string, image *tensor.Tensor, want tensor.Desc, equal func(*tensor.Tensor) bool, o Options) ([]Change, error) {
	if err := checkExplained(g, "match"); err != nil {
		return nil, err
	}
	e := newExplainer(ctx, g, output, image, nil, &o)
	if want.IsImage() {
		e.target = target{h: want.Height(), w: want.Width(), c: want.Channels()}
	}
	unchanged, err := e.runner.run(e.graph)
	if err != nil {
		return nil, err
	}
	known := map[[sha256.Size]byte]bool{e.have(unchanged).digest(): true}
	var effective [][]Change
	try := func(l []Change) (bool, error) {
		t, ok := e.run(l)
		if !ok {
			return false, ctx.Err()
		}
		if equal(t) {
			return true, nil
		}
		if key := e.have(t).digest(); !known[key] {
			known[key] = true
			effective = append(effective, l)
		}
		return false, ctx.Err()
	}
	var singles [][]Change
	var raw []Change // the one pair that counts as one change
	for _, c := range e.changes {
		if c.undo == nil {
			singles = append(singles, []Change{c})
		}
		if c.Name == "not-rescaled" || c.Name == "not-normalized" {
			raw = append(raw, c)
		}
	}
	for _, l := range append(singles, raw) {
		found, err := try(l)
		if err != nil {
			return nil, err
		}
		if found {
			return l, nil
		}
	}
	for i, a := range effective {
		for _, b := range effective[i+1:] {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			l, ok := e.joined(a, b)
			if !ok {
				continue
			}
			if t, ok := e.run(l); ok && equal(t) {
				return l, nil
			}
		}
	}
	return nil, nil
}
