package transforms

import (
	"encoding/json"
	"math"

	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// Affine is an affine map of pixels: two rows of three, of which the third is added.
type Affine [6]float64

// UnmarshalJSON reads a list of six.
func (a *Affine) UnmarshalJSON(b []byte) error { return unmarshalExactly(b, a[:]) }

// unmarshalExactly reads a JSON list of as many numbers as dst has; encoding/json would
// take fewer and more of them for an array.
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

// WarpAffine moves the pixels of an image by an affine map: pixel (x, y) of the input
// comes to M0*x + M1*y + M2, M3*x + M4*y + M5 of an output of Height x Width. It takes
// uint8 HWC images of one, three or four channels and sides up to 32766, and gives uint8, 0 to 255.
//
// The map is inverted in float64; the inverse of one whose determinant is 0 maps all to (0, 0).
// M0*x*1024 and (M1*y+M2)*1024 of the inverse are each rounded half to even and added: coordinates, which are
// cut off to 1/32 of a pixel after half of that was added (nearest: to whole pixels). A pixel is the sum of 1, 2 x 2,
// 4 x 4 (bicubic, a = -0.75) or 8 x 8 (lanczos) neighbours with weights of 15 bits, rounded half up; those outside are Fill.
//
// Reference: OpenCV 4.11.0, warpAffine without IPP, with BORDER_CONSTANT; releases from 3.4 on do
// the same, but for 4.7 with coordinates that int32 does not hold in 1/1024 of a pixel. OpenCV 5 has other kernels.
type WarpAffine struct {
	Matrix        Affine        `json:"matrix"`        // from the input to the output
	Height        int           `json:"height"`        // of the output, in pixels, 1 to 2^24
	Width         int           `json:"width"`         // likewise
	Interpolation Interpolation `json:"interpolation"` // nearest, bilinear, bicubic or lanczos; area is bilinear here; usually bilinear
	Backend       Backend       `json:"backend"`       // opencv4
	Fill          []float64     `json:"fill"`          // of what is outside: one for all channels or one for each, whole numbers of 0 to 255
}

//msgp:tuple Affine WarpAffine

func init() {
	Register(Info{
		Name: "warp_affine", Version: 1, New: func() Op { return NewWarpAffine([6]float64{1, 0, 0, 0, 1, 0}, 224, 224) },
		Reference: warpReference, Exactness: "0",
	})
}

const warpReference = "OpenCV 4.11.0 warpAffine, BORDER_CONSTANT (no IPP)"

// maxWarpSide is what remap's coordinates, which are of 16 bits, may reach in an input.
const maxWarpSide = math.MaxInt16 - 1

// NewWarpAffine warps bilinearly, and fills with zeros.
func NewWarpAffine(matrix [6]float64, height, width int) *WarpAffine {
	return &WarpAffine{Matrix: matrix, Height: height, Width: width, Interpolation: Bilinear, Backend: OpenCV4, Fill: []float64{0}}
}

// Validate checks that the matrix is finite, the size, the names, and that there is a fill value.
func (o *WarpAffine) Validate() error {
	for i, v := range o.Matrix {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return paramErr("matrix[%d] is %v, want a finite number", i, v)
		}
	}
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkWarp(o.Interpolation, o.Backend); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// checkWarp wants an interpolation that warps have, and their backend.
func checkWarp(i Interpolation, b Backend) error {
	if b != OpenCV4 {
		return paramErr("backend is %v, want opencv4", b)
	}
	if warpTaps(i) == 0 {
		return paramErr("interpolation is %v, want nearest, bilinear, bicubic, lanczos or area", i)
	}
	return nil
}

// warpTaps is the number of neighbours of an interpolation, 0 for one that there is not.
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

// wantWarped refuses what warps do not take.
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

// Infer gives the image Height x Width.
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
	h, w, ch := s.Height(), s.Width(), s.Channels()
	fill := fillPixel(c, s.Desc, o.Fill)
	m, taps := kernel.WarpInvert(o.Matrix), warpTaps(o.Interpolation)
	dx, dy := tensor.Cast[int32](c.Scratch(4*o.Width)), tensor.Cast[int32](c.Scratch(4*o.Width))
	kernel.WarpDeltas(dx, m[0])
	kernel.WarpDeltas(dy, m[3])
	line := o.Width * ch
	for y := range o.Height {
		x0, y0 := taps.WarpStart(m[1], m[2], y), taps.WarpStart(m[4], m[5], y)
		taps.WarpRow(dst[0].Data[y*line:][:line], s.Data, w, h, ch, fill, x0, y0, dx, dy)
	}
	return nil
}
