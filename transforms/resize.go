package transforms

import (
	"github.com/infer-prep/infer-prep/internal/errfmt"
	"github.com/infer-prep/infer-prep/tensor"
)

// Resize scales an image to another size. It takes a uint8 or float32 image of
// any number of channels, HWC or CHW, and keeps dtype, layout and channels.
// Sides are 1 to 2^24 pixels. Parameters that the fit does not use must be 0.
// An image that already has the size is copied. If the first pass needs more
// memory than the Context's Limits.Bytes, the error wraps ErrInput and
// codec.ErrLimit.
//
// Fit and SizeRule define the size. Interpolation and Backend define the
// arithmetic:
//
//	              pillow   opencv   torch, torch_uint8
//	nearest       yes      yes      yes
//	nearest_exact nearest  yes      yes
//	box           yes      -        -
//	bilinear      yes      yes      yes
//	hamming       yes      -        -
//	bicubic       yes      yes      yes
//	lanczos       yes      yes (8)  yes (6 taps, antialiased only)
//	area          -        yes      torch (adaptive average)
//	pilcubic      yes      -        -
//
// Pillow's filters, except nearest, always antialias. Its box is called area
// elsewhere. Its nearest samples pixel centres, so torchvision uses it for
// nearest_exact too. uint8 uses Pillow's 8-bit fixed point, with each pass
// rounded and clamped to 8 bits. float32 uses mode F, one channel at a time.
// Two and four uint8 channels are LA and RGBA, in either layout, and their last
// channel is alpha. As in Image.resize, every filter except nearest mixes
// colours that are multiplied by alpha, and divides the alpha out afterwards.
//
// Pillow 13 scales the height first if the height shrinks by more than twice
// the factor of the width, else the width first. Earlier versions always scale
// the width first, so some of their bytes differ by 1, rarely by more. pilcubic
// is the bicubic filter with the width first, as in MindSpore 2.10.0.
//
// OpenCV antialiases only with area; NoAntialias has no effect. Bilinear at a
// ratio of two to one is area, as in cv2.resize. Area shrinks HWC images of
// more than 4 channels only if both sides are whole multiples of the result's;
// a compiled graph must know them.
//
// Backends pillow, opencv and torch take uint16 images, too. Pillow is mode
// I;16, one channel at a time, with each pass rounded to 16 bits. Torch
// supports nearest, nearest_exact and bilinear, whose results torchvision
// truncates; the results of its other filters may exceed uint16.
//
// MXNet is OpenCV 3.4.2, which MXNet 1.9.1's wheel contains. It adds the rows
// of uint8 bicubic in another order. It supports only bicubic; use opencv for
// the other interpolations.
//
// OpenCVIPP is cv2.resize as the wheel from PyPI computes it on x86-64, where
// Intel's IPP takes bicubic over; use opencv for the other interpolations,
// which are equal with and without IPP. It supports uint8 only. The weights are
// float32, and so is the result of the first pass. At the borders the products
// are added in another order. The bytes are those of a CPU with AVX2 and
// without AVX-512 (or of OPENCV_IPP=avx2). One case is left: in the columns at
// the left and right edge whose filter exceeds the image, some rows add the
// first two products in the other order. It changed 1 of 138 million values of
// images, by 1. With AVX-512 or without AVX2 about 4 values in a million differ
// by 1. Images of 2 or more than 4 channels and
// those with a side below 4 pixels are computed as by opencv, as in cv2.resize.
// The planes of a CHW image are images of one channel.
//
// Torch and torch_uint8 antialias bilinear, bicubic and lanczos unless
// NoAntialias is set.
//
// TorchUint8 is what torchvision does with a uint8 tensor, and so the default
// of transformers 5's image processors: integer weights of at most 15 bits, the
// width first, the result of the first pass rounded to 8 bits. The bytes are
// those of x86-64 with AVX2 or AVX-512, with any number of threads. torch
// 2.15.0 raises an error for 3 channels to 1 x 1 pixel; here the same rule
// applies. With more than 4 channels a result of one column repeats its first
// row when the height changes, as a contiguous CHW tensor's does. float32 is
// computed as with torch.
//
// TorchUint8NoAVX2 is the same on an x86-64 CPU without AVX2. It differs for
// bilinear, which torchvision then computes in float32: rounded products, added
// in the order of the taps, and rounded half to even after both passes. A
// result of one column repeats its first row with any number of channels.
// Bilinear without antialiasing is invalid, since torch's bytes depend on the
// number of threads. It is not fused with other ops.
//
// Torch is the float32 arithmetic, also of uint8: the result is rounded half to
// even and clamped, as if the tensor was converted to float32 and back. It
// matches torch on CPUs with fused multiply-add (AVX2 and AVX-512 agree) and
// with more than one thread. It is the same on every CPU here. With one thread,
// torch uses another kernel for bilinear of three channels without
// antialiasing. Two quirks of torch 2.15.0 are kept. An antialiased result of
// one column repeats its first row when the height changes. Bilinear and
// nearest_exact use another kernel if the output's height and width sum to at
// most 128.
//
// All bytes of integers and all bits of float32 are equal to the reference for
// 1 to 4, 8 and 13 channels, with two exceptions. One is opencv_ipp's, above.
// Torch's float32 area to 1 x 1 is a mean, which torch sums in an order that
// depends on its threads: it is within 1e-6 of the largest value.
//
// Reference: Image.resize of Pillow 13.0.0; cv2.resize of OpenCV 5.0.0.93
// without IPP (opencv_ipp: with IPP 2026.0.0); torch 2.15.0's interpolate
// (align_corners=False) as torchvision 0.29.2 calls it. All interpolations
// except nearest and area sample at (i+0.5)*scale-0.5.
type Resize struct {
	Fit           Fit           `json:"fit"`           // rule for the output size; default exact
	Height        int           `json:"height"`        // for exact, inside, multiple, cover, thumbnail, longest_min, height
	Width         int           `json:"width"`         // for exact, inside, multiple, cover, thumbnail, longest_min, height
	Edge          int           `json:"edge"`          // for shortest, longest, longest_min
	MaxEdge       int           `json:"max_edge"`      // for shortest and size_rules even and near: largest length of the longer edge; 0 means no limit. For height: largest width
	Multiple      int           `json:"multiple"`      // for fits multiple and aligned, and size_rules cap_unrounded_down, cap_unrounded_up, cap_half_up_down, truncate_up, scale_up, shrink_up and near
	KeepAspect    bool          `json:"keep_aspect"`   // for multiple: scale both sides by one factor
	SizeRule      SizeRule      `json:"size_rule"`     // for all except exact; default truncate
	Interpolation Interpolation `json:"interpolation"` // default bilinear
	Backend       Backend       `json:"backend"`       // default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
}

//msgp:tuple Resize
//sheet:resize {"height": 84, "width": 48}

// NewResize returns the op that scales to height x width: bilinear, Pillow,
// antialiased.
func NewResize(height, width int) *Resize {
	return &Resize{Fit: FitExact, Height: height, Width: width, Interpolation: Bilinear, Backend: Pillow}
}

// NewResizeShortest returns the op that scales the shorter edge to edge and
// keeps the aspect ratio: bilinear, Pillow, antialiased.
func NewResizeShortest(edge int) *Resize {
	return &Resize{Fit: FitShortest, Edge: edge, Interpolation: Bilinear, Backend: Pillow}
}

// sizes reports whether Fit uses Height and Width, and Edge.
func (o *Resize) sizes() (box, edge bool) {
	edge = o.Fit == FitShortest || o.Fit == FitLongest || o.Fit == FitLongestMin
	return !edge && o.Fit != FitAligned || o.Fit == FitLongestMin, edge
}

// clearUnused removes the default size where Fit does not use it.
func (o *Resize) clearUnused(given func(name string) bool) {
	if box, _ := o.sizes(); box {
		return
	}
	if !given("height") {
		o.Height = 0
	}
	if !given("width") {
		o.Width = 0
	}
}

// Info describes the op.
func (*Resize) Info() Info {
	return Info{
		Name: "resize", Version: 1, New: func() Op { return NewResize(224, 224) },
		Reference: resampleReference, Exactness: resampleExactness,
	}
}

// Validate checks that the sizes of the fit are 1 to 2^24, that the other sizes
// are 0, and that the backend supports the interpolation.
func (o *Resize) Validate() error {
	if err := checkEnum("fit", o.Fit, fitNames); err != nil {
		return err
	}
	if err := checkEnum("size_rule", o.SizeRule, sizeRuleNames); err != nil {
		return err
	}
	z := o.sizing()
	if z == nil {
		return paramErr("size_rule %v with fit %v, want %v", o.SizeRule, o.Fit, errfmt.Strings(o.Fit.rules()))
	}
	if z.check != nil {
		if err := z.check(o); err != nil {
			return err
		}
	}
	box, edge := o.sizes()
	for _, p := range []struct {
		name string
		n    int
		used bool
	}{
		{"height", o.Height, box},
		{"width", o.Width, box},
		{"edge", o.Edge, edge},
		{"multiple", o.Multiple, z.aligns},
	} {
		if p.used {
			if err := checkSide(p.name, p.n); err != nil {
				return err
			}
		} else if p.n != 0 {
			return paramErr("%s %d is not used with fit %v and size_rule %v, want 0", p.name, p.n, o.Fit, o.SizeRule)
		}
	}
	if o.KeepAspect && o.Fit != FitMultiple {
		return paramErr("keep_aspect is not used with fit %v, want false", o.Fit)
	}
	switch {
	case o.MaxEdge == 0 && z.edge != needsMaxEdge:
	case z.edge == noMaxEdge:
		return paramErr("max_edge %d is not used with fit %v and size_rule %v, want 0", o.MaxEdge, o.Fit, o.SizeRule)
	default:
		if err := checkSide("max_edge", o.MaxEdge); err != nil {
			return err
		}
		if z.edge == maxEdgeBeyond && o.MaxEdge <= o.Edge {
			return paramErr("max_edge %d, want more than edge, %d", o.MaxEdge, o.Edge)
		}
	}
	return o.sampling().validate()
}

func (o *Resize) sampling() sampling { return sampling{o.Interpolation, o.Backend, !o.NoAntialias} }

// Infer sets the output size.
func (o *Resize) Infer(dst, in []tensor.Desc) error {
	if err := o.sampling().wantDeep(in[0]); err != nil {
		return err
	}
	h, w, err := o.sized(in[0].Height(), in[0].Width())
	if err != nil {
		return err
	}
	dst[0] = in[0].WithSize(h, w)
	return o.sampling().wantArea(in[0], dst[0])
}

// Apply scales.
func (o *Resize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return o.sampling().applyDeep(c, dst[0], src[0])
}

// Sampling returns the op's parameters.
func (o *Resize) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, !o.NoAntialias
}

// Scale returns the size.
func (o *Resize) Scale(h, w int, _ []*tensor.Tensor) (Scale, error) {
	nh, nw, err := o.sized(h, w)
	return wholeImage(o.sampling(), h, w, nh, nw), err
}

// Move scales a column, a mask with nearest.
func (o *Resize) Move(d *Draw, r Role, from, to tensor.Desc) error {
	return moveResize[Resize](d, o, r, o.sampling(), from, to)
}
