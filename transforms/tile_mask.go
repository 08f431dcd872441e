package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// TileMask returns ones for tiles: a mask that marks every tile, or every pixel
// of every tile, as part of the image. It takes tiles (tiles, channels, height,
// width) of any dtype of fixed size, with an image as one tile, and does not
// read the values.
//
// Reference: transformers 5.23.0, pixel_attention_mask of Idefics3 (pixels,
// int64) and of GraniteDocling (tiles, bool), for one image.
type TileMask struct {
	Pixels bool         `json:"pixels"` // return (tiles, height, width) instead of (tiles); default false
	DType  tensor.DType `json:"dtype"`  // any except bytes; default int64
}

//msgp:tuple TileMask

// NewTileMask returns the op for one int64 of each tile.
func NewTileMask() *TileMask { return &TileMask{DType: tensor.Int64} }

// Info describes the op.
func (*TileMask) Info() Info {
	return Info{
		Name: "tile_mask", Version: 1, New: func() Op { return NewTileMask() },
		Out:       []string{"mask"},
		Reference: "transformers 5.23.0 Idefics3ImageProcessor, GraniteDoclingImageProcessor", Exactness: "0",
	}
}

// Validate checks the dtype.
func (o *TileMask) Validate() error {
	return checkElement("dtype", o.DType)
}

// Infer describes the mask.
func (o *TileMask) Infer(dst, in []tensor.Desc) error {
	d := in[0]
	height, width := 2, 3 // axes of a tile
	if d.IsImage() && d.Layout == tensor.HWC {
		height, width = 1, 2
	}
	d, err := rowsOf(d)
	if err != nil {
		return err
	}
	dst[0] = tensor.Desc{DType: o.DType, Shape: tensor.Dims(d.Shape.At(0))}
	if o.Pixels {
		if d.Shape.Rank() != 4 {
			return inputErr("%v, want tiles of four axes", in[0])
		}
		dst[0].Shape = tensor.Dims(d.Shape.At(0), d.Shape.At(height), d.Shape.At(width))
	}
	return inferred(dst[0])
}

// Apply writes ones.
func (o *TileMask) Apply(c *Context, dst, _ []*tensor.Tensor) error {
	one := c.Scratch(o.DType.Size())
	putNumber(one, o.DType, 1)
	kernel.RepeatPixel(dst[0].Data, one)
	return nil
}
