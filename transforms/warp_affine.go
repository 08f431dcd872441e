package transforms

import (
	"encoding/json"
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AffineMatrix is an affine map of pixels: two rows of three numbers. The third
// number of a row is the translation.
type AffineMatrix [6]float64

// UnmarshalJSON parses a list of six numbers.
func (a *AffineMatrix) UnmarshalJSON(b []byte) error { return unmarshalExactly(b, a[:]) }

// unmarshalExactly parses a JSON list of len(dst) numbers. encoding/json would
// accept shorter and longer lists for an array.
func unmarshalExactly[T any](b []byte, dst []T) error {
	var l []T
	if err := json.Unmarshal(b, &l); err != nil {
		return err
	}
	if len(l) != len(dst) {
		return paramErr("a list has %d values, want %d", len(l), len(dst))
	}
	copy(dst, l)
	return nil
}

// WarpAffine moves the pixels of an image by an affine map. Pixel (x, y) of the
// input moves to (M0*x + M1*y + M2, M3*x + M4*y + M5) in an output of Height x
// Width. It takes a uint8 HWC image of one, three or four channels with sides
// up to 32766, and returns uint8.
//
// The map is inverted in float64. If its determinant is 0, the inverse maps
// everything to (0, 0). With the inverse, M0*x*1024 and (M1*y+M2)*1024 are
// rounded half to even and added. The sum is rounded half up to 1/32 of a
// pixel, or to whole pixels for nearest. An output pixel is the weighted sum of
// 1, 2 x 2, 4 x 4 (bicubic, a = -0.75) or 8 x 8 (lanczos) pixels. The weights
// have 15 bits, and the sum is rounded half up. Pixels outside the input are
// Fill.
//
// Reference: OpenCV 4.11.0, warpAffine without IPP, with BORDER_CONSTANT. All
// releases from 3.4 on return the same, except 4.7 for coordinates that do not
// fit an int32 in units of 1/1024 of a pixel. OpenCV 5 has other kernels.
type WarpAffine struct {
	Matrix        AffineMatrix  `json:"matrix"`        // from the input to the output
	Height        int           `json:"height"`        // output height in pixels, 1 to 2^24
	Width         int           `json:"width"`         // output width in pixels, 1 to 2^24
	Interpolation Interpolation `json:"interpolation"` // nearest, bilinear, bicubic, lanczos or area, which is bilinear here; default bilinear
	Backend       Backend       `json:"backend"`       // opencv4
	Fill          []float64     `json:"fill"`          // value of the pixels outside the input: one for all channels or one per channel, integers of 0 to 255; default 0
}

//msgp:tuple AffineMatrix WarpAffine
//sheet:warp_affine {"matrix": [0.9, 0.2, 0, -0.1, 0.9, 12], "height": 84, "width": 112}

const warpReference = "OpenCV 4.11.0 warpAffine, BORDER_CONSTANT (no IPP)"

// maxWarpSide is the largest coordinate in an input: remap's coordinates have
// 16 bits.
const maxWarpSide = math.MaxInt16 - 1

// NewWarpAffine returns the op: bilinear, with a fill of 0.
func NewWarpAffine(matrix [6]float64, height, width int) *WarpAffine {
	return &WarpAffine{Matrix: matrix, Height: height, Width: width, Interpolation: Bilinear, Backend: OpenCV4, Fill: []float64{0}}
}

// Info describes the op.
func (*WarpAffine) Info() Info {
	return Info{
		Name: "warp_affine", Version: 1, New: func() Op { return NewWarpAffine([6]float64{1, 0, 0, 0, 1, 0}, 224, 224) },
		Reference: warpReference, Exactness: "0",
	}
}

// Validate checks that the matrix is finite, and checks the size, the names and
// the fill.
func (o *WarpAffine) Validate() error {
	if err := checkFinite("matrix", o.Matrix[:]...); err != nil {
		return err
	}
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkWarp(o.Interpolation, o.Backend); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// checkWarp wants an interpolation and a backend that warps support.
func checkWarp(i Interpolation, b Backend) error {
	if b != OpenCV4 {
		return paramErr("backend is %v, want opencv4", b)
	}
	if warpTaps(i) == 0 {
		return paramErr("interpolation is %v, want nearest, bilinear, bicubic, lanczos or area", i)
	}
	return nil
}

// warpTaps returns the taps of an interpolation, 0 for an unsupported one.
func warpTaps(i Interpolation) kernel.WarpTaps {
	switch i {
	case Nearest:
		return 1
	case Bilinear, Area:
		return 2
	case Bicubic:
		return 4
	case Lanczos:
		return 8
	}
	return 0
}

// wantWarped rejects images that warps do not support.
func wantWarped(d tensor.Desc, fill []float64) error {
	if err := wantImage(d, tensor.Uint8); err != nil {
		return err
	}
	if d.Layout != tensor.HWC {
		return inputErr("%v, want layout HWC", d)
	}
	if err := wantChannels(d, 1, 3, 4); err != nil {
		return err
	}
	if d.Height() > maxWarpSide || d.Width() > maxWarpSide {
		return inputErr("%v, want sides of at most %d", d, maxWarpSide)
	}
	return wantFill(d, "fill", fill)
}

// Infer sets the output size.
func (o *WarpAffine) Infer(dst, in []tensor.Desc) error {
	if err := wantWarped(in[0], o.Fill); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return inferred(dst[0])
}

// Apply warps row by row.
func (o *WarpAffine) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	warp(c, o.Interpolation, fillPixel(c, s.Desc, o.Fill), o.Matrix, dst[0], s)
	return nil
}
