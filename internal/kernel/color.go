package kernel

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
)

// The functions of this file compute with planes: rows of the values of one
// channel. All rows of a call have the same length.

// GrayRule is the arithmetic of a gray value.
type GrayRule struct {
	r, g, b uint16
	shift   uint8 // of the fixed point; 0 for float32
	fused   bool  // float32: every sum is rounded once, with its product
}

// The rules. See the ops Grayscale and AdjustContrast.
var (
	GrayPillow     = GrayRule{r: 19595, g: 38470, b: 7471, shift: 16}
	GrayOpenCV     = GrayRule{r: 9798, g: 19235, b: 3735, shift: 15}
	GrayMXNet      = GrayRule{r: 1868, g: 9617, b: 4899, shift: 14}
	GrayYCrCb      = GrayRule{r: 4899, g: 9617, b: 1868, shift: 14} // the luma of OpenCV's YCrCb
	GrayTorch      = GrayRule{}
	GrayTorchFused = GrayRule{fused: true}
)

// The weights of GrayTorch and GrayTorchFused.
const (
	grayRed   = float32(0.2989)
	grayGreen = float32(0.587)
	grayBlue  = float32(0.114)
)

// Of returns the gray value of a colour.
func (k *GrayRule) Of(r, g, b uint8) uint8 {
	switch {
	case k.shift > 0:
		return uint8((uint32(k.r)*uint32(r) + uint32(k.g)*uint32(g) + uint32(k.b)*uint32(b) + 1<<k.shift>>1) >> k.shift)
	case k.fused:
		// Products of 8 and 24 bits are exact, and so are these sums in
		// float64: no float32 here is smaller than their last bits.
		rg := float32(float64(float64(g)*float64(grayGreen)) + float64(float32(float32(r)*grayRed)))
		return uint8(int32(float32(float64(float64(b)*float64(grayBlue)) + float64(rg))))
	}
	return uint8(int32((float32(float32(r)*grayRed) + float32(float32(g)*grayGreen)) + float32(float32(b)*grayBlue)))
}

// Row computes gray values. dst may be one of the channels.
func (k *GrayRule) Row(dst, r, g, b []uint8) {
	n := len(dst)
	r, g, b = r[:n], g[:n], b[:n]
	i := grayRow(k, dst, r, g, b)
	if red, green, blue, shift := uint32(k.r), uint32(k.g), uint32(k.b), k.shift&31; shift > 0 {
		for ; i < n; i++ {
			dst[i] = uint8((red*uint32(r[i]) + green*uint32(g[i]) + blue*uint32(b[i]) + 1<<shift>>1) >> shift)
		}
	}
	for ; i < n; i++ {
		dst[i] = k.Of(r[i], g[i], b[i])
	}
}

// SumUint8 returns the sum of bytes.
func SumUint8(v []uint8) (sum uint64) {
	n, sum := sumUint8(v)
	for _, x := range v[n:] {
		sum += uint64(x)
	}
	return sum
}

// MixRule is the arithmetic of Mix, with v, other o, factor f and rest q. All
// operations are float32; fma(a, b, c) rounds a*b+c once. The last step
// truncates or rounds half to even, and clips to 0..255.
type MixRule uint8

// The rules.
const (
	MixPillow     MixRule = iota // trunc(o + f*(v-o))
	MixTorch                     // trunc(fma(o, q, v*f))
	MixDifference                // trunc(fma(o-v, q, v))
	MixOpenCV                    // round(fma(o, q, v*f))
	MixMindSpore                 // round(fma(v, f, o*q))
	MixMXNet                     // round(v*f + o*q)
)

// Mix mixes a value with another one. Results must fit an int32 before they are
// clipped.
type Mix struct {
	Rule         MixRule
	Factor, Rest float32
}

// Of mixes v with other.
func (m *Mix) Of(v uint8, other float32) uint8 {
	x, f, q := float32(v), m.Factor, m.Rest
	switch m.Rule {
	case MixPillow:
		return toUint8(int32(other + float32(f*(x-other))))
	case MixTorch:
		return toUint8(int32(exactmath.FMA32(other, q, float32(x*f))))
	case MixDifference:
		return toUint8(int32(exactmath.FMA32(other-x, q, x)))
	case MixOpenCV:
		return round8(exactmath.FMA32(other, q, float32(x*f)))
	case MixMindSpore:
		return round8(exactmath.FMA32(x, f, float32(other*q)))
	}
	return round8(float32(x*f) + float32(other*q))
}

func toUint8(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

func round8(f float32) uint8 { return toUint8(int32(math.RoundToEven(float64(f)))) }

// Row mixes values. dst may be v or other.
func (m *Mix) Row(dst, v, other []uint8) {
	n := len(dst)
	v, other = v[:n], other[:n]
	for i := mixRow(m, dst, v, other); i < n; i++ {
		dst[i] = m.Of(v[i], float32(other[i]))
	}
}

// Smooth13 smooths a row as Pillow's SMOOTH filter does: dst[i] is the rounded
// thirteenth of the sum of the nine values around b[i+px], that value five
// times. a, b and c are adjacent rows with 2*px more values than dst; px is the
// distance of pixels.
func Smooth13(dst, a, b, c []uint8, px int) {
	n := len(dst)
	if n == 0 {
		return
	}
	a0, a1, a2 := a[:n], a[px:][:n], a[2*px:][:n]
	b0, b1, b2 := b[:n], b[px:][:n], b[2*px:][:n]
	c0, c1, c2 := c[:n], c[px:][:n], c[2*px:][:n]
	for i := smooth13(dst, a, b, c, px); i < n; i++ {
		sum := uint32(a0[i]) + uint32(a1[i]) + uint32(a2[i]) + uint32(b0[i]) + 5*uint32(b1[i]) + uint32(b2[i]) +
			uint32(c0[i]) + uint32(c1[i]) + uint32(c2[i])
		// Thirteenths are never halves, so all rules of rounding agree.
		dst[i] = uint8((2*sum + 13) / 26)
	}
}

// ChromaRow computes OpenCV's 14-bit chroma of one channel c: its difference to
// the luma y times weight, plus 128. dst may be c or y.
func ChromaRow(dst, c, y []uint8, weight int32) {
	n := len(dst)
	c, y = c[:n], y[:n]
	for i := chromaRow(dst, c, y, weight); i < n; i++ {
		dst[i] = toUint8((weight*(int32(c[i])-int32(y[i])) + 128<<14 + 8192) >> 14)
	}
}
