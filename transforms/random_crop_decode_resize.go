package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// RandomCropDecodeResize decodes an image and then runs RandomResizedCrop. For
// a JPEG, an engine decodes only the box. The box is drawn for the size of the
// decoded image. Formats and policies are those of Decode; the other parameters
// are those of RandomResizedCrop.
//
// Reference: the values are those of Decode and ResizedCrop. The distribution
// is that of torchvision 0.29.2's RandomResizedCrop. The name is MindSpore
// 2.10.0's.
type RandomCropDecodeResize struct {
	Height        int               `json:"height"`        // output height in pixels, 1 to 2^24
	Width         int               `json:"width"`         // output width in pixels, 1 to 2^24
	Scale         Range             `json:"scale"`         // area of the box relative to the image, 0 to 100; default 0.08 to 1
	Ratio         Range             `json:"ratio"`         // aspect ratio of the box, width by height, 0.001 to 1000; default 3/4 to 4/3
	Interpolation Interpolation     `json:"interpolation"` // default bilinear
	Backend       Backend           `json:"backend"`       // of the scaling; default pillow
	NoAntialias   bool              `json:"no_antialias"`  // for torch; default false
	Color         codec.Color       `json:"color"`         // see Decode; default rgb
	Alpha         codec.Alpha       `json:"alpha"`         // see Decode; default drop
	Gray16        codec.Gray16      `json:"gray16"`        // see Decode; default clip
	Refuse        codec.Refuse      `json:"refuse"`        // see Decode; default nothing
	Orientation   codec.Orientation `json:"orientation"`   // see Decode; default ignore
	Damage        codec.Damage      `json:"damage"`        // see Decode; default pillow
}

//msgp:tuple RandomCropDecodeResize
//sheet:random_crop_decode_resize {"height": 64, "width": 64}

// NewRandomCropDecodeResize returns the op with the defaults of NewDecode and
// NewRandomResizedCrop.
func NewRandomCropDecodeResize(height, width int) *RandomCropDecodeResize {
	c := NewRandomResizedCrop(height, width)
	return &RandomCropDecodeResize{
		Height: c.Height, Width: c.Width, Scale: c.Scale, Ratio: c.Ratio, Interpolation: c.Interpolation, Backend: c.Backend,
	}
}

func (o *RandomCropDecodeResize) decode() Decode {
	return Decode{Color: o.Color, Alpha: o.Alpha, Gray16: o.Gray16, Refuse: o.Refuse, Orientation: o.Orientation, Damage: o.Damage}
}

func (o *RandomCropDecodeResize) crop() RandomResizedCrop {
	return RandomResizedCrop{o.Height, o.Width, o.Scale, o.Ratio, o.Interpolation, o.Backend, o.NoAntialias}
}

// Info describes the op.
func (*RandomCropDecodeResize) Info() Info {
	return Info{
		Name: "random_crop_decode_resize", Version: 1, New: func() Op { return NewRandomCropDecodeResize(224, 224) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the parameters as Decode and RandomResizedCrop do.
func (o *RandomCropDecodeResize) Validate() error {
	d, c := o.decode(), o.crop()
	if err := d.Validate(); err != nil {
		return err
	}
	return c.Validate()
}

// Infer describes an image of Height x Width.
func (o *RandomCropDecodeResize) Infer(dst, in []tensor.Desc) error {
	d, c := o.decode(), o.crop()
	if err := d.Infer(dst, in); err != nil {
		return err
	}
	return c.Infer(dst, dst)
}

// Apply returns ErrNotDrawn.
func (o *RandomCropDecodeResize) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Decode and a ResizedCrop.
func (o *RandomCropDecodeResize) Draw(d *Draw) error {
	op := NewOp[Decode](d)
	*op = o.decode()
	if err := d.Emit(op); err != nil {
		return err
	}
	c := o.crop()
	return c.Draw(d)
}
