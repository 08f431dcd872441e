package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ResizeTo scales an image, a mask or the logits of one to the size in a
// column: that of the original image, for example.
//
// Inputs: image, uint8 or float32: an image, HWC or CHW, or a tensor without
// layout whose last axes are channels, if it has three, height and width; size,
// int32 or int64 (2): height and width, 1 to 2^24. The output keeps dtype,
// layout and the other axes.
//
// Reference: as Resize. The defaults are those of torch 2.15.0's interpolate
// with align_corners=False, in post_process_masks,
// post_process_semantic_segmentation and (bicubic)
// post_process_depth_estimation of transformers 5.23.0, and in scale_masks of
// ultralytics 8.4.190.
type ResizeTo struct {
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bilinear
	Backend       Backend       `json:"backend"`       // see Resize; default torch
	NoAntialias   bool          `json:"no_antialias"`  // see Resize; default true
}

//msgp:tuple ResizeTo

// NewResizeTo returns the op that scales as torch's interpolate: bilinear,
// without antialiasing.
func NewResizeTo() *ResizeTo {
	return &ResizeTo{Interpolation: Bilinear, Backend: Torch, NoAntialias: true}
}

func (o *ResizeTo) sampling() sampling { return sampling{o.Interpolation, o.Backend, !o.NoAntialias} }

// Info describes the op.
func (*ResizeTo) Info() Info {
	return Info{
		Name: "resize_to", Version: 1, New: func() Op { return NewResizeTo() },
		In: []string{"image", "size"}, Out: []string{"image"},
		Reference: "transformers 5.23.0 post_process_masks, post_process_semantic_segmentation, post_process_depth_estimation; ultralytics 8.4.190 scale_masks",
		Exactness: "0 (other parameters: as resize)",
	}
}

// Validate checks that the backend supports the interpolation.
func (o *ResizeTo) Validate() error { return o.sampling().validate() }

// Infer leaves the size Unknown.
func (o *ResizeTo) Infer(dst, in []tensor.Desc) error {
	return inferSizedBy(dst, in, tensor.Uint8, tensor.Float32)
}

// InferData reads the size.
func (o *ResizeTo) InferData(c *Context, dst []tensor.Desc, src []*tensor.Tensor) error {
	return sizedBy(c, dst, src)
}

// Apply scales.
func (o *ResizeTo) Apply(c *Context, dst, src []*tensor.Tensor) error {
	if src[0].Layout != tensor.NoLayout {
		return o.sampling().apply(c, dst[0], src[0])
	}
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.Len() == 0 {
		return nil
	}
	r := resamplerOf(c)
	if r.from, err = asPlanes(s); err != nil {
		return err
	}
	if r.to, err = asPlanes(dst[0]); err != nil {
		return err
	}
	channels := 1
	if k := s.Shape.Rank() - 3; k >= 0 {
		channels = s.Shape.At(k)
	}
	in, out, images := r.from.Data, r.to.Data, r.from.Channels()/channels
	r.from.Desc, r.to.Desc = r.from.WithChannels(channels), r.to.WithChannels(channels)
	usedB, usedT := c.scratch.usedB, c.scratch.usedT
	for i := range images {
		r.from.Data = in[len(in)/images*i:][:len(in)/images]
		r.to.Data = out[len(out)/images*i:][:len(out)/images]
		// Each image uses the scratch memory of the one before.
		c.scratch.usedB, c.scratch.usedT = usedB, usedT
		if err := r.resample(c, o.sampling(), &r.to, &r.from); err != nil {
			return err
		}
	}
	return nil
}
