package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// CropPooling lists which patches are pooled together: those of a small image,
// which is a crop by itself, and those of a canvas of crops that overlap. It
// takes the canvas, an image of any dtype of fixed size, HWC or CHW, and does
// not read its values. A side that is not Crop plus a multiple of Crop - (Left
// + Right)·Patch is an ErrInput.
//
// The patches of the small image have the numbers 0 and up, those of the crops
// follow, each in raster order. A patch of the canvas is that of the last crop
// of a row and of a column in which it is not one of the first Left patches, or
// of the first crop. Windows of PoolHeight x PoolWidth patches cover the small
// image and the canvas, which are padded with -1 on both sides, one more at the
// bottom and right if the padding is odd.
//
// Outputs: indices, int32 (windows, PoolHeight·PoolWidth), in raster order, the
// small image first; grid, int64 (4): the lines and columns of windows of the
// small image and of the canvas.
//
// Reference: transformers 5.23.0, image_token_pooling and image_grids of
// Molmo2ImageProcessor.
type CropPooling struct {
	Crop       int `json:"crop"`        // side of a crop in pixels, a multiple of Patch, up to 2^24; default 378
	Patch      int `json:"patch"`       // side of a patch in pixels, 1 to 2^24; default 14
	Left       int `json:"left"`        // patches at the left and top that a crop leaves to its neighbour, 0 or more; default 4
	Right      int `json:"right"`       // likewise at the right and bottom; Left + Right are fewer than a crop's; default 4
	PoolHeight int `json:"pool_height"` // lines of patches of a window, 1 to 64; default 2
	PoolWidth  int `json:"pool_width"`  // columns of patches of a window, 1 to 64; default 2
}

//msgp:tuple CropPooling
//sheet:crop_pooling {"crop": 32, "patch": 1, "left": 0, "right": 0}

// NewCropPooling returns the op with margins of 4 patches and windows of 2 x 2.
func NewCropPooling(crop, patch int) *CropPooling {
	return &CropPooling{Crop: crop, Patch: patch, Left: 4, Right: 4, PoolHeight: 2, PoolWidth: 2}
}

// maxPool bounds a side of a window of CropPooling.
const maxPool = 64

// Info describes the op.
func (*CropPooling) Info() Info {
	return Info{
		Name: "crop_pooling", Version: 1, New: func() Op { return NewCropPooling(378, 14) },
		In: []string{"canvas"}, Out: []string{"indices", "grid"},
		Reference: "transformers 5.23.0 Molmo2ImageProcessor", Exactness: "0",
	}
}

// Validate checks the numbers.
func (o *CropPooling) Validate() error {
	if err := checkSide("crop", o.Crop); err != nil {
		return err
	}
	if o.Patch < 1 || o.Crop%o.Patch != 0 {
		return paramErr("patch is %d, want a divisor of crop, %d", o.Patch, o.Crop)
	}
	for _, p := range []struct {
		name string
		n    int
	}{{"left", o.Left}, {"right", o.Right}} {
		if p.n < 0 || p.n >= o.side() {
			return paramErr("%s is %d, want 0 to %d", p.name, p.n, o.side()-1)
		}
	}
	if o.step() < 1 {
		return paramErr("left and right are %d and %d, want fewer than %d together", o.Left, o.Right, o.side())
	}
	if o.PoolHeight < 1 || o.PoolHeight > maxPool {
		return paramErr("pool_height is %d, want 1 to %d", o.PoolHeight, maxPool)
	}
	if o.PoolWidth < 1 || o.PoolWidth > maxPool {
		return paramErr("pool_width is %d, want 1 to %d", o.PoolWidth, maxPool)
	}
	return nil
}

// side returns the patches along a side of a crop, step those from one crop to
// the next.
func (o *CropPooling) side() int { return o.Crop / o.Patch }
func (o *CropPooling) step() int { return o.side() - o.Left - o.Right }

// crops returns how many crops lie along an axis of n patches.
func (o *CropPooling) crops(n int) int { return (n-o.side())/o.step() + 1 }

// Infer counts the windows.
func (o *CropPooling) Infer(dst, in []tensor.Desc) error {
	rows, columns, err := patchGrid(in[0], o.Patch)
	if err != nil {
		return err
	}
	n := int64(tensor.Unknown)
	if rows != tensor.Unknown && columns != tensor.Unknown {
		for _, k := range [2]int{rows, columns} {
			if k < o.side() || (k-o.side())%o.step() != 0 {
				return inputErr("%v, want sides of %d pixels plus a multiple of %d", in[0], o.Crop, o.step()*o.Patch)
			}
		}
		side := int64(o.side())
		if crops := int64(o.crops(rows)) * int64(o.crops(columns)); crops >= math.MaxInt32/(side*side) {
			return inputErr("%v has %d crops of %d patches, want at most 2^31 patches", in[0], crops, side*side)
		}
		sh, sw := pooled(o.side(), o.PoolHeight), pooled(o.side(), o.PoolWidth)
		ch, cw := pooled(rows, o.PoolHeight), pooled(columns, o.PoolWidth)
		n = int64(sh)*int64(sw) + int64(ch)*int64(cw)
	}
	dst[0] = tensor.Desc{DType: tensor.Int32, Shape: tensor.Dims(int(n), o.PoolHeight*o.PoolWidth)}
	dst[1] = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims(4)}
	return inferred(dst[0])
}

// pooled returns how many windows of k patches cover n.
func pooled(n, k int) int { return (n-1)/k + 1 }

// Apply writes the indices.
func (o *CropPooling) Apply(_ *Context, dst, src []*tensor.Tensor) error {
	rows, columns, side := src[0].Height()/o.Patch, src[0].Width()/o.Patch, o.side()
	grid, out := tensor.View[int64](dst[1]), tensor.View[int32](dst[0])
	grid[0], grid[1] = int64(pooled(side, o.PoolHeight)), int64(pooled(side, o.PoolWidth))
	grid[2], grid[3] = int64(pooled(rows, o.PoolHeight)), int64(pooled(columns, o.PoolWidth))
	out = o.pool(out, side, side, func(y, x int) int32 { return int32(y*side + x) })
	down, across := o.crops(rows), o.crops(columns)
	o.pool(out, rows, columns, func(y, x int) int32 {
		i, j := o.crop(y, down), o.crop(x, across)
		y, x = y-i*o.step(), x-j*o.step()
		return int32((1+i*across+j)*side*side + y*side + x)
	})
	return nil
}

// crop returns the crop of n along an axis to which patch k of the canvas
// belongs.
func (o *CropPooling) crop(k, n int) int { return min(max(k-o.Left, 0)/o.step(), n-1) }

// pool writes the windows of a grid of rows x columns patches and returns the
// rest of out.
func (o *CropPooling) pool(out []int32, rows, columns int, index func(y, x int) int32) []int32 {
	down, across := pooled(rows, o.PoolHeight), pooled(columns, o.PoolWidth)
	top, left := (down*o.PoolHeight-rows)/2, (across*o.PoolWidth-columns)/2
	for r := range down {
		for c := range across {
			for y := range o.PoolHeight {
				for x := range o.PoolWidth {
					at, to := r*o.PoolHeight+y-top, c*o.PoolWidth+x-left
					if out[0] = -1; at >= 0 && at < rows && to >= 0 && to < columns {
						out[0] = index(at, to)
					}
					out = out[1:]
				}
			}
		}
	}
	return out
}

// DescOnly marks the op as DescOnly.
func (o *CropPooling) DescOnly() {}
