package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Cutmix pastes a window of each image's partner into the image, and blends the
// labels by the areas: with the window's share w of the image's area, a label
// becomes (1-w)*label + w*partner.
//
// Inputs: image, uint8 or float32 (n, channels, height, width) or (n, height,
// width, channels), see Layout, without layout; label, numbers (n, classes), or
// with Classes, integers (n) from 0 to Classes-1, of which a vector with a 1 is
// made first. Outputs: image, as the input; label, float32 (n, classes),
// computed in float32. No value of an image changes.
//
// Source: Yun et al., CutMix: Regularization Strategy to Train Strong
// Classifiers with Localizable Features, 2019. Reference: torchvision 0.29.2's
// v2.CutMix with torch 2.15.0.
type Cutmix struct {
	// Windows are four numbers, for all images or for each: first row, first
	// column, height and width in pixels, 0 to 2^24, within the image. Default
	// 0, 0, 16, 16.
	Windows  []int         `json:"windows"`
	Partners IndexList     `json:"partners"` // the index of each image's partner; empty for the image before, the last for the first; default empty
	Classes  int           `json:"classes"`  // number of classes of integer labels, 1 to 2^24; 0 for labels that are vectors; default 0
	Layout   tensor.Layout `json:"layout"`   // of one image, CHW or HWC; default CHW
}

//msgp:tuple Cutmix

// NewCutmix returns the op that pastes the same window of the image before into
// each image, of layout CHW.
func NewCutmix(top, left, height, width int) *Cutmix {
	return &Cutmix{Windows: []int{top, left, height, width}, Layout: tensor.CHW}
}

// Info describes the op.
func (*Cutmix) Info() Info {
	return Info{
		Name: "cutmix", Version: 1, New: func() Op { return NewCutmix(0, 0, 16, 16) },
		In: labelled, Out: labelled,
		Reference: "torchvision 0.29.2 CutMix", Exactness: "0",
	}
}

// Validate checks the windows, the partners and the number of classes.
func (o *Cutmix) Validate() error {
	if n := len(o.Windows); n < 4 || n%4 != 0 || n > 4*maxImages {
		return paramErr("windows has %d numbers, want four for all images or for each of at most %d", n, maxImages)
	}
	for i, v := range o.Windows {
		if v < 0 || v > maxSide {
			return paramErr("windows[%d] is %d, want 0 to %d", i, v, maxSide)
		}
	}
	if err := checkBatchLayout(o.Layout); err != nil {
		return err
	}
	return checkPartners(o.Partners, o.Classes)
}

func checkBatchLayout(l tensor.Layout) error {
	if l != tensor.CHW && l != tensor.HWC {
		return paramErr("layout is %v, want CHW or HWC", l)
	}
	return nil
}

// Infer describes the images and the vectors.
func (o *Cutmix) Infer(dst, in []tensor.Desc) error {
	if err := inferLabelled(dst, in, o.Classes); err != nil {
		return err
	}
	h, w, err := batchSize(in[0], o.Layout)
	if err != nil {
		return err
	}
	for i := 0; i < len(o.Windows); i += 4 {
		if v := o.Windows[i:]; h != tensor.Unknown && v[0]+v[2] > h || w != tensor.Unknown && v[1]+v[3] > w {
			return inputErr("window %d is %d x %d (height x width) at row %d, column %d, want one within %d x %d", i/4, v[2], v[3], v[0], v[1], h, w)
		}
	}
	return wantPerImage(in[0], len(o.Windows), len(o.Partners), 4)
}

// batchSize returns the size of the images of a batch.
func batchSize(d tensor.Desc, l tensor.Layout) (h, w int, err error) {
	if d.Shape.Rank() != 4 {
		return 0, 0, inputErr("%v, want a batch of images: four axes", d)
	}
	if l == tensor.CHW {
		return d.Shape.At(2), d.Shape.At(3), nil
	}
	return d.Shape.At(1), d.Shape.At(2), nil
}

// Apply pastes.
func (o *Cutmix) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	h, w, err := batchSize(s.Desc, o.Layout)
	if err != nil {
		return err
	}
	n := s.Shape.At(0)
	if n == 0 || len(s.Data) == 0 {
		return inputErr("%v, want images", s.Desc)
	}
	copy(dst[0].Data, s.Data)
	size := len(s.Data) / n
	g := gridOf(tensor.Desc{DType: s.DType, Layout: o.Layout, Shape: tensor.Dims(s.Shape.At(1), s.Shape.At(2), s.Shape.At(3))})
	window := func(i int) []int { return o.Windows[min(4*i, len(o.Windows)-4):][:4] }
	for i := range n {
		to, from := dst[0].Data[i*size:][:size], s.Data[partner(o.Partners, i, n)*size:][:size]
		v := window(i)
		left, right := v[1]*g.pixel, (v[1]+v[3])*g.pixel
		for p := range g.planes {
			for y := v[0]; y < v[0]+v[2]; y++ {
				copy(g.row(to, p, y)[left:right], g.row(from, p, y)[left:])
			}
		}
	}
	return mixLabels(c, dst[1], src[1], o.Partners, func(i int) float64 {
		v := window(i)
		return 1 - float64(int64(v[2])*int64(v[3]))/float64(int64(w)*int64(h))
	})
}
