package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// PatchMask returns for each tile of a padded canvas which square patches show
// the image: 1, or 0 for patches of the padding at the bottom and right. With p
// pixels of padding along an axis, the last floor(p/Patch) patches of the axis
// are padding, in every row or column of the canvas. A tile has
// floor(Height/Patch) rows and floor(Width/Patch) columns of patches.
//
// The canvas is an image of whole tiles. Size, int64 (2), is the height and
// width of the image in it, as ResizeToTiles returns it.
//
// The output is (tiles, rows, columns). Whole adds a tile of ones in front, for
// a thumbnail.
//
// Reference: transformers 5.23.0, image_attention_mask of Phi-4 Multimodal.
type PatchMask struct {
	Height int          `json:"height"` // of a tile in pixels, 1 to 2^24; default 448
	Width  int          `json:"width"`  // of a tile in pixels, 1 to 2^24; default 448
	Patch  int          `json:"patch"`  // side of a patch in pixels, 1 to 2^24, at most a tile's; default 14
	Whole  bool         `json:"whole"`  // add a tile of ones in front; default false
	DType  tensor.DType `json:"dtype"`  // any except bytes; default float32
}

//msgp:tuple PatchMask
//sheet:patch_mask {"height": 84, "width": 112}

// NewPatchMask returns the op for a float32 mask without a thumbnail.
func NewPatchMask(height, width, patch int) *PatchMask {
	return &PatchMask{Height: height, Width: width, Patch: patch, DType: tensor.Float32}
}

// Info describes the op.
func (*PatchMask) Info() Info {
	return Info{
		Name: "patch_mask", Version: 1, New: func() Op { return NewPatchMask(448, 448, 14) },
		In: []string{"image", "size"}, Out: []string{"mask"},
		Reference: "transformers 5.23.0 Phi4MultimodalImageProcessor", Exactness: "0",
	}
}

// Validate checks the sizes and the dtype.
func (o *PatchMask) Validate() error {
	if err := checkSides(o.Height, o.Width); err != nil {
		return err
	}
	if most := min(o.Height, o.Width); o.Patch < 1 || o.Patch > most {
		return paramErr("patch is %d, want 1 to %d", o.Patch, most)
	}
	return checkElement("dtype", o.DType)
}

// Infer describes the mask.
func (o *PatchMask) Infer(dst, in []tensor.Desc) error {
	var tiles [1]tensor.Desc
	if err := NewSplitTiles(o.Height, o.Width).Infer(tiles[:], in[:1]); err != nil {
		return err
	}
	if in[1].DType != tensor.Int64 || in[1].Shape != tensor.Dims(2) || in[1].Layout != tensor.NoLayout {
		return inputErr("size is %v, want int64 (2)", in[1])
	}
	n := tiles[0].Shape.At(0)
	if o.Whole && n != tensor.Unknown {
		n++
	}
	dst[0] = tensor.Desc{DType: o.DType, Shape: tensor.Dims(n, o.Height/o.Patch, o.Width/o.Patch)}
	return inferred(dst[0])
}

// Apply writes the mask.
func (o *PatchMask) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	size := tensor.View[int64](s)
	h, w := src[0].Height(), src[0].Width()
	rows, columns, n := o.Height/o.Patch, o.Width/o.Patch, o.DType.Size()
	// The patches of the canvas that show the image.
	down := h/o.Height*rows - max(h-int(size[0]), 0)/o.Patch
	across := w/o.Width*columns - max(w-int(size[1]), 0)/o.Patch
	one := c.Scratch(n)
	putNumber(one, o.DType, 1)
	at := dst[0].Data
	if o.Whole {
		kernel.RepeatPixel(at[:rows*columns*n], one)
		at = at[rows*columns*n:]
	}
	clear(at)
	for i := range h / o.Height {
		for j := range w / o.Width {
			for y := range rows {
				if shown := min(across-j*columns, columns); i*rows+y < down && shown > 0 {
					kernel.RepeatPixel(at[:shown*n], one)
				}
				at = at[columns*n:]
			}
		}
	}
	return nil
}
