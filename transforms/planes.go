package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// wantPlanes rejects all but images and tensors without layout whose last two
// axes are height and width, of an admitted dtype: any of fixed size if dtypes
// is empty. There may be no planes.
func wantPlanes(d tensor.Desc, dtypes ...tensor.DType) error {
	if d.Layout != tensor.NoLayout {
		return wantImage(d, dtypes...)
	}
	if err := d.Validate(); err != nil {
		return inputErr("%v", err)
	}
	r := d.Shape.Rank()
	if r < 2 || d.DType.Size() == 0 {
		return inputErr("%v, want an image, or height and width on the last two axes", d)
	}
	ok := len(dtypes) == 0
	for _, t := range dtypes {
		ok = ok || t == d.DType
	}
	if !ok {
		return inputErr("%v, want dtype %v", d, errfmt.Strings(dtypes))
	}
	for i := r - 2; i < r; i++ {
		if n := d.Shape.At(i); n == 0 || n > maxSide {
			return inputErr("%v, want sides of 1 to %d", d, maxSide)
		}
	}
	return nil
}

// sidesOf returns the height and width of what wantPlanes accepts.
func sidesOf(d tensor.Desc) (h, w int) {
	if d.Layout != tensor.NoLayout {
		return d.Height(), d.Width()
	}
	r := d.Shape.Rank()
	return d.Shape.At(r - 2), d.Shape.At(r - 1)
}

// withSides returns d with another height and width.
func withSides(d tensor.Desc, h, w int) tensor.Desc {
	if d.Layout != tensor.NoLayout {
		return d.WithSize(h, w)
	}
	r := d.Shape.Rank()
	d.Shape = d.Shape.With(r-2, h).With(r-1, w)
	return d
}

// asPlanes describes the dense t as an image: itself, or one of CHW with the
// product of the leading axes as channels.
func asPlanes(t *tensor.Tensor) (tensor.Tensor, error) {
	v := *t
	if t.Layout != tensor.NoLayout {
		return v, nil
	}
	h, w := sidesOf(t.Desc)
	n := int64(1)
	for i := range t.Shape.Rank() - 2 {
		n *= int64(t.Shape.At(i))
	}
	if n > math.MaxInt32 {
		return v, inputErr("%v has %d planes, want at most %d", t.Desc, n, math.MaxInt32)
	}
	return v, v.Reset(tensor.Image(t.DType, tensor.CHW, h, w, int(n)))
}

// inferSizedBy is Infer of an op whose output has the size in in[1].
func inferSizedBy(dst, in []tensor.Desc, dtypes ...tensor.DType) error {
	if err := wantPlanes(in[0], dtypes...); err != nil {
		return err
	}
	if err := wantSize(in[1], "size"); err != nil {
		return err
	}
	dst[0] = withSides(in[0], tensor.Unknown, tensor.Unknown)
	return nil
}

// sizedBy is InferData of such an op.
func sizedBy(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	h, w, err := sizeOf(c, src[1], "size")
	if err != nil {
		return err
	}
	dst[0] = withSides(src[0].Desc, h, w)
	return inferred(dst[0])
}

// cutWindow copies the window of dst's size at (top, left) of src. It must lie
// within src.
func cutWindow(c *Context, dst, src *tensor.Tensor, top, left int) error {
	s, err := c.Dense(src)
	if err != nil {
		return err
	}
	if dst.Len() == 0 {
		return nil
	}
	in, err := asPlanes(s)
	if err != nil {
		return err
	}
	out, err := asPlanes(dst)
	if err != nil {
		return err
	}
	i, o := shapeOf(in.Desc), shapeOf(out.Desc)
	size := i.ch * in.DType.Size()
	for p := range o.planes {
		kernel.CopyRows(kernel.Rows{Data: out.Data, At: p * o.h * o.w * size, Step: o.w * size},
			kernel.Rows{Data: in.Data, At: ((p*i.h+top)*i.w + left) * size, Step: i.w * size}, o.w*size, o.h)
	}
	return nil
}
