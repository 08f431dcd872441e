package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// NearestColor replaces every pixel by the number of the nearest colour, row by
// row. It takes a float32 image with three channels, HWC or CHW. The output is
// int64 (pixels). The first of equally near colours wins.
//
// The distance of pixel p to colour c is (|p|² - 2 p·c) + |c|². With float32,
// the colours are rounded to float32 first, p·c adds with one rounding each,
// and everything else rounds every product and sum. torch computes so for at
// least 16 colours and 2 pixels; with fewer an image is an ErrInput. With
// float64, |p|² is computed in float32, and the rest like float32's in float64.
//
// Reference: transformers 5.23.0, color_quantize of ImageGPT: torch 2.15.0
// (float32) and NumPy 2.4.6 (float64), on CPUs with FMA.
type NearestColor struct {
	Colors []float64    `json:"colors"` // red, green and blue of each colour, in the image's range; 16 to 2^16 colours
	DType  tensor.DType `json:"dtype"`  // of the distances: float32 or float64; default float32
}

//msgp:tuple NearestColor

// NewNearestColor returns the op with float32 distances. It keeps the slice.
func NewNearestColor(colors []float64) *NearestColor {
	return &NearestColor{Colors: colors, DType: tensor.Float32}
}

// These are the numbers of colours that NearestColor takes.
const (
	minColors = 16
	maxColors = 1 << 16
)

// Info describes the op.
func (*NearestColor) Info() Info {
	return Info{
		Name: "nearest_color", Version: 1,
		New: func() Op {
			// The corners of the RGB cube and of a smaller one, for values
			// of -1 to 1.
			var colors []float64
			for i := range 16 {
				size := 1 - float64(float64(i/8)*0.5)
				for _, bit := range [3]int{4, 2, 1} {
					v := -size
					if i&bit != 0 {
						v = size
					}
					colors = append(colors, v)
				}
			}
			return NewNearestColor(colors)
		},
		Reference: "transformers 5.23.0 ImageGPT color_quantize", Exactness: "0",
	}
}

// Validate checks the colours and the dtype.
func (o *NearestColor) Validate() error {
	if o.DType != tensor.Float32 && o.DType != tensor.Float64 {
		return paramErr("dtype is %v, want float32 or float64", o.DType)
	}
	if n := len(o.Colors); n%3 != 0 || n < 3*minColors || n > 3*maxColors {
		return paramErr("colors has %d values, want 3 for each of %d to %d colours", n, minColors, maxColors)
	}
	return checkValues("colors", o.Colors)
}

// Infer describes one number for each pixel.
func (o *NearestColor) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantImage(d, tensor.Float32); err != nil {
		return err
	}
	if err := wantChannels(d, 3); err != nil {
		return err
	}
	n := tensor.Unknown
	if h, w := d.Height(), d.Width(); h != tensor.Unknown && w != tensor.Unknown {
		if h > maxSide || w > maxSide {
			return inputErr("%v, want sides of at most %d", d, maxSide)
		}
		pixels := int64(h) * int64(w)
		if pixels < 2 || int64(int(pixels)) != pixels {
			return inputErr("%v has %d pixels, want at least 2", d, pixels)
		}
		n = int(pixels)
	}
	dst[0] = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(n)}
	return inferred(dst[0])
}

// Apply finds the nearest colours.
func (o *NearestColor) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	x, out := tensor.View[float32](s), tensor.View[int64](dst[0])
	step, next := strides(s.Desc)
	if o.DType == tensor.Float64 {
		norms := tensor.Cast[float64](c.Scratch(len(o.Colors) / 3 * 8))
		for i := range norms {
			p := o.Colors[3*i:]
			norms[i] = float64(float64(p[0]*p[0])+float64(p[1]*p[1])) + float64(p[2]*p[2])
		}
		for i := range out {
			p := x[i*step:]
			out[i] = o.nearest64(p[0], p[next], p[2*next], norms)
		}
		return nil
	}
	table := tensor.Cast[float32](c.Scratch(len(o.Colors) / 3 * 4 * 4)) // colour and norm
	for i := range len(table) / 4 {
		p, q := o.Colors[3*i:], table[4*i:][:4]
		q[0], q[1], q[2] = float32(p[0]), float32(p[1]), float32(p[2])
		q[3] = norm32(q[0], q[1], q[2])
	}
	for i := range out {
		p := x[i*step:]
		out[i] = nearest32(p[0], p[next], p[2*next], table)
	}
	return nil
}

func norm32(r, g, b float32) float32 {
	return float32(float32(r*r)+float32(g*g)) + float32(b*b)
}

// nearest32 returns the number of the nearest colour in float32.
func nearest32(r, g, b float32, table []float32) int64 {
	norm, best, at := norm32(r, g, b), float32(math.Inf(1)), 0
	for i := 0; i < len(table); i += 4 {
		q := table[i:][:4]
		dot := exactmath.Add32(float64(float64(g)*float64(q[1])), float32(r*q[0]))
		dot = exactmath.Add32(float64(float64(b)*float64(q[2])), dot)
		if d := float32(norm-float32(2*dot)) + q[3]; d < best {
			best, at = d, i/4
		}
	}
	return int64(at)
}

// nearest64 returns the number of the nearest colour in float64.
func (o *NearestColor) nearest64(r, g, b float32, norms []float64) int64 {
	norm, best, at := float64(norm32(r, g, b)), math.Inf(1), 0
	for i, n := range norms {
		q := o.Colors[3*i:][:3]
		dot := math.FMA(float64(b), q[2], math.FMA(float64(g), q[1], float64(float64(r)*q[0])))
		if d := float64(norm-float64(2*dot)) + n; d < best {
			best, at = d, i
		}
	}
	return int64(at)
}
