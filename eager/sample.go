package eager

import (
	"fmt"
	"maps"
	"slices"

	"github.com/infer-prep/infer-prep/datagraph"
	"github.com/infer-prep/infer-prep/rng"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// ApplySample is ApplyAt for an image with other columns. The ops run on the
// column "image", an encoded image (tensor.FromBytes) or a tensor. A column
// with a role (a mask, boxes, keypoints) moves with the image: a random crop
// draws once, and cuts the mask and moves the boxes as well. It returns all
// columns; those without a role are the sample's own tensors, the caller owns
// the others.
//
// An op that cannot move a column returns a transforms.ErrInput.
func ApplySample(at rng.Point, sample map[string]*tensor.Tensor, roles map[string]transforms.Role, ops ...transforms.Op) (map[string]*tensor.Tensor, error) {
	image := sample[datagraph.Image]
	if image == nil {
		return nil, fmt.Errorf("eager: apply: %w: the sample has no column %q", transforms.ErrInput, datagraph.Image)
	}
	g := datagraph.New()
	g.Inputs[0].Desc = image.Desc
	in := []*tensor.Tensor{image}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		t := sample[name]
		if t == nil {
			return nil, fmt.Errorf("eager: apply: %w: the sample has no column %q, which has a role", transforms.ErrInput, name)
		}
		g.Tie(datagraph.Column{Name: name, Desc: t.Desc}, roles[name])
		in = append(in, t)
	}
	for _, op := range ops {
		g.Add(op)
	}
	p, err := datagraph.Compile(g, datagraph.CompileOptions{})
	if err != nil {
		return nil, err
	}
	r := p.NewRunner()
	r.At = at
	l, err := r.Run(in...)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(sample)
	for i, name := range g.Outputs {
		if out[name] = l[i]; slices.Contains(in, l[i]) {
			out[name] = l[i].Clone()
		}
	}
	return out, nil
}
