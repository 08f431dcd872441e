package transforms

import "github.com/infer-prep/infer-prep/tensor"

// CropToSize cuts the top left part of an image, of the size in a column. It
// removes the padding at the bottom and right of a mask.
//
// Inputs: image, of any dtype of fixed size: an image, HWC or CHW, or a tensor
// without layout whose last two axes are height and width; size, int32 or int64
// (2): height and width, from 1 to those of the image. Another size is an
// ErrInput of Apply. The output keeps dtype, layout and the other axes.
//
// Reference: post_process_masks of SamImageProcessor, transformers 5.23.0.
type CropToSize struct{}

//msgp:tuple CropToSize

// NewCropToSize returns the op.
func NewCropToSize() *CropToSize { return &CropToSize{} }

// Info describes the op.
func (*CropToSize) Info() Info {
	return Info{
		Name: "crop_to_size", Version: 1, New: func() Op { return NewCropToSize() },
		In: []string{"image", "size"}, Out: []string{"image"},
		Reference: "transformers 5.23.0 SamImageProcessor.post_process_masks", Exactness: "0",
	}
}

// Validate returns nil: there are no parameters.
func (o *CropToSize) Validate() error { return nil }

// Infer leaves the size Unknown.
func (o *CropToSize) Infer(dst, in []tensor.Desc) error { return inferSizedBy(dst, in) }

// InferData reads the size.
func (o *CropToSize) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	if err := sizedBy(c, dst, src); err != nil {
		return err
	}
	h, w := sidesOf(src[0].Desc)
	if nh, nw := sidesOf(dst[0]); nh > h || nw > w {
		return inputErr("size is %d x %d (height x width), want at most that of the image, %d x %d", nh, nw, h, w)
	}
	return nil
}

// Apply copies the part.
func (o *CropToSize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return cutWindow(c, dst[0], src[0], 0, 0)
}
