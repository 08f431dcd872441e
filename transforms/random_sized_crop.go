package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// RandomSizedCrop cuts a box of random size, shape and place out of an image and scales it to Height x Width,
// as MXNet does: the aspect ratio itself is uniform, not its logarithm, and the box may lie on its side. Dtypes, layouts,
// arithmetic and differences are those of ResizedCrop.
//
// Up to ten times three numbers are drawn: an area, uniform in Area times the image's, a ratio (width by height), uniform in
// Ratio, and one of [0, 1), at which above 0.5 the sides sqrt(area/ratio) and sqrt(area*ratio), rounded half up, change places. If they
// are neither 0 nor larger than the image's, the first row is drawn, all as likely, and then likewise the first column. After ten
// times the image is enlarged until it has Height rows, then until it has Width columns, where it has fewer,
// the other side in proportion, in float32 without its fraction, and cut about its middle. So is it where Area and Ratio are 1 to 1: nothing is drawn.
//
// Reference: MXNet 1.9.1's ImageRecordIter: random_resized_crop.
type RandomSizedCrop struct {
	Height        int           `json:"height"`        // of the output, in pixels, 1 to 2^24
	Width         int           `json:"width"`         // likewise
	Area          Range         `json:"area"`          // of the box, 0 to 100, usually 0.08 to 1
	Ratio         Range         `json:"ratio"`         // of its sides, 0.001 to 1000, usually 3/4 to 4/3
	Interpolation Interpolation `json:"interpolation"` // usually bilinear
	Backend       Backend       `json:"backend"`       // usually opencv
	NoAntialias   bool          `json:"no_antialias"`  // for torch; usually false
}

//msgp:tuple RandomSizedCrop

func init() {
	Register(Info{
		Name: "random_sized_crop", Version: 1, New: func() Op { return NewRandomSizedCrop(224, 224) },
		Reference: mxnetDrawReference, Exactness: randomExactness,
	})
}

// NewRandomSizedCrop makes the op with the usual ranges: bilinear, OpenCV.
func NewRandomSizedCrop(height, width int) *RandomSizedCrop {
	return &RandomSizedCrop{
		Height: height, Width: width, Area: Range{0.08, 1}, Ratio: Range{3.0 / 4, 4.0 / 3}, Interpolation: Bilinear, Backend: OpenCV,
	}
}

// Validate checks the size, the ranges, and that the backend has the interpolation.
func (o *RandomSizedCrop) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := o.Area.check("area", 0, 100); err != nil {
		return err
	}
	if err := o.Ratio.check("ratio", 0.001, 1000); err != nil {
		return err
	}
	return o.sampling().validate()
}

func (o *RandomSizedCrop) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}
}

// Infer gives the image Height x Width.
func (o *RandomSizedCrop) Infer(dst, in []tensor.Desc) error {
	if err := wantSampled(in[0]); err != nil {
		return err
	}
	dst[0] = in[0].WithSize(o.Height, o.Width)
	return nil
}

// Apply is not for random ops.
func (o *RandomSizedCrop) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a ResizedCrop, or up to two Resizes and a Crop.
func (o *RandomSizedCrop) Draw(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	if one := (Range{1, 1}); o.Area == one && o.Ratio == one {
		return o.middle(d)
	}
	for range boxTries {
		area := float64(float64(h) * float64(w) * o.Area.draw(&d.Stream))
		ratio := o.Ratio.draw(&d.Stream)
		height, width := int(math.Round(math.Sqrt(area/ratio))), int(math.Round(math.Sqrt(float64(area*ratio))))
		if d.Float64() > 0.5 {
			height, width = width, height
		}
		if height < 1 || width < 1 || height > h || width > w {
			continue
		}
		op := Make[ResizedCrop](d)
		*op = ResizedCrop{
			Top: d.IntN(h - height + 1), Left: d.IntN(w - width + 1), Height: height, Width: width, OutHeight: o.Height, OutWidth: o.Width,
			Interpolation: o.Interpolation, Backend: o.Backend, NoAntialias: o.NoAntialias,
		}
		return d.Emit(op)
	}
	return o.middle(d)
}

// middle cuts the middle out of an image, which is enlarged before if it is too small.
func (o *RandomSizedCrop) middle(d *Draw) error {
	h, w, err := d.size()
	if err != nil {
		return err
	}
	// other is a side in the proportion of two others.
	other := func(to, from, side int) int {
		return int(min(float32(float32(to)/float32(from)*float32(side)), 2*maxSide)) // more is refused
	}
	if h < o.Height {
		if h, w, err = o.resize(d, o.Height, other(o.Height, h, w)); err != nil {
			return err
		}
	}
	if w < o.Width {
		if h, w, err = o.resize(d, other(o.Width, w, h), o.Width); err != nil {
			return err
		}
	}
	if h == o.Height && w == o.Width {
		return nil
	}
	op := Make[Crop](d)
	*op = Crop{Top: (h - o.Height) / 2, Left: (w - o.Width) / 2, Height: o.Height, Width: o.Width}
	return d.Emit(op)
}

func (o *RandomSizedCrop) resize(d *Draw, h, w int) (int, int, error) {
	if h > maxSide || w > maxSide {
		return 0, 0, inputErr("%v would have to be enlarged to %d x %d, want sides of at most %d", d.In[0], h, w, maxSide)
	}
	op := Make[Resize](d)
	*op = Resize{Fit: FitExact, Height: h, Width: w, Interpolation: o.Interpolation, Backend: o.Backend, NoAntialias: o.NoAntialias}
	return h, w, d.Emit(op)
}
