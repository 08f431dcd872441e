package datagraph

import (
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
	"github.com/infer-prep/infer-prep/transforms"
)

// maxKnown is the largest number of elements of a tensor whose value Values
// computes: grids and sizes are smaller, and masks of pixels larger.
const maxKnown = 1024

// Values returns those outputs and side outputs, in the order of Sizes, whose
// elements follow from an image's height and width alone, as decoded: grids,
// sizes, numbers of tiles. Others are nil, also those of more than 1024
// elements. It reads no data. It is safe for concurrent use.
func (p *Plan) Values(height, width int) ([]*tensor.Tensor, error) {
	r, err := p.sized(height, width)
	if err != nil {
		return nil, err
	}
	defer r.plan.sizer.Store(r)
	known := make([]*tensor.Tensor, len(r.plan.values))
	for i := range r.plan.steps {
		if err := r.report(i, known); err != nil {
			return nil, r.plan.graph.stepErr(i, err)
		}
	}
	l := make([]*tensor.Tensor, len(r.plan.outputs))
	for i, v := range r.plan.outputs {
		l[i] = known[v]
	}
	return l, nil
}

// report computes the outputs of step i that follow from descriptions and from
// values that are known, and adds them to known.
func (r *Runner) report(i int, known []*tensor.Tensor) error {
	s := &r.plan.steps[i]
	small := func(v int) bool {
		n := 1
		for a := range r.known[v].Shape.Rank() {
			m := r.known[v].Shape.At(a)
			if n *= m; m < 0 || m > maxKnown || n > maxKnown {
				return false
			}
		}
		return r.known[v].DType != tensor.Bytes
	}
	dst := make([]*tensor.Tensor, len(s.out))
	all := true
	for j, v := range s.out {
		if !small(v) {
			all = false
			continue
		}
		dst[j] = &tensor.Tensor{}
		if err := dst[j].Reset(r.known[v]); err != nil {
			return err
		}
	}
	src, in := make([]*tensor.Tensor, len(s.in)), make([]tensor.Desc, len(s.in))
	values := len(s.in) > 0
	for j, v := range s.in {
		in[j], src[j] = r.known[v], known[v]
		values = values && src[j] != nil
	}
	first := 0 // of dst that is computed
	switch op := s.op.(type) {
	case transforms.DescOnly:
		if !all || in[0].IsImage() && in[0].Height() == tensor.Unknown {
			return nil
		}
		if err := op.Apply(r.steps[i].ctx, dst, []*tensor.Tensor{{Desc: in[0]}}); err != nil {
			return err
		}
	case transforms.Reported:
		first = op.Reported()
		if slices.Contains(dst[first:], nil) || in[0].IsImage() && in[0].Height() == tensor.Unknown {
			return nil
		}
		op.Report(dst, in)
	case transforms.Scaled:
		first = 1
		if len(dst) == 1 || !in[0].IsImage() || in[0].Height() == tensor.Unknown {
			return nil
		}
		if slices.Contains(dst[1:], nil) {
			return nil
		}
		if _, err := op.Scale(in[0].Height(), in[0].Width(), dst[1:]); err != nil {
			return err
		}
	default:
		if !values || !all {
			return nil
		}
		r.steps[i].ctx.Begin()
		if err := op.Apply(r.steps[i].ctx, dst, src); err != nil {
			return err
		}
	}
	for j := first; j < len(dst); j++ {
		known[s.out[j]] = dst[j]
	}
	return nil
}
