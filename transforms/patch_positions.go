package transforms

import "github.com/infer-prep/infer-prep/tensor"

// PatchPositions returns the position of each patch of an image, in raster
// order: its column and its line, counted from 0. It takes an image of any
// dtype of fixed size, HWC or CHW, and does not read its values. A side that is
// not a multiple of Patch is an ErrInput. The output is int64 (patches, 2).
//
// Reference: transformers 5.23.0, image_position_ids of Gemma 4.
type PatchPositions struct {
	Patch int `json:"patch"` // side of a patch in pixels, 1 to 2^24
}

//msgp:tuple PatchPositions
//sheet:patch_positions {"patch": 14}

// NewPatchPositions returns the op for patches of patch x patch pixels.
func NewPatchPositions(patch int) *PatchPositions { return &PatchPositions{Patch: patch} }

// Info describes the op.
func (*PatchPositions) Info() Info {
	return Info{
		Name: "patch_positions", Version: 1, New: func() Op { return NewPatchPositions(16) },
		Out:       []string{"positions"},
		Reference: "transformers 5.23.0 Gemma4ImageProcessorPil", Exactness: "0",
	}
}

// Validate checks the patch.
func (o *PatchPositions) Validate() error { return checkSide("patch", o.Patch) }

// Infer describes two numbers for each patch.
func (o *PatchPositions) Infer(dst, in []tensor.Desc) error {
	rows, columns, err := patchGrid(in[0], o.Patch)
	if err != nil {
		return err
	}
	n := tensor.Unknown
	if rows != tensor.Unknown && columns != tensor.Unknown {
		n = rows * columns
	}
	dst[0] = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(n, 2)}
	return inferred(dst[0])
}

// Apply writes the positions.
func (o *PatchPositions) Apply(_ *Context, dst, src []*tensor.Tensor) error {
	out := tensor.View[int64](dst[0])
	for y := range src[0].Height() / o.Patch {
		for x := range src[0].Width() / o.Patch {
			out[0], out[1] = int64(x), int64(y)
			out = out[2:]
		}
	}
	return nil
}

// DescOnly marks the op as DescOnly.
func (o *PatchPositions) DescOnly() {}

// patchGrid returns the numbers of lines and columns of patches of an image.
// Unknown sides stay unknown.
func patchGrid(d tensor.Desc, patch int) (rows, columns int, err error) {
	if err := wantImage(d); err != nil {
		return 0, 0, err
	}
	n := [2]int{d.Height(), d.Width()}
	for i, side := range n {
		switch {
		case side == tensor.Unknown:
		case side > maxSide:
			return 0, 0, inputErr("%v, want sides of at most %d", d, maxSide)
		case side%patch != 0:
			return 0, 0, inputErr("%v, want sides that are multiples of %d", d, patch)
		default:
			n[i] = side / patch
		}
	}
	return n[0], n[1], nil
}
