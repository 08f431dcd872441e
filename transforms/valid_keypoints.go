package transforms

import "github.com/infer-prep/infer-prep/tensor"

// ValidKeypoints reports which points are inside an image of Height x Width
// pixels: x from 0 to below Width and y from 0 to below Height. It takes a
// float32 tensor without layout, with x and y on the last of at least two axes,
// and returns a bool for each element of the first axis. An element of several
// points is valid if all are. Further values of the last axis are ignored.
// There may be no points. NaN is invalid.
//
// Reference: sanitize_keypoints of torchvision 0.29.2 (transforms.v2) with
// torch 2.15.0.
type ValidKeypoints struct {
	Height int `json:"height"` // height of the image in pixels, 1 to 2^24
	Width  int `json:"width"`  // width of the image in pixels, 1 to 2^24
}

//msgp:tuple ValidKeypoints

// NewValidKeypoints returns the op for an image of height x width pixels.
func NewValidKeypoints(height, width int) *ValidKeypoints { return &ValidKeypoints{height, width} }

// Info describes the op.
func (*ValidKeypoints) Info() Info {
	return Info{
		Name: "valid_keypoints", Version: 1, New: func() Op { return NewValidKeypoints(224, 224) },
		In: []string{"points"}, Out: []string{"mask"},
		Reference: "torchvision 0.29.2 sanitize_keypoints", Exactness: "0",
	}
}

// Validate checks the size.
func (o *ValidKeypoints) Validate() error { return checkSides(o.Height, o.Width) }

// Infer describes a value for each element of the first axis.
func (o *ValidKeypoints) Infer(dst, in []tensor.Desc) error {
	if err := wantCoords(in[0], CoordXY); err != nil {
		return err
	}
	if in[0].Shape.Rank() < 2 {
		return inputErr("%v, want one or more points for each row: at least two axes", in[0])
	}
	dst[0] = tensor.Desc{DType: tensor.Bool, Shape: tensor.Dims(in[0].Shape.At(0))}
	return inferred(dst[0])
}

// Apply compares.
func (o *ValidKeypoints) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	h, w := float32(o.Height), float32(o.Width)
	rows, n := tensor.View[float32](s), s.Shape.At(s.Shape.Rank()-1)
	for i := range dst[0].Data {
		ok, size := true, len(rows)/len(dst[0].Data)
		for p := rows[i*size:][:size]; len(p) > 0; p = p[n:] {
			ok = ok && p[0] >= 0 && p[0] < w && p[1] >= 0 && p[1] < h
		}
		dst[0].Data[i] = boolByte(ok)
	}
	return nil
}
