package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// BlobCrop scales an image until it covers Height x Width, and cuts out the
// centre. It takes a uint8 or float32 image of any number of channels, HWC or
// CHW, and keeps dtype, layout and channels. An image of the output size is
// copied.
//
// With f = max(Width/w, Height/h) in float32, the scaled sides are w*f and h*f,
// rounded half to even. Pixels are sampled 1/f apart. This differs slightly
// from the quotient of the sides, so Resize followed by CenterCrop returns
// other bytes. The filter is OpenCV's bilinear. An odd pixel is cut off at the
// bottom and at the right.
//
// Reference: OpenCV 5.0.0.93, dnn.blobFromImage with crop=True, without IPP.
type BlobCrop struct {
	Height int `json:"height"` // output height in pixels, 1 to 2^24
	Width  int `json:"width"`  // output width in pixels, 1 to 2^24
}

//msgp:tuple BlobCrop

// NewBlobCrop returns the op for an output of height x width.
func NewBlobCrop(height, width int) *BlobCrop { return &BlobCrop{height, width} }

// Info describes the op.
func (*BlobCrop) Info() Info {
	return Info{
		Name: "blob_crop", Version: 1, New: func() Op { return NewBlobCrop(224, 224) },
		Reference: "OpenCV 5.0.0.93 dnn.blobFromImage(crop=True) without IPP", Exactness: "0",
	}
}

// Validate checks the size.
func (o *BlobCrop) Validate() error { return checkSides(o.Height, o.Width) }

// covering returns the scale and the scaled size of the image.
func (o *BlobCrop) covering(h, w int) (f float64, nh, nw int, err error) {
	f = float64(max(float32(o.Width)/float32(w), float32(o.Height)/float32(h)))
	sh, sw := math.RoundToEven(float64(float64(h)*f)), math.RoundToEven(float64(float64(w)*f))
	if !(sh >= float64(o.Height) && sw >= float64(o.Width) && sh <= maxSide && sw <= maxSide) {
		return 0, 0, 0, inputErr("an image of %d x %d (height x width) would become %.0f x %.0f to cover %d x %d, want sides of at most %d", h, w, sh, sw, o.Height, o.Width, maxSide)
	}
	return f, int(sh), int(sw), nil
}

// Infer sets the output size.
func (o *BlobCrop) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantSampled(d); err != nil {
		return err
	}
	if d.Height() != tensor.Unknown && d.Width() != tensor.Unknown {
		if _, _, _, err := o.covering(d.Height(), d.Width()); err != nil {
			return err
		}
	}
	dst[0] = d.WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// blobCropState is a resampler with the tables for one scale.
type blobCropState struct {
	resampler
	f float64
}

// Apply scales and cuts.
func (o *BlobCrop) Apply(c *Context, dst, src []*tensor.Tensor) error {
	st, ok := c.State.(*blobCropState)
	if !ok {
		st = &blobCropState{}
		c.State = st
	}
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	h, w := s.Height(), s.Width()
	if h == o.Height && w == o.Width {
		copy(dst[0].Data, s.Data)
		return nil
	}
	f, nh, nw, err := o.covering(h, w)
	if err != nil {
		return err
	}
	how := sampling{Bilinear, OpenCV, true}
	if need := how.memory(s.Desc, s.Desc.WithSize(nh, nw)); c.Limits.Bytes > 0 && need > c.Limits.Bytes {
		return limitErr("%v resized to %d x %d (height x width) needs %d bytes between the passes, want at most %d", s.Desc, nh, nw, need, c.Limits.Bytes)
	}
	sh, sw := nh, nw
	if f == 0.5 { // the last row or column may cover half an input pixel; the crop drops it
		sh, sw = min(nh, h/2), min(nw, w/2)
	}
	scaled, err := c.Temp(s.Desc.WithSize(sh, sw))
	if err != nil {
		return err
	}
	if st.f != f {
		st.f, st.x.in, st.y.in = f, 0, 0
	}
	switch {
	case f == 1: // one side has the output size, so both do
		copy(scaled.Data, s.Data)
	case f == 0.5: // blocks of 2 x 2 pixels are averaged, as in cv2.resize
		st.areaFast(s, scaled, shapeOf(s.Desc), shapeOf(scaled.Desc), 2, 2)
	default:
		if st.x.fresh(how, s.DType, w, nw) {
			st.x.cv.ResizeBy(w, nw, f, kernel.CVLinear, false)
		}
		if st.y.fresh(how, s.DType, h, nh) {
			st.y.cv.ResizeBy(h, nh, f, kernel.CVLinear, true)
		}
		st.cvPasses(c, s, scaled, kernel.CVLinear)
	}
	// The excess is split with more at the bottom right: int(0.5 * (size -
	// window)).
	return padTo(c, dst[0], scaled, -((nh - o.Height) / 2), -((nw - o.Width) / 2), PadConstant, zeroFill)
}
