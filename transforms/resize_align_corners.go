package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ResizeAlignCorners scales an image so that the centres of its corner pixels
// stay at the corners: output i of n samples the input of m pixels at
// i*(m-1)/(n-1). It does not antialias. It takes a uint8 or float32 image of
// any number of channels, HWC or CHW, and keeps dtype, layout and channels.
//
// The size is that of Resize with fit multiple: Height x Width with the sides
// rounded to multiples of Multiple. Multiple 1 outputs Height x Width.
//
// The arithmetic is that of Resize with backend torch_uint8, and so are the
// CPUs on which torch computes the same.
//
// Reference: torch 2.15.0's interpolate with align_corners=True; for the sizes
// ZoeDepthImageProcessor.resize of transformers 5.23.0 (half_even, fraction).
type ResizeAlignCorners struct {
	Height        int           `json:"height"`        // 1 to 2^24
	Width         int           `json:"width"`         // 1 to 2^24
	Multiple      int           `json:"multiple"`      // 1 to 2^24; default 1
	KeepAspect    bool          `json:"keep_aspect"`   // scale both sides by one factor; default false
	SizeRule      SizeRule      `json:"size_rule"`     // truncate, half_even, half_up or fraction; default half_even
	Interpolation Interpolation `json:"interpolation"` // bilinear or bicubic; default bilinear
}

//msgp:tuple ResizeAlignCorners

// NewResizeAlignCorners returns the bilinear op that scales to height x width.
func NewResizeAlignCorners(height, width int) *ResizeAlignCorners {
	return &ResizeAlignCorners{Height: height, Width: width, Multiple: 1, SizeRule: SizeHalfEven, Interpolation: Bilinear}
}

// resize returns the Resize whose size the op has.
func (o *ResizeAlignCorners) resize() Resize {
	return Resize{
		Fit: FitMultiple, Height: o.Height, Width: o.Width, Multiple: o.Multiple, KeepAspect: o.KeepAspect, SizeRule: o.SizeRule,
		Interpolation: o.Interpolation, Backend: TorchUint8, NoAntialias: true,
	}
}

// Info describes the op.
func (*ResizeAlignCorners) Info() Info {
	return Info{
		Name: "resize_align_corners", Version: 1, New: func() Op { return NewResizeAlignCorners(384, 512) },
		Reference: "torch 2.15.0 interpolate(align_corners=True)", Exactness: "0 (on CPUs with fused multiply-add, with more than one thread)",
	}
}

// Validate checks the sizes, the size rule and the interpolation.
func (o *ResizeAlignCorners) Validate() error {
	r := o.resize()
	if err := r.Validate(); err != nil {
		return err
	}
	if o.Interpolation != Bilinear && o.Interpolation != Bicubic {
		return paramErr("interpolation is %v, want bilinear or bicubic", o.Interpolation)
	}
	return nil
}

// Infer sets the output size.
func (o *ResizeAlignCorners) Infer(dst, in []tensor.Desc) error {
	r := o.resize()
	return inferSized(dst, in, sampling{}, r.sized)
}

// Apply scales.
func (o *ResizeAlignCorners) Apply(c *Context, dst, src []*tensor.Tensor) error {
	r := resamplerOf(c)
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	how := sampling{interp: o.Interpolation, backend: TorchUint8}
	switch {
	case s.Height() == dst[0].Height() && s.Width() == dst[0].Width():
		copy(dst[0].Data, s.Data)
		return nil
	case s.DType == tensor.Uint8:
		r.torchUint8(c, how, true, dst[0], s)
		return nil
	}
	r.torchPlain(how, true, shapeOf(s.Desc), shapeOf(dst[0].Desc), tensor.View[float32](dst[0]), tensor.View[float32](s))
	return nil
}

// Move scales a column, a mask with the nearest of backend torch_uint8, whose
// corners are not aligned.
func (o *ResizeAlignCorners) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return moveResize[ResizeAlignCorners](d, o, r, sampling{o.Interpolation, TorchUint8, true}, from, to)
}
