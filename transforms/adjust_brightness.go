package transforms

import (
	"github.com/infer-prep/infer-prep/internal/kernel"
	"github.com/infer-prep/infer-prep/tensor"
)

// AdjustBrightness multiplies every value by a factor: 0 gives black, 1 the
// image, more a brighter one. It takes a uint8 image of one or three channels, for
// opencv and mxnet of three, in both layouts, and gives the same description, 0 to 255.
//
// For a value v and the factor f as float32, the product is a float32, clipped, and
//
//   - Pillow, Torch: its fraction is cut off;
//   - OpenCV, MXNet: it is rounded half to even.
//
// Reference: Pillow 13.0.0, ImageEnhance.Brightness, which torchvision's
// adjust_brightness of a Pillow image is; torchvision 0.29.2, v2's of a uint8 tensor; MindSpore
// 2.10.0, vision.AdjustBrightness of an array, which is OpenCV's convertScaleAbs; MXNet 1.9.1,
// ImageRecordIter's brightness.
type AdjustBrightness struct {
	Factor  float64 `json:"factor"`  // 0 to 1e6, mxnet: -1e6 to 1e6; usually about 1
	Backend Backend `json:"backend"` // usually pillow
}

//msgp:tuple AdjustBrightness
//msgp:ignore adjustBrightnessState blend

func init() {
	Register(Info{
		Name: "adjust_brightness", Version: 1, New: func() Op { return NewAdjustBrightness(1) }, InPlace: true,
		Reference: adjustReference, Exactness: "0",
	})
}

// NewAdjustBrightness multiplies as Pillow does.
func NewAdjustBrightness(factor float64) *AdjustBrightness {
	return &AdjustBrightness{Factor: factor, Backend: Pillow}
}

// Validate checks the factor and the backend.
func (o *AdjustBrightness) Validate() error {
	return checkAdjust(o.Factor, o.Backend)
}

// Infer keeps the description.
func (o *AdjustBrightness) Infer(dst, in []tensor.Desc) error {
	dst[0] = in[0]
	return wantAdjusted(in[0], o.Backend)
}

// adjustBrightnessState is the table of an op.
type adjustBrightnessState struct {
	op    AdjustBrightness
	valid bool
	table [256]uint8
}

// Apply multiplies, by a table.
func (o *AdjustBrightness) Apply(c *Context, dst, src []*tensor.Tensor) error {
	s, err := c.Dense(src[0])
	if err != nil {
		return err
	}
	st, ok := c.State.(*adjustBrightnessState)
	if !ok {
		st = &adjustBrightnessState{}
		c.State = st
	}
	if !st.valid || st.op != *o {
		st.op, st.valid = *o, true
		for v := range st.table {
			f := float32(float32(v) * float32(o.Factor))
			if o.Backend == OpenCV || o.Backend == MXNet {
				st.table[v] = round8(f)
			} else {
				st.table[v] = trunc8(f)
			}
		}
	}
	kernel.LookupHWC(dst[0].Data, s.Data[:len(dst[0].Data)], 1, st.table[:])
	return nil
}

// Pointwise says that the op is one, see type Pointwise.
func (o *AdjustBrightness) Pointwise() {}
