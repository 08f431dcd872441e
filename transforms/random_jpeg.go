package transforms

import (
	"github.com/infer-prep/infer-prep/codec"
	"github.com/infer-prep/infer-prep/tensor"
)

// RandomJPEG encodes an image as a JPEG file of random quality and decodes the
// file. It takes the images of JPEG.
//
// Reference: torchvision 0.29.2's v2 JPEG. The quality is drawn uniformly from
// the whole numbers from MinQuality to MaxQuality.
type RandomJPEG struct {
	MinQuality int          `json:"min_quality"` // 1 to 100
	MaxQuality int          `json:"max_quality"` // MinQuality to 100
	Chroma     codec.Chroma `json:"chroma"`      // see JPEG; default 420
}

//msgp:tuple RandomJPEG
//sheet:random_jpeg {"min_quality": 5, "max_quality": 10}

// NewRandomJPEG returns the op with 4:2:0 colour.
func NewRandomJPEG(minQuality, maxQuality int) *RandomJPEG {
	return &RandomJPEG{MinQuality: minQuality, MaxQuality: maxQuality, Chroma: codec.Chroma420}
}

// Info describes the op.
func (*RandomJPEG) Info() Info {
	return Info{
		Name: "random_jpeg", Version: 1, New: func() Op { return NewRandomJPEG(50, 100) },
		Reference: randomReference, Exactness: randomExactness,
	}
}

// Validate checks the qualities and the resolution of the colour channels.
func (o *RandomJPEG) Validate() error {
	if err := checkJPEG("min_quality", o.MinQuality, o.Chroma); err != nil {
		return err
	}
	if err := checkJPEG("max_quality", o.MaxQuality, o.Chroma); err != nil {
		return err
	}
	if o.MaxQuality < o.MinQuality {
		return paramErr("max_quality is %d, want at least min_quality, %d", o.MaxQuality, o.MinQuality)
	}
	return nil
}

// Infer keeps the description.
func (o *RandomJPEG) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantJPEG(in[0])
}

// Apply returns ErrNotDrawn.
func (o *RandomJPEG) Apply(*Context, []*tensor.Tensor, []*tensor.Tensor) error {
	return ErrNotDrawn
}

// Draw emits a JPEG.
func (o *RandomJPEG) Draw(d *Draw) error {
	return emitOp(d, JPEG{o.MinQuality + d.IntN(o.MaxQuality-o.MinQuality+1), o.Chroma})
}
