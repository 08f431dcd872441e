package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// inferLayout accepts an image of one layout and describes it in another.
func inferLayout(dst, in []tensor.Desc, from, to tensor.Layout) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	if in[0].Layout != from {
		return inputErr("%v, want layout %v", in[0], from)
	}
	dst[0] = tensor.Image(in[0].DType, to, in[0].Height(), in[0].Width(), in[0].Channels())
	return nil
}

// applyLayout copies src to dst, which has the other layout. An integer of the
// same size stands for any element.
func applyLayout(c *Context, dst, src *tensor.Tensor) error {
	s, err := c.Dense(src)
	if err != nil {
		return err
	}
	switch s.DType.Size() {
	case 1:
		transpose(dst.Data, s.Data, s.Desc)
	case 2:
		transpose(tensor.Cast[uint16](dst.Data), tensor.Cast[uint16](s.Data), s.Desc)
	case 4:
		transpose(tensor.Cast[int32](dst.Data), tensor.Cast[int32](s.Data), s.Desc)
	case 8:
		transpose(tensor.Cast[int64](dst.Data), tensor.Cast[int64](s.Data), s.Desc)
	}
	return nil
}

func transpose[T kernel.Word](dst, src []T, d tensor.Desc) {
	pixels, channels := d.Height()*d.Width(), d.Channels()
	if d.Layout == tensor.CHW {
		kernel.Interleave(dst, src, pixels, channels)
	} else {
		kernel.Deinterleave(dst, pixels, src, channels)
	}
}
