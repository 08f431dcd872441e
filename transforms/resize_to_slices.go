package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/internal/exactmath"
	"github.com/infer-prep/infer-prep/tensor"
)

// ResizeToSlices scales an image to whole patches: the whole image, or the
// canvas of its slices. It takes a uint8 or float32 image of any number of
// channels, HWC or CHW, and keeps dtype, layout and channels.
//
// Let f be Patch times Merge, S be Scale, and fit(n, d) be n/d, rounded half to
// even, at least 1, times d. An image is cut if h·w/S², rounded up, is at least
// 2. That number or a neighbour of it, from 2 to MaxSlices, becomes the number
// of slices: of all grids with so many, the one is chosen whose
// ln(columns/rows) is nearest to ln(w/h), and of equally near ones the first,
// or a later one with more rows.
//
// The whole image becomes fit(h, f) x fit(w, f) pixels. If h·w is above S², or
// if the image is not cut and KeepSmall is not set, h is first
// trunc(S/sqrt(w/h)), and w is that times w/h, truncated.
//
// With Canvas the image becomes rows x columns slices of equal size, which
// follows from the size of fit(h, rows)/rows x fit(w, columns)/columns pixels
// as if it were an image that is not cut, without KeepSmall. The canvas of an
// image that is not cut is Patch x Patch pixels; nothing should read it.
//
// All arithmetic is float64. The logarithms are those of glibc with up to 34
// slices and sides of up to 65536 pixels; longer sides are an ErrInput unless
// MaxSlices is 1.
//
// Outputs: image; grid, int64 (2): the numbers of rows and columns, or zeros;
// sizes, int32 (1 + slices, 2): the lines and columns of patches of the whole
// image and of each slice.
//
// Interpolation and Backend are those of Resize.
//
// Reference: transformers 5.23.0, MiniCPMV4_6ImageProcessor, and
// MiniCPMOcrImageProcessor for KeepSmall.
type ResizeToSlices struct {
	Patch         int           `json:"patch"`         // side of a patch in pixels, 1 to 65536; default 14
	Merge         int           `json:"merge"`         // patches along a side that are merged, 1 to 256; default 4
	Scale         int           `json:"scale"`         // side of a square slice in pixels, 1 to 65536; default 448
	MaxSlices     int           `json:"max_slices"`    // 1 to 34; 1 cuts no image; default 9
	Canvas        bool          `json:"canvas"`        // scale to the canvas of the slices; default false
	KeepSmall     bool          `json:"keep_small"`    // do not enlarge an image of at most Scale² pixels to that area; default false
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bicubic
	Backend       Backend       `json:"backend"`       // see Resize; default pillow
}

//msgp:tuple ResizeToSlices
//sheet:resize_to_slices {"patch": 4, "scale": 48, "canvas": true}

// NewResizeToSlices returns the op for the whole image: at most maxSlices
// slices, bicubic, Pillow.
func NewResizeToSlices(patch, scale, maxSlices int) *ResizeToSlices {
	return &ResizeToSlices{Patch: patch, Merge: 4, Scale: scale, MaxSlices: maxSlices, Interpolation: Bicubic, Backend: Pillow}
}

// These bounds of ResizeToSlices are those within which the logarithms of
// exactmath and of glibc choose the same grid.
const (
	maxSlices    = 34
	maxSliceSide = 1 << 16
)

// maxSliceMerge bounds Merge, so that Patch times Merge is at most 2^24.
const maxSliceMerge = 256

// Info describes the op.
func (*ResizeToSlices) Info() Info {
	return Info{
		Name: "resize_to_slices", Version: 1, New: func() Op { return NewResizeToSlices(14, 448, 9) },
		Out:       []string{"image", "grid", "sizes"},
		Reference: "transformers 5.23.0 MiniCPMV4_6ImageProcessor; backends as resize", Exactness: "0",
	}
}

// Validate checks the numbers, and that the backend supports the interpolation.
func (o *ResizeToSlices) Validate() error {
	for _, p := range []struct {
		name   string
		n, max int
	}{{"patch", o.Patch, maxSliceSide}, {"merge", o.Merge, maxSliceMerge}, {"scale", o.Scale, maxSliceSide}, {"max_slices", o.MaxSlices, maxSlices}} {
		if p.n < 1 || p.n > p.max {
			return paramErr("%s is %d, want 1 to %d", p.name, p.n, p.max)
		}
	}
	return o.sampling().validate()
}

func (o *ResizeToSlices) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, true}
}

// Grid returns the numbers of rows and columns of slices; 0 if an image of
// h x w pixels is not cut. It requires valid parameters and sides of 1 to
// 65536.
func (o *ResizeToSlices) Grid(h, w int) (rows, columns int) {
	ratio := float64(int64(w)*int64(h)) / float64(int64(o.Scale)*int64(o.Scale))
	n := int(min(math.Ceil(ratio), float64(o.MaxSlices)))
	if n <= 1 {
		return 0, 0
	}
	aspect, least := exactmath.Log(float64(w)/float64(h)), math.Inf(1)
	for slices := max(n-1, 2); slices <= min(n+1, o.MaxSlices); slices++ {
		for r := 1; r <= slices; r++ {
			if slices%r != 0 {
				continue
			}
			c := slices / r
			d := math.Abs(aspect - exactmath.Log(float64(c)/float64(r)))
			if d < least || d == least && r > rows {
				rows, columns, least = r, c, d
			}
		}
	}
	return rows, columns
}

// fit returns n as a multiple of d.
func fit(n, d float64) float64 { return max(float64(math.RoundToEven(n/d)*d), d) }

// whole returns the size of a whole image of h x w pixels.
func (o *ResizeToSlices) whole(h, w float64, enlarge bool) (nh, nw float64) {
	s, f := float64(o.Scale), float64(o.Patch*o.Merge)
	if enlarge || float64(h*w) > float64(s*s) {
		a := w / h
		h = math.Trunc(s / math.Sqrt(a))
		w = math.Trunc(float64(h * a))
	}
	return fit(h, f), fit(w, f)
}

// slicing is what ResizeToSlices makes of an image.
type slicing struct {
	rows, columns         int
	height, width         int // of the output
	wholeLines, wholeCols int // of patches
	lines, cols           int // of patches of a slice
}

// cut computes the sizes for an image of h x w pixels.
func (o *ResizeToSlices) cut(h, w int) (s slicing, err error) {
	if h < 1 || w < 1 || max(h, w) > maxSide {
		return s, inputErr("an image of %d x %d (height x width), want sides of 1 to %d", h, w, maxSide)
	}
	if o.MaxSlices > 1 && max(h, w) > maxSliceSide {
		return s, inputErr("an image of %d x %d (height x width), want sides of at most %d", h, w, maxSliceSide)
	}
	s.rows, s.columns = o.Grid(h, w)
	fh, fw := o.whole(float64(h), float64(w), s.rows == 0 && !o.KeepSmall)
	if s.height, s.width, err = sides(h, w, fh, fw); err != nil {
		return s, err
	}
	s.wholeLines, s.wholeCols = s.height/o.Patch, s.width/o.Patch
	if s.rows == 0 {
		if o.Canvas {
			s.height, s.width = o.Patch, o.Patch
		}
		return s, nil
	}
	rows, columns := float64(s.rows), float64(s.columns)
	sh, sw := o.whole(fit(float64(h), rows)/rows, fit(float64(w), columns)/columns, true)
	ch, cw, err := sides(h, w, float64(sh*rows), float64(sw*columns))
	if err != nil {
		return s, err
	}
	s.lines, s.cols = ch/s.rows/o.Patch, cw/s.columns/o.Patch
	if o.Canvas {
		s.height, s.width = ch, cw
	}
	return s, nil
}

// Infer sets the size and the number of slices.
func (o *ResizeToSlices) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := o.sampling().want(d); err != nil {
		return err
	}
	h, w, n := tensor.Unknown, tensor.Unknown, tensor.Unknown
	if d.Height() != tensor.Unknown && d.Width() != tensor.Unknown {
		s, err := o.cut(d.Height(), d.Width())
		if err != nil {
			return err
		}
		h, w, n = s.height, s.width, 1+s.rows*s.columns
	}
	dst[0] = d.WithSize(h, w)
	dst[1] = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(2)}
	dst[2] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(n, 2)}
	return inferred(dst[0])
}

// Apply scales.
func (o *ResizeToSlices) Apply(c *Context, dst, src []*tensor.Tensor) error {
	o.Report(dst, []tensor.Desc{src[0].Desc})
	return o.sampling().apply(c, dst[0], src[0])
}

// Reported returns 1, the index of the grid, which the sizes follow.
func (o *ResizeToSlices) Reported() int { return 1 }

// Report writes the grid and the sizes.
func (o *ResizeToSlices) Report(dst []*tensor.Tensor, in []tensor.Desc) {
	s, _ := o.cut(in[0].Height(), in[0].Width()) // Infer accepted it
	grid, sizes := tensor.View[int64](dst[1]), tensor.View[int32](dst[2])
	grid[0], grid[1] = int64(s.rows), int64(s.columns)
	sizes[0], sizes[1] = int32(s.wholeLines), int32(s.wholeCols)
	for i := 2; i < len(sizes); i += 2 {
		sizes[i], sizes[i+1] = int32(s.lines), int32(s.cols)
	}
}
