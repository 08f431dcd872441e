package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// PatchStrip lays the patches of an image and of its slices side by side. It
// takes images CHW of any dtype of fixed size and keeps the dtype. No value
// changes.
//
// Inputs: whole, the whole image; canvas, an image of the same dtype and number
// of channels, which is cut into slices; sizes, int32 (1 + slices, 2): the
// lines and columns of patches of the whole image and of each slice. Without
// slices the canvas is not read. The slices of a canvas have one size and are
// in raster order. Sizes that contradict the images are an ErrInput.
//
// The output has no layout: (1, channels, Patch, patches * Patch). The patches
// of the whole image come first, then those of each slice, each in raster
// order.
//
// Reference: transformers 5.23.0, MiniCPMV4_6ImageProcessor: reshape_by_patch
// and the concatenation that follows.
type PatchStrip struct {
	Patch int `json:"patch"` // side of a patch in pixels, 1 to 2^24; default 14
}

//msgp:tuple PatchStrip

// NewPatchStrip returns the op.
func NewPatchStrip(patch int) *PatchStrip { return &PatchStrip{Patch: patch} }

// Info describes the op.
func (*PatchStrip) Info() Info {
	return Info{
		Name: "patch_strip", Version: 1, New: func() Op { return NewPatchStrip(14) },
		In: []string{"whole", "canvas", "sizes"}, Out: []string{"image"},
		Reference: "transformers 5.23.0 MiniCPMV4_6ImageProcessor", Exactness: "0",
	}
}

// Validate checks the patch.
func (o *PatchStrip) Validate() error { return checkSide("patch", o.Patch) }

// Infer counts the patches.
func (o *PatchStrip) Infer(dst, in []tensor.Desc) error {
	whole, canvas, sizes := in[0], in[1], in[2]
	for _, d := range in[:2] {
		if err := wantImage(d); err != nil {
			return err
		}
	}
	if whole.Layout != tensor.CHW || canvas.Layout != tensor.CHW || whole.DType != canvas.DType {
		return inputErr("%v and %v, want images CHW of the same dtype", whole, canvas)
	}
	c, k := whole.Channels(), canvas.Channels()
	if c == tensor.Unknown {
		c = k
	}
	if k != tensor.Unknown && k != c {
		return inputErr("%v and %v, want the same number of channels", whole, canvas)
	}
	if err := sizes.Validate(); err != nil {
		return inputErr("sizes: %v", err)
	}
	if s := sizes.Shape; sizes.DType != tensor.Int32 || sizes.Layout != tensor.NoLayout || s.Rank() != 2 || s.At(0) == 0 || s.At(1) != 2 {
		return inputErr("sizes are %v, want int32 (1 + slices, 2)", sizes)
	}
	rows, columns, err := patchGrid(whole, o.Patch)
	if err != nil {
		return err
	}
	n := int64(tensor.Unknown)
	if rows != tensor.Unknown && columns != tensor.Unknown {
		n = int64(rows) * int64(columns)
	}
	switch sizes.Shape.At(0) {
	case 1: // no slices
	case tensor.Unknown:
		n = tensor.Unknown
	default:
		rows, columns, err := patchGrid(canvas, o.Patch)
		switch {
		case err != nil:
			return err
		case n == tensor.Unknown || rows == tensor.Unknown || columns == tensor.Unknown:
			n = tensor.Unknown
		default:
			n += int64(rows) * int64(columns)
		}
	}
	if n != tensor.Unknown {
		if n *= int64(o.Patch); n > math.MaxInt {
			return inputErr("%v and %v have too many patches", whole, canvas)
		}
	}
	dst[0] = tensor.Desc{DType: whole.DType, Shape: tensor.Dims(1, c, o.Patch, int(n))}
	return inferred(dst[0])
}

// Apply copies the patches.
func (o *PatchStrip) Apply(c *Context, dst, src []*tensor.Tensor) error {
	whole, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	canvas, err := c.Dense(src[1])
	if err != nil {
		return err
	}
	dense, err := c.Dense(src[2])
	if err != nil {
		return err
	}
	sizes := tensor.View[int32](dense)
	rows, columns := whole.Height()/o.Patch, whole.Width()/o.Patch
	if int(sizes[0]) != rows || int(sizes[1]) != columns {
		return inputErr("sizes begin with %d x %d patches (lines x columns), but %v has %d x %d", sizes[0], sizes[1], whole.Desc, rows, columns)
	}
	at := o.copy(dst[0], whole, 0, 0, 0, rows, columns)
	if len(sizes) == 2 {
		return nil
	}
	lines, cols := int(sizes[2]), int(sizes[3])
	rows, columns = canvas.Height()/o.Patch, canvas.Width()/o.Patch
	if lines < 1 || cols < 1 || rows%lines != 0 || columns%cols != 0 || rows/lines*(columns/cols) != len(sizes)/2-1 {
		return inputErr("%d slices of %d x %d patches (lines x columns) do not fill %v", len(sizes)/2-1, lines, cols, canvas.Desc)
	}
	for y := 0; y < rows; y += lines {
		for x := 0; x < columns; x += cols {
			at = o.copy(dst[0], canvas, at, y, x, lines, cols)
		}
	}
	return nil
}

// copy copies lines x columns patches of src, from the one at line top and
// column left on, to those of dst from patch at on. It returns the next one.
func (o *PatchStrip) copy(dst, src *tensor.Tensor, at, top, left, lines, columns int) int {
	size := src.DType.Size()
	line, row := src.Width()*size, dst.Shape.At(3)*size
	side := o.Patch * size
	for c := range src.Channels() {
		for y := range o.Patch {
			to := dst.Data[(c*o.Patch+y)*row+at*side:]
			for l := range lines {
				from := src.Data[(c*src.Height()+(top+l)*o.Patch+y)*line+left*side:]
				copy(to[l*columns*side:][:columns*side], from)
			}
		}
	}
	return at + lines*columns
}
