package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// Fit says how Resize finds the output's size.
type Fit uint8

// The fits.
const (
	// FitExact is Height x Width, whatever the aspect.
	FitExact Fit = iota
	// FitShortest makes the shorter edge Edge; MaxEdge, if not 0, bounds the longer one.
	FitShortest
	// FitLongest makes the longer edge Edge.
	FitLongest
	// FitInside is the largest size within Height x Width that keeps the aspect.
	FitInside
	// FitMultiple is Height x Width with the sides rounded to multiples of
	// Multiple; with KeepAspect both sides are scaled by the factor that is nearer to 1.
	FitMultiple
	// FitCover is the smallest size that covers Height x Width and keeps the
	// aspect: timm's ResizeKeepRatio for targets that are not square.
	FitCover
	// FitThumbnail makes no side longer and keeps an image within Height x Width as
	// it is. Of any other, the longer edge is cut to its side of Height x Width, if
	// it is longer than that, and the shorter edge follows by the aspect; it may then
	// still be longer than its own side. A square image is cut on both sides.
	// Donut's thumbnail; with size rule truncate only.
	FitThumbnail
)

var fitNames = []string{"exact", "shortest", "longest", "inside", "multiple", "cover", "thumbnail"}

func (f Fit) String() string { return enum.String("fit", fitNames, f) }

// MarshalText writes the name.
func (f Fit) MarshalText() ([]byte, error) { return enum.Format("fit", fitNames, f) }

// UnmarshalText reads the name.
func (f *Fit) UnmarshalText(t []byte) error {
	return enum.Parse(f, "fit", fitNames, t)
}

// SizeRule is the arithmetic by which a side is rounded where the aspect is
// kept: libraries that resize with the same filter differ in it by a pixel.
type SizeRule uint8

// The rules. All but the last compute in float64, and in the order of their reference.
const (
	// SizeTruncate is int(edge * long / short): torchvision 0.29.2, the HF
	// processors' get_resize_output_image_size; for FitInside int(side * scale).
	SizeTruncate SizeRule = iota
	// SizeHalfEven is Python's round(side / ratio), of timm 1.0.31
	// (ResizeKeepRatio), and DPT's multiples.
	SizeHalfEven
	// SizeHalfUp is SAM's int(side * scale + 0.5).
	SizeHalfUp
	// SizeDETR is DETR's: where MaxEdge bounds, the shorter edge is rounded but
	// the longer one is truncated from the unrounded value. For FitShortest only.
	SizeDETR
	// SizeYOLOS is YOLOS's: as DETR's, then both sides cut to multiples of
	// Multiple. For FitShortest only.
	SizeYOLOS
	// SizeTruncate32 is int(side * scale) in float32: OpenCV 5.0.0's letterbox in
	// dnn.blobFromImageWithParams. For FitInside only.
	SizeTruncate32
)

var sizeRuleNames = []string{"truncate", "half_even", "half_up", "detr", "yolos", "truncate32"}

func (r SizeRule) String() string { return enum.String("size rule", sizeRuleNames, r) }

// MarshalText writes the name.
func (r SizeRule) MarshalText() ([]byte, error) {
	return enum.Format("size rule", sizeRuleNames, r)
}

// UnmarshalText reads the name.
func (r *SizeRule) UnmarshalText(t []byte) error {
	return enum.Parse(r, "size rule", sizeRuleNames, t)
}

// sized is the size rule of Resize. Unknown sides give unknown sides.
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
	switch o.Fit {
	case FitShortest:
		var s, l float64
		switch o.SizeRule {
		case SizeTruncate:
			s, l = edge, math.Trunc(float64(edge*long)/short)
			if most > 0 && l > most {
				s, l = math.Trunc(float64(most*s)/l), most
			}
		case SizeDETR, SizeYOLOS:
			s, l = edge, math.Trunc(float64(edge*long)/short)
			if most > 0 && float64(long/short*edge) > most {
				raw := float64(most*short) / long
				s, l = math.RoundToEven(raw), math.Trunc(float64(raw*long)/short)
			}
			if s == short && (o.SizeRule == SizeDETR || h <= w) { // it fits as it is; YOLOS does not look at portraits
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
	case FitLongest:
		var s, l float64
		switch o.SizeRule {
		case SizeTruncate:
			s, l = math.Trunc(float64(edge*short)/long), edge
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
	case FitInside, FitCover:
		if o.SizeRule == SizeTruncate32 {
			scale := min(float32(o.Width)/float32(w), float32(o.Height)/float32(h))
			nh, nw = math.Trunc(float64(float32(h)*scale)), math.Trunc(float64(float32(w)*scale))
			break
		}
		choose := math.Min // of the scales
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
		nh = float64(o.rounded(float64(sh*float64(h))/m) * m)
		nw = float64(o.rounded(float64(sw*float64(w))/m) * m)
	}
	return sides(h, w, nh, nw)
}

// sides are the whole numbers nh and nw, the size that an image of h x w is to
// have, if an image can have them.
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
