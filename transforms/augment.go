package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// An augmentation is one of the operations that AutoAugment and its successors
// choose from. Its magnitude is one bin of a scale.
type augmentation uint8

const (
	augIdentity augmentation = iota
	augShearX
	augShearY
	augTranslateX
	augTranslateY
	augRotate
	augBrightness
	augColor
	augContrast
	augSharpness
	augPosterize
	augSolarize
	augAutoContrast
	augEqualize
	augInvert
)

// augScale has the largest magnitudes of a policy.
type augScale struct {
	shear     float64
	translate func(side int) float64 // in pixels
	rotate    float64                // in degrees
	enhance   float64                // of brightness, color, contrast and sharpness
	posterize float64                // bits that are lost
	bits      float64                // bits before
}

// scaleOf is the scale of AutoAugment and RandAugment.
var scaleOf = augScale{
	shear: 0.3, translate: func(side int) float64 { return float64(150.0 / 331.0 * float64(side)) }, rotate: 30, enhance: 0.9, posterize: 4, bits: 8,
}

// wideScale is the scale of TrivialAugmentWide.
var wideScale = augScale{
	shear: 0.99, translate: func(int) float64 { return 32 }, rotate: 135, enhance: 0.99, posterize: 6, bits: 8,
}

// mixScale is the scale of AugMix.
var mixScale = augScale{
	shear: 0.3, translate: func(side int) float64 { return float64(side) / 3 }, rotate: 30, enhance: 0.9, posterize: 4, bits: 4,
}

// signed reports whether a policy may negate the magnitude.
func (a augmentation) signed() bool { return a >= augShearX && a <= augSharpness }

// scaled reports whether the augmentation has a magnitude.
func (a augmentation) scaled() bool { return a >= augShearX && a <= augSolarize }

// magnitude returns the magnitude of a bin, in torch's float32, for an image of
// h x w pixels.
func (s *augScale) magnitude(a augmentation, bin, bins, h, w int) float64 {
	switch a {
	case augShearX, augShearY:
		return linspace(0, s.shear, bin, bins)
	case augTranslateX:
		return linspace(0, s.translate(w), bin, bins)
	case augTranslateY:
		return linspace(0, s.translate(h), bin, bins)
	case augRotate:
		return linspace(0, s.rotate, bin, bins)
	case augPosterize:
		per := float32(float64(bins-1) / s.posterize)
		return math.RoundToEven(float64(float32(s.bits) - float32(bin)/per))
	case augSolarize:
		return linspace(1, 0, bin, bins)
	}
	return linspace(0, s.enhance, bin, bins)
}

// linspace returns element i of torch.linspace, which fuses the product and the
// sum: both are exact in float64.
func linspace(from, to float64, i, n int) float64 {
	a, b := float32(from), float32(to)
	step := (b - a) / float32(n-1)
	if i < n/2 {
		return float64(float32(float64(a) + float64(float64(step)*float64(i))))
	}
	return float64(float32(float64(b) - float64(float64(step)*float64(n-i-1))))
}

// augDraws supplies the random numbers of a policy, in the order in which the
// reference draws them. Draw implements it. The tests implement it with the
// numbers that the reference drew.
type augDraws interface {
	IntN(n int) int
	Float64() float64
}

// augmented is a choice: an augmentation with its magnitude.
type augmented struct {
	what      augmentation
	magnitude float64
}

// negated draws the sign of the magnitude, if it has one.
func (a augmented) negated(r augDraws) augmented {
	if a.what.signed() && r.Float64() <= 0.5 {
		a.magnitude = -a.magnitude
	}
	return a
}

// augHow says how pixels are computed.
type augHow struct {
	interp  Interpolation
	backend Backend
	fill    NumberList
}

func (o augHow) validate() error {
	if o.backend != Pillow && o.backend != Torch {
		return paramErr("backend is %v, want pillow or torch", o.backend)
	}
	if err := checkMove(o.backend, o.interp); err != nil {
		return err
	}
	return checkFill(o.fill)
}

// infer keeps the description of a uint8 image of one or three channels.
func (o augHow) infer(dst, in []tensor.Desc) error {
	if err := wantMoved(in[0], o.backend, o.fill); err != nil {
		return err
	}
	if n := in[0].Channels(); n != 1 && n != 3 {
		return inputErr("%v, want one or three channels", in[0])
	}
	dst[0] = in[0]
	return nil
}

// imageCorner is the centre of shears.
var imageCorner = NumberList{0, 0}

// emit emits the op of a choice, which is none for identity.
func (o augHow) emit(d *Draw, a augmented) error {
	m := a.magnitude
	switch a.what {
	case augIdentity:
		return nil
	case augShearX, augShearY, augTranslateX, augTranslateY:
		op := NewOp[Affine](d)
		*op = Affine{Scale: 1, Interpolation: o.interp, Backend: o.backend, Fill: o.fill}
		degrees := float64(exactmath.Atan(m) * (180 / float64(math.Pi)))
		switch a.what {
		case augShearX:
			op.ShearX, op.Center = degrees, imageCorner
		case augShearY:
			op.ShearY, op.Center = degrees, imageCorner
		case augTranslateX:
			op.TranslateX = math.Trunc(m)
		default:
			op.TranslateY = math.Trunc(m)
		}
		return d.Emit(op)
	case augRotate:
		return emitOp(d, Rotate{Angle: m, Interpolation: o.interp, Backend: o.backend, Fill: o.fill})
	case augBrightness:
		return emitOp(d, AdjustBrightness{Factor: 1 + m, Backend: o.backend})
	case augColor:
		return emitOp(d, AdjustSaturation{Factor: 1 + m, Backend: o.backend})
	case augContrast:
		return emitOp(d, AdjustContrast{Factor: 1 + m, Backend: o.backend})
	case augSharpness:
		return emitOp(d, AdjustSharpness{Factor: 1 + m, Backend: o.backend})
	case augPosterize:
		return emitOp(d, Posterize{Bits: int(m)})
	case augSolarize:
		threshold := float64(255 * m)
		if o.backend == Torch { // which compares bytes with a threshold in float32
			threshold = float64(float32(threshold))
		}
		return emitOp(d, Solarize{from(threshold)})
	case augAutoContrast:
		return emitOp(d, AutoContrast{Backend: o.backend})
	case augEqualize:
		return emitOp(d, Equalize{Backend: o.backend})
	}
	return d.Emit(NewOp[Invert](d))
}

func checkBins(bins int) error {
	if bins < 2 || bins > 1000 {
		return paramErr("bins is %d, want 2 to 1000", bins)
	}
	return nil
}
