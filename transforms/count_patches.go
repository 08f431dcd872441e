package transforms

import (
	"github.com/infer-prep/infer-prep/internal/enum"
	"github.com/infer-prep/infer-prep/tensor"
)

// PatchAxis states which patches CountPatches counts.
type PatchAxis uint8

// The axes.
const (
	PatchAll     PatchAxis = iota // all patches
	PatchRows                     // along the height
	PatchColumns                  // along the width
)

var patchAxisNames = []string{"all", "rows", "columns"}

func (a PatchAxis) String() string { return enum.String("patch axis", patchAxisNames, a) }

// MarshalText returns the name.
func (a PatchAxis) MarshalText() ([]byte, error) {
	return enum.Format("patch axis", patchAxisNames, a)
}

// UnmarshalText parses the name.
func (a *PatchAxis) UnmarshalText(t []byte) error {
	return enum.Parse(a, "patch axis", patchAxisNames, t)
}

// CountPatches counts the patches of an image, divided by Divisor and rounded
// down. It takes an image of any dtype of fixed size, HWC or CHW, and does not
// read its values. A side that is not a multiple of Patch is an ErrInput. The
// output is int64 without axes.
//
// Reference: transformers 5.23.0, num_soft_tokens_per_image of Gemma 4.
type CountPatches struct {
	Patch   int       `json:"patch"`   // side of a patch in pixels, 1 to 2^24; 1 counts pixels
	Axis    PatchAxis `json:"axis"`    // default all
	Divisor int       `json:"divisor"` // patches that a model merges, 1 to 2^24; default 1
}

//msgp:tuple CountPatches
//sheet:count_patches {"patch": 14}

// NewCountPatches returns the op that counts all patches of patch x patch
// pixels.
func NewCountPatches(patch int) *CountPatches { return &CountPatches{Patch: patch, Divisor: 1} }

// Info describes the op.
func (*CountPatches) Info() Info {
	return Info{
		Name: "count_patches", Version: 1, New: func() Op { return NewCountPatches(16) },
		Out:       []string{"count"},
		Reference: "transformers 5.23.0 Gemma4ImageProcessorPil", Exactness: "0",
	}
}

// Validate checks the patch, the axis and the divisor.
func (o *CountPatches) Validate() error {
	if err := checkSide("patch", o.Patch); err != nil {
		return err
	}
	if err := checkEnum("axis", o.Axis, patchAxisNames); err != nil {
		return err
	}
	return checkSide("divisor", o.Divisor)
}

// Infer describes one number.
func (o *CountPatches) Infer(dst, in []tensor.Desc) error {
	if _, _, err := patchGrid(in[0], o.Patch); err != nil {
		return err
	}
	dst[0] = tensor.Desc{DType: tensor.Int64, Shape: tensor.Dims()}
	return nil
}

// Apply writes the number.
func (o *CountPatches) Apply(_ *Context, dst, src []*tensor.Tensor) error {
	rows, columns := int64(src[0].Height()/o.Patch), int64(src[0].Width()/o.Patch)
	n := rows * columns
	switch o.Axis {
	case PatchRows:
		n = rows
	case PatchColumns:
		n = columns
	}
	tensor.View[int64](dst[0])[0] = n / int64(o.Divisor)
	return nil
}

// DescOnly marks the op as DescOnly.
func (o *CountPatches) DescOnly() {}
