package transforms

import "github.com/infer-prep/infer-prep/tensor"

// Elastic moves the pixels of an image by a displacement of each. It takes a
// uint8 image of any number of channels, HWC or CHW, and keeps the description.
// The second input is the displacement, float32 (height, width, 2): x and y, in
// units of half the width and half the height. Each pixel of the output samples
// the input at its own position plus its displacement. Pixels are computed as
// by Rotate with backend torch, also those outside the image and of positions
// that are not finite, which become 0.
//
// Reference: torchvision 0.29.2 elastic with torch 2.15.0, on x86-64 with fused
// multiply-add. For Pillow images, torchvision computes the same.
type Elastic struct {
	Interpolation Interpolation `json:"interpolation"` // nearest or bilinear; default bilinear
	Fill          NumberList    `json:"fill"`          // value of the pixels outside the input: one for all channels or one per channel, integers of 0 to 255; default empty, see Rotate
}

//msgp:tuple Elastic

// NewElastic returns the op: bilinear, without a fill.
func NewElastic() *Elastic { return &Elastic{Interpolation: Bilinear} }

// Info describes the op.
func (*Elastic) Info() Info {
	return Info{
		Name: "elastic", Version: 1, New: func() Op { return NewElastic() },
		In:        []string{"image", "displacement"},
		Reference: "torchvision 0.29.2 elastic", Exactness: "0",
	}
}

// Validate checks the interpolation and the fill.
func (o *Elastic) Validate() error {
	if err := checkMove(Torch, o.Interpolation); err != nil {
		return err
	}
	return checkFill(o.Fill)
}

// Infer keeps the description.
func (o *Elastic) Infer(dst, in []tensor.Desc) error {
	if err := wantMoved(in[0], Torch, o.Fill); err != nil {
		return err
	}
	d := in[1]
	if err := d.Validate(); err != nil {
		return inputErr("displacement: %v", err)
	}
	ok := d.DType == tensor.Float32 && d.Layout == tensor.NoLayout && d.Shape.Rank() == 3
	for i, side := range [3]int{in[0].Height(), in[0].Width(), 2} {
		ok = ok && (side == tensor.Unknown || d.Shape.At(i) == tensor.Unknown || d.Shape.At(i) == side)
	}
	if !ok {
		return inputErr("displacement is %v, want float32 (height, width, 2) for the image %v", d, in[0])
	}
	dst[0] = in[0]
	return nil
}

// Apply moves the pixels.
func (o *Elastic) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	d, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	t := torchMap{displacement: tensor.View[float32](d)}
	t.apply(c, o.Interpolation, o.Fill, dst[0], s)
	return nil
}
