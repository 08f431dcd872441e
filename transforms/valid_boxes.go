package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ValidBoxes reports which boxes are large enough and inside an image of Height
// x Width pixels. It takes a float32 tensor (n, 4) without layout, of rotated
// boxes (n, 5) or (n, 8), and returns bool (n). Further values of a row are
// ignored. There may be no boxes. SelectRows then keeps the boxes, labels and
// masks that are valid.
//
// A box is valid if its sides w and h are at least MinSize, their product is at
// least MinArea, all its corners are at least 0, x is at most Width and y at
// most Height. All arithmetic is float32. A box with NaN is invalid. Of a
// rotated box with the corners 1 to 4, w is the distance from corner 1 to 2. As
// in torchvision, h is the length of (y2-y3, x3-x4), which is the other side
// only for boxes at right angles or with equal sides.
//
// Reference: sanitize_bounding_boxes of torchvision 0.29.2 (transforms.v2) with
// torch 2.15.0.
type ValidBoxes struct {
	Format  CoordFormat `json:"format"`   // of boxes; default xyxy
	Height  int         `json:"height"`   // height of the image in pixels, 1 to 2^24
	Width   int         `json:"width"`    // width of the image in pixels, 1 to 2^24
	MinSize float64     `json:"min_size"` // smallest side in pixels, -2^24 to 2^24; default 1
	MinArea float64     `json:"min_area"` // smallest area in pixels, -2^48 to 2^48; default 1
}

//msgp:tuple ValidBoxes

// NewValidBoxes returns the op for an image of height x width pixels, with
// torchvision's smallest side and area of 1.
func NewValidBoxes(format CoordFormat, height, width int) *ValidBoxes {
	return &ValidBoxes{Format: format, Height: height, Width: width, MinSize: 1, MinArea: 1}
}

// Info describes the op.
func (*ValidBoxes) Info() Info {
	return Info{
		Name: "valid_boxes", Version: 1, New: func() Op { return NewValidBoxes(CoordXYXY, 224, 224) },
		In: []string{"boxes"}, Out: []string{"mask"},
		Reference: "torchvision 0.29.2 sanitize_bounding_boxes", Exactness: rotatedExactness,
	}
}

// Validate checks the format and the numbers.
func (o *ValidBoxes) Validate() error {
	if err := checkEnum("format", o.Format, pixelFormats); err != nil {
		return err
	}
	if o.Format == CoordXY {
		return paramErr("format is xy, a point, want a format of boxes; valid_keypoints takes points")
	}
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if err := checkWithin("min_size", o.MinSize, maxSide); err != nil {
		return err
	}
	return checkWithin("min_area", o.MinArea, maxSide*maxSide)
}

// Infer describes a value for each box.
func (o *ValidBoxes) Infer(dst, in []tensor.Desc) error {
	if err := wantCoords(in[0], o.Format); err != nil {
		return err
	}
	if in[0].Shape.Rank() != 2 {
		return inputErr("%v, want one box for each row: two axes", in[0])
	}
	dst[0] = tensor.Desc{DType: tensor.Bool, Shape: tensor.Dims(in[0].Shape.At(0))}
	return inferred(dst[0])
}

// Apply compares.
func (o *ValidBoxes) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	height, width := float32(o.Height), float32(o.Width)
	size, area := float32(o.MinSize), float32(o.MinArea)
	rows, n := tensor.View[float32](s), s.Shape.At(1)
	for i := range dst[0].Data {
		if o.Format.rotated() {
			ok, err := o.validRotated(rows[i*n:])
			if err != nil {
				return err
			}
			dst[0].Data[i] = boolByte(ok)
			continue
		}
		b := xyxyOf(rows[i*n:], o.Format)
		w, h := b[2]-b[0], b[3]-b[1]
		ok := w >= size && h >= size && float32(w*h) >= area
		for k, v := range b {
			ok = ok && v >= 0 && v <= [2]float32{width, height}[k&1]
		}
		dst[0].Data[i] = boolByte(ok)
	}
	return nil
}

// validRotated reports whether a rotated box is valid. Its second side is
// torchvision's: the length of (y2-y3, x3-x4) in place of (x2-x3, y2-y3).
func (o *ValidBoxes) validRotated(row []float32) (bool, error) {
	if err := checkTurn(row, o.Format); err != nil {
		return false, err
	}
	c := toCorners(row, o.Format)
	w, h := length(c[0]-c[2], c[1]-c[3]), length(c[3]-c[5], c[4]-c[6])
	size := float32(o.MinSize)
	ok := w >= size && h >= size && float32(w*h) >= float32(o.MinArea)
	for k, v := range c {
		ok = ok && v >= 0 && v <= [2]float32{float32(o.Width), float32(o.Height)}[k&1]
	}
	return ok, nil
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
