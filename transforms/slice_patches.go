package transforms

import "github.com/infer-prep/infer-prep/tensor"

// SlicePatches cuts an image into Rows x Columns patches of one size, row by
// row. It takes any dtype of fixed size, HWC or CHW. No value changes. The
// sides of a patch are those of the image divided by Rows and Columns, rounded
// up. Pixels beyond the image are Fill. With Drop, the sides are rounded down,
// and the pixels that remain at the bottom and at the right are dropped. More
// rows or columns than pixels are an ErrInput.
//
// The output has no layout. Its first axis counts the patches, and the others
// are those of an image.
//
// Reference: MindSpore 2.10.0 SlicePatches, with its outputs stacked.
type SlicePatches struct {
	Rows    int  `json:"rows"`    // patches along the height, 1 to 2^24
	Columns int  `json:"columns"` // patches along the width, 1 to 2^24
	Drop    bool `json:"drop"`    // drop what remains, in place of padding; default false
	// Fill is the value of the padding, in the image's own range: one for all
	// channels or one per channel. Default 0.
	Fill []float64 `json:"fill"`
}

//msgp:tuple SlicePatches

// NewSlicePatches returns the op that pads with 0.
func NewSlicePatches(rows, columns int) *SlicePatches {
	return &SlicePatches{Rows: rows, Columns: columns, Fill: []float64{0}}
}

// Info describes the op.
func (*SlicePatches) Info() Info {
	return Info{
		Name: "slice_patches", Version: 1, New: func() Op { return NewSlicePatches(2, 2) },
		Reference: "MindSpore 2.10.0 SlicePatches", Exactness: "0",
	}
}

// Validate checks the numbers and the fill.
func (o *SlicePatches) Validate() error {
	if err := checkSide("rows", o.Rows); err != nil {
		return err
	}
	if err := checkSide("columns", o.Columns); err != nil {
		return err
	}
	return checkValues("fill", o.Fill)
}

// side returns the side of a patch.
func (o *SlicePatches) side(side, n int) int {
	if side == tensor.Unknown {
		return side
	}
	if !o.Drop {
		side += n - 1
	}
	return side / n
}

// Infer describes the patches.
func (o *SlicePatches) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	if err := wantPadding(d, PadConstant, o.Fill); err != nil {
		return err
	}
	h, w := d.Height(), d.Width()
	if h != tensor.Unknown && h < o.Rows || w != tensor.Unknown && w < o.Columns {
		return inputErr("%v has fewer pixels than %d x %d (rows x columns) patches", d, o.Rows, o.Columns)
	}
	count := int64(o.Rows) * int64(o.Columns)
	if int64(int(count)) != count {
		return inputErr("%d patches are too many to count", count)
	}
	dst[0] = tiled(d.WithSize(o.side(h, o.Rows), o.side(w, o.Columns)), int(count))
	return inferred(dst[0])
}

// Apply copies the patches.
func (o *SlicePatches) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	patch := s.WithSize(o.side(s.Height(), o.Rows), o.side(s.Width(), o.Columns))
	fill := fillPixel(c, s.Desc, o.Fill)
	rest := dst[0].Data
	for r := range o.Rows {
		for k := range o.Columns {
			rest = window{r * patch.Height(), k * patch.Width(), PadConstant, fill}.cut(rest, patch, s)
		}
	}
	return nil
}
