package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// ResizeToCrops scales an image to a canvas of square crops that overlap. It
// takes a uint8 or float32 image of any number of channels, HWC or CHW, and
// keeps dtype, layout and channels.
//
// Let s be Crop - Margin, the step from one crop to the next. The canvas has
// rows·s + Margin lines and columns·s + Margin columns. Of all grids of at most
// MaxCrops crops, the one is chosen whose scale, min(rows·s/(h - Margin),
// columns·s/(w - Margin)) in float32, is the least of at least 1, else the
// greatest; of equal ones that with the fewest crops, then with the fewest
// rows. The differences may be negative, and a division by 0 is infinity.
//
// Outputs: image; grid, int64 (2): the numbers of rows and columns of crops.
//
// Interpolation and Backend are those of Resize.
//
// Reference: transformers 5.23.0, Molmo2ImageProcessor.
type ResizeToCrops struct {
	Crop          int           `json:"crop"`          // side of a crop in pixels, 2 to 2^24; default 378
	Margin        int           `json:"margin"`        // pixels that neighbours share, 0 to Crop - 1; default 112
	MaxCrops      int           `json:"max_crops"`     // 1 to 1024; default 8
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bilinear
	Backend       Backend       `json:"backend"`       // see Resize; default torch
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default true
}

//msgp:tuple ResizeToCrops
//sheet:resize_to_crops {"crop": 64, "margin": 16}

// NewResizeToCrops returns the op: bilinear, torch, without antialiasing.
func NewResizeToCrops(crop, margin, maxCrops int) *ResizeToCrops {
	return &ResizeToCrops{Crop: crop, Margin: margin, MaxCrops: maxCrops, Interpolation: Bilinear, Backend: Torch, NoAntialias: true}
}

// Info describes the op.
func (*ResizeToCrops) Info() Info {
	return Info{
		Name: "resize_to_crops", Version: 1, New: func() Op { return NewResizeToCrops(378, 112, 8) },
		Out:       []string{"image", "grid"},
		Reference: "transformers 5.23.0 Molmo2ImageProcessor; backends as resize", Exactness: "0",
	}
}

// Validate checks the numbers, and that the backend supports the interpolation.
func (o *ResizeToCrops) Validate() error {
	switch {
	case o.Crop < 2 || o.Crop > maxSide:
		return paramErr("crop is %d, want 2 to %d", o.Crop, maxSide)
	case o.Margin < 0 || o.Margin >= o.Crop:
		return paramErr("margin is %d, want 0 to %d with crop %d", o.Margin, o.Crop-1, o.Crop)
	case o.MaxCrops < 1 || o.MaxCrops > maxTiles:
		return paramErr("max_crops is %d, want 1 to %d", o.MaxCrops, maxTiles)
	}
	return o.sampling().validate()
}

func (o *ResizeToCrops) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}
}

// grid chooses the numbers of rows and columns for an image of h x w pixels.
func (o *ResizeToCrops) grid(h, w int) (rows, columns int) {
	fh, fw := float32(h-o.Margin), float32(w-o.Margin)
	step, best := o.Crop-o.Margin, float32(math.Inf(-1))
	for r := 1; r <= o.MaxCrops; r++ {
		for c := 1; r*c <= o.MaxCrops; c++ {
			s := min(float32(r*step)/fh, float32(c*step)/fw)
			better := s > best
			if best >= 1 {
				better = s >= 1 && s < best
			}
			if better || s == best && r*c < rows*columns {
				best, rows, columns = s, r, c
			}
		}
	}
	return rows, columns
}

// canvas returns the grid and the size of the canvas.
func (o *ResizeToCrops) canvas(h, w int) (rows, columns, nh, nw int, err error) {
	if h < 1 || w < 1 || max(h, w) > maxSide {
		return 0, 0, 0, 0, inputErr("an image of %d x %d (height x width), want sides of 1 to %d", h, w, maxSide)
	}
	rows, columns = o.grid(h, w)
	step := o.Crop - o.Margin
	nh, nw, err = sides(h, w, float64(rows*step+o.Margin), float64(columns*step+o.Margin))
	return rows, columns, nh, nw, err
}

// Infer sets the size of the canvas.
func (o *ResizeToCrops) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := o.sampling().want(d); err != nil {
		return err
	}
	h, w := tensor.Unknown, tensor.Unknown
	if d.Height() != tensor.Unknown && d.Width() != tensor.Unknown {
		var err error
		if _, _, h, w, err = o.canvas(d.Height(), d.Width()); err != nil {
			return err
		}
	}
	dst[0] = d.WithSize(h, w)
	dst[1] = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(2)}
	return inferred(dst[0])
}

// Apply scales.
func (o *ResizeToCrops) Apply(c *Context, dst, src []*tensor.Tensor) error {
	o.Report(dst, []tensor.Desc{src[0].Desc})
	return o.sampling().apply(c, dst[0], src[0])
}

// Reported returns 1, the index of the grid.
func (o *ResizeToCrops) Reported() int { return 1 }

// Report writes the grid.
func (o *ResizeToCrops) Report(dst []*tensor.Tensor, in []tensor.Desc) {
	rows, columns, _, _, _ := o.canvas(in[0].Height(), in[0].Width()) // Infer accepted it
	grid := tensor.View[int64](dst[1])
	grid[0], grid[1] = int64(rows), int64(columns)
}
