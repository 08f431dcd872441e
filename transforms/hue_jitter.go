package transforms

import (
	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// HueJitter rotates the hue of an image by a random angle, in YIQ. It takes the
// images of ColorMatrix.
//
// Reference: MXNet 1.9.1, mx.image's HueJitterAug. The angle is drawn uniformly
// from -Hue to Hue half turns.
type HueJitter struct {
	Hue float64 `json:"hue"` // largest angle in half turns, 0 to 1; default 0.1
}

//msgp:tuple HueJitter

// NewHueJitter returns the op.
func NewHueJitter(hue float64) *HueJitter { return &HueJitter{hue} }

// Info describes the op.
func (*HueJitter) Info() Info {
	return Info{
		Name: "hue_jitter", Version: 1, New: func() Op { return NewHueJitter(0.1) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	}
}

// Validate checks the angle.
func (o *HueJitter) Validate() error { return checkBounds("hue", o.Hue, 0, 1) }

// Infer keeps the description.
func (o *HueJitter) Infer(dst, in []tensor.Desc) error { return (&ColorMatrix{}).Infer(dst, in) }

// Apply returns ErrNotDrawn.
func (o *HueJitter) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error { return ErrNotDrawn }

// Draw emits a ColorMatrix.
func (o *HueJitter) Draw(d *Draw) error {
	return emitOp(d, ColorMatrix{hueMatrix(d.Uniform(-o.Hue, o.Hue))})
}

// NewHueRotation returns what HueJitter emits for an angle in half turns.
func NewHueRotation(angle float64) *ColorMatrix { return &ColorMatrix{hueMatrix(angle)} }

// hueMatrix rotates by an angle in half turns. Its numbers are MXNet's. The
// matrix from YIQ to RGB is not exactly the inverse of that from RGB to YIQ.
func hueMatrix(angle float64) (m ColorWeights) {
	sin, cos := exactmath.SinCos(float64(angle * 3.141592653589793))
	turned := product3([3][3]float64{{1, 0.956, 0.621}, {1, -0.272, -0.647}, {1, -1.107, 1.705}}, [3][3]float64{{1, 0, 0}, {0, cos, -sin}, {0, sin, cos}})
	p := product3(turned, [3][3]float64{{0.299, 0.587, 0.114}, {0.596, -0.274, -0.321}, {0.211, -0.523, 0.311}})
	for i := range m {
		m[i] = float32(p[i/3][i%3])
	}
	return m
}

// product3 returns a*b.
func product3(a, b [3][3]float64) (c [3][3]float64) {
	for i := range c {
		for j := range c {
			for k := range c {
				c[i][j] += float64(a[i][k] * b[k][j])
			}
		}
	}
	return c
}
