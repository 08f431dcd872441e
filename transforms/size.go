package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
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
	// SizeCapUnrounded caps the longer edge before it rounds: if MaxEdge
	// applies, the shorter edge is rounded half to even, but the longer edge is
	// truncated from the unrounded value. It keeps an image whose shorter edge
	// is right already: DETR. For FitShortest only.
	SizeCapUnrounded
	// SizeCapUnroundedDown is SizeCapUnrounded, then both sides are reduced to
	// multiples of Multiple: YOLOS. It keeps no portrait image. For FitShortest
	// only.
	SizeCapUnroundedDown
	// SizeTruncate32 is int(side * scale) in float32: OpenCV 5.0.0's letterbox
	// in dnn.blobFromImageWithParams. For FitInside only.
	SizeTruncate32
	// SizeTruncateUp is SizeTruncate, then both sides grow to multiples of
	// Multiple: TextNet. For FitShortest and FitInside only.
	SizeTruncateUp
	// SizeCapUnroundedUp is SizeCapUnrounded, then both sides grow to multiples
	// of Multiple: MaskFormer. For FitShortest only.
	SizeCapUnroundedUp
	// SizeScaleUp is Python's round(side * scale), then both sides grow to
	// multiples of Multiple: PP-LCNet. For FitShortest without MaxEdge only.
	SizeScaleUp
	// SizeCapHalfUpDown is int(side * scale + 0.5). If MaxEdge applies, both
	// sides are multiplied by a second scale first. Then the sides are reduced
	// to multiples of Multiple: ViLT. For FitShortest with MaxEdge only.
	SizeCapHalfUpDown
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
	"truncate", "half_even", "half_up", "cap_unrounded", "cap_unrounded_down", "truncate32", "truncate_up", "cap_unrounded_up",
	"scale_up", "cap_half_up_down", "scale", "aspect", "fraction", "even", "truncate_gap", "shrink", "scale_down", "capped",
	"shrink_up", "near",
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
