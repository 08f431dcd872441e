package transforms

import (
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AdjustSharpness mixes an image with a smoothed copy. A factor f of 0 returns
// the copy, 1 the image, and more than 1 a sharper image. It takes a uint8
// image of one or three channels, HWC or CHW, with torch also a float32 image
// of 0 to 1, and keeps the description.
//
// The smoothed value s is the sum of the nine values around a pixel, that of
// the pixel itself five times, divided by 13 and rounded. The pixels of the
// border are not smoothed: their s is v. fma rounds a*b+c once; all other
// operations are float32 with each one rounded. The result is clipped.
//
//   - Pillow: s + f*(v - s), truncated;
//   - Torch: fma(s-v, 1-f, v), truncated;
//   - OpenCV: fma(v, f, s*(1-f)), rounded half to even.
//
// For float32, the products of s with float32's 1/13 and 5/13 are added row by
// row, each by fma. torch rounds the products too if the image has one channel
// and at most 20480 pixels. Nothing else is rounded, and the result is clipped
// to 0..1.
//
// Reference: Pillow 13.0.0, ImageEnhance.Sharpness, as torchvision's
// adjust_sharpness of a Pillow image; torchvision 0.29.2, v2's
// adjust_sharpness of a tensor (x86-64 with AVX2); MindSpore 2.10.0,
// vision.AdjustSharpness of an array, which calls OpenCV's filter2D and
// addWeighted.
type AdjustSharpness struct {
	Factor  float64 `json:"factor"`  // 0 to 1e6; 1 keeps the image; default 1
	Backend Backend `json:"backend"` // pillow, opencv or torch; default pillow
}

//msgp:tuple AdjustSharpness
//sheet:adjust_sharpness {"factor": 8}

// NewAdjustSharpness returns the op with Pillow's arithmetic.
func NewAdjustSharpness(factor float64) *AdjustSharpness {
	return &AdjustSharpness{Factor: factor, Backend: Pillow}
}

// Info describes the op.
func (*AdjustSharpness) Info() Info {
	return Info{
		Name: "adjust_sharpness", Version: 1, New: func() Op { return NewAdjustSharpness(1) },
		Reference: "Pillow 13.0.0 ImageEnhance.Sharpness; torchvision 0.29.2 v2 adjust_sharpness (x86-64 with AVX2); MindSpore 2.10.0 vision.AdjustSharpness", Exactness: "0",
	}
}

// Validate checks the factor and the backend.
func (o *AdjustSharpness) Validate() error {
	if err := checkBounds("factor", o.Factor, 0, maxFactor); err != nil {
		return err
	}
	return checkLibrary(o.Backend)
}

// Infer keeps the description.
func (o *AdjustSharpness) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantToned(in[0], o.Backend)
}

// Apply mixes each value with the smoothed one.
func (o *AdjustSharpness) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	if s.DType == tensor.Float32 {
		o.applyFloats(c, dst[0], s)
		return nil
	}
	m := mixOf(o.Backend, o.Factor)
	switch o.Backend {
	case OpenCV:
		m.Rule = kernel.MixMindSpore // which passes its images to OpenCV in this order
	case Torch:
		m.Rule = kernel.MixDifference
	}
	g := gridOf(s.Desc)
	px := g.pixel
	smooth := c.Scratch(g.width * px)
	for p := range g.planes {
		for y := range g.height {
			out, row := g.row(dst[0].Data, p, y), g.row(s.Data, p, y)
			copy(smooth, row)
			if y > 0 && y < g.height-1 && g.width > 2 {
				kernel.Smooth13(smooth[px:len(row)-px], g.row(s.Data, p, y-1), row, g.row(s.Data, p, y+1), px)
			}
			m.Row(out, row, smooth)
		}
	}
	return nil
}

// smoothTaps is the kernel of float32 images.
var smoothTaps = [9]float32{1. / 13, 1. / 13, 1. / 13, 1. / 13, 5. / 13, 1. / 13, 1. / 13, 1. / 13, 1. / 13}

func (o *AdjustSharpness) applyFloats(c *Context, dst, src *tensor.Tensor) {
	in, out := tensor.View[float32](src), tensor.View[float32](dst)
	g := gridOf(src.Desc)
	px := g.pixel / 4
	line := g.width * px
	// As in GaussianBlur; the kernel has three rows.
	fused := src.Channels() > 1 || g.height*g.width > 20480
	small := g.height < 3 || g.width < 3
	rest := float64(float32(1 - o.Factor))
	n := line - 2*px
	var sums []float32
	if !small {
		sums = tensor.Cast[float32](c.Scratch(4 * n))
	}
	var at [3]int64
	for p := range g.planes {
		for y := range g.height {
			row, to := in[(p*g.height+y)*line:][:line], out[(p*g.height+y)*line:][:line]
			copy(to, row)
			if small {
				continue
			}
			if y > 0 && y < g.height-1 {
				for j := range at {
					at[j] = int64((p*g.height + y - 1 + j) * line)
				}
				kernel.TorchBlurRow(sums, in, at[:], smoothTaps[:], 3, px, fused)
				for i, s := range sums {
					v := row[px+i]
					to[px+i] = exactmath.Add32(float64(float64(s-v)*rest), v)
				}
			}
			for i, v := range to {
				to[i] = clampUnit(v)
			}
		}
	}
}
