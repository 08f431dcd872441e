package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Resize scales an image to another size. It takes uint8 and float32 images of
// any number of channels, HWC or CHW, and keeps dtype, layout and channels.
// Sides are in pixels, 1 to 2^24; parameters that the fit does not use must be
// 0. An image that has the size already is copied.
//
// Fit and SizeRule give the size; Interpolation and Backend the arithmetic:
//
//	              pillow   opencv   torch
//	nearest       yes      yes      yes
//	nearest_exact nearest  yes      yes
//	box           yes      -        -
//	bilinear      yes      yes      yes
//	hamming       yes      -        -
//	bicubic       yes      yes      yes
//	lanczos       yes      yes (8)  yes (6 taps, antialiased only)
//	area          -        yes      yes (adaptive average)
//	pilcubic      yes      -        -
//
// Pillow's filters (all but nearest) always antialias. Its box is what area is
// elsewhere, and its nearest samples pixel centres, which is why torchvision
// uses it for nearest_exact too. uint8 is Pillow's 8-bit fixed point, each pass
// rounded and clamped to 8 bits; float32 is its mode F, for every channel
// alone. Two and four uint8 channels are LA and RGBA, whose last channel is
// alpha, in either layout: as Image.resize does, all filters but nearest mix
// colours multiplied by alpha, which is then divided out.
//
// OpenCV never antialiases but in area; NoAntialias has no effect. Two to one
// bilinear is area, as in cv2.resize.
//
// MXNet is the OpenCV 3.4.2 in MXNet 1.9.1's wheel, which adds the rows of uint8 bicubic in another order. It has
// no other interpolation: they are opencv's.
//
// Torch antialiases bilinear, bicubic and lanczos unless NoAntialias is set;
// uint8 is its float32 arithmetic rounded half to even and clamped, not its
// native uint8 kernels, whose bytes depend on the CPU. The float32 arithmetic is
// that of CPUs with fused multiply-add (on x86 AVX2 and AVX-512 agree), which is
// computed here in the same bits everywhere, and of more than one thread: with
// one, torch takes another kernel for bilinear without antialiasing of three
// channels. Two quirks of torch 2.15.0 are kept: an antialiased result of one
// column repeats its first row when the height changes; bilinear and
// nearest_exact results whose height and width sum to at most 128 come from
// another kernel than larger ones.
//
// Differences measured: 0 in every byte of uint8 and every bit of float32, for
// up to 4 channels, except torch's float32 area to 1 x 1, a mean that torch sums
// in an order that depends on its threads: within 1e-6 of the largest value.
//
// Pillow 13 resizes the height first where it shrinks by more than twice the
// pixels that the width does, else the width first; versions before began with
// the width, so their bytes differ there by 1, seldom more. Pilcubic is the bicubic
// filter in that order, which MindSpore 2.10.0 keeps.
//
// An image whose first pass would take more than the Context's Limits.Bytes is
// ErrInput.
//
// Reference: Image.resize of Pillow 13.0.0; cv2.resize of OpenCV 5.0.0.93
// without IPP; torch 2.15.0's interpolate (align_corners=False) as torchvision
// 0.29.2 calls it. The pixel-centre rule of all but nearest and area is
// (i+0.5)*scale-0.5.
type Resize struct {
	Fit           Fit           `json:"fit"`           // how the size is found; usually exact or shortest
	Height        int           `json:"height"`        // for exact, inside, multiple, cover, thumbnail
	Width         int           `json:"width"`         // likewise
	Edge          int           `json:"edge"`          // for shortest, longest
	MaxEdge       int           `json:"max_edge"`      // for shortest: the most that the longer edge may have; 0 is no bound
	Multiple      int           `json:"multiple"`      // for fit multiple and size_rule yolos
	KeepAspect    bool          `json:"keep_aspect"`   // for multiple: scale both sides alike
	SizeRule      SizeRule      `json:"size_rule"`     // for all but exact; usually truncate
	Interpolation Interpolation `json:"interpolation"` // usually bilinear or bicubic
	Backend       Backend       `json:"backend"`       // usually pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; usually false
}

//msgp:tuple Resize

func init() {
	Register(Info{
		Name: "resize", Version: 1, New: func() Op { return NewResize(224, 224) },
		Reference: resampleReference, Exactness: resampleExactness,
	})
}

// NewResize makes the op that scales to height x width: bilinear, Pillow, antialiased.
func NewResize(height, width int) *Resize {
	return &Resize{Fit: FitExact, Height: height, Width: width, Interpolation: Bilinear, Backend: Pillow}
}

// NewResizeShortest makes the op that scales the shorter edge to edge and keeps
// the aspect: bilinear, Pillow, antialiased.
func NewResizeShortest(edge int) *Resize {
	return &Resize{Fit: FitShortest, Edge: edge, Interpolation: Bilinear, Backend: Pillow}
}

// Validate wants the sizes that the fit uses to be 1 to 2^24 and the backend to
// have the interpolation. Parameters that the fit does not use must be 0.
func (o *Resize) Validate() error {
	if err := checkEnum("fit", o.Fit, fitNames); err != nil {
		return err
	}
	if err := checkEnum("size_rule", o.SizeRule, sizeRuleNames); err != nil {
		return err
	}
	if (o.SizeRule == SizeDETR || o.SizeRule == SizeYOLOS) && o.Fit != FitShortest {
		return paramErr("size_rule %v with fit %v, want fit shortest", o.SizeRule, o.Fit)
	}
	if o.SizeRule == SizeTruncate32 && o.Fit != FitInside {
		return paramErr("size_rule truncate32 with fit %v, want fit inside", o.Fit)
	}
	if o.SizeRule != SizeTruncate && o.Fit == FitThumbnail {
		return paramErr("size_rule %v with fit thumbnail, want truncate", o.SizeRule)
	}
	box := o.Fit == FitExact || o.Fit == FitInside || o.Fit == FitMultiple || o.Fit == FitCover || o.Fit == FitThumbnail
	for _, p := range []struct {
		name string
		n    int
		used bool
	}{
		{"height", o.Height, box},
		{"width", o.Width, box},
		{"edge", o.Edge, !box},
		{"multiple", o.Multiple, o.Fit == FitMultiple || o.SizeRule == SizeYOLOS},
	} {
		if p.used {
			if err := checkSide(p.name, p.n); err != nil {
				return err
			}
		} else if p.n != 0 {
			return paramErr("%s %d has no meaning with fit %v and size_rule %v, want 0", p.name, p.n, o.Fit, o.SizeRule)
		}
	}
	if o.KeepAspect && o.Fit != FitMultiple {
		return paramErr("keep_aspect has no meaning with fit %v, want false", o.Fit)
	}
	if o.MaxEdge != 0 {
		if o.Fit != FitShortest {
			return paramErr("max_edge %d has no meaning with fit %v, want 0", o.MaxEdge, o.Fit)
		}
		if err := checkSide("max_edge", o.MaxEdge); err != nil {
			return err
		}
		if o.SizeRule == SizeTruncate && o.MaxEdge <= o.Edge {
			return paramErr("max_edge %d, want more than edge, %d", o.MaxEdge, o.Edge)
		}
	}
	return o.sampling().validate()
}

func (o *Resize) sampling() sampling { return sampling{o.Interpolation, o.Backend, !o.NoAntialias} }

// Infer gives the input's description with the new size.
func (o *Resize) Infer(dst, in []tensor.Desc) error {
	if err := wantSampled(in[0]); err != nil {
		return err
	}
	h, w, err := o.sized(in[0].Height(), in[0].Width())
	if err != nil {
		return err
	}
	dst[0] = in[0].WithSize(h, w)
	return nil
}

// Apply scales.
func (o *Resize) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return o.sampling().apply(c, dst[0], src[0])
}

// Sampling is the op's parameters.
func (o *Resize) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, !o.NoAntialias
}

// Scale gives the size.
func (o *Resize) Scale(h, w int, _ []*tensor.Tensor) (Scale, error) {
	nh, nw, err := o.sized(h, w)
	return wholly(o.sampling(), h, w, nh, nw), err
}
