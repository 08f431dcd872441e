package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// SmartRule is the arithmetic of SmartResize. Models with the same parameters
// differ in it.
type SmartRule uint8

// The rules. f is Factor.
const (
	// SmartQwen2VL is the rule that SmartResize's comment states.
	SmartQwen2VL SmartRule = iota
	// SmartPaddleOCRVL first enlarges sides below f to f: a height h below f
	// becomes f and the width w becomes round(w*f/h); then a width below f
	// becomes f and the height grows alike. SmartQwen2VL's rule follows.
	SmartPaddleOCRVL
	// SmartGLM4V first multiplies both sides by max(f/h, f/w) and truncates
	// them, if one is below f. In SmartQwen2VL's rule, which follows, every
	// area is multiplied by Frames.
	SmartGLM4V
	// SmartGLMImage bounds the sides, not the area. least and most are the
	// square roots of MinPixels and MaxPixels, rounded. The scale s is
	// least/min(h, w) if the shorter side is below least, else 1, but at most
	// most/max(h, w). The sides are max(f, round((h/2)*s/f)*f) and likewise for
	// w, where h/2 is truncated. If one is above most, both are divided by
	// max(h, w)/most and rounded down to multiples of f, at least f. An image
	// with a side below f, or with an aspect ratio above 4, is an ErrInput.
	SmartGLMImage
	// SmartNeoMME keeps any sides and requires f to be 1. The scale s is
	// sqrt(MinPixels/(h*w)), but at least 1, at most MaxEdge/max(h, w) if
	// MaxEdge is not 0, and at most sqrt(MaxPixels/(h*w)). The sides are
	// round(h*s) and round(w*s). If that breaks an upper bound, they are
	// rounded down; if it still breaks MaxPixels, the longer side is MaxPixels
	// divided by the other, rounded down. If an enlarged image is below
	// MinPixels, its sides are rounded up unless that breaks an upper bound.
	// Sides are at least 1. Any aspect ratio is valid.
	SmartNeoMME
	// SmartLFM2VL is SmartQwen2VL's rule with any aspect ratio, whose rounded
	// sides are at least f before their product is compared with the bounds.
	SmartLFM2VL
)

var smartRuleNames = []string{"qwen2_vl", "paddleocr_vl", "glm4v", "glm_image", "neomme", "lfm2_vl"}

func (r SmartRule) String() string { return enum.String("smart rule", smartRuleNames, r) }

// MarshalText returns the name.
func (r SmartRule) MarshalText() ([]byte, error) {
	return enum.Format("smart rule", smartRuleNames, r)
}

// UnmarshalText parses the name.
func (r *SmartRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "smart rule", smartRuleNames, t)
}

// SmartResize scales an image so that both sides are multiples of Factor, the
// area is within MinPixels and MaxPixels, and the aspect ratio changes little.
// It takes a uint8 or float32 image of any number of channels, HWC or CHW, and
// keeps dtype, layout and channels. An image whose longer side is more than 200
// times the shorter is an ErrInput.
//
// The sides are round(h/Factor) and round(w/Factor) times Factor, half to even.
// If their product is above MaxPixels, let b = sqrt(h*w/MaxPixels): each side
// is floor(side/b/Factor), at least 1, times Factor. If the product is below
// MinPixels, let b = sqrt(MinPixels/(h*w)): each side is ceil(side*b/Factor)
// times Factor. All arithmetic is float64. If no multiples of Factor meet the
// bounds, the area lies outside them.
//
// Rule changes this for other models. An image or a size whose area in all
// frames is above 2^53 is an ErrInput, because it is not exact in float64.
//
// Interpolation and Backend are those of Resize.
//
// Reference: smart_resize of transformers 5.23.0 (Qwen2-VL, PaddleOCR-VL,
// GLM-4V, GLM-Image, LFM2-VL), with Image.resize of Pillow 13.0.0.
type SmartResize struct {
	Factor        int           `json:"factor"`        // in pixels, 1 to 2^24; Qwen2-VL: patch size times merge size, 28
	MinPixels     int64         `json:"min_pixels"`    // smallest area of the output, 1 to 2^48; Qwen2-VL: 3136
	MaxPixels     int64         `json:"max_pixels"`    // largest area of the output, 1 to 2^48; Qwen2-VL: 1003520
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bicubic
	Backend       Backend       `json:"backend"`       // see Resize; default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
	Rule          SmartRule     `json:"rule"`          // default qwen2_vl
	Frames        int           `json:"frames"`        // frames of a video that share the area, 1 to 32; 1 except for rule glm4v; default 1
	MaxEdge       int           `json:"max_edge"`      // for rule neomme: largest length of the longer edge, 0 to 2^24; 0 means no limit; default 0
}

//msgp:tuple SmartResize

// NewSmartResize returns the op: bicubic, Pillow, antialiased.
func NewSmartResize(factor int, minPixels, maxPixels int64) *SmartResize {
	return &SmartResize{Factor: factor, MinPixels: minPixels, MaxPixels: maxPixels, Interpolation: Bicubic, Backend: Pillow, Frames: 1}
}

// maxPixels is the largest area of an image.
const maxPixels = maxSide * maxSide

// These are smart_resize's limits of the longer side divided by the shorter.
const (
	maxSmartAspect    = 200
	maxGLMImageAspect = 4
)

// maxFrames keeps the products of frames and sides below 2^53.
const maxFrames = 32

// Info describes the op.
func (*SmartResize) Info() Info {
	return Info{
		Name: "smart_resize", Version: 1, New: func() Op { return NewSmartResize(28, 56*56, 28*28*1280) },
		Reference: "transformers 5.23.0 smart_resize with Pillow 13.0.0; backends as resize", Exactness: "0",
	}
}

// Validate checks the factor, the areas, the rule and the frames, and that the
// backend supports the interpolation.
func (o *SmartResize) Validate() error {
	if err := checkSide("factor", o.Factor); err != nil {
		return err
	}
	if o.MinPixels < 1 || o.MinPixels > maxPixels {
		return paramErr("min_pixels is %d, want 1 to 2^48", o.MinPixels)
	}
	if o.MaxPixels < 1 || o.MaxPixels > maxPixels {
		return paramErr("max_pixels is %d, want 1 to 2^48", o.MaxPixels)
	}
	if err := checkEnum("rule", o.Rule, smartRuleNames); err != nil {
		return err
	}
	if most := o.mostFrames(); o.Frames < 1 || o.Frames > most {
		return paramErr("frames is %d with rule %v, want 1 to %d", o.Frames, o.Rule, most)
	}
	if neo := o.Rule == SmartNeoMME; o.MaxEdge < 0 || o.MaxEdge > maxSide || !neo && o.MaxEdge != 0 {
		return paramErr("max_edge is %d with rule %v, want 0, or for rule neomme 0 to %d", o.MaxEdge, o.Rule, maxSide)
	} else if neo && o.Factor != 1 {
		return paramErr("factor is %d with rule neomme, want 1", o.Factor)
	}
	return o.sampling().validate()
}

func (o *SmartResize) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}
}

// sized returns the new size of an image of h x w. Unknown sides stay unknown.
func (o *SmartResize) sized(h, w int) (int, int, error) {
	if h == tensor.Unknown || w == tensor.Unknown {
		return tensor.Unknown, tensor.Unknown, nil
	}
	fh, fw, f := float64(h), float64(w), float64(o.Factor)
	aspect := float64(maxSmartAspect)
	switch o.Rule {
	case SmartPaddleOCRVL:
		if fh < f {
			fh, fw = f, math.RoundToEven(float64(fw*f)/fh)
		}
		if fw < f {
			fh, fw = math.RoundToEven(float64(fh*f)/fw), f
		}
	case SmartGLM4V:
		if fh < f || fw < f {
			s := max(f/fh, f/fw)
			fh, fw = math.Trunc(float64(fh*s)), math.Trunc(float64(fw*s))
		}
	case SmartGLMImage:
		if fh < f || fw < f {
			return 0, 0, inputErr("an image of %d x %d (height x width), want sides of at least %d", h, w, o.Factor)
		}
		aspect = maxGLMImageAspect
	case SmartNeoMME:
		nh, nw := o.budgeted(fh, fw)
		return sides(h, w, nh, nw)
	case SmartLFM2VL:
		aspect = math.Inf(1)
	}
	if a := max(fh, fw) / min(fh, fw); !(a <= aspect) {
		return 0, 0, inputErr("an image of %d x %d (height x width) has an aspect ratio of %.1f, want at most %.0f", h, w, a, aspect)
	}
	if o.Rule == SmartGLMImage {
		nh, nw := o.bounded(fh, fw, f)
		return sides(h, w, nh, nw)
	}
	frames, least, most := float64(o.Frames), float64(o.MinPixels), float64(o.MaxPixels)
	area := float64(float64(fh*fw) * frames)
	nh, nw := float64(math.RoundToEven(fh/f)*f), float64(math.RoundToEven(fw/f)*f)
	got := float64(float64(nh*nw) * frames)
	if o.Rule == SmartLFM2VL {
		nh, nw = max(f, nh), max(f, nw)
		got = float64(nh * nw)
	}
	if max(area, got) > 1<<53 {
		return 0, 0, inputErr("an image of %d x %d (height x width) has an area of %.0f pixels in %d frames, want at most 2^53", h, w, max(area, got), o.Frames)
	}
	switch {
	case got > most:
		b := math.Sqrt(area / most)
		nh, nw = max(f, float64(math.Floor(fh/b/f)*f)), max(f, float64(math.Floor(fw/b/f)*f))
	case got < least:
		b := math.Sqrt(least / area)
		nh, nw = float64(math.Ceil(float64(fh*b)/f)*f), float64(math.Ceil(float64(fw*b)/f)*f)
	}
	return sides(h, w, nh, nw)
}

// mostFrames returns the largest number of frames that the rule takes.
func (o *SmartResize) mostFrames() int {
	if o.Rule == SmartGLM4V {
		return maxFrames
	}
	return 1
}

// bounded returns the size by SmartGLMImage for an image of h x w and the
// factor f.
func (o *SmartResize) bounded(h, w, f float64) (nh, nw float64) {
	least, most := math.RoundToEven(math.Sqrt(float64(o.MinPixels))), math.RoundToEven(math.Sqrt(float64(o.MaxPixels)))
	s, long := 1.0, max(h, w)
	if short := min(h, w); short < least {
		s = least / short
	}
	if float64(long*s) > most {
		s = most / long
	}
	half := func(n float64) float64 {
		return max(f, float64(math.RoundToEven(float64(math.Trunc(n/2)*s)/f)*f))
	}
	nh, nw = half(h), half(w)
	if n := max(nh, nw); n > most {
		b := n / most
		nh, nw = max(f, float64(math.Floor(nh/b/f)*f)), max(f, float64(math.Floor(nw/b/f)*f))
	}
	return nh, nw
}

// budgeted returns the size by SmartNeoMME for an image of h x w.
func (o *SmartResize) budgeted(h, w float64) (nh, nw float64) {
	area, least, most, edge := float64(h*w), float64(o.MinPixels), float64(o.MaxPixels), float64(o.MaxEdge)
	if edge == 0 {
		edge = math.Inf(1)
	}
	s := 1.0
	// The reference raises to the power of 0.5, whose last bit may differ from
	// the square root's. It changed none of 2,000,000 sizes.
	if area < least {
		s = math.Sqrt(least / area)
	}
	if s = min(s, edge/max(h, w), math.Sqrt(most/area)); s == 1 {
		return h, w
	}
	scaled := func(round func(float64) float64) (float64, float64) {
		return max(1, round(float64(h*s))), max(1, round(float64(w*s)))
	}
	exceeds := func(nh, nw float64) bool { return max(nh, nw) > edge || float64(nh*nw) > most }
	nh, nw = scaled(math.RoundToEven)
	switch {
	case exceeds(nh, nw):
		nh, nw = scaled(math.Floor)
		if float64(nh*nw) > most {
			if nh >= nw {
				nh = max(1, math.Floor(most/nw))
			} else {
				nw = max(1, math.Floor(most/nh))
			}
		}
	case area < least && float64(nh*nw) < least:
		if h, w := scaled(math.Ceil); !exceeds(h, w) {
			return h, w
		}
	}
	return nh, nw
}

// Infer sets the output size.
func (o *SmartResize) Infer(dst, in []tensor.Desc) error {
	return inferSized(dst, in, o.sampling(), o.sized)
}

// Apply scales.
func (o *SmartResize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return o.sampling().apply(c, dst[0], src[0])
}

// Sampling returns the op's parameters.
func (o *SmartResize) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, !o.NoAntialias
}

// Scale returns the size.
func (o *SmartResize) Scale(h, w int, _ []*tensor.Tensor) (Scale, error) {
	nh, nw, err := o.sized(h, w)
	return wholeImage(o.sampling(), h, w, nh, nw), err
}

// Move scales a column, a mask with nearest.
func (o *SmartResize) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return moveResize[SmartResize](d, o, r, sampling{o.Interpolation, o.Backend, true}, from, to)
}
