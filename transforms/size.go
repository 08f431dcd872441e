package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Fit is the rule by which Resize computes the output size.
type Fit uint8

// The fits.
const (
	// FitExact outputs Height x Width and ignores the aspect ratio.
	FitExact Fit = iota
	// FitShortest scales the shorter edge to Edge. If MaxEdge is not 0, it
	// bounds the longer edge.
	FitShortest
	// FitLongest scales the longer edge to Edge.
	FitLongest
	// FitInside outputs the largest size within Height x Width that keeps the
	// aspect ratio.
	FitInside
	// FitMultiple outputs Height x Width with the sides rounded to multiples of
	// Multiple. With KeepAspect it scales both sides by the factor that is
	// nearer to 1.
	FitMultiple
	// FitCover outputs the smallest size that covers Height x Width and keeps
	// the aspect ratio. It is timm's ResizeKeepRatio for non-square targets.
	FitCover
	// FitThumbnail never enlarges. It keeps an image within Height x Width
	// unchanged. For a larger image it reduces the longer edge to its side of
	// Height x Width, and the shorter edge follows by the aspect ratio; the
	// shorter edge may still exceed its own side. A square image is reduced on
	// both sides. It is Donut's thumbnail, and requires size rule truncate or
	// truncate_gap.
	FitThumbnail
	// FitAligned keeps the image's size, but rounds the sides to multiples of
	// Multiple. With size rule truncate it is GLPN's.
	FitAligned
	// FitLongestMin scales the longer edge to Edge, as FitLongest does. The
	// sides are then at least Height and Width.
	FitLongestMin
	// FitHeight scales the height to Height. The width follows by the aspect
	// ratio: truncated if the image is at least as wide as Height x Width, else
	// rounded up. MaxEdge bounds the width. It is the line of text of PP-OCR,
	// and requires size rule truncate.
	FitHeight
)

var fitNames = []string{"exact", "shortest", "longest", "inside", "multiple", "cover", "thumbnail", "aligned", "longest_min", "height"}

func (f Fit) String() string { return enum.String("fit", fitNames, f) }

// MarshalText returns the name.
func (f Fit) MarshalText() ([]byte, error) { return enum.Format("fit", fitNames, f) }

// UnmarshalText parses the name.
func (f *Fit) UnmarshalText(t []byte) error {
	return enum.Parse(f, "fit", fitNames, t)
}

// SizeRule is the arithmetic that rounds a side when the aspect ratio is kept.
// Libraries with the same filter differ in it by a pixel.
type SizeRule uint8

// The rules. All but SizeTruncate32 compute in float64, in the order of their
// reference.
const (
	// SizeTruncate is int(edge * long / short): torchvision 0.29.2 and
	// get_resize_output_image_size of Hugging Face processors. For FitInside it
	// is int(side * scale).
	SizeTruncate SizeRule = iota
	// SizeHalfEven is Python's round(side / ratio): timm 1.0.31's
	// ResizeKeepRatio and DPT's multiples.
	SizeHalfEven
	// SizeHalfUp is SAM's int(side * scale + 0.5).
	SizeHalfUp
	// SizeDETR is DETR's rule: if MaxEdge applies, the shorter edge is rounded,
	// but the longer edge is truncated from the unrounded value. For
	// FitShortest only.
	SizeDETR
	// SizeYOLOS is YOLOS's rule: DETR's, then both sides are reduced to
	// multiples of Multiple. For FitShortest only.
	SizeYOLOS
	// SizeTruncate32 is int(side * scale) in float32: OpenCV 5.0.0's letterbox
	// in dnn.blobFromImageWithParams. For FitInside only.
	SizeTruncate32
	// SizeTruncateUp is SizeTruncate, then both sides grow to multiples of
	// Multiple: TextNet. For FitShortest and FitInside only.
	SizeTruncateUp
	// SizeDETRUp is SizeDETR, then both sides grow to multiples of Multiple:
	// MaskFormer. For FitShortest only.
	SizeDETRUp
	// SizeScaleUp is Python's round(side * scale), then both sides grow to
	// multiples of Multiple: PP-LCNet. For FitShortest without MaxEdge only.
	SizeScaleUp
	// SizeViLT is int(side * scale + 0.5). If MaxEdge applies, both sides are
	// multiplied by a second scale first. Then the sides are reduced to
	// multiples of Multiple. For FitShortest with MaxEdge only.
	SizeViLT
	// SizeScale is Python's round(side * scale): Janus. For FitLongest and
	// FitLongestMin only.
	SizeScale
	// SizeAspect is int(edge * aspect), with the aspect ratio short / long
	// rounded to float64 first: TVP. For FitLongest only.
	SizeAspect
	// SizeFraction rounds the sides half to even to multiples of 1/Multiple
	// and then truncates them: ZoeDepth's default. For FitMultiple only.
	SizeFraction
	// SizeEven is Idefics3's rule: the shorter edge is int(edge / (long /
	// short)), as Python divides, one more if odd, at least 1. If MaxEdge is
	// not 0 and an edge is longer, a second step truncates to MaxEdge. For
	// FitLongest only.
	SizeEven
	// SizeTruncateGap is SizeTruncate, but an image with a side that shrinks by
	// a factor of 4 or more is an ErrInput. With reducing_gap 2.0, as Nougat
	// has, Pillow scales such images in two steps, which is not supported. For
	// FitThumbnail only.
	SizeTruncateGap
	// SizeShrink is SizeTruncate for images that are too large; it keeps the
	// size of others: Fuyu's rule. For FitInside only.
	SizeShrink
	// SizeScaleDown is int(side * scale) for the shorter edge; the longer edge
	// is Edge: Aria. For FitLongest and FitLongestMin only.
	SizeScaleDown
	// SizeCapped keeps the size of images whose longer edge is at most Edge. In
	// others the shorter edge is int(edge / (w / h)) or int(edge * (w / h)):
	// Idefics2. For FitLongestMin only.
	SizeCapped
	// SizeShrinkUp is floor(side / ratio) for an image larger than Height x
	// Width; other images keep their size. Then both sides grow to multiples of
	// Multiple: Pixtral. For FitInside only.
	SizeShrinkUp
	// SizeNear is int(side * scale). FitInside only reduces an image, and
	// FitCover only enlarges it. If an edge is then longer than MaxEdge and
	// MaxEdge is not 0, a second scale truncates to it. Last, both sides are
	// rounded half to even to multiples of Multiple, at least Multiple: PP-OCR.
	// For FitInside and FitCover with Height = Width, and FitLongest only.
	SizeNear
)

var sizeRuleNames = []string{
	"truncate", "half_even", "half_up", "detr", "yolos", "truncate32", "truncate_up", "detr_up", "scale_up", "vilt", "scale", "aspect",
	"fraction", "even", "truncate_gap", "shrink", "scale_down", "capped", "shrink_up", "near",
}

// sizeRuleFits lists the fits of the rules that do not apply to all of them.
var sizeRuleFits = [SizeNear + 1][]Fit{
	SizeDETR:        {FitShortest},
	SizeYOLOS:       {FitShortest},
	SizeTruncate32:  {FitInside},
	SizeTruncateUp:  {FitShortest, FitInside},
	SizeDETRUp:      {FitShortest},
	SizeScaleUp:     {FitShortest},
	SizeViLT:        {FitShortest},
	SizeScale:       {FitLongest, FitLongestMin},
	SizeAspect:      {FitLongest},
	SizeFraction:    {FitMultiple},
	SizeEven:        {FitLongest},
	SizeTruncateGap: {FitThumbnail},
	SizeShrink:      {FitInside},
	SizeScaleDown:   {FitLongest, FitLongestMin},
	SizeCapped:      {FitLongestMin},
	SizeShrinkUp:    {FitInside},
	SizeNear:        {FitInside, FitCover, FitLongest},
}

// aligns reports whether the rule rounds the sides to multiples of Multiple
// with every fit that it applies to.
func (r SizeRule) aligns() bool {
	switch r {
	case SizeYOLOS, SizeTruncateUp, SizeDETRUp, SizeScaleUp, SizeViLT, SizeShrinkUp, SizeNear:
		return true
	}
	return false
}

func (r SizeRule) String() string { return enum.String("size rule", sizeRuleNames, r) }

// MarshalText returns the name.
func (r SizeRule) MarshalText() ([]byte, error) {
	return enum.Format("size rule", sizeRuleNames, r)
}

// UnmarshalText parses the name.
func (r *SizeRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "size rule", sizeRuleNames, t)
}

// sized returns the output size of Resize. Unknown sides stay unknown.
func (o *Resize) sized(h, w int) (int, int, error) {
	if o.Fit == FitExact {
		return o.Height, o.Width, nil
	}
	if h == tensor.Unknown || w == tensor.Unknown {
		return tensor.Unknown, tensor.Unknown, nil
	}
	var nh, nw float64
	short, long := float64(min(h, w)), float64(max(h, w))
	edge, most := float64(o.Edge), float64(o.MaxEdge)
	if o.SizeRule == SizeNear {
		nh, nw = o.near(float64(h), float64(w))
		return sides(h, w, nh, nw)
	}
	switch o.Fit {
	case FitShortest:
		var s, l float64
		switch o.SizeRule {
		case SizeTruncate, SizeTruncateUp:
			s, l = edge, math.Trunc(float64(edge*long)/short)
			if most > 0 && l > most {
				s, l = math.Trunc(float64(most*s)/l), most
			}
		case SizeScaleUp:
			scale := edge / short
			s, l = math.RoundToEven(float64(short*scale)), math.RoundToEven(float64(long*scale))
		case SizeViLT:
			s, l = edge, float64(edge/short*long)
			if l > most {
				scale := most / l
				s, l = float64(scale*s), float64(scale*l)
			}
			m := float64(o.Multiple)
			s, l = float64(math.Trunc(math.Trunc(s+0.5)/m)*m), float64(math.Trunc(math.Trunc(l+0.5)/m)*m)
		case SizeDETR, SizeYOLOS, SizeDETRUp:
			s, l = edge, math.Trunc(float64(edge*long)/short)
			if most > 0 && float64(long/short*edge) > most {
				raw := float64(most*short) / long
				s, l = math.RoundToEven(raw), math.Trunc(float64(raw*long)/short)
			}
			if s == short && (o.SizeRule != SizeYOLOS || h <= w) { // the size is right already; YOLOS does not check portrait images
				l = long
			}
			if o.SizeRule == SizeYOLOS {
				m := float64(o.Multiple)
				s, l = float64(math.Trunc(s/m)*m), float64(math.Trunc(l/m)*m)
			}
		case SizeHalfEven:
			ratio := short / edge
			if most > 0 {
				ratio = max(ratio, long/most)
			}
			s, l = math.RoundToEven(short/ratio), math.RoundToEven(long/ratio)
		default:
			scale := edge / short
			if most > 0 {
				scale = min(scale, most/long)
			}
			s, l = math.Trunc(float64(short*scale)+0.5), math.Trunc(float64(long*scale)+0.5)
		}
		nh, nw = s, l
		if h > w {
			nh, nw = l, s
		}
	case FitLongest, FitLongestMin:
		if o.SizeRule == SizeEven {
			nh, nw = o.even(float64(h), float64(w))
			break
		}
		var s, l float64
		switch o.SizeRule {
		case SizeTruncate:
			s, l = math.Trunc(float64(edge*short)/long), edge
		case SizeAspect:
			s, l = math.Trunc(float64(edge*float64(short/long))), edge
		case SizeScaleDown:
			s, l = math.Trunc(float64(short*float64(edge/long))), edge
		case SizeCapped:
			aspect := float64(w) / float64(h)
			switch s, l = short, long; {
			case long <= edge:
			case w >= h:
				s, l = math.Trunc(edge/aspect), edge
			default:
				s, l = math.Trunc(float64(edge*aspect)), edge
			}
		case SizeScale:
			scale := edge / long
			s, l = math.RoundToEven(float64(short*scale)), math.RoundToEven(float64(long*scale))
		case SizeHalfEven:
			ratio := long / edge
			s, l = math.RoundToEven(short/ratio), math.RoundToEven(long/ratio)
		default:
			scale := edge / long
			s, l = math.Trunc(float64(short*scale)+0.5), math.Trunc(float64(long*scale)+0.5)
		}
		nh, nw = s, l
		if h > w {
			nh, nw = l, s
		}
		if o.Fit == FitLongestMin {
			nh, nw = max(nh, float64(o.Height)), max(nw, float64(o.Width))
		}
	case FitInside, FitCover:
		if o.SizeRule == SizeTruncate32 {
			scale := min(float32(o.Width)/float32(w), float32(o.Height)/float32(h))
			nh, nw = math.Trunc(float64(float32(h)*scale)), math.Trunc(float64(float32(w)*scale))
			break
		}
		if o.SizeRule == SizeShrink && h <= o.Height && w <= o.Width {
			return h, w, nil
		}
		if o.SizeRule == SizeShrinkUp {
			nh, nw = float64(h), float64(w)
			if ratio := max(nh/float64(o.Height), nw/float64(o.Width)); ratio > 1 {
				nh, nw = math.Floor(nh/ratio), math.Floor(nw/ratio)
			}
			break
		}
		choose := math.Min // of the two scales
		if o.Fit == FitCover {
			choose = math.Max
		}
		if o.SizeRule == SizeHalfEven {
			ratio := float64(h) / float64(o.Height)
			if r := float64(w) / float64(o.Width); (o.Fit == FitInside) == (r > ratio) {
				ratio = r
			}
			nh, nw = math.RoundToEven(float64(h)/ratio), math.RoundToEven(float64(w)/ratio)
			break
		}
		half := 0.0
		if o.SizeRule == SizeHalfUp {
			half = 0.5
		}
		scale := choose(float64(o.Height)/float64(h), float64(o.Width)/float64(w))
		nh, nw = math.Trunc(float64(float64(h)*scale)+half), math.Trunc(float64(float64(w)*scale)+half)
	case FitThumbnail:
		nh, nw = float64(min(h, o.Height)), float64(min(w, o.Width))
		switch {
		case h <= o.Height && w <= o.Width:
		case h > w:
			nw = math.Trunc(float64(float64(w)*nh) / float64(h))
		case w > h:
			nh = math.Trunc(float64(float64(h)*nw) / float64(w))
		}
		if o.SizeRule == SizeTruncateGap && (float64(h)/nh >= 4 || float64(w)/nw >= 4) {
			return 0, 0, inputErr("an image of %d x %d (height x width) would shrink to %.0f x %.0f: want a factor below 4 on both sides", h, w, nh, nw)
		}
	case FitMultiple:
		sh, sw := float64(o.Height)/float64(h), float64(o.Width)/float64(w)
		if o.KeepAspect {
			if math.Abs(1-sw) < math.Abs(1-sh) {
				sh = sw
			} else {
				sw = sh
			}
		}
		m := float64(o.Multiple)
		if o.SizeRule == SizeFraction {
			part := 1 / m
			nh = math.Trunc(float64(math.RoundToEven(float64(sh*float64(h))/part) * part))
			nw = math.Trunc(float64(math.RoundToEven(float64(sw*float64(w))/part) * part))
			break
		}
		nh = float64(o.rounded(float64(sh*float64(h))/m) * m)
		nw = float64(o.rounded(float64(sw*float64(w))/m) * m)
	case FitHeight:
		nh = float64(o.Height)
		aspect := float64(w) / float64(h)
		nw = math.Trunc(float64(nh * max(aspect, float64(o.Width)/nh)))
		if up := math.Ceil(float64(nh * aspect)); nw > most {
			nw = most
		} else if nw >= up {
			nw = up
		}
	case FitAligned:
		m := float64(o.Multiple)
		nh, nw = float64(o.rounded(float64(h)/m)*m), float64(o.rounded(float64(w)/m)*m)
	}
	switch o.SizeRule {
	case SizeTruncateUp, SizeDETRUp, SizeScaleUp, SizeShrinkUp:
		m := float64(o.Multiple)
		nh, nw = float64(math.Ceil(nh/m)*m), float64(math.Ceil(nw/m)*m)
	}
	return sides(h, w, nh, nw)
}

// near returns the size of an image of h x w by SizeNear.
func (o *Resize) near(h, w float64) (float64, float64) {
	long, scale := max(h, w), 1.0
	switch {
	case o.Fit == FitLongest:
		scale = float64(o.Edge) / long
	case o.Fit == FitInside && long > float64(o.Height):
		scale = float64(o.Height) / long
	case o.Fit == FitCover && min(h, w) < float64(o.Height):
		scale = float64(o.Height) / min(h, w)
	}
	h, w = math.Trunc(float64(h*scale)), math.Trunc(float64(w*scale))
	if most := float64(o.MaxEdge); most > 0 && max(h, w) > most {
		scale = most / max(h, w)
		h, w = math.Trunc(float64(h*scale)), math.Trunc(float64(w*scale))
	}
	m := float64(o.Multiple)
	return max(m, float64(math.RoundToEven(h/m)*m)), max(m, float64(math.RoundToEven(w/m)*m))
}

// even returns the size of an image of h x w by SizeEven.
func (o *Resize) even(h, w float64) (float64, float64) {
	edge, most := float64(o.Edge), float64(o.MaxEdge)
	aspect := w / h
	if w >= h {
		h, w = math.Trunc(edge/aspect), edge
		h = max(1, h+math.Mod(h, 2))
	} else {
		h, w = edge, math.Trunc(float64(edge*aspect))
		w = max(1, w+math.Mod(w, 2))
	}
	if most == 0 || max(h, w) <= most {
		return h, w
	}
	aspect = w / h
	if w >= h {
		return max(1, math.Trunc(most/aspect)), most
	}
	return most, max(1, math.Trunc(float64(most*aspect)))
}

// sides converts nh and nw, the new size of an image of h x w, to ints. It
// rejects sizes that no image can have.
func sides(h, w int, nh, nw float64) (int, int, error) {
	if !(nh >= 1 && nw >= 1 && nh <= maxSide && nw <= maxSide) {
		return 0, 0, inputErr("an image of %d x %d (height x width) would become %.0f x %.0f, want sides of 1 to %d", h, w, nh, nw, maxSide)
	}
	return int(nh), int(nw), nil
}

// rounded rounds a number of multiples by the size rule.
func (o *Resize) rounded(v float64) float64 {
	switch o.SizeRule {
	case SizeTruncate:
		return math.Trunc(v)
	case SizeHalfUp:
		return math.Trunc(v + 0.5)
	}
	return math.RoundToEven(v)
}
