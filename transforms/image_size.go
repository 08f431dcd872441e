package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ImageSize returns the size of an image in pixels: height, then width. It
// takes an image of any dtype of fixed size, HWC or CHW, and does not read its
// values. The output is a tensor of shape (2).
//
// Reference: transformers 5.23.0, original_sizes and reshaped_input_sizes of
// SamImageProcessorPil, which are NumPy's int64.
type ImageSize struct {
	DType tensor.DType `json:"dtype"` // of the output: int32, int64 or float32, which hold every size; default int64
}

//msgp:tuple ImageSize

// NewImageSize returns the op with an int64 output.
func NewImageSize() *ImageSize { return &ImageSize{DType: tensor.Int64} }

// Info describes the op.
func (*ImageSize) Info() Info {
	return Info{
		Name: "image_size", Version: 1, New: func() Op { return NewImageSize() },
		Out:       []string{"size"},
		Reference: "transformers 5.23.0 SamImageProcessorPil", Exactness: "0",
	}
}

// Validate checks the dtype.
func (o *ImageSize) Validate() error {
	switch o.DType {
	case tensor.Int32, tensor.Int64, tensor.Float32:
		return nil
	}
	return paramErr("dtype is %v, want int32, int64 or float32", o.DType)
}

// Infer describes two numbers.
func (o *ImageSize) Infer(dst, in []tensor.Desc) error {
	if err := wantImage(in[0]); err != nil {
		return err
	}
	if in[0].Height() > maxSide || in[0].Width() > maxSide {
		return inputErr("%v, want sides of at most %d", in[0], maxSide)
	}
	dst[0] = tensor.Desc{DType: o.DType, Shape: tensor.Dims(2)}
	return nil
}

// Apply writes the size.
func (o *ImageSize) Apply(_ *Context, dst, src []*tensor.Tensor) error {
	size := dst[0].DType.Size()
	putNumber(dst[0].Data[:size], o.DType, float64(src[0].Height()))
	putNumber(dst[0].Data[size:2*size], o.DType, float64(src[0].Width()))
	return nil
}

// DescOnly marks the op as DescOnly.
func (o *ImageSize) DescOnly() {}
