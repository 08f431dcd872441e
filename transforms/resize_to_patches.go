package transforms

import (
	"math"

	"github.com/infer-prep/infer-prep/tensor"
)

// ResizeToPatches scales an image to at most MaxPatches square patches and
// nearly keeps its aspect ratio. Both sides become multiples of Patch. It takes
// a uint8 or float32 image of any number of channels, HWC or CHW, and keeps
// dtype, layout and channels.
//
// With a scale s, a side n becomes max(1, ceil(n*s/Patch)) times Patch. The op
// searches the largest s with at most MaxPatches patches. It bisects the range
// from 1e-6 to 100 in float64 until the range is less than 1e-5 wide, and takes
// the lower end. Small images grow by up to 100 times, and an image may get
// fewer patches than possible.
//
// Interpolation and Backend are those of Resize.
//
// Reference: get_image_size_for_max_num_patches of transformers 5.23.0
// (SigLIP2's NaFlex), with Image.resize of Pillow 13.0.0.
type ResizeToPatches struct {
	Patch         int           `json:"patch"`         // side of a patch in pixels, 1 to 2^24; default 16
	MaxPatches    int           `json:"max_patches"`   // 1 to 2^24; default 256
	Interpolation Interpolation `json:"interpolation"` // see Resize; default bilinear
	Backend       Backend       `json:"backend"`       // see Resize; default pillow
	NoAntialias   bool          `json:"no_antialias"`  // for torch; default false
}

//msgp:tuple ResizeToPatches

func init() {
	Register(Info{
		Name: "resize_to_patches", Version: 1, New: func() Op { return NewResizeToPatches(16, 256) },
		Reference: "transformers 5.23.0 get_image_size_for_max_num_patches with Pillow 13.0.0; backends as resize", Exactness: "0",
	})
}

// NewResizeToPatches returns the op: bilinear, Pillow, antialiased.
func NewResizeToPatches(patch, maxPatches int) *ResizeToPatches {
	return &ResizeToPatches{Patch: patch, MaxPatches: maxPatches, Interpolation: Bilinear, Backend: Pillow}
}

// Validate checks the sizes and that the backend supports the interpolation.
func (o *ResizeToPatches) Validate() error {
	if err := checkSide("patch", o.Patch); err != nil {
		return err
	}
	if err := checkSide("max_patches", o.MaxPatches); err != nil {
		return err
	}
	return o.sampling().validate()
}

func (o *ResizeToPatches) sampling() sampling {
	return sampling{o.Interpolation, o.Backend, !o.NoAntialias}
}

// sized returns the new size of an image of h x w. Unknown sides stay unknown.
func (o *ResizeToPatches) sized(h, w int) (int, int, error) {
	if h == tensor.Unknown || w == tensor.Unknown {
		return tensor.Unknown, tensor.Unknown, nil
	}
	// The constants of the search are the reference's.
	const eps = 1e-5
	lo, hi := eps/10, 100.0
	for hi-lo >= eps {
		s := (lo + hi) / 2
		if float64(o.patches(h, s)*o.patches(w, s)) <= float64(o.MaxPatches) {
			lo = s
		} else {
			hi = s
		}
	}
	p := float64(o.Patch)
	return sides(h, w, float64(o.patches(h, lo)*p), float64(o.patches(w, lo)*p))
}

// patches returns the number of patches along a side of n pixels at a scale.
func (o *ResizeToPatches) patches(n int, scale float64) float64 {
	return max(1, math.Ceil(float64(float64(n)*scale)/float64(o.Patch)))
}

// Infer sets the output size.
func (o *ResizeToPatches) Infer(dst, in []tensor.Desc) error {
	return inferSized(dst, in, o.sized)
}

// Apply scales.
func (o *ResizeToPatches) Apply(c *Context, dst, src []*tensor.Tensor) error {
	return o.sampling().apply(c, dst[0], src[0])
}

// Sampling returns the op's parameters.
func (o *ResizeToPatches) Sampling() (Interpolation, Backend, bool) {
	return o.Interpolation, o.Backend, !o.NoAntialias
}

// Scale returns the size.
func (o *ResizeToPatches) Scale(h, w int, _ []*tensor.Tensor) (Scale, error) {
	nh, nw, err := o.sized(h, w)
	return wholeImage(o.sampling(), h, w, nh, nw), err
}
