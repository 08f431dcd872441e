package transforms

import (
	"slices"

	"github.com/infer-prep/infer-prep/tensor"
)

// CropPadding cuts a padding off an image or a mask.
//
// Inputs: image, of any dtype of fixed size: an image, HWC or CHW, or a tensor
// without layout whose last two axes are height and width; pad, int32 or int64
// (4): the pixels to cut at the top, bottom, left and right, as Letterbox and
// LetterboxGeometry return them. A padding that leaves no pixel is an ErrInput
// of Apply. The output keeps dtype, layout and the other axes.
//
// Reference: scale_masks of ultralytics 8.4.190, before it scales.
type CropPadding struct{}

//msgp:tuple CropPadding

// NewCropPadding returns the op.
func NewCropPadding() *CropPadding { return &CropPadding{} }

// Info describes the op.
func (*CropPadding) Info() Info {
	return Info{
		Name: "crop_padding", Version: 1, New: func() Op { return NewCropPadding() },
		In: []string{"image", "pad"}, Out: []string{"image"},
		Reference: "ultralytics 8.4.190 scale_masks", Exactness: "0",
	}
}

// Validate returns nil: there are no parameters.
func (o *CropPadding) Validate() error { return nil }

// Infer leaves the size Unknown.
func (o *CropPadding) Infer(dst, in []tensor.Desc) error {
	if err := wantPlanes(in[0]); err != nil {
		return err
	}
	d := in[1]
	if err := d.Validate(); err != nil {
		return inputErr("pad: %v", err)
	}
	if d.DType != tensor.Int32 && d.DType != tensor.Int64 || d.Layout != tensor.NoLayout || d.Shape.Rank() != 1 ||
		d.Shape.At(0) != 4 && d.Shape.At(0) != tensor.Unknown {
		return inputErr("pad is %v, want top, bottom, left and right as int32 or int64 (4)", d)
	}
	dst[0] = withSides(in[0], tensor.Unknown, tensor.Unknown)
	return nil
}

// InferData reads the padding.
func (o *CropPadding) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	p, err := padOf(c, src[1])
	if err != nil {
		return err
	}
	h, w := sidesOf(src[0].Desc)
	if p[0]+p[1] >= int64(h) || p[2]+p[3] >= int64(w) {
		return inputErr("pad is %v (top, bottom, left, right), want less than the image, %d x %d (height x width)", slices.Clone(p[:]), h, w)
	}
	dst[0] = withSides(src[0].Desc, h-int(p[0]+p[1]), w-int(p[2]+p[3]))
	return nil
}

// Apply copies the rest.
func (o *CropPadding) Apply(c *Context, dst, src []*tensor.Tensor) error {
	p, err := padOf(c, src[1])
	if err != nil {
		return err
	}
	return cutWindow(c, dst[0], src[0], int(p[0]), int(p[2]))
}

// padOf reads the four sides of a padding.
func padOf(c *Context, t *tensor.Tensor) (p [4]int64, err error) {
	d, err := c.Dense(t)
	if err != nil {
		return p, err
	}
	if d.Shape.At(0) != len(p) {
		return p, inputErr("pad is %v, want 4 values", d.Desc)
	}
	loadInts(p[:], d, 0)
	for i, n := range p {
		if n < 0 || n > maxSide {
			return p, inputErr("pad[%d] is %d, want 0 to %d", i, n, maxSide)
		}
	}
	return p, nil
}
