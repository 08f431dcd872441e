package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// LetterboxGeometry computes how a letterbox placed an image, from the size of
// the letterboxed image and the size of the image. It is right for a letterbox
// in the centre without stretching, and for its masks at another resolution.
// After one with Auto the reference may take a side for a pixel shorter than it
// is, and so does the op. For other letterboxes use Letterbox's own outputs.
//
// Inputs: size and original_size, int32 or int64 (2): height and width, 1 to
// 2^24. With g = min(H/h, W/w) in float64, the scaled sides are round(h*g) and
// round(w*g), half to even, at least 1. Outputs: scale, float32 (2): the scaled
// height and width divided by h and w, which differ from Letterbox's output
// scale by this rounding; pad, int32 (4): top, bottom, left, right, where top
// is round((H - scaled)/2 - 0.1) and bottom the rest.
//
// Reference: scale_boxes, scale_coords and scale_masks of ultralytics 8.4.190
// without ratio_pad, as its predictors call them.
type LetterboxGeometry struct{}

//msgp:tuple LetterboxGeometry

// NewLetterboxGeometry returns the op.
func NewLetterboxGeometry() *LetterboxGeometry { return &LetterboxGeometry{} }

// Info describes the op.
func (*LetterboxGeometry) Info() Info {
	return Info{
		Name: "letterbox_geometry", Version: 1, New: func() Op { return NewLetterboxGeometry() },
		In: []string{"size", "original_size"}, Out: []string{"scale", "pad"},
		Reference: "ultralytics 8.4.190 scale_boxes, scale_masks", Exactness: "0",
	}
}

// Validate returns nil: there are no parameters.
func (o *LetterboxGeometry) Validate() error { return nil }

// Infer describes scale and pad.
func (o *LetterboxGeometry) Infer(dst, in []tensor.Desc) error {
	if err := wantSize(in[0], "size"); err != nil {
		return err
	}
	if err := wantSize(in[1], "original_size"); err != nil {
		return err
	}
	dst[0] = tensor.Desc{DType: tensor.Float32, Shape: tensor.Dims(2)}
	dst[1] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(4)}
	return nil
}

// Apply computes scale and pad.
func (o *LetterboxGeometry) Apply(c *Context, dst, src []*tensor.Tensor) error {
	bh, bw, err := sizeOf(c, src[0], "size")
	if err != nil {
		return err
	}
	h, w, err := sizeOf(c, src[1], "original_size")
	if err != nil {
		return err
	}
	scale, pad := tensor.View[float32](dst[0]), tensor.View[int32](dst[1])
	gain := min(float64(bh)/float64(h), float64(bw)/float64(w))
	for i, n := range [2][2]int{{bh, h}, {bw, w}} {
		side := max(math.RoundToEven(float64(float64(n[1])*gain)), 1)
		rest := float64(n[0]) - side
		first := math.RoundToEven(float64(rest/2) - 0.1)
		scale[i] = float32(side / float64(n[1]))
		pad[2*i], pad[2*i+1] = int32(first), int32(rest-first)
	}
	return nil
}
