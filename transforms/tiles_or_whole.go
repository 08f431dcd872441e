package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// TilesOrWhole returns the rows of tiles for a large image, and those of whole
// for others. A row is an element of the first axis. Both tensors have no
// layout, one dtype of fixed size and the same number of axes. No value
// changes.
//
// The sides of the image are rounded to multiples of Factor, half to even, and
// are then at least MinSide. The image is large if their product is above
// MaxPixels.
//
// With Join, the rows of whole follow those of tiles if there are several
// tiles; both then have the same shape after the first axis, else the image is
// an ErrInput.
//
// Reference: transformers 5.23.0, Lfm2VlImageProcessor; NumPy 2.4.6,
// concatenate.
type TilesOrWhole struct {
	Factor    int     `json:"factor"`     // in pixels, 1 to 2^24; LFM2-VL: 32
	MinSide   int     `json:"min_side"`   // in pixels, 1 to 2^24; LFM2-VL: 16
	MaxPixels float64 `json:"max_pixels"` // area of the largest image that is not large; LFM2-VL: 524288
	Join      bool    `json:"join"`       // let whole follow several tiles; default true
}

//msgp:tuple TilesOrWhole
//sheet:tiles_or_whole {"max_pixels": 1000}

// NewTilesOrWhole returns the op, which joins the rows.
func NewTilesOrWhole(factor, minSide int, maxPixels float64) *TilesOrWhole {
	return &TilesOrWhole{Factor: factor, MinSide: minSide, MaxPixels: maxPixels, Join: true}
}

// Info describes the op.
func (*TilesOrWhole) Info() Info {
	return Info{
		Name: "tiles_or_whole", Version: 1, New: func() Op { return NewTilesOrWhole(32, 16, 524288) },
		In: []string{"tiles", "whole", "image"}, Out: []string{"rows"},
		Reference: "transformers 5.23.0 Lfm2VlImageProcessor", Exactness: "0",
	}
}

// Validate checks the sides and the area.
func (o *TilesOrWhole) Validate() error {
	if err := checkSide("factor", o.Factor); err != nil {
		return err
	}
	if err := checkSide("min_side", o.MinSide); err != nil {
		return err
	}
	return checkValues("max_pixels", []float64{o.MaxPixels})
}

// large reports whether an image of h x w pixels is large.
func (o *TilesOrWhole) large(h, w int) bool {
	f, least := float64(o.Factor), float64(o.MinSide)
	fh := max(least, float64(math.RoundToEven(float64(h)/f)*f))
	fw := max(least, float64(math.RoundToEven(float64(w)/f)*f))
	return float64(fh*fw) > o.MaxPixels
}

// Infer sets the number of rows.
func (o *TilesOrWhole) Infer(dst, in []tensor.Desc) error {
	tiles, whole, image := in[0], in[1], in[2]
	for _, d := range in[:2] {
		if err := wantTiles(d); err != nil {
			return err
		}
	}
	if err := wantImage(image); err != nil {
		return err
	}
	if tiles.DType != whole.DType || tiles.Shape.Rank() != whole.Shape.Rank() {
		return inputErr("%v and %v, want the same dtype and the same number of axes", tiles, whole)
	}
	h, w := image.Height(), image.Width()
	if max(h, w) > maxSide {
		return inputErr("%v, want sides of at most %d", image, maxSide)
	}
	if h == tensor.Unknown || w == tensor.Unknown {
		dst[0] = tiles
		for i := range tiles.Shape.Rank() {
			if i == 0 || tiles.Shape.At(i) != whole.Shape.At(i) {
				dst[0].Shape = dst[0].Shape.With(i, tensor.Unknown)
			}
		}
		return inferred(dst[0])
	}
	dst[0] = whole
	if o.large(h, w) {
		dst[0] = tiles
		n, m := tiles.Shape.At(0), whole.Shape.At(0)
		switch {
		case !o.Join || n == 1:
		case n == tensor.Unknown || m == tensor.Unknown:
			dst[0].Shape = tiles.Shape.With(0, tensor.Unknown)
		default:
			for i := 1; i < tiles.Shape.Rank(); i++ {
				if a, b := tiles.Shape.At(i), whole.Shape.At(i); a != b && a != tensor.Unknown && b != tensor.Unknown {
					return inputErr("tiles of %v and a whole image of %v, want the same shape after the first axis", tiles, whole)
				}
			}
			if n > math.MaxInt-m {
				return inputErr("%v and %v have too many rows", tiles, whole)
			}
			dst[0].Shape = tiles.Shape.With(0, n+m)
		}
	}
	return inferred(dst[0])
}

// Apply copies the rows.
func (o *TilesOrWhole) Apply(c *Context, dst, src []*tensor.Tensor) error {
	out := dst[0].Data
	for i, s := range src[:2] {
		large := o.large(src[2].Height(), src[2].Width())
		if i == 0 && !large || i == 1 && large && (!o.Join || src[0].Shape.At(0) == 1) {
			continue
		}
		d, err := c.Dense(s)
		if err != nil {
			return err
		}
		out = out[copy(out, d.Data):]
	}
	return nil
}
