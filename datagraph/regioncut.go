//go:build !small

package datagraph

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// regionCut decodes a window of an image of any type: it is a RegionSource and
// the Framed op that follows it. It declines a window that is mirrored or not
// within the image.
type regionCut struct {
	source transforms.RegionSource
	cut    transforms.Framed
	out    []tensor.Desc
}

// regionCut returns an op that does steps i and i+1, or nil if they do not
// decode and cut an image.
func (p *Plan) regionCut(i int) transforms.Op {
	if i < 0 || !p.feeds(i) {
		return nil
	}
	source, ok := p.steps[i].op.(transforms.RegionSource)
	if !ok {
		return nil
	}
	cut, ok := p.steps[i+1].op.(transforms.Framed)
	if !ok || p.steps[i+1].along != nil {
		return nil
	}
	const large = 1 << 24
	if f := cut.Frame(large, large); f.FlipX || f.FlipY || f.Height == large && f.Width == large {
		return nil
	}
	return &regionCut{source: source, cut: cut, out: p.descs(p.steps[i+1].out)}
}

// Validate returns nil: the graph's ops were validated.
func (r *regionCut) Validate() error { return nil }

// Infer returns what is known at compile time. InferData adds the sizes.
func (r *regionCut) Infer(dst, _ []tensor.Desc) error {
	copy(dst, r.out)
	return nil
}

// cutState is what InferData leaves to Apply.
type cutState struct {
	context *transforms.Context // of source
	image   [1]tensor.Desc
	region  codec.Region
}

// InferData reads the image's size.
func (r *regionCut) InferData(c *transforms.Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	s, ok := c.State.(*cutState)
	if !ok {
		s = &cutState{context: c.Sibling()}
		c.State = s
	}
	if err := r.source.InferData(s.context, s.image[:], src); err != nil {
		return err
	}
	if err := r.cut.Infer(dst, s.image[:]); err != nil {
		return err
	}
	h, w := s.image[0].Height(), s.image[0].Width()
	f := r.cut.Frame(h, w)
	if f.FlipX || f.FlipY || f.Top < 0 || f.Left < 0 || f.Height > h-f.Top || f.Width > w-f.Left {
		return errDeclined
	}
	s.region = codec.Region{Left: f.Left, Top: f.Top, Width: f.Width, Height: f.Height}
	return nil
}

// Apply decodes the window.
func (r *regionCut) Apply(c *transforms.Context, dst, src []*tensor.Tensor) error {
	s := c.State.(*cutState)
	return r.source.ApplyRegion(s.context, dst[0].Data, s.region, src[0])
}

// Info has the names of the ops.
func (r *regionCut) Info() transforms.Info {
	return transforms.Info{Name: transforms.InfoOf(r.source).Name + "+" + transforms.InfoOf(r.cut).Name}
}

// decodes reports whether the size of op's output is that of an encoded image.
func decodes(op transforms.Op) bool {
	switch op.(type) {
	case transforms.RowSource, transforms.RegionSource:
		return true
	}
	return false
}
