package transforms

import "github.com/infer-prep/infer-prep/tensor"

// RandomSquareCrop cuts a square of random size out of an image, at a random place or in its middle, and scales it to
// Height x Width. Dtypes, layouts, arithmetic and differences are those of ResizedCrop. An image with a side below
// MaxSide is an ErrInput.
//
// The side is drawn from MinSide to MaxSide, all as likely, then, unless Centered, the first row, and then the first column.
//
// Reference: MXNet 1.9.1's ImageRecordIter: min_crop_size and max_crop_size, with rand_crop or not.
type RandomSquareCrop struct {
	Height        int           `json:"height"`        // of the output, in pixels, 1 to 2^24
	Width         int           `json:"width"`         // likewise
	MinSide       int           `json:"min_side"`      // of the square, 1 to 2^24
	MaxSide       int           `json:"max_side"`      // likewise, at least MinSide
	Centered      bool          `json:"centered"`      // the square's middle is the image's, rounded down; usually false
	Interpolation Interpolation `json:"interpolation"` // usually bilinear
	Backend       Backend       `json:"backend"`       // usually opencv
	NoAntialias   bool          `json:"no_antialias"`  // for torch; usually false
}

//msgp:tuple RandomSquareCrop

func init() {
	Register(Info{
		Name: "random_square_crop", Version: 1, New: func() Op { return NewRandomSquareCrop(224, 224, 160, 256) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	})
}

// NewRandomSquareCrop cuts at random places, and scales bilinearly as OpenCV.
func NewRandomSquareCrop(height, width, least, most int) *RandomSquareCrop {
	return &RandomSquareCrop{
		Height: height, Width: width, MinSide: least, MaxSide: most, Interpolation: Bilinear, Backend: OpenCV,
	}
}

// Validate checks the sizes, and that the backend has the interpolation.
func (o *RandomSquareCrop) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkSide("min_side", o.MinSide); err != nil {
		return err
	}
	if o.MaxSide < o.MinSide || o.MaxSide > maxSide {
		return paramErr("max_side is %d, want %d to %d", o.MaxSide, o.MinSide, maxSide)
	}
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}.validate()
}

// Infer gives the image Height x Width.
func (o *RandomSquareCrop) Infer(dst, in []tensor.Desc) error {
	if err := wantSampled(in[0]); err != nil {
		return err
	}
	h, w := in[0].Height(), in[0].Width()
	if h != tensor.Unknown && h < o.MaxSide || w != tensor.Unknown && w < o.MaxSide {
		return inputErr("%v, want sides of at least %d", in[0], o.MaxSide)
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return nil
}

// Apply is not for random ops.
func (o *RandomSquareCrop) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a ResizedCrop.
func (o *RandomSquareCrop) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	if min(h, w) < o.MaxSide {
		return inputErr("%v, want sides of at least %d", d.In[0], o.MaxSide)
	}
	side := o.MinSide + d.IntN(o.MaxSide-o.MinSide+1)
	top, left := (h-side)/2, (w-side)/2
	if !o.Centered {
		top = d.IntN(h - side + 1)
		left = d.IntN(w - side + 1)
	}
	op := Make[ResizedCrop](d)
	*op = ResizedCrop{
		Top: top, Left: left, Height: side, Width: side, OutHeight: o.Height, OutWidth: o.Width,
		Interpolation: o.Interpolation, Backend: o.Backend, NoAntialias: o.NoAntialias,
	}
	return d.Emit(op)
}
