package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// ColorMatrix multiplies the channels of every pixel by a matrix. It takes a
// float32 image of three channels, HWC or CHW, and keeps the description.
//
// The new red is m[0]*R + m[1]*G + m[2]*B, with the products added from left to
// right, each with one rounding (FMA). Green and blue use the next numbers.
//
// Reference: MXNet 1.9.1, the products of mx.image's HueJitterAug and
// RandomGrayAug (x86-64 with FMA).
type ColorMatrix struct {
	Matrix ColorWeights `json:"matrix"` // row by row, finite
}

// ColorWeights is a matrix of three rows and three columns, row by row.
type ColorWeights [9]float32

// UnmarshalJSON parses a list of nine numbers.
func (m *ColorWeights) UnmarshalJSON(b []byte) error { return unmarshalExactly(b, m[:]) }

//msgp:tuple ColorWeights ColorMatrix

// grayMatrix is that of RandomGrayAug.
var grayMatrix = [9]float32{0.21, 0.72, 0.07, 0.21, 0.72, 0.07, 0.21, 0.72, 0.07}

// NewColorMatrix returns the op.
func NewColorMatrix(matrix [9]float32) *ColorMatrix { return &ColorMatrix{matrix} }

// Info describes the op.
func (*ColorMatrix) Info() Info {
	return Info{
		Name: "color_matrix", Version: 1, New: func() Op { return NewColorMatrix(grayMatrix) }, InPlace: true,
		Reference: "MXNet 1.9.1 mx.image HueJitterAug and RandomGrayAug", Exactness: "0",
	}
}

// Validate checks that the numbers are finite.
func (o *ColorMatrix) Validate() error {
	for i, v := range o.Matrix {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return paramErr("matrix[%d] is %v, want a finite number", i, v)
		}
	}
	return nil
}

// Infer keeps the description.
func (o *ColorMatrix) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	if err := wantImage(in[0], tensor.Float32); err != nil {
		return err
	}
	return wantChannels(in[0], 3)
}

// Apply multiplies pixel by pixel.
func (o *ColorMatrix) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	in, out := tensor.View[float32](s), tensor.View[float32](dst[0])
	step, next := strides(s.Desc)
	var m [9]float64
	for i, v := range o.Matrix {
		m[i] = float64(v)
	}
	for i := range s.Height() * s.Width() {
		at := i * step
		r, g, b := float64(in[at]), float64(in[at+next]), float64(in[at+2*next])
		for c := range 3 {
			v := float32(r * m[3*c])
			v = exactmath.Add32(float64(g*m[3*c+1]), v)
			out[at+c*next] = exactmath.Add32(float64(b*m[3*c+2]), v)
		}
	}
	return nil
}
