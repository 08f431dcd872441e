package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// RandomCropDecodeResize decodes an image and then does what RandomResizedCrop
// does; of a JPEG an engine decodes no more than the box. The box is drawn for the
// size that the image has as decoded. Formats and policies are those of Decode, the rest is RandomResizedCrop's.
//
// Reference: the values are those of Decode and ResizedCrop, the numbers drawn
// those of torchvision 0.29.2's RandomResizedCrop. The name is MindSpore 2.10.0's.
type RandomCropDecodeResize struct {
	Height        int               `json:"height"`        // of the output, in pixels, 1 to 2^24
	Width         int               `json:"width"`         // likewise
	Scale         Range             `json:"scale"`         // of the box's area, 0 to 100, usually 0.08 to 1
	Ratio         Range             `json:"ratio"`         // of its aspect ratio, 0.001 to 1000, usually 3/4 to 4/3
	Interpolation Interpolation     `json:"interpolation"` // usually bilinear
	Backend       Backend           `json:"backend"`       // of the scaling, usually pillow
	NoAntialias   bool              `json:"no_antialias"`  // for torch; usually false
	Color         codec.Color       `json:"color"`         // Decode's, usually rgb
	Alpha         codec.Alpha       `json:"alpha"`         // Decode's, usually drop
	Gray16        codec.Gray16      `json:"gray16"`        // Decode's, usually clip
	Refuse        codec.Refuse      `json:"refuse"`        // Decode's, usually nothing
	Orientation   codec.Orientation `json:"orientation"`   // Decode's, usually ignore
	Damage        codec.Damage      `json:"damage"`        // Decode's, usually pillow
}

//msgp:tuple RandomCropDecodeResize

func init() {
	Register(Info{
		Name: "random_crop_decode_resize", Version: 1, New: func() Op { return NewRandomCropDecodeResize(224, 224) },
		Reference: randomReference, Exactness: randomExactness,
	})
}

// NewRandomCropDecodeResize is NewDecode and then NewRandomResizedCrop.
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

// Validate is that of Decode and RandomResizedCrop.
func (o *RandomCropDecodeResize) Validate() error {
	d, c := o.decode(), o.crop()
	if err := d.Validate(); err != nil {
		return err
	}
	return c.Validate()
}

// Infer gives an image of Height x Width.
func (o *RandomCropDecodeResize) Infer(dst, in []tensor.Desc) error {
	d, c := o.decode(), o.crop()
	if err := d.Infer(dst, in); err != nil {
		return err
	}
	return c.Infer(dst, dst)
}

// Apply is not for random ops.
func (o *RandomCropDecodeResize) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a Decode and a ResizedCrop.
func (o *RandomCropDecodeResize) Draw(d *Draw) error {
	op := Make[Decode](d)
	*op = o.decode()
	if err := d.Emit(op); err != nil {
		return err
	}
	c := o.crop()
	return c.Draw(d)
}
